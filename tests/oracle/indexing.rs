//! Reading and changing elements where arrays of integers say.

use tracewell::prelude::*;

use super::{Composition, at, of, wave};

pub(super) const ALL: &[Composition] = &[
    // Reading.
    of("take_rows", || at([5, 3], 0.5), |x| x.take(Array::from([4, 0, -1, 2]), 0).square()),
    of("take_last", || at([3, 4], 0.5), |x| x.take(Array::from([[0, 2], [1, 1]]), -1).square()),
    of("take_one", || at([4, 3], 0.5), |x| x.take(2, 0)),
    of("take_outside_filled", || at([5], 0.5), |x| x.at(&Array::from([0, 7, -6, 2, -1])).fill(0.25).get()),
    of(
        "take_outside_clipped",
        || at([5], 0.5),
        |x| x.at(&Array::from([0, 7, -9, 2, -1])).clip().get().square(),
    ),
    of("take_outside_marked", || at([5], 0.5), |x| x.take(Array::from([0, 5, -6, -5]), 0)),
    of(
        "along_axis",
        || at([3, 4], 0.5),
        |x| x.take_along_axis(&Array::from([[0, 3], [2, 2], [-1, 1]]), 1).square(),
    ),
    of(
        "along_first_axis",
        || at([3, 4], 0.5),
        |x| x.take_along_axis(&Array::from([[2, 0, 1, 0], [2, 1, 1, -1]]), 0).powi(3),
    ),
    of("along_repeated", || at([3, 4], 0.5), |x| x.take_along_axis(&Array::from([[3, 0, 3]]), 1)),
    of(
        "along_repeated_array",
        || at([1, 4], 0.5),
        |x| x.take_along_axis(&Array::from([[3, 0], [1, 2], [1, 1]]), 1),
    ),
    of(
        "pairs",
        || at([3, 4], 0.5),
        |x| x.slice((&Array::from([0, 2, 0]), &Array::from([1, -1, 1]))).square(),
    ),
    of("outer_pairs", || at([3, 4], 0.5), outer_pairs),
    of(
        "pairs_that_stand_apart",
        || at([3, 2, 4], 0.5),
        |x| x.slice(s![Array::from([0, 2, 1]), .., Array::from([3, 3, 0])]),
    ),
    of(
        "pairs_side_by_side",
        || at([2, 3, 4], 0.5),
        |x| x.slice(s![.., Array::from([0, 2, 1]), Array::from([3, 3, 0])]),
    ),
    of("places_and_a_range", || at([3, 5], 0.5), |x| x.slice(s![Array::from([2, 0, 2]), 1..4])),
    of("places_and_a_step", || at([3, 5], 0.5), |x| x.slice(s![Array::from([2, 0, 2]), ..;2])),
    of("places_backwards", || at([5, 3], 0.5), |x| x.slice(s![..;-1, Array::from([[2, 0], [1, 2]])])),
    of("number_and_places", || at([2, 3, 4], 0.5), |x| x.slice(s![1, .., Array::from([3, 0])])),
    of("number_beside_places", || at([2, 3, 4], 0.5), |x| x.slice(s![.., -1, Array::from([3, 0])])),
    of(
        "embedding",
        || at([4, 3], 0.5),
        |table| table.take(Array::from([[0, 2, 2], [3, 0, 2]]), 0).tanh().mean_axes(&[1]),
    ),
    of("permuted_and_back", || at([6], 0.5), permuted_and_back),
    of("computed_places", || at([3, 5], 0.5), |x| x.square().take(kinds(x), -1)),
    of(
        "largest_of_each_row",
        || at([3, 4], 0.5),
        |x| vmap(|row: &Array| row.take(row.argmax(0), 0).square())(x),
    ),
    of(
        "many_places_in_one_array",
        || at([4], 0.5),
        |x| vmap(|i: &Array| (x.take(i, 0) * x.take(i.flip(&[0]), 0)).sum())(&three_pairs()),
    ),
    of("places_under_two_maps", || at([3, 4], 0.5), places_under_two_maps),
    // Updates at places that are known.
    of("set_a_range", || at([6], 0.5), |x| x.at(s![1..4]).set(x.slice(s![3..]).square())),
    of("add_at_steps", || at([6], 0.5), |x| x.at(s![..;2]).add(x.slice(s![..3]).square())),
    of("multiply_backwards", || at([6], 0.5), |x| x.at(s![1..5;-2]).mul(x.slice(s![..2]))),
    of("set_a_column", || at([3, 4], 0.5), |x| x.at(s![.., -2]).set(x.slice(s![.., 0]) * x.slice(s![.., 1]))),
    of("smaller_in_a_part", || at([3, 4], 0.5), |x| x.at(s![1.., ..;3]).min(0.1)),
    of("larger_in_a_part", || at([3, 4], 0.5), |x| x.at(s![.., 1..3]).max(x.slice(s![.., ..1]))),
    of("masked", || at([3, 4], 0.5), |x| x.at(&x.gt(0.0)).mul(x.slice(s![0, 0]))),
    // Updates at computed places.
    of("set_places", || at([5], 0.5), |x| x.at(&Array::from([3, 0, -1])).set(x.slice(s![..3]).square())),
    of(
        "set_places_twice",
        || at([5], 0.5),
        |x| x.at(&Array::from([3, 0, 3, 3])).set(x.slice(s![..4]).square()),
    ),
    of("set_rows", || at([4, 3], 0.5), |x| x.at(&Array::from([2, 0])).set(x.slice(s![..2]).sin())),
    of(
        "add_rows",
        || at([5, 2], 0.5),
        |x| x.at(&Array::from([3, 0, 3, -2])).add(x.slice(s![..4]).square()).square(),
    ),
    of(
        "add_pairs",
        || at([3, 4], 0.5),
        |x| {
            let update = x.slice(s![0, ..3]) * x.slice(s![1, ..3]);
            x.at((&Array::from([0, 2, 0]), &Array::from([1, -1, 1]))).add(&update)
        },
    ),
    of(
        "add_to_columns",
        || at([3, 4], 0.5),
        |x| x.at(s![.., Array::from([0, 2, 0])]).add(x.slice(s![.., 1..]).square()),
    ),
    of(
        "add_to_a_range",
        || at([3, 5], 0.5),
        |x| x.at(s![Array::from([0, 2, 0]), 1..4]).add(x.slice(s![.., ..3]).square()),
    ),
    of(
        "add_to_steps",
        || at([3, 5], 0.5),
        |x| x.at(s![Array::from([0, 2, 0]), ..;2]).add(x.slice(s![.., ..3]).square()),
    ),
    of("multiply_places", || at([5], 0.5), |x| x.at(&Array::from([3, 0, 1])).mul(x.slice(s![..3]).cos())),
    of(
        "multiply_places_twice",
        || 1.5 + at([5], 0.5),
        |x| x.at(&Array::from([3, 0, 3, 3])).mul(x.slice(s![..4]).cos()),
    ),
    of("multiply_by_one_zero", || at([4], 0.5) * Array::from([1.0, 0.0, 1.0, 1.0]), multiply_by_zeros),
    of("multiply_by_two_zeros", || at([4], 0.5) * Array::from([0.0, 0.0, 1.0, 1.0]), multiply_by_zeros),
    of(
        "smallest_at_places",
        || at([5], 0.5),
        |x| x.at(&Array::from([3, 0, 3, 1])).min(&(1.5 * x.slice(s![1..]))),
    ),
    of(
        "largest_at_places",
        || at([5], 0.5),
        |x| x.at(&Array::from([3, 0, 3, 1])).max(x.slice(s![1..]).square()).square(),
    ),
    of(
        "largest_of_equals",
        || Array::from([1.0, 2.0, 2.0, 0.5]),
        |x| x.at(&Array::from([1, 1, 3])).max(x.slice(s![1..])),
    ),
    of("add_outside", || at([4], 0.5), |x| x.at(&outside()).add(x.square())),
    of("add_outside_clipped", || at([4], 0.5), |x| x.at(&outside()).clip().add(x.square())),
    of("set_outside", || at([4], 0.5), |x| x.at(&Array::from([9, 0, -5])).set(x.slice(s![..3]).square())),
    of("multiply_outside", || at([4], 0.5), |x| x.at(&Array::from([9, 0, -5, 0])).mul(x)),
    of(
        "put_along_axis",
        || at([3, 4], 0.5),
        |x| x.at_along(&Array::from([[0, 3], [2, 1], [-1, 1]]), 1).set(x.slice(s![.., ..2]).square()),
    ),
    of(
        "add_along_axis",
        || at([3, 4], 0.5),
        |x| x.at_along(&Array::from([[0, 0], [2, 1], [-1, 1]]), 1).add(x.slice(s![.., ..2]).square()),
    ),
    of("segments", || at([6, 2], 0.5), |x| segment_sum(&x.square(), &Array::from([0, 2, 0, 1, 2, 7]), 4)),
    of("one_hot_rows", || at([3, 2], 0.5), |x| one_hot(&Array::from([2, 0, 0, 1]), 3, x.dtype()).dot(x)),
    of("histogram", || at([3, 5], 0.5), |row| zeros(row).at(&kinds(row)).add(row.square())),
    of("last_of_each_kind", || at([3, 5], 0.5), |row| zeros(row).at(&kinds(row)).set(row.square())),
    of("largest_of_each_kind", || at([3, 5], 0.5), |row| zeros(row).at(&kinds(row)).max(row.square())),
    of(
        "many_updates_of_one_array",
        || at([4], 0.5),
        |x| vmap(|i: &Array| x.at(i).add(x.slice(s![..2])))(&three_pairs()),
    ),
    of(
        "positive_ones",
        || at([6], 0.5),
        |x| {
            let places = x.gt(0.0).nonzero(4);
            x.at(&places[0]).fill(0.0).get().square()
        },
    ),
];

