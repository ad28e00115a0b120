//! Every element has the bits of a plain chain of fused multiply-adds.

use super::*;

trait Reference: Float + std::fmt::Debug {
    fn from_number(x: f64) -> Self;
    fn fused(self, by: Self, plus: Self) -> Self;
    fn bits(self) -> u64;
}

macro_rules! reference {
    ($($t:ident)*) => {$(
        impl Reference for $t {
            fn from_number(x: f64) -> $t { x as $t }
            fn fused(self, by: $t, plus: $t) -> $t { self.mul_add(by, plus) }
            // Of what is not a number only that it is none.
            fn bits(self) -> u64 { if self.is_nan() { u64::MAX } else { u64::from(self.to_bits()) } }
        }
    )*};
}
reference! { f32 f64 }

/// How a matrix lies: its rows in unit stride, its columns, neither, or its rows with gaps.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Rows,
    Columns,
    Neither,
    Gaps,
}

const LAYOUTS: [Layout; 4] = [Layout::Rows, Layout::Columns, Layout::Neither, Layout::Gaps];

impl Layout {
    fn strides(self, rows: usize, columns: usize) -> [usize; 2] {
        match self {
            Layout::Rows => [columns, 1],
            Layout::Columns => [1, rows],
            Layout::Neither => [2 * columns + 1, 2],
            Layout::Gaps => [columns + 5, 1],
        }
    }
}

/// A matrix that ends where its memory does.
struct Matrix<T> {
    elements: Vec<T>,
    strides: [usize; 2],
}

impl<T: Reference> Matrix<T> {
    fn new(layout: Layout, [rows, columns]: [usize; 2], element: fn(usize, usize) -> f64) -> Matrix<T> {
        let strides = layout.strides(rows, columns);
        let reach = match rows * columns {
            0 => 0,
            _ => (rows - 1) * strides[0] + (columns - 1) * strides[1] + 1,
        };
        let mut elements = vec![T::from_number(f64::NAN); reach];
        for row in 0..rows {
            for column in 0..columns {
                elements[row * strides[0] + column * strides[1]] = T::from_number(element(row, column));
            }
        }
        Matrix { elements, strides }
    }

    fn operand(&self) -> Operand<T> {
        Operand { at: self.elements.as_ptr(), row: self.strides[0], col: self.strides[1] }
    }
}

/// Elements of operands whose sums are rounded, by place. They do not depend on the sizes.
fn left(i: usize, p: usize) -> f64 {
    ((i * 7919 + p * 104_729) % 1013) as f64 * 0.37 - 180.0
}

fn right(p: usize, j: usize) -> f64 {
    ((p * 6007 + j * 7727) % 997) as f64 * 0.0131 - 6.0
}

/// The elements in rows.
fn expected<T: Reference>([m, n, k]: [usize; 3], start: f64) -> Vec<Vec<u64>> {
    let rows = |count: usize, element: fn(usize, usize) -> f64| -> Vec<Vec<T>> {
        (0..count).map(|i| (0..k).map(|p| T::from_number(element(i, p))).collect()).collect()
    };
    let (a, b) = (rows(m, left), rows(n, |j, p| right(p, j)));
    let sum = |a: &[T], b: &[T]| {
        a.iter().zip(b).fold(T::from_number(start), |sum, (&a, &b)| a.fused(b, sum)).bits()
    };
    a.iter().map(|a| b.iter().map(|b| sum(a, b)).collect()).collect()
}

/// What [`product`] makes of operands, into rows with some elements between them.
fn found<T: Reference>(
    [m, n, k]: [usize; 3],
    [a, b]: [&Matrix<T>; 2],
    gap: usize,
    start: Option<f64>,
) -> Vec<Vec<u64>> {
    let (row, mark) = (n + gap, T::from_number(12345.0));
    let mut c = vec![mark; (m - 1) * row + n];
    if let Some(start) = start {
        c.chunks_mut(row).for_each(|row| row[..n].fill(T::from_number(start)));
    }
    // SAFETY: the matrices have these sizes.
    unsafe { product([m, n, k], a.operand(), b.operand(), c.as_mut_ptr(), row, start.is_some()) };
    assert!(c.chunks(row).all(|row| row[n..].iter().all(|x| x.bits() == mark.bits())), "a gap is written");
    c.chunks(row).map(|row| row[..n].iter().map(|x| x.bits()).collect()).collect()
}

