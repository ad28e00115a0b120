//! Adding updates to elements of an array that indices name.
//!
//! A thread has a part of the array, which may fit its cache, and goes through all updates for those of its part.
//! Invariant: updates of one element are added in order, so that no result depends on how many threads there are.
#![allow(unsafe_code, reason = "operands are addresses in a program")]

use std::mem::MaybeUninit;
use std::slice;

use tracewell_array::DType;
use tracewell_kernel::{AddAt, LibraryCall};

#[cfg(target_arch = "x86_64")]
use crate::lanes;
use crate::pool;

/// Updates that are looked at before those of a part are added: what is known of them stays in the fastest cache.
const AT_ONCE: usize = 1 << 10;
/// Updates from which on threads share the array.
const MANY: usize = 1 << 14;
/// Parts of an array, at most: each of them takes as much time as looking at all updates does.
const PARTS: usize = 8;

/// Fills the result of a call.
///
/// # Safety
///
/// The call is one that the verifier takes. The addresses are those of an array, of updates, of indices and of the
/// result, as large as it says and aligned; the first three are initialised, nobody writes to them while this runs,
/// and nobody else has access to the result.
pub(crate) unsafe fn add_at(rule: AddAt, call: &LibraryCall, buffers: &[*mut u8]) {
    macro_rules! of_type {
        ($($Dtype:ident $Type:ty,)*) => {
            match call.inputs[0].0 {
                $(DType::$Dtype => {
                    // SAFETY: the caller's promise, and this is the type.
                    unsafe { typed::<$Type>(rule, call, buffers) }
                })*
                other => unreachable!("the verifier does not let {other} be added"),
            }
        };
    }
    of_type!(F32 f32, F64 f64, I32 i32, I64 i64, U32 u32, U8 u8,);
}

/// # Safety
///
/// As for [`add_at`], of elements of this type.
unsafe fn typed<T: Addend>(rule: AddAt, call: &LibraryCall, buffers: &[*mut u8]) {
    let (len, count) = (call.inputs[0].1.len(), call.inputs[1].1.len());
    // SAFETY: the caller's promise.
    let array = unsafe { slice::from_raw_parts(buffers[0].cast::<T>().cast_const(), len) };
    // SAFETY: as above.
    let updates = unsafe { slice::from_raw_parts(buffers[1].cast::<T>().cast_const(), count) };
    // SAFETY: ours to write, and nobody else has access now.
    let to = unsafe { slice::from_raw_parts_mut(buffers[3].cast::<MaybeUninit<T>>(), len) };
    macro_rules! at {
        ($Type:ty) => {{
            // SAFETY: as for the array, and this is the type.
            let indices = unsafe { slice::from_raw_parts(buffers[2].cast::<$Type>().cast_const(), count) };
            parts(rule, (array, updates, indices), to);
        }};
    }
    match call.inputs[2].0 {
        DType::I32 => at!(i32),
        DType::I64 => at!(i64),
        DType::U32 => at!(u32),
        DType::U8 => at!(u8),
        other => unreachable!("the verifier does not let {other} be an index"),
    }
}

/// Divides the array between threads, if there is much to do.
fn parts<T: Addend, I: Place>(
    rule: AddAt,
    (array, updates, indices): (&[T], &[T], &[I]),
    to: &mut [MaybeUninit<T>],
) {
    let count = if updates.len() < MANY { 1 } else { pool::threads().min(PARTS) };
    let size = array.len().div_ceil(count).max(1);
    let rule = Rule { from_back: rule.from_back, drop: rule.drop, len: array.len() };
    let part = |(number, (to, from)): (usize, (&mut [MaybeUninit<T>], &[T]))| {
        add(rule, (updates, indices), number * size, to.write_copy_of_slice(from));
    };
    if count == 1 {
        part((0, (to, array)));
    } else {
        pool::share_out(to.chunks_mut(size).zip(array.chunks(size)).enumerate().collect(), part);
    }
}

/// What an index means in an array of a length.
#[derive(Clone, Copy)]
struct Rule {
    from_back: bool,
    drop: bool,
    len: usize,
}

/// Adds those of all updates that belong to a part of the array, whose first element has this place.
fn add<T: Addend, I: Place>(rule: Rule, updates: (&[T], &[I]), first: usize, part: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if lanes::is_able() {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { add_by_vectors(rule, updates, first, part) };
    }
    add_some(rule, updates, first, part, keep);
}

/// The same code, compiled for vectors of 64 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn add_by_vectors<T: Addend, I: Place>(rule: Rule, updates: (&[T], &[I]), first: usize, part: &mut [T]) {
    add_some(rule, updates, first, part, |places, numbers, len| keep_by_vectors(places, numbers, len));
}

#[inline(always)]
fn add_some<T: Addend, I: Place>(
    rule: Rule,
    (updates, indices): (&[T], &[I]),
    first: usize,
    part: &mut [T],
    keep: impl Fn(&mut [u32], &mut [u32; AT_ONCE], u32) -> usize,
) {
    let (mut places, mut numbers) = ([0u32; AT_ONCE], [0u32; AT_ONCE]);
    for (updates, indices) in updates.chunks(AT_ONCE).zip(indices.chunks(AT_ONCE)) {
        let places = &mut places[..indices.len()];
        for (place, &index) in places.iter_mut().zip(indices) {
            *place = index.place(rule).wrapping_sub(first as u32);
        }
        // Without threads, and with indices that are all inside, there is nothing to leave out.
        let len = part.len() as u32;
        if places.iter().fold(true, |all, &place| all & (place < len)) {
            for (&place, &update) in places.iter().zip(updates) {
                let element = &mut part[place as usize];
                *element = element.plus(update);
            }
            continue;
        }
        let count = keep(places, &mut numbers, len);
        for (&place, &number) in places[..count].iter().zip(&numbers) {
            let element = &mut part[place as usize];
            *element = element.plus(updates[number as usize]);
        }
    }
}

