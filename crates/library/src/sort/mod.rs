//! Sorting rows of several columns by their keys.
//!
//! Keys are sorted as unsigned integers in the same order: by vectors where the processor has them, else by their
//! digits. A column that is not a key follows by the places that its row came from.
//!
//! Invariant: the order is total, by keys and then by places, so that a result does not depend on how the work was
//! split. Nothing here panics on data.

mod merge;
mod order;
mod radix;
mod shared;
mod vector;

use std::mem::MaybeUninit;

use tracewell_array::DType;
use tracewell_kernel::SortRows;

use crate::{lanes, pool};
use order::{Order, Word};
use radix::Placed;

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
        rayon::join(below, above);
    } else {
        below();
        above();
    }
}

/// Sorts one row.
fn one(sort: &SortRows, types: &[DType], row: &[Column<'_>], to: &mut [Place<'_>]) {
    if let ([from], [to]) = (row, &mut *to)
        && sort.kept == sort.len
    {
        return alone(types[0], *from, to, sort.descending);
    }
    let mut places: Vec<u32> = Vec::new();
    for key in (0..sort.keys).rev() {
        let kept = if key == 0 { sort.kept } else { sort.len };
        let before = (key + 1 < sort.keys).then_some(places.as_slice());
        places = by_key(types[key], row[key], before, kept, sort.descending);
    }
    for (column, to) in row.iter().zip(to) {
        column.put(to, places.iter().copied());
    }
}

/// Sorts a row that is nothing but its key: keys, from which elements come back.
fn alone(dtype: DType, from: Column<'_>, to: &mut Place<'_>, descending: bool) {
    fn sorted<K: Word>(order: Order<K>, from: &[K], to: &mut [MaybeUninit<K>]) {
        let keys = shared::fill(to, from, |x| order.key(x));
        if !K::sort_by_vectors(keys) {
            let mut spare = vec![K::default(); keys.len()];
            if merge::sort(keys, &mut spare) {
                keys.copy_from_slice(&spare);
            }
        }
        let alike = order.alike().map(|shared| (shared, keys.partition_point(|&key| key < shared)));
        let alike: Vec<(K, usize)> = alike.filter(|&(shared, at)| keys.get(at) == Some(&shared)).collect();
        shared::each(keys, |to| *to = order.element(*to));
        // Keys do not say which zero or NaN an element was. These are put again, in the order that they had.
        for (shared, at) in alike {
            let elements = from.iter().filter(|&&x| order.key(x) == shared);
            keys[at..].iter_mut().zip(elements).for_each(|(to, &x)| *to = x);
        }
    }
    match (from, to) {
        (Column::One(from), Place::One(to)) => sorted(Order::new(dtype, descending), from, to),
        (Column::Four(from), Place::Four(to)) => sorted(Order::new(dtype, descending), from, to),
        (Column::Eight(from), Place::Eight(to)) => sorted(Order::new(dtype, descending), from, to),
        _ => unreachable!("a sorted column has the type of the column"),
    }
}

/// As [`by_key`], of keys that fill one word with the number of their place.
fn packed<K: Word>(len: usize, placed: impl Fn(u32) -> Placed<K> + Sync, kept: usize) -> Vec<u32> {
    let mut all = shared::collect(len, |at| placed(at).key.key() << 32 | u64::from(at));
    u64::sort_by_vectors(&mut all);
    shared::collect(kept, |at| placed(all[at as usize] as u32).place)
}

/// The places of a row in the order of one key; where keys are equal, in the order that they had before.
fn by_key(dtype: DType, keys: Column<'_>, before: Option<&[u32]>, kept: usize, descending: bool) -> Vec<u32> {
    fn places<K: Word>(order: Order<K>, keys: &[K], before: Option<&[u32]>, kept: usize) -> Vec<u32> {
        let len = keys.len();
        let placed = |place: u32| Placed { key: order.key(keys[place as usize]), place };
        // Which of equal keys come first, selection knows from their places only.
        if before.is_none() && kept < len / FEW {
            let few = merge::smallest(&placed, len as u32, kept);
            return few.iter().map(|x| x.place).collect();
        }
        if size_of::<K>() == size_of::<u32>() && lanes::is_able() {
            return packed(len, |at| placed(before.map_or(at, |before| before[at as usize])), kept);
        }
        let mut all: Vec<Placed<K>> = match before {
            Some(before) => before.iter().map(|&place| placed(place)).collect(),
            None => (0..len as u32).map(placed).collect(),
        };
        let mut spare = vec![Placed::default(); all.len()];
        if merge::sort(&mut all, &mut spare) {
            all = spare;
        }
        all.truncate(kept);
        all.iter().map(|x| x.place).collect()
    }
    match keys {
        Column::One(keys) => places(Order::new(dtype, descending), keys, before, kept),
        Column::Four(keys) => places(Order::new(dtype, descending), keys, before, kept),
        Column::Eight(keys) => places(Order::new(dtype, descending), keys, before, kept),
    }
}
