//! Sorting rows of several columns by their keys.
//!
//! Keys are sorted as unsigned integers in the same order, by their digits; a column that is not a key follows by
//! the places that its row came from.
//!
//! Invariant: the order is total, by keys and then by places, so that a result does not depend on how the work was
//! split. Nothing here panics on data.

mod radix;

use std::mem::MaybeUninit;

use rayon::join;
use tracewell_array::DType;
use tracewell_kernel::SortRows;

use crate::pool;
use radix::{Keyed, Placed};

/// Elements below which rows stay on one thread.
const PARALLEL: usize = 1 << 14;
/// A part of a row that is smaller than this part of it is selected before it is sorted.
const FEW: usize = 8;

/// The elements of a column, by their width.
#[derive(Clone, Copy)]
pub(crate) enum Column<'a> {
    One(&'a [u8]),
    Four(&'a [u32]),
    Eight(&'a [u64]),
}

/// Where the elements of a sorted column are put.
pub(crate) enum Place<'a> {
    One(&'a mut [MaybeUninit<u8>]),
    Four(&'a mut [MaybeUninit<u32>]),
    Eight(&'a mut [MaybeUninit<u64>]),
}

impl<'a> Column<'a> {
    fn row(self, row: usize, len: usize) -> Column<'a> {
        let range = row * len..(row + 1) * len;
        match self {
            Column::One(all) => Column::One(&all[range]),
            Column::Four(all) => Column::Four(&all[range]),
            Column::Eight(all) => Column::Eight(&all[range]),
        }
    }

    /// Fills a column with the elements at some places of this one.
    fn put(self, to: &mut Place<'_>, places: impl Iterator<Item = u32>) {
        fn put<T: Copy>(from: &[T], to: &mut [MaybeUninit<T>], places: impl Iterator<Item = u32>) {
            for (to, place) in to.iter_mut().zip(places) {
                to.write(from[place as usize]);
            }
        }
        match (self, to) {
            (Column::One(from), Place::One(to)) => put(from, to, places),
            (Column::Four(from), Place::Four(to)) => put(from, to, places),
            (Column::Eight(from), Place::Eight(to)) => put(from, to, places),
            _ => unreachable!("a sorted column has the type of the column"),
        }
    }
}

impl<'a> Place<'a> {
    fn split(self, at: usize) -> (Place<'a>, Place<'a>) {
        macro_rules! split {
            ($($Width:ident)*) => {
                match self {
                    $(Place::$Width(all) => {
                        let (a, b) = all.split_at_mut(at);
                        (Place::$Width(a), Place::$Width(b))
                    })*
                }
            };
        }
        split!(One Four Eight)
    }
}

/// Whether the work is split between threads.
pub(crate) fn is_shared(sort: &SortRows) -> bool {
    sort.rows.saturating_mul(sort.len) >= PARALLEL
}

/// Sorts every row of some columns, of which the first are keys. Every place is filled.
pub(crate) fn sort(sort: &SortRows, types: &[DType], columns: &[Column<'_>], places: Vec<Place<'_>>) {
    if sort.kept == 0 || sort.rows == 0 {
        return;
    }
    let work = || rows(sort, types, columns, places, 0, sort.rows);
    if is_shared(sort) { pool::run(work) } else { work() }
}

/// Sorts some of the rows: on several threads, where that is worth it.
fn rows(
    sort: &SortRows,
    types: &[DType],
    columns: &[Column<'_>],
    mut places: Vec<Place<'_>>,
    first: usize,
    count: usize,
) {
    if count == 1 {
        let row: Vec<Column<'_>> = columns.iter().map(|column| column.row(first, sort.len)).collect();
        return one(sort, types, &row, &mut places);
    }
    let half = count / 2;
    let (low, high) = places.into_iter().map(|place| place.split(half * sort.kept)).unzip();
    let below = || rows(sort, types, columns, low, first, half);
    let above = || rows(sort, types, columns, high, first + half, count - half);
    if count * sort.len >= PARALLEL {
        join(below, above);
    } else {
        below();
        above();
    }
}

/// Sorts one row.
fn one(sort: &SortRows, types: &[DType], row: &[Column<'_>], to: &mut [Place<'_>]) {
    if let ([from], [to]) = (row, &mut *to)
        && sort.kept == sort.len
        && alone(types[0], *from, to, sort.descending)
    {
        return;
    }
    let mut places: Vec<u32> = Vec::new();
    for key in (0..sort.keys).rev() {
        let kept = if key == 0 { sort.kept } else { sort.len };
        let before = (key + 1 < sort.keys).then_some(places.as_slice());
        places = by_key(types[key], row[key], before, sort.len, kept, sort.descending);
    }
    for (column, to) in row.iter().zip(to) {
        column.put(to, places.iter().copied());
    }
}

/// Sorts a row that is nothing but its key, unless equal elements can be told apart.
fn alone(dtype: DType, from: Column<'_>, to: &mut Place<'_>, descending: bool) -> bool {
    /// Sorts keys, from which elements come back.
    fn sorted<T: Copy, K: Keyed>(
        from: &[T],
        to: &mut [MaybeUninit<T>],
        key: impl Fn(T) -> K,
        element: impl Fn(K) -> T,
    ) {
        let mut keys: Vec<K> = from.iter().map(|&x| key(x)).collect();
        radix::sort(&mut keys);
        for (to, &key) in to.iter_mut().zip(&keys) {
            to.write(element(key));
        }
    }
    match (from, to) {
        (Column::One(from), Place::One(to)) => {
            let flip = if descending { u8::MAX } else { 0 };
            sorted(from, to, |x| x ^ flip, |key: u8| key ^ flip);
        }
        (Column::Four(from), Place::Four(to)) => {
            // Zeros of both signs are equal, and so is every NaN: keys do not say which is which.
            if dtype == DType::F32 && from.iter().any(|&x| x == 1 << 31 || f32::from_bits(x).is_nan()) {
                return false;
            }
            let flip = if descending { u32::MAX } else { 0 };
            sorted(from, to, |x| key32(dtype, x) ^ flip, |key: u32| element32(dtype, key ^ flip));
        }
        (Column::Eight(from), Place::Eight(to)) => {
            if dtype == DType::F64 && from.iter().any(|&x| x == 1 << 63 || f64::from_bits(x).is_nan()) {
                return false;
            }
            let flip = if descending { u64::MAX } else { 0 };
            sorted(from, to, |x| key64(dtype, x) ^ flip, |key: u64| element64(dtype, key ^ flip));
        }
        _ => unreachable!("a sorted column has the type of the column"),
    }
    true
}

/// The places of a row in the order of one key; where keys are equal, in the order that they had before.
fn by_key(
    dtype: DType,
    keys: Column<'_>,
    before: Option<&[u32]>,
    len: usize,
    kept: usize,
    descending: bool,
) -> Vec<u32> {
    fn places<K: Keyed>(
        before: Option<&[u32]>,
        len: usize,
        kept: usize,
        key: impl Fn(usize) -> K,
    ) -> Vec<u32> {
        let placed = |place: u32| Placed { key: key(place as usize), place };
        let mut all: Vec<Placed<K>> = match before {
            Some(before) => before.iter().map(|&place| placed(place)).collect(),
            None => (0..len as u32).map(placed).collect(),
        };
        // Which of equal keys come first, selection knows from their places only.
        if before.is_none() && kept < len / FEW {
            all = radix::smallest(all, kept);
        } else {
            radix::sort(&mut all);
            all.truncate(kept);
        }
        all.iter().map(|x| x.place).collect()
    }
    let (flip32, flip64) = if descending { (u32::MAX, u64::MAX) } else { (0, 0) };
    match keys {
        Column::One(keys) => places(before, len, kept, |i| keys[i] ^ flip32 as u8),
        Column::Four(keys) => places(before, len, kept, |i| key32(dtype, keys[i]) ^ flip32),
        Column::Eight(keys) => places(before, len, kept, |i| key64(dtype, keys[i]) ^ flip64),
    }
}

/// An unsigned integer of a width, ordered as elements of a type are, and back where that is possible. NaN is larger
/// than any number, and zeros of both signs are equal.
macro_rules! keys {
    ($key:ident $element:ident $bits:ident $float:ident $Float:ident $Signed:ident) => {
        fn $key(dtype: DType, bits: $bits) -> $bits {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            match dtype {
                DType::$Signed => bits ^ SIGN,
                DType::$Float if $float::from_bits(bits).is_nan() => $bits::MAX,
                DType::$Float if bits << 1 == 0 => SIGN,
                DType::$Float if bits & SIGN != 0 => !bits,
                DType::$Float => bits | SIGN,
                _ => bits,
            }
        }

        fn $element(dtype: DType, key: $bits) -> $bits {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            match dtype {
                DType::$Signed => key ^ SIGN,
                DType::$Float if key & SIGN != 0 => key ^ SIGN,
                DType::$Float => !key,
                _ => key,
            }
        }
    };
}
keys!(key32 element32 u32 f32 F32 I32);
keys!(key64 element64 u64 f64 F64 I64);
