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
use crate::lanes::{self, Lane};
use crate::pool;

/// Updates that are looked at before those of a part are added: what is kept of them stays in the fastest cache, through
/// which the array goes too.
const AT_ONCE: usize = 1 << 9;
/// Room for them and for the end of a vector of which no element is kept.
const ROOM: usize = AT_ONCE + 16;
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
    let rule = Rule::new(rule, array.len());
    let part = |(number, (to, from)): (usize, (&mut [MaybeUninit<T>], &[T]))| {
        add(rule, (updates, indices), number * size, to.write_copy_of_slice(from));
    };
    if count == 1 {
        part((0, (to, array)));
    } else {
        pool::share_out(to.chunks_mut(size).zip(array.chunks(size)).enumerate().collect(), part);
    }
}

/// What an index means in an array of a length, in numbers that need no questions.
#[derive(Clone, Copy)]
struct Rule {
    len: usize,
    /// Added to one that is negative.
    back: i64,
    /// The least and greatest place, beyond which it is the nearest: elements, or what is beside them.
    least: i64,
    greatest: i64,
}

impl Rule {
    fn new(rule: AddAt, len: usize) -> Rule {
        let (back, beside) = (i64::from(rule.from_back), i64::from(rule.drop));
        Rule { len, back: back * len as i64, least: -beside, greatest: len as i64 - 1 + beside }
    }
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
    add_some(rule, updates, first, part, |places, updates, values, len| match size_of::<T>() {
        4 => keep_by_vectors::<u32>(places, bits(updates), bits_mut(values), len),
        8 => keep_by_vectors::<u64>(places, bits(updates), bits_mut(values), len),
        _ => keep(places, updates, values, len),
    });
}

#[inline(always)]
fn add_some<T: Addend, I: Place>(
    rule: Rule,
    (updates, indices): (&[T], &[I]),
    first: usize,
    part: &mut [T],
    keep: impl Fn(&mut [u32; ROOM], &[T], &mut [T], u32) -> usize,
) {
    let (mut places, mut values) = ([0u32; ROOM], [T::default(); ROOM]);
    let (len, is_whole) = (part.len() as u32, part.len() == rule.len);
    for (updates, indices) in updates.chunks(AT_ONCE).zip(indices.chunks(AT_ONCE)) {
        for (place, &index) in places.iter_mut().zip(indices) {
            *place = index.place(rule).wrapping_sub(first as u32);
        }
        // Without threads, and with indices that are all inside, there is nothing to leave out.
        let places_of_all = &places[..indices.len()];
        if is_whole && places_of_all.iter().fold(true, |all, &place| all & (place < len)) {
            add_each(part, places_of_all, updates);
        } else {
            let count = keep(&mut places, updates, &mut values, len);
            add_each(part, &places[..count], &values[..count]);
        }
    }
}

/// Adds values to the elements at places.
#[inline(always)]
fn add_each<T: Addend>(part: &mut [T], places: &[u32], values: &[T]) {
    for (&place, &value) in places.iter().zip(values) {
        let element = &mut part[place as usize];
        *element = element.plus(value);
    }
}

/// Moves the places below a length to the front, in order, takes the updates that belong there and says how many there
/// are.
#[inline(always)]
fn keep<T: Addend>(places: &mut [u32; ROOM], updates: &[T], values: &mut [T], len: u32) -> usize {
    let mut count = 0;
    for (at, &update) in updates.iter().enumerate() {
        let place = places[at];
        (places[count], values[count]) = (place, update);
        // A number and not a branch, which could not be foretold.
        count += usize::from(place < len);
    }
    count
}

/// As [`keep`], of updates that are only moved.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn keep_by_vectors<L: Lane>(places: &mut [u32; ROOM], updates: &[L], values: &mut [L], len: u32) -> usize {
    use lanes::x86::{is_less, load, only, splat, store};

    let mut count = 0;
    // What a last vector lacks is beyond any part.
    places[updates.len()..][..<u32 as Lane>::COUNT].fill(u32::MAX);
    for at in (0..updates.len()).step_by(<u32 as Lane>::COUNT) {
        let place = load(&places[at..][..<u32 as Lane>::COUNT]);
        let is_kept = is_less::<u32>(place, splat(len));
        // Whole vectors, which take less time. Nothing that was not loaded yet is written: no more are kept than were
        // looked at.
        store(&mut places[count..][..<u32 as Lane>::COUNT], only::<u32>(is_kept, place));
        // As many updates as places are one vector or two.
        for half in (0..<u32 as Lane>::COUNT).step_by(L::COUNT) {
            let is_kept = is_kept >> half & (u16::MAX >> (16 - L::COUNT));
            let from = &updates[updates.len().min(at + half)..];
            // Of whole vectors nobody asks which lanes there are.
            let update = load(from.get(..L::COUNT).unwrap_or(from));
            store(&mut values[count..][..L::COUNT], only::<L>(is_kept, update));
            count += is_kept.count_ones() as usize;
        }
    }
    count
}

