"""Makes indexing.txt: values and derivatives of indexing, by JAX. See make.py, whose rows these are like.

    python tests/oracle/indexing.py
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np

from rows import ROWS, group, wave, write

indexing = group("indexing")
ALL = "value grad jvp hvp jacrev"
EACH = "each each_grad"


def ints(*numbers):
    return np.array(numbers)


# Reading.


@indexing(wave((5, 3), 0.5), ALL)
def take_rows(x):
    return jnp.take(x, ints(4, 0, -1, 2), axis=0) ** 2


@indexing(wave((3, 4), 0.5), ALL + " " + EACH)
def take_last(x):
    return jnp.take(x, ints([0, 2], [1, 1]), axis=-1) ** 2


@indexing(wave((4, 3), 0.5), "value grad jacfwd")
def take_one(x):
    return jnp.take(x, 2, axis=0)


@indexing(wave((5,), 0.5), "value grad jvp")
def take_outside_filled(x):
    return x.at[ints(0, 7, -6, 2, -1)].get(mode="fill", fill_value=0.25)


@indexing(wave((5,), 0.5), "value grad jvp")
def take_outside_clipped(x):
    return x.at[ints(0, 7, -9, 2, -1)].get(mode="clip") ** 2


@indexing(wave((5,), 0.5), "value")
def take_outside_marked(x):
    return jnp.take(x, ints(0, 5, -6, -5))


@indexing(wave((3, 4), 0.5), ALL)
def along_axis(x):
    return jnp.take_along_axis(x, ints([0, 3], [2, 2], [-1, 1]), axis=1) ** 2


@indexing(wave((3, 4), 0.5), "value grad hvp")
def along_first_axis(x):
    return jnp.take_along_axis(x, ints([2, 0, 1, 0], [2, 1, 1, -1]), axis=0) ** 3


@indexing(wave((3, 4), 0.5), "value grad")
def along_repeated(x):
    return jnp.take_along_axis(x, ints([3, 0, 3]).reshape(1, 3), axis=1)


@indexing(wave((1, 4), 0.5), "value grad")
def along_repeated_array(x):
    return jnp.take_along_axis(x, ints([3, 0], [1, 2], [1, 1]), axis=1)


@indexing(wave((3, 4), 0.5), "value grad hvp")
def pairs(x):
    return x[ints(0, 2, 0), ints(1, -1, 1)] ** 2


@indexing(wave((3, 4), 0.5), "value grad jvp")
def outer_pairs(x):
    return x[ints(2, 0)[:, None], ints(0, 3, 0)[None, :]] * wave((2, 3), 0.2)


@indexing(wave((3, 2, 4), 0.5), "value grad")
def pairs_that_stand_apart(x):
    return x[ints(0, 2, 1), :, ints(3, 3, 0)]


@indexing(wave((2, 3, 4), 0.5), "value grad")
def pairs_side_by_side(x):
    return x[:, ints(0, 2, 1), ints(3, 3, 0)]


@indexing(wave((3, 5), 0.5), "value grad")
def places_and_a_range(x):
    return x[ints(2, 0, 2), 1:4]


@indexing(wave((3, 5), 0.5), "value grad")
def places_and_a_step(x):
    return x[ints(2, 0, 2), ::2]


@indexing(wave((5, 3), 0.5), "value grad")
def places_backwards(x):
    return x[::-1, ints([2, 0], [1, 2])]


@indexing(wave((2, 3, 4), 0.5), "value grad")
def number_and_places(x):
    return x[1, :, ints(3, 0)]


@indexing(wave((2, 3, 4), 0.5), "value grad")
def number_beside_places(x):
    return x[:, -1, ints(3, 0)]


@indexing(wave((4, 3), 0.5), ALL)
def embedding(table):
    words = jnp.take(table, ints([0, 2, 2], [3, 0, 2]), axis=0)
    return jnp.tanh(words).mean(axis=1)


@indexing(wave((6,), 0.5), "value grad hvp")
def permuted_and_back(x):
    order = ints(3, 5, 0, 2, 1, 4)
    y = jnp.sin(x[order])
    return jnp.zeros(6).at[order].set(y) * x


@indexing(wave((3, 5), 0.5), "value grad " + EACH)
def computed_places(x):
    places = jnp.floor(2 * x + 2).astype(int)
    return jnp.take(x * x, places, axis=-1)


@indexing(wave((3, 4), 0.5), "value grad")
def largest_of_each_row(x):
    return jax.vmap(lambda row: row[jnp.argmax(row)] ** 2)(x)


@indexing(wave((4,), 0.5), "value grad hvp")
def many_places_in_one_array(x):
    return jax.vmap(lambda i: (x[i] * x[i[::-1]]).sum())(ints([0, 1], [3, 3], [2, -4]))


@indexing(wave((3, 4), 0.5), "value grad")
def places_under_two_maps(x):
    each = jax.vmap(jax.vmap(lambda row, i: jnp.take(row, i) ** 2, (None, 0)), (0, None))
    return each(x, ints([0, 3], [1, 1]))


# Updates at places that are known.


@indexing(wave((6,), 0.5), ALL)
def set_a_range(x):
    return x.at[1:4].set(x[3:] ** 2)


@indexing(wave((6,), 0.5), "value grad hvp")
def add_at_steps(x):
    return x.at[::2].add(x[:3] ** 2)


@indexing(wave((6,), 0.5), "value grad")
def multiply_backwards(x):
    return x.at[4:0:-2].multiply(x[:2])


@indexing(wave((3, 4), 0.5), "value grad")
def set_a_column(x):
    return x.at[:, -2].set(x[:, 0] * x[:, 1])


@indexing(wave((3, 4), 0.5), "value grad")
def smaller_in_a_part(x):
    return x.at[1:, ::3].min(0.1)


@indexing(wave((3, 4), 0.5), "value grad")
def larger_in_a_part(x):
    return x.at[..., 1:3].max(x[:, :1])


@indexing(wave((3, 4), 0.5), "value grad")
def masked(x):
    return jnp.where(x > 0, x * x[0, 0], x)


# Updates at computed places.


@indexing(wave((5,), 0.5), ALL)
def set_places(x):
    return x.at[ints(3, 0, -1)].set(x[:3] ** 2)


@indexing(wave((5,), 0.5), "value grad jvp hvp")
def set_places_twice(x):
    return x.at[ints(3, 0, 3, 3)].set(x[:4] ** 2)


@indexing(wave((4, 3), 0.5), "value grad")
def set_rows(x):
    return x.at[ints(2, 0)].set(jnp.sin(x[:2]))


@indexing(wave((5, 2), 0.5), ALL)
def add_rows(x):
    return (x.at[ints(3, 0, 3, -2)].add(x[:4] ** 2)) ** 2


@indexing(wave((3, 4), 0.5), "value grad hvp")
def add_pairs(x):
    return x.at[ints(0, 2, 0), ints(1, -1, 1)].add(x[0, :3] * x[1, :3])


@indexing(wave((3, 4), 0.5), "value grad")
def add_to_columns(x):
    return x.at[:, ints(0, 2, 0)].add(x[:, 1:] ** 2)


@indexing(wave((3, 5), 0.5), "value grad")
def add_to_a_range(x):
    return x.at[ints(0, 2, 0), 1:4].add(x[:, :3] ** 2)


@indexing(wave((3, 5), 0.5), "value grad")
def add_to_steps(x):
    return x.at[ints(0, 2, 0), ::2].add(x[:, :3] ** 2)


@indexing(wave((5,), 0.5), "value grad hvp")
def multiply_places(x):
    return x.at[ints(3, 0, 1)].multiply(jnp.cos(x[:3]), unique_indices=True)


@indexing(1.5 + wave((5,), 0.5), "value grad jvp hvp")
def multiply_places_twice(x):
    y = x
    for k, i in enumerate((3, 0, 3, 3)):
        y = y.at[i].multiply(jnp.cos(x[k]), unique_indices=True)
    return y


@indexing(wave((4,), 0.5) * ints(1, 0, 1, 1), "value grad")
def multiply_by_one_zero(x):
    y = x + 2
    for k, i in enumerate((3, 3, 3, 0)):
        y = y.at[i].multiply(x[k], unique_indices=True)
    return y


@indexing(wave((4,), 0.5) * ints(0, 0, 1, 1), "value grad")
def multiply_by_two_zeros(x):
    y = x + 2
    for k, i in enumerate((3, 3, 3, 0)):
        y = y.at[i].multiply(x[k], unique_indices=True)
    return y


@indexing(wave((5,), 0.5), "value grad jvp")
def smallest_at_places(x):
    return x.at[ints(3, 0, 3, 1)].min(x[1:] * 1.5)


@indexing(wave((5,), 0.5), "value grad jvp hvp")
def largest_at_places(x):
    return (x.at[ints(3, 0, 3, 1)].max(x[1:] ** 2)) ** 2


@indexing(np.array([1.0, 2.0, 2.0, 0.5]), "value grad jvp")
def largest_of_equals(x):
    return x.at[ints(1, 1, 3)].max(x[1:])


@indexing(wave((4,), 0.5), "value grad jvp")
def add_outside(x):
    return x.at[ints(9, 0, -5, -4)].add(x**2)


@indexing(wave((4,), 0.5), "value grad")
def add_outside_clipped(x):
    return x.at[ints(9, 0, -5, -4)].add(x**2, mode="clip")


@indexing(wave((4,), 0.5), "value grad")
def set_outside(x):
    return x.at[ints(9, 0, -5)].set(x[:3] ** 2)


@indexing(wave((4,), 0.5), "value grad")
def multiply_outside(x):
    y = x
    for k, i in enumerate((9, 0, -5, 0)):
        y = y.at[i].multiply(x[k], unique_indices=True)
    return y


@indexing(wave((3, 4), 0.5), "value grad hvp")
def put_along_axis(x):
    places = ints([0, 3], [2, 1], [-1, 1])
    return jnp.put_along_axis(x, places, x[:, :2] ** 2, axis=1, inplace=False)


@indexing(wave((3, 4), 0.5), "value grad")
def add_along_axis(x):
    places = ints([0, 0], [2, 1], [-1, 1])
    rows = np.arange(3)[:, None]
    return x.at[rows, places].add(x[:, :2] ** 2)


@indexing(wave((6, 2), 0.5), ALL)
def segments(x):
    return jax.ops.segment_sum(x**2, ints(0, 2, 0, 1, 2, 7), 4)


@indexing(wave((3, 2), 0.5), "value grad")
def one_hot_rows(x):
    return jax.nn.one_hot(ints(2, 0, 0, 1), 3, dtype=x.dtype) @ x


@indexing(wave((3, 5), 0.5), EACH)
def histogram(row):
    places = jnp.floor(2 * row + 2).astype(int)
    return jnp.zeros(4).at[places].add(row**2)


@indexing(wave((3, 5), 0.5), EACH)
def last_of_each_kind(row):
    places = jnp.floor(2 * row + 2).astype(int)
    return jnp.zeros(4).at[places].set(row**2)


@indexing(wave((3, 5), 0.5), EACH)
def largest_of_each_kind(row):
    places = jnp.floor(2 * row + 2).astype(int)
    return jnp.zeros(4).at[places].max(row**2)


@indexing(wave((4,), 0.5), "value grad")
def many_updates_of_one_array(x):
    return jax.vmap(lambda i: x.at[i].add(x[:2]))(ints([0, 1], [3, 3], [2, -4]))


@indexing(wave((6,), 0.5), "value grad")
def positive_ones(x):
    (places,) = jnp.nonzero(x > 0, size=4, fill_value=6)
    return x.at[places].get(mode="fill", fill_value=0.0) ** 2


write(pathlib.Path(__file__).with_name("indexing.txt"), "indexing.py")
