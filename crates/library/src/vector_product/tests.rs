//! Products with vectors, compared with plain sums and with themselves.

use super::*;

type Way<T> = fn(&mut [MaybeUninit<T>], Matrix<'_, T>, &[T]);

/// What a processor may do: the newest way it is able to, that of processors without AVX-512, that of the oldest.
fn ways<T: Real + Float>() -> [Way<T>; 3] {
    [product, plain::product, |out, matrix, vector| plain::walk(out, matrix, vector, T::plain)]
}

/// A product whose operands have neighbours that are `outside`. Those of the result must not change.
fn surrounded<T: Real + PartialEq>(
    way: Way<T>,
    rows: usize,
    matrix: Matrix<'_, T>,
    vector: &[T],
    outside: T,
) -> Vec<T> {
    const AROUND: usize = 17;
    let around = |inside: &[T]| [&[outside; AROUND], inside, &[outside; AROUND]].concat();
    let (elements, x) = (around(matrix.elements), around(vector));
    let matrix = Matrix { elements: &elements[AROUND..][..matrix.elements.len()], ..matrix };
    let mut out = vec![MaybeUninit::new(T::ZERO); rows + 2 * AROUND];
    out[AROUND..][..rows].fill(MaybeUninit::new(outside));
    way(&mut out[AROUND..][..rows], matrix, &x[AROUND..][..vector.len()]);
    // SAFETY: all were initialised above.
    let out: Vec<T> = out.into_iter().map(|x| unsafe { x.assume_init() }).collect();
    let (before, rest) = out.split_at(AROUND);
    let (inside, after) = rest.split_at(rows);
    assert!(before.iter().chain(after).all(|&x| x == T::ZERO), "only the result is written");
    inside.to_vec()
}

/// Rows and columns of matrices, and how many elements are between those that lie in memory one after the other.
fn sizes() -> Vec<(usize, usize, usize)> {
    let lengths = || (0..=70).chain([100, 128, 300]);
    let few = (1..=20).flat_map(|m| lengths().map(move |k| (m, k, m % 3)));
    let many = lengths().flat_map(|m| [1, 2, 7, 15, 33, 100].map(|k| (m, k, 3 * (k % 2))));
    few.chain(many).chain([(65, 64, 0), (128, 128, 0), (129, 300, 1), (1100, 9, 2), (100, 1310, 0)]).collect()
}

/// Calls `test` with each size, both ways that a matrix lies in memory: rows, columns, elements, along and down.
fn both_walks(test: impl Fn(usize, usize, usize, usize, usize)) {
    for (m, k, between) in sizes() {
        // Rows of nothing are nowhere.
        let between = if k == 0 { 0 } else { between };
        for (along, down) in [(k + between, 1), (1, m + between)] {
            let reach = if m * k == 0 { 0 } else { (m - 1) * along + (k - 1) * down + 1 };
            test(m, k, reach, along, down);
        }
    }
}

fn agrees<T: Real + Float + PartialEq + std::fmt::Debug>(number: fn(f64) -> T) {
    let outside = number(f64::NAN);
    both_walks(|m, k, reach, along, down| {
        let integer = |i: usize| (i * 37 % 101) as f64 - 50.0;
        let mut elements = vec![outside; reach];
        for (i, p) in (0..m).flat_map(|i| (0..k).map(move |p| (i, p))) {
            elements[i * along + p * down] = number(integer(i * k + p));
        }
        let vector: Vec<T> = (0..k).map(|p| number(integer(p))).collect();
        // Integers of this size are exact, in every order.
        let sum = |i: usize| (0..k).map(|p| integer(i * k + p) * integer(p)).sum();
        let expected: Vec<T> = (0..m).map(|i| number(sum(i))).collect();
        for way in ways() {
            let found = surrounded(way, m, Matrix { elements: &elements, along, down }, &vector, outside);
            assert_eq!(found, expected, "{m} by {k}, {along} along and {down} down");
        }
    });
}

/// Elements between rows and around operands are not numbers: whoever takes them for a part of a sum is found out.
#[test]
fn both_walks_agree_with_plain_sums() {
    agrees(|x| x as f32);
    agrees(|x| x);
}

fn is_itself_alone<T: Real + Float + PartialEq + std::fmt::Debug>(number: fn(f64) -> T) {
    let zero = number(0.0);
    both_walks(|m, k, reach, along, down| {
        // The fractions of multiples of an irrational number: no sum is exact.
        let fraction = |i: usize| number((i as f64 * 0.618_033_988_749_894_9).fract() - 0.3);
        let elements: Vec<T> = (0..reach).map(fraction).collect();
        let vector: Vec<T> = (0..k).map(|p| fraction(7 * p + 3)).collect();
        for way in ways() {
            let part = |start: usize, len: usize| {
                let elements = elements.get(start * along..).unwrap_or_default();
                surrounded(way, len, Matrix { elements, along, down }, &vector, zero)
            };
            let whole = part(0, m);
            for len in [1, 2, 3, 5, 8, 20, 40] {
                for start in (0..m).step_by(len).take(if len == 1 { 40 } else { 3 }) {
                    let len = len.min(m - start);
                    let expected = &whole[start..][..len];
                    assert_eq!(
                        part(start, len),
                        expected,
                        "{len} from {start} on of {m} by {k}, {along} along, {down} down"
                    );
                }
            }
        }
    });
}

#[test]
fn an_element_does_not_depend_on_which_others_are_computed_with_it() {
    is_itself_alone(|x| x as f32);
    is_itself_alone(|x| x);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_matrix_that_is_too_small_is_refused() {
    let refused = std::panic::catch_unwind(|| {
        Matrix { elements: &[0f32; 11], along: 4, down: 1 }.check(3, 4);
    });
    let panic = refused.expect_err("11 elements are no matrix of 3 by 4");
    let message = panic.downcast_ref::<&str>().copied().unwrap_or_default();
    assert!(message.contains("a matrix has all its elements"), "{message}");
}