/// Moves the places below a length to the front, in order, and says how many there are and which numbers they had.
#[inline(always)]
fn keep(places: &mut [u32], numbers: &mut [u32; AT_ONCE], len: u32) -> usize {
    let mut count = 0;
    for at in 0..places.len() {
        let place = places[at];
        places[count] = place;
        numbers[count] = at as u32;
        // A number and not a branch, which could not be foretold.
        count += usize::from(place < len);
    }
    count
}

/// The numbers of places.
#[cfg(target_arch = "x86_64")]
static NUMBERS: [u32; AT_ONCE] = {
    let (mut numbers, mut at) = ([0; AT_ONCE], 0);
    while at < AT_ONCE {
        numbers[at] = at as u32;
        at += 1;
    }
    numbers
};

/// As [`keep`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn keep_by_vectors(places: &mut [u32], numbers: &mut [u32; AT_ONCE], len: u32) -> usize {
    use lanes::x86::{is_less, load, only, splat, store};

    const COUNT: usize = <u32 as lanes::Lane>::COUNT;
    let mut count = 0;
    for at in (0..places.len()).step_by(COUNT) {
        // What a last vector lacks is larger than any length.
        let place = load(&places[at..]);
        let is_kept = is_less::<u32>(place, splat(len));
        // Nothing that was not loaded yet is written: no more are kept than were looked at.
        store(&mut places[count..], only::<u32>(is_kept, place));
        store(&mut numbers[count..], only::<u32>(is_kept, load(&NUMBERS[at..])));
        count += is_kept.count_ones() as usize;
    }
    count
}

/// What can be added.
trait Addend: Copy + Default + Send + Sync {
    fn plus(self, other: Self) -> Self;
}

macro_rules! addends {
    ($($Type:ty, $plus:expr;)*) => {$(
        impl Addend for $Type {
            fn plus(self, other: $Type) -> $Type {
                $plus(self, other)
            }
        }
    )*};
}
addends! {
    f32, |a: f32, b: f32| a + b;
    f64, |a: f64, b: f64| a + b;
    i32, i32::wrapping_add;
    i64, i64::wrapping_add;
    u32, u32::wrapping_add;
    u8, u8::wrapping_add;
}

/// What can be an index.
trait Place: Copy + Send + Sync {
    /// Which element it means: [`OUTSIDE`] if it is left out.
    fn place(self, rule: Rule) -> u32;
}

/// More than arrays have, also after the place of any element was subtracted: they have fewer than 2³¹.
const OUTSIDE: u32 = u32::MAX;

macro_rules! places {
    ($($Type:ty as $Wide:ty,)*) => {$(
        impl Place for $Type {
            fn place(self, rule: Rule) -> u32 {
                #[allow(unused_comparisons, reason = "some have no sign")]
                let is_negative = self < 0;
                let (asked, len) = (self as $Wide, rule.len as $Wide);
                let asked = if rule.from_back & is_negative { asked.wrapping_add(len) } else { asked };
                let moved = asked.clamp(0, len - 1);
                if rule.drop & (moved != asked) { OUTSIDE } else { moved as u32 }
            }
        }
    )*};
}
// A length fits all of these.
places! { i32 as i32, i64 as i64, u32 as u32, u8 as u32, }

#[cfg(test)]
mod tests {
    use super::*;

    type Keep = fn(&mut [u32], &mut [u32; AT_ONCE], u32) -> usize;

    /// Any number of places, any number of which are kept.
    #[test]
    fn those_that_are_kept_stay_in_order() {
        for count in [0, 1, 15, 16, 17, 1000, AT_ONCE] {
            for len in [0, 1, 500, 1 << 20, OUTSIDE] {
                let all: Vec<u32> =
                    (0..count as u32).map(|i| i.wrapping_mul(0x9E37_79B9) >> (i % 32)).collect();
                let kept = |i: &usize| all[*i] < len;
                let expected: Vec<usize> = (0..count).filter(kept).collect();
                let found = |keep: Keep| {
                    let (mut places, mut numbers) = (all.clone(), [0; AT_ONCE]);
                    let found = keep(&mut places, &mut numbers, len);
                    assert!(expected.iter().map(|&i| all[i]).eq(places[..found].iter().copied()));
                    assert!(expected.iter().map(|&i| i as u32).eq(numbers[..found].iter().copied()));
                };
                found(keep);
                #[cfg(target_arch = "x86_64")]
                if lanes::is_able() {
                    // SAFETY: the processor has what the function is compiled for.
                    found(|places, numbers, len| unsafe { keep_by_vectors(places, numbers, len) });
                }
            }
        }
    }

    /// Parts of any number give what one does.
    #[test]
    fn parts_are_what_the_whole_is() {
        let len = 1000;
        let indices: Vec<i32> = (0..5000).map(|i| (i * 7919) % 1300 - 150).collect();
        let updates: Vec<f32> = (0..5000).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        for (from_back, drop) in [(false, false), (false, true), (true, false), (true, true)] {
            let (asked, rule) = (AddAt { from_back, drop }, Rule { from_back, drop, len });
            let mut expected = vec![1.0; len];
            for (&index, update) in indices.iter().zip(&updates) {
                if let Some(place) = asked.place(index.into(), len) {
                    expected[place] += update;
                }
            }
            for size in [len, 999, 300, 7] {
                let mut found = vec![1.0; len];
                for (number, part) in found.chunks_mut(size).enumerate() {
                    add(rule, (&updates, &indices), number * size, part);
                }
                assert_eq!(found, expected, "{from_back} {drop} in parts of {size}");
            }
        }
    }
}
