//! Adding updates to elements of an array that indices name.
//!
//! A thread has a part of the array, which may fit its cache, and goes through all updates for those of its part.
//! Invariant: updates of one element are added in order, so that no result depends on how many threads there are.
#![allow(unsafe_code, reason = "operands are addresses in a program")]

use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

use tracewell_array::DType;
use tracewell_kernel::{AddAt, LibraryCall};

#[cfg(target_arch = "x86_64")]
use crate::lanes::{self, Lane};
use crate::pool;

/// Updates that are looked at before those of a part are added: what is kept of them stays in the fastest cache, through
/// which the array goes too.
const AT_ONCE: usize = 1 << 9;
/// As many are looked at together, and half of them of those before are added between: adding waits for the elements, and
/// looking does not.
const BLOCK: usize = 16;
/// Room for those that are kept and for the end of a block of which none is.
const ROOM: usize = AT_ONCE + BLOCK;
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
    add_some(rule, updates, first, part, |kept, places, updates, len| {
        let Kept { places: to, values, count } = kept;
        match size_of::<T>() {
            4 => *count = keep_by_vectors::<u32>((to, bits_mut(values), *count), places, bits(updates), len),
            8 => *count = keep_by_vectors::<u64>((to, bits_mut(values), *count), places, bits(updates), len),
            _ => keep(kept, places, updates, len),
        }
    });
}

/// Updates that belong to a part, in order: where they go, and what is added there.
struct Kept<T> {
    places: [u32; ROOM],
    values: [T; ROOM],
    count: usize,
}

impl<T: Addend> Kept<T> {
    fn new() -> Kept<T> {
        Kept { places: [0; ROOM], values: [T::default(); ROOM], count: 0 }
    }

    /// Adds those from one number to another.
    #[inline(always)]
    fn add(&self, part: &mut [T], which: Range<usize>) {
        add_each(part, &self.places[which.clone()], &self.values[which]);
    }
}

#[inline(always)]
fn add_some<T: Addend, I: Place>(
    rule: Rule,
    (updates, indices): (&[T], &[I]),
    first: usize,
    part: &mut [T],
    keep: impl Fn(&mut Kept<T>, &[u32; BLOCK], &[T], u32),
) {
    let place = |index: I| index.place(rule).wrapping_sub(first as u32);
    let (len, is_whole) = (part.len() as u32, part.len() == rule.len);
    // Those that are kept now, and those that were before and are not all added yet.
    let (mut new, mut old) = (&mut Kept::new(), &mut Kept::new());
    let mut places = [0u32; AT_ONCE];
    for (updates, indices) in updates.chunks(AT_ONCE).zip(indices.chunks(AT_ONCE)) {
        // Without threads, and with indices that are all inside, there is nothing to leave out.
        if is_whole {
            let places = &mut places[..indices.len()];
            places.iter_mut().zip(indices).for_each(|(to, &index)| *to = place(index));
            if places.iter().fold(true, |all, &place| all & (place < len)) {
                old.add(part, 0..old.count);
                old.count = 0;
                add_each(part, places, updates);
                continue;
            }
        }
        let mut added = 0;
        let mut look = |places: &[u32; BLOCK], updates: &[T]| {
            keep(new, places, updates, len);
            if added + BLOCK / 2 <= old.count {
                old.add(part, added..added + BLOCK / 2);
                added += BLOCK / 2;
            }
        };
        let (blocks, rest) = indices.as_chunks::<BLOCK>();
        let (updates, last) = updates.split_at(blocks.len() * BLOCK);
        for (indices, updates) in blocks.iter().zip(updates.chunks_exact(BLOCK)) {
            let mut places = [0; BLOCK];
            places.iter_mut().zip(indices).for_each(|(to, &index)| *to = place(index));
            look(&places, updates);
        }
        if !rest.is_empty() {
            // What lacks is beyond any part.
            let mut places = [u32::MAX; BLOCK];
            places.iter_mut().zip(rest).for_each(|(to, &index)| *to = place(index));
            look(&places, last);
        }
        old.add(part, added..old.count);
        old.count = 0;
        (new, old) = (old, new);
    }
    old.add(part, 0..old.count);
}