/// Checks a product against the first rows and columns of what is expected.
fn check<T: Reference>([m, n, k]: [usize; 3], layouts: [Layout; 2], gap: usize, expected: &[Vec<u64>]) {
    let (a, b) = (Matrix::<T>::new(layouts[0], [m, k], left), Matrix::<T>::new(layouts[1], [k, n], right));
    let found = found([m, n, k], [&a, &b], gap, None);
    assert!(found.iter().zip(expected).all(|(found, row)| *found == row[..n]), "{m} {n} {k} {layouts:?}");
}

fn small_sizes<T: Reference>() {
    for k in [0, 1, 2, 3, 7, 16, 65, 300, 700] {
        let expected = expected::<T>([40, 40, k], 0.0);
        for m in 1..=40 {
            for n in 1..=40 {
                let layout = m + n * 3 + k;
                let layouts = [LAYOUTS[layout / 4 % 4], LAYOUTS[layout % 4]];
                check::<T>([m, n, k], layouts, k % 3, &expected);
            }
        }
    }
}

#[test]
fn small_products_have_the_bits_of_plain_sums() {
    if is_able() {
        small_sizes::<f32>();
        small_sizes::<f64>();
    }
}

fn all_layouts<T: Reference>() {
    let sizes = [
        [1, 1, 300],
        [2, 97, 1100],
        [5, 67, 300],
        [6, 128, 1100],
        [11, 96, 600],
        [13, 16, 300],
        [29, 133, 700],
        [64, 64, 64],
        [97, 2, 300],
        [200, 16, 30],
        [75, 300, 20],
        [31, 600, 520],
        [600, 20, 9],
        [1100, 3, 40],
        [3, 1100, 40],
    ];
    for sizes in sizes {
        let expected = expected::<T>(sizes, 0.0);
        for left in LAYOUTS {
            for right in LAYOUTS {
                check::<T>(sizes, [left, right], 3, &expected);
            }
        }
    }
}

/// Rows of the right operand that begin with lines of a cache are read where they lie, if it is small or there are few
/// rows of the result, or copied.
fn whole_lines<T: Reference>() {
    let lanes = 64 / size_of::<T>();
    let small = [[23, 15, 160], [39, 4, 64], [40, 4, 130], [40, 9, 131], [95, 15, 160]];
    let deep = [[6, 15, 600], [23, 15, 600], [30, 15, 600], [95, 15, 600], [96, 15, 600]];
    for [m, n, k] in small.into_iter().chain(deep) {
        let sizes = [m, n * lanes, k];
        let a = Matrix::<T>::new(Layout::Rows, [m, k], left);
        let mut b = Matrix::<T>::new(Layout::Rows, [k, sizes[1]], right);
        b.elements.splice(0..0, vec![T::from_number(f64::NAN); lanes]);
        let start = b.elements.as_ptr().align_offset(64);
        b.elements.rotate_left(lanes - start);
        let (at, mut c) = (b.elements[start..].as_ptr(), vec![T::from_number(f64::NAN); m * sizes[1]]);
        // SAFETY: the matrices have these sizes.
        unsafe {
            product(sizes, a.operand(), Operand { at, ..b.operand() }, c.as_mut_ptr(), sizes[1], false)
        };
        let found: Vec<Vec<u64>> =
            c.chunks(sizes[1]).map(|row| row.iter().map(|x| x.bits()).collect()).collect();
        assert!(found == expected::<T>(sizes, 0.0), "{sizes:?}");
    }
}