/// What elements are in memory.
#[cfg(target_arch = "x86_64")]
fn bits<T: Addend, L: Lane>(of: &[T]) -> &[L] {
    assert!(size_of::<T>() == size_of::<L>() && align_of::<T>() >= align_of::<L>());
    // SAFETY: as many elements of the same size, which may have any bits.
    unsafe { slice::from_raw_parts(of.as_ptr().cast(), of.len()) }
}

/// As [`bits`].
#[cfg(target_arch = "x86_64")]
fn bits_mut<T: Addend, L: Lane>(of: &mut [T]) -> &mut [L] {
    assert!(size_of::<T>() == size_of::<L>() && align_of::<T>() >= align_of::<L>());
    // SAFETY: as above; what can be added may have any bits too.
    unsafe { slice::from_raw_parts_mut(of.as_mut_ptr().cast(), of.len()) }
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
    /// Which element it means. One that is left out is, from the first element of any part on, beyond the part, for arrays
    /// have fewer than 2³¹ elements.
    fn place(self, rule: Rule) -> u32;
}

macro_rules! places {
    ($($Type:ty as $Wide:ty, $least:expr;)*) => {$(
        impl Place for $Type {
            fn place(self, rule: Rule) -> u32 {
                #[allow(unused_comparisons, reason = "some have no sign")]
                let is_negative = self < 0;
                let back = if is_negative { rule.back as $Wide } else { 0 };
                let moved = (self as $Wide).wrapping_add(back);
                let least: fn(Rule) -> i64 = $least;
                moved.max(least(rule) as $Wide).min(rule.greatest as $Wide) as u32
            }
        }
    )*};
}
// A length fits all of these.
places! {
    i32 as i32, |rule| rule.least;
    i64 as i64, |rule| rule.least;
    u32 as u32, |_| 0;
    u8 as u32, |_| 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any number of places, any number of which are kept.
    fn stay_in_order<T: Addend + PartialEq + std::fmt::Debug>(
        update: fn(usize) -> T,
        keep: fn(&mut [u32; ROOM], &[T], &mut [T], u32) -> usize,
    ) {
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 500, AT_ONCE] {
            for len in [0, 1, 500, 1 << 20, u32::MAX] {
                let mut places = [0; ROOM];
                for (i, place) in places[..count].iter_mut().enumerate() {
                    *place = (i as u32).wrapping_mul(0x9E37_79B9) >> (i % 32);
                }
                let updates: Vec<T> = (0..count).map(update).collect();
                let is_kept = |place: &u32| *place < len;
                let expected: Vec<u32> = places[..count].iter().copied().filter(is_kept).collect();
                let expected_updates = updates.iter().zip(&places).filter(|(_, place)| is_kept(place));
                let expected_updates: Vec<T> = expected_updates.map(|(&update, _)| update).collect();
                let mut values = [T::default(); ROOM];
                let found = keep(&mut places, &updates, &mut values, len);
                assert_eq!((&places[..found], &values[..found]), (&expected[..], &expected_updates[..]));
            }
        }
    }

    #[test]
    fn those_that_are_kept_stay_in_order() {
        stay_in_order(|i| i as f32, keep);
        stay_in_order(|i| i as u8, keep);
        #[cfg(target_arch = "x86_64")]
        if lanes::is_able() {
            // SAFETY: the processor has what the function is compiled for.
            stay_in_order(|i| i as u32, |p, u, v, len| unsafe { keep_by_vectors(p, u, v, len) });
            // SAFETY: the same.
            stay_in_order(
                |i| i as i64,
                |p, u, v, len| unsafe { keep_by_vectors::<u64>(p, bits(u), bits_mut(v), len) },
            );
        }
    }

    /// Parts of any number give what one does.
    #[test]
    fn parts_are_what_the_whole_is() {
        let len = 1000;
        let indices: Vec<i32> = (0..5000).map(|i| (i * 7919) % 1300 - 150).collect();
        let updates: Vec<f32> = (0..5000).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        for (from_back, drop) in [(false, false), (false, true), (true, false), (true, true)] {
            let asked = AddAt { from_back, drop };
            let rule = Rule::new(asked, len);
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