/// Adds values to the elements at places.
#[inline(always)]
fn add_each<T: Addend>(part: &mut [T], places: &[u32], values: &[T]) {
    for (&place, &value) in places.iter().zip(values) {
        let element = &mut part[place as usize];
        *element = element.plus(value);
    }
}

/// Keeps the updates whose places are below a length, in order.
#[inline(always)]
fn keep<T: Addend>(kept: &mut Kept<T>, places: &[u32; BLOCK], updates: &[T], len: u32) {
    for (&place, &update) in places.iter().zip(updates) {
        (kept.places[kept.count], kept.values[kept.count]) = (place, update);
        // A number and not a branch, which could not be foretold.
        kept.count += usize::from(place < len);
    }
}

/// As [`keep`], of updates that are only moved, behind so many that were kept before. Says how many there are now.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn keep_by_vectors<L: Lane>(
    (to, values, count): (&mut [u32; ROOM], &mut [L], usize),
    places: &[u32; BLOCK],
    updates: &[L],
    len: u32,
) -> usize {
    use lanes::x86::{is_less, load, only, splat, store};

    let place = load(places);
    let is_kept = is_less::<u32>(place, splat(len));
    // Whole vectors, which take less time.
    store(&mut to[count..][..BLOCK], only::<u32>(is_kept, place));
    let mut count = count;
    // As many updates as places are one vector or two.
    for half in (0..BLOCK).step_by(L::COUNT) {
        let is_kept = is_kept >> half & (u16::MAX >> (16 - L::COUNT));
        let from = &updates[updates.len().min(half)..];
        // Of whole vectors nobody asks which lanes there are.
        let update = load(from.get(..L::COUNT).unwrap_or(from));
        store(&mut values[count..][..L::COUNT], only::<L>(is_kept, update));
        count += is_kept.count_ones() as usize;
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
        keep: fn(&mut Kept<T>, &[u32; BLOCK], &[T], u32),
    ) {
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 500, AT_ONCE] {
            for len in [0, 1, 500, 1 << 20, u32::MAX] {
                let place = |i: usize| (i as u32).wrapping_mul(0x9E37_79B9) >> (i % 32);
                let places: Vec<u32> = (0..count).map(place).collect();
                let updates: Vec<T> = (0..count).map(update).collect();
                let mut kept = Kept::new();
                for (places, updates) in places.chunks(BLOCK).zip(updates.chunks(BLOCK)) {
                    let mut block = [u32::MAX; BLOCK];
                    block[..places.len()].copy_from_slice(places);
                    keep(&mut kept, &block, updates, len);
                }
                let expected = places.iter().zip(&updates).filter(|(place, _)| **place < len);
                let (places, values): (Vec<u32>, Vec<T>) = expected.map(|(&p, &u)| (p, u)).unzip();
                let found = kept.count;
                assert_eq!((&kept.places[..found], &kept.values[..found]), (&places[..], &values[..]));
            }
        }
    }

    #[test]
    fn those_that_are_kept_stay_in_order() {
        stay_in_order(|i| i as f32, keep);
        stay_in_order(|i| i as u8, keep);
        #[cfg(target_arch = "x86_64")]
        if lanes::is_able() {
            stay_in_order(
                |i| i as u32,
                |kept, places, updates, len| {
                    let to = (&mut kept.places, kept.values.as_mut_slice(), kept.count);
                    // SAFETY: the processor has what the function is compiled for.
                    kept.count = unsafe { keep_by_vectors(to, places, updates, len) };
                },
            );
            stay_in_order(
                |i| i as i64,
                |kept, places, updates, len| {
                    let to = (&mut kept.places, bits_mut(&mut kept.values), kept.count);
                    // SAFETY: the same.
                    kept.count = unsafe { keep_by_vectors::<u64>(to, places, bits(updates), len) };
                },
            );
        }
    }

    /// Parts of any number give what one does, whether some or all of the indices that are looked at together are inside.
    #[test]
    fn parts_are_what_the_whole_is() {
        let len = 1000;
        let updates: Vec<f32> = (0..5000).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        fn some(i: i32) -> i32 {
            (i * 7919) % 1300 - 150
        }
        for index in [some, |i| if i / AT_ONCE as i32 % 3 == 0 { some(i) } else { i % 300 }] {
            let indices: Vec<i32> = (0..5000).map(index).collect();
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
}