#[test]
fn rows_of_whole_lines_have_the_bits_of_plain_sums() {
    if is_able() {
        whole_lines::<f32>();
        whole_lines::<f64>();
    }
}

#[test]
fn every_layout_has_the_bits_of_plain_sums() {
    if is_able() {
        all_layouts::<f32>();
        all_layouts::<f64>();
    }
}

#[test]
fn stripes_have_the_bits_of_the_whole() {
    if !is_able() {
        return;
    }
    for (sizes, layouts) in [
        ([150, 140, 520], [Layout::Rows, Layout::Rows]),
        ([60, 300, 400], [Layout::Rows, Layout::Columns]),
        ([300, 60, 400], [Layout::Columns, Layout::Rows]),
        ([150, 140, 300], [Layout::Columns, Layout::Columns]),
    ] {
        let [m, n, k] = sizes;
        let a = Matrix::<f32>::new(layouts[0], [m, k], left);
        let b = Matrix::<f32>::new(layouts[1], [k, n], right);
        let whole = found(sizes, [&a, &b], 0, None);
        for [high, wide] in [[1, n], [m, 1], [7, 50], [33, n], [m, 65]] {
            let mut c = vec![f32::NAN; m * n];
            for i in (0..m).step_by(high) {
                for j in (0..n).step_by(wide) {
                    let part = [high.min(m - i), wide.min(n - j), k];
                    let (a, b) = (a.operand().part(i, 0), b.operand().part(0, j));
                    // SAFETY: a part of a product that has these sizes.
                    unsafe { product(part, a, b, c[i * n + j..].as_mut_ptr(), n, false) };
                }
            }
            let parts: Vec<Vec<u64>> =
                c.chunks(n).map(|row| row.iter().map(|x| x.bits()).collect()).collect();
            assert!(parts == whole, "{sizes:?} {layouts:?} by {high} and {wide}");
        }
    }
}

#[test]
fn sums_go_on_from_what_is_there() {
    if !is_able() {
        return;
    }
    for sizes in [[3, 5, 0], [20, 33, 9], [16, 50, 600], [40, 7, 300]] {
        for layout in LAYOUTS {
            let [m, n, k] = sizes;
            let a = Matrix::<f32>::new(Layout::Columns, [m, k], left);
            let b = Matrix::<f32>::new(layout, [k, n], right);
            let found = found(sizes, [&a, &b], 2, Some(0.7));
            assert!(found == expected::<f32>(sizes, 0.7), "{sizes:?} {layout:?}");
        }
    }
}

#[test]
fn what_is_not_finite_stays_in_its_row_and_column() {
    if !is_able() {
        return;
    }
    let left = |i: usize, p: usize| match (i, p) {
        (36, 29) => f64::NAN,
        (5, 3) => f64::INFINITY,
        _ => 1.0,
    };
    let right = |p: usize, j: usize| match (p, j) {
        (3, 44) => 0.0,
        (17, 20) => f64::NEG_INFINITY,
        _ => 1.0,
    };
    let expected = |i: usize, j: usize| match (i, j) {
        (36, _) | (5, 20 | 44) => f32::NAN,
        (5, _) => f32::INFINITY,
        (_, 20) => f32::NEG_INFINITY,
        (_, 44) => 29.0,
        _ => 30.0,
    };
    for layouts in LAYOUTS.into_iter().flat_map(|a| LAYOUTS.map(|b| [a, b])) {
        let (sizes, [m, n, k]) = ([37, 45, 30], [37, 45, 30]);
        let a = Matrix::<f32>::new(layouts[0], [m, k], left);
        let b = Matrix::<f32>::new(layouts[1], [k, n], right);
        for (i, row) in found(sizes, [&a, &b], 0, None).iter().enumerate() {
            for (j, &found) in row.iter().enumerate() {
                assert_eq!(found, expected(i, j).bits(), "{i} {j} {layouts:?}");
            }
        }
    }
}