fn outer_pairs(x: &Array) -> Array {
    let (i, j) = (Array::from([2, 0]).expand(1), Array::from([[0, 3, 0]]));
    x.slice((&i, &j)) * wave([2, 3], 0.2, x)
}

fn permuted_and_back(x: &Array) -> Array {
    let order = Array::from([3, 5, 0, 2, 1, 4]);
    Array::zeros([6], x.dtype()).at(&order).set(x.take(&order, 0).sin()) * x
}

fn places_under_two_maps(x: &Array) -> Array {
    let places = Array::from([[0, 3], [1, 1]]);
    vmap(|row: &Array| vmap(|i: &Array| row.take(i, 0).square())(&places))(x)
}

fn multiply_by_zeros(x: &Array) -> Array {
    (x + 2.0).at(&Array::from([3, 3, 3, 0])).mul(x)
}

/// Numbers from 0 to 3 for elements from -1 to 1.
fn kinds(x: &Array) -> Array {
    (2.0 * x + 2.0).floor().convert(I32)
}

fn zeros(like: &Array) -> Array {
    Array::zeros([4], like.dtype())
}

fn three_pairs() -> Array {
    Array::from([[0, 1], [3, 3], [2, -4]])
}

fn outside() -> Array {
    Array::from([9, 0, -5, -4])
}
