//! Printing like NumPy: `[1. 2. 3.]`, aligned columns, the middle of a large tensor left out.
//!
//! Invariant: what is printed is what NumPy 2.4 prints with its default options, except that truth values are
//! Rust's, `true` and `false`. `{:.3}` asks for at most 3 digits after the point instead of 8.

use crate::digits::{FloatFormat, complex_text, scalar_text};
use crate::{Complex64, DType, Tensor};
use std::fmt;

/// Digits after the point, at most.
const PRECISION: usize = 8;
/// Columns in a line.
const WIDTH: usize = 75;
/// Elements in a tensor that is printed whole.
const THRESHOLD: usize = 1000;
/// Rows that remain at each end of a shortened axis.
const EDGE: usize = 3;

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render(self, 0, f.precision()))
    }
}

impl fmt::Debug for Tensor {
    /// The type before the elements: `f32[3] [1. 2. 3.]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = format!("{}{} ", self.dtype(), self.shape());
        let elements = render(self, head.len(), f.precision());
        write!(f, "{head}{elements}")
    }
}

/// The text of a tensor whose first line begins at column `indent`.
fn render(tensor: &Tensor, indent: usize, precision: Option<usize>) -> String {
    if tensor.rank() == 0 {
        let literal = tensor.literal(0);
        return match tensor.dtype() {
            dtype if dtype.is_float() => scalar_text(literal, precision),
            dtype if dtype.is_complex() => complex_text(literal, precision),
            _ => literal.to_string(),
        };
    }
    if tensor.is_empty() {
        return "[]".to_owned();
    }
    let axes: Vec<Axis> =
        tensor.shape().iter().map(|size| Axis::new(size, tensor.len() > THRESHOLD)).collect();
    let strides = tensor.shape().strides();
    let cell = cells(tensor, &visible(&axes, &strides), precision.unwrap_or(PRECISION));
    let mut page = Page { axes: &axes, strides: &strides, cell: &*cell, text: String::new() };
    page.block(0, 0, indent + 1, WIDTH);
    page.text
}

/// Which indices of an axis are printed.
struct Axis {
    size: usize,
    shortened: bool,
}

impl Axis {
    fn new(size: usize, large: bool) -> Axis {
        Axis { size, shortened: large && size > 2 * EDGE }
    }

    /// The printed indices in order, `None` where some are left out.
    fn indices(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        let (head, tail) = if self.shortened { (EDGE, self.size - EDGE) } else { (self.size, self.size) };
        (0..head).map(Some).chain(self.shortened.then_some(None)).chain((tail..self.size).map(Some))
    }
}

/// The row-major indices of all elements that are printed: the columns are as wide as these need.
fn visible(axes: &[Axis], strides: &[usize]) -> Vec<usize> {
    axes.iter().zip(strides).fold(vec![0], |starts, (axis, stride)| {
        let along = |start: usize| axis.indices().flatten().map(move |index| start + index * stride);
        starts.into_iter().flat_map(along).collect()
    })
}

/// The text so far, and what it is made from.
struct Page<'a> {
    axes: &'a [Axis],
    strides: &'a [usize],
    cell: &'a dyn Fn(usize) -> String,
    text: String,
}

impl Page<'_> {
    /// Prints what begins at the element `start`, from `axis` inwards. Lines begin at column `indent`, just inside
    /// the bracket, and end before column `width`, which shrinks as closing brackets pile up.
    fn block(&mut self, axis: usize, start: usize, indent: usize, width: usize) {
        self.text.push('[');
        if axis + 1 == self.axes.len() {
            self.line(start, indent, width);
        } else {
            for (position, index) in self.axes[axis].indices().enumerate() {
                if position > 0 {
                    // A blank line between matrices, two between stacks of matrices, and so on.
                    self.text.extend(std::iter::repeat_n('\n', self.axes.len() - axis - 1));
                    self.pad(indent);
                }
                match index {
                    Some(index) => {
                        let start = start + index * self.strides[axis];
                        self.block(axis + 1, start, indent + 1, width.saturating_sub(1));
                    }
                    None => self.text.push_str("..."),
                }
            }
        }
        self.text.push(']');
    }

    /// Prints the elements along the last axis, broken into lines that leave room for a bracket.
    fn line(&mut self, start: usize, indent: usize, width: usize) {
        let mut column = indent;
        for (position, index) in self.axes[self.axes.len() - 1].indices().enumerate() {
            if position > 0 {
                self.text.push(' ');
                column += 1;
            }
            let word = index.map_or_else(|| "...".to_owned(), |index| (self.cell)(start + index));
            // A break at the beginning of a line would not help.
            if column > indent && column + word.len() > width.saturating_sub(1) {
                self.text.truncate(self.text.trim_end_matches(' ').len());
                self.text.push('\n');
                self.pad(indent);
                column = indent;
            }
            column += word.len();
            self.text.push_str(&word);
        }
    }

    fn pad(&mut self, columns: usize) {
        self.text.extend(std::iter::repeat_n(' ', columns));
    }
}

/// A function that prints one element, as wide as the widest of the visible ones.
fn cells<'a>(tensor: &'a Tensor, visible: &[usize], precision: usize) -> Box<dyn Fn(usize) -> String + 'a> {
    if tensor.dtype().is_float() {
        let values: Vec<f64> = visible.iter().map(|&index| tensor.literal(index).as_f64()).collect();
        let format = FloatFormat::new(tensor.dtype(), &values, precision, false);
        return Box::new(move |index| format.cell(tensor.literal(index).as_f64()));
    }
    if tensor.dtype().is_complex() {
        let all: Vec<Complex64> = visible.iter().map(|&index| tensor.literal(index).as_complex()).collect();
        let part =
            |values: Vec<f64>, signed| FloatFormat::new(tensor.dtype().real(), &values, precision, signed);
        let re = part(all.iter().map(|z| z.re).collect(), false);
        let im = part(all.iter().map(|z| z.im).collect(), true);
        return Box::new(move |index| {
            let z = tensor.literal(index).as_complex();
            // The letter follows the last digit, not the blanks that fill the column.
            let im = im.cell(z.im);
            let digits = im.trim_end();
            format!("{}{digits}j{}", re.cell(z.re), &im[digits.len()..])
        });
    }
    let width = match tensor.dtype() {
        DType::Bool => "false".len(),
        _ => visible.iter().map(|&index| tensor.literal(index).to_string().len()).max().unwrap_or(0),
    };
    Box::new(move |index| format!("{:>width$}", tensor.literal(index)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Literal, Shape};
    use expect_test::expect;

    fn values<T: Element>(values: &[T], shape: impl Into<Shape>) -> Tensor {
        Tensor::from_slice(values, shape).expect("as many elements as the shape says")
    }

    /// The numbers from 0, divided.
    fn counted(dtype: DType, shape: impl Into<Shape>, divisor: f64) -> Tensor {
        let shape = shape.into();
        let literals: Vec<_> =
            (0..shape.len()).map(|i| Literal::from_f64(dtype, i as f64 / divisor)).collect();
        Tensor::from_literals(dtype, shape, &literals).expect("as many elements as the shape says")
    }

    /// Every expected text below is what NumPy 2.4 prints, but for the case of truth values.
    fn texts(tensors: &[Tensor]) -> String {
        tensors.iter().map(Tensor::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    #[expect(clippy::excessive_precision, reason = "a tie between two texts needs every digit")]
    fn floats() {
        let tensors = [
            values(&[1.0f32, 2.0, 3.0], [3]),
            values(&[1.5f64, -2.25, 3.0, 1000.125], [2, 2]),
            values(&[0.1f64, 0.2, 0.30000000000000004], [3]),
            values(&[0.3333333333333333f64, 0.6666666666666666, 0.001], [3]),
            values(&[0.1f32, 0.2, 0.30000001], [3]),
            values(&[1e-05f64, 1.0, 2.5], [3]),
            values(&[0.0001f32, 0.001], [2]),
            values(&[100000000.0f64, 1.0], [2]),
            values(&[99999999.0f64, 123456.0], [2]),
            values(&[1000000.0f32, 1000001.0], [2]),
            values(&[999999.0f32, 1234.5], [2]),
            values(&[123456.789f64, 0.001], [2]),
            values(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.5], [4]),
            values(&[f32::NAN, f32::INFINITY], [2]),
            values(&[f64::NEG_INFINITY, f64::NAN, 10000000000.0], [3]),
            values(&[-0.0f64, 0.0, -1.5], [3]),
            values(&[1e+100f64, 1e-100, -3.0], [3]),
            values(&[5e-324f64, 1.7976931348623157e+308], [2]),
            values(&[0.1f32, 1.1754944e-38], [2]),
            values(&[0.0f64, 0.0], [2]),
            values(&[9.999999999f64, 1.0], [2]),
            values(&[1.123456789f64, 2.5], [2]),
            values(&[262144.125f32, -262144.375], [2]),
            values(&[0.0007f32, 0.7], [2]),
        ];
        expect![[r#"
            [1. 2. 3.]
            [[   1.5     -2.25 ]
             [   3.    1000.125]]
            [0.1 0.2 0.3]
            [0.33333333 0.66666667 0.001     ]
            [0.1 0.2 0.3]
            [1.0e-05 1.0e+00 2.5e+00]
            [0.0001 0.001 ]
            [1.e+08 1.e+00]
            [99999999.   123456.]
            [1.000000e+06 1.000001e+06]
            [999999.    1234.5]
            [1.23456789e+05 1.00000000e-03]
            [ nan  inf -inf  1.5]
            [nan inf]
            [  -inf    nan 1.e+10]
            [-0.   0.  -1.5]
            [ 1.e+100  1.e-100 -3.e+000]
            [4.94065646e-324 1.79769313e+308]
            [1.0000000e-01 1.1754944e-38]
            [0. 0.]
            [10.  1.]
            [1.12345679 2.5       ]
            [ 262144.12 -262144.38]
            [0.0007 0.7   ]"#]]
        .assert_eq(&texts(&tensors));
    }

    #[test]
    fn complex_numbers() {
        let c = Complex64::new;
        let tensors = [
            values(&[c(1.0, 2.0), c(3.0, -4.0)], [2]),
            values(&[c(1.5, 0.25), c(-10.0, -0.0), c(0.0, 100.125), c(1e-3, 2.0)], [2, 2]),
            values(&[c(1e10, 1.0), c(1.0, -1e-7)], [2]),
            values(&[c(f64::NAN, 1.0), c(1.0, f64::INFINITY), c(f64::NEG_INFINITY, f64::NAN)], [3]),
            values(&[crate::Complex32::new(0.1, 0.2), crate::Complex32::new(1e6, 0.0)], [2]),
            values(&[c(1.0, 2.0)], []),
            values(&[c(0.0, -1.5)], []),
            values(&[c(1e16, 0.1)], []),
            values(&[crate::Complex32::new(-0.0, 0.1)], []),
        ];
        expect![[r#"
            [1.+2.j 3.-4.j]
            [[ 1.5e+00  +0.25j  -1.0e+01  -0.j   ]
             [ 0.0e+00+100.125j  1.0e-03  +2.j   ]]
            [1.e+10+1.e+00j 1.e+00-1.e-07j]
            [ nan+1.j   1.+infj -inf+nanj]
            [1.e-01+0.2j 1.e+06+0.j ]
            (1+2j)
            -1.5j
            (1e+16+0.1j)
            (-0+0.1j)"#]]
        .assert_eq(&texts(&tensors));
    }

    #[test]
    fn integers_and_truth_values() {
        let tensors = [
            values(&[1i32, -20, 300], [3]),
            values(&[1i64, 2, 30, -4], [2, 2]),
            values(&[255u8, 0, 7, 30], [2, 2]),
            values(&[true, false], [2]),
            values(&[true, true], [2, 1]),
        ];
        expect![[r#"
            [  1 -20 300]
            [[ 1  2]
             [30 -4]]
            [[255   0]
             [  7  30]]
            [ true false]
            [[ true]
             [ true]]"#]]
        .assert_eq(&texts(&tensors));
    }

    #[test]
    #[expect(clippy::excessive_precision, reason = "a tie between two texts needs every digit")]
    fn scalars() {
        let tensors = [
            values(&[1.5f64], []),
            values(&[2.0f32], []),
            values(&[1e+16f64], []),
            values(&[1e-05f32], []),
            values(&[1.5e+22f64], []),
            values(&[0.1f32], []),
            values(&[1000000.0f32], []),
            values(&[2104762.25f32], []),
            values(&[7i32], []),
            values(&[f64::NAN], []),
            values(&[-0.0f64], []),
            values(&[true], []),
        ];
        expect![[r#"
            1.5
            2.0
            1e+16
            1e-05
            1.5e+22
            0.1
            1e+06
            2.1047622e+06
            7
            nan
            -0.0
            true"#]]
        .assert_eq(&texts(&tensors));
    }

    #[test]
    fn layout() {
        let tensors = [
            Tensor::zeros(DType::I32, [1, 1, 36]),
            Tensor::zeros(DType::I32, Shape::from([1; 39]).insert(39, 2)),
            counted(DType::I32, [30], 1.0),
            counted(DType::I64, [1001], 1.0),
            counted(DType::F64, [40, 50], 1.0),
            counted(DType::F32, [2, 3, 4], 1.0),
            counted(DType::I32, [2, 2, 2, 2], 1.0),
            counted(DType::F64, [20], 19.0),
            counted(DType::F32, [2, 10], 19.0),
            counted(DType::F32, [0], 1.0),
            counted(DType::F32, [2, 0, 3], 1.0),
            counted(DType::I32, [2, 600], 1.0),
            counted(DType::I64, [600, 2], 1.0),
            counted(DType::I32, [7, 7, 30], 1.0),
            counted(DType::I32, [20, 20, 3], 1.0),
        ];
        expect![[r#"
            [[[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
               0]]]
            [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0
                                                    0]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
            [ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
             24 25 26 27 28 29]
            [   0    1    2 ...  998  999 1000]
            [[0.000e+00 1.000e+00 2.000e+00 ... 4.700e+01 4.800e+01 4.900e+01]
             [5.000e+01 5.100e+01 5.200e+01 ... 9.700e+01 9.800e+01 9.900e+01]
             [1.000e+02 1.010e+02 1.020e+02 ... 1.470e+02 1.480e+02 1.490e+02]
             ...
             [1.850e+03 1.851e+03 1.852e+03 ... 1.897e+03 1.898e+03 1.899e+03]
             [1.900e+03 1.901e+03 1.902e+03 ... 1.947e+03 1.948e+03 1.949e+03]
             [1.950e+03 1.951e+03 1.952e+03 ... 1.997e+03 1.998e+03 1.999e+03]]
            [[[ 0.  1.  2.  3.]
              [ 4.  5.  6.  7.]
              [ 8.  9. 10. 11.]]

             [[12. 13. 14. 15.]
              [16. 17. 18. 19.]
              [20. 21. 22. 23.]]]
            [[[[ 0  1]
               [ 2  3]]

              [[ 4  5]
               [ 6  7]]]


             [[[ 8  9]
               [10 11]]

              [[12 13]
               [14 15]]]]
            [0.         0.05263158 0.10526316 0.15789474 0.21052632 0.26315789
             0.31578947 0.36842105 0.42105263 0.47368421 0.52631579 0.57894737
             0.63157895 0.68421053 0.73684211 0.78947368 0.84210526 0.89473684
             0.94736842 1.        ]
            [[0.         0.05263158 0.10526316 0.15789473 0.21052632 0.2631579
              0.31578946 0.36842105 0.42105263 0.47368422]
             [0.5263158  0.57894737 0.6315789  0.68421054 0.7368421  0.7894737
              0.84210527 0.8947368  0.94736844 1.        ]]
            []
            []
            [[   0    1    2 ...  597  598  599]
             [ 600  601  602 ... 1197 1198 1199]]
            [[   0    1]
             [   2    3]
             [   4    5]
             ...
             [1194 1195]
             [1196 1197]
             [1198 1199]]
            [[[   0    1    2 ...   27   28   29]
              [  30   31   32 ...   57   58   59]
              [  60   61   62 ...   87   88   89]
              ...
              [ 120  121  122 ...  147  148  149]
              [ 150  151  152 ...  177  178  179]
              [ 180  181  182 ...  207  208  209]]

             [[ 210  211  212 ...  237  238  239]
              [ 240  241  242 ...  267  268  269]
              [ 270  271  272 ...  297  298  299]
              ...
              [ 330  331  332 ...  357  358  359]
              [ 360  361  362 ...  387  388  389]
              [ 390  391  392 ...  417  418  419]]

             [[ 420  421  422 ...  447  448  449]
              [ 450  451  452 ...  477  478  479]
              [ 480  481  482 ...  507  508  509]
              ...
              [ 540  541  542 ...  567  568  569]
              [ 570  571  572 ...  597  598  599]
              [ 600  601  602 ...  627  628  629]]

             ...

             [[ 840  841  842 ...  867  868  869]
              [ 870  871  872 ...  897  898  899]
              [ 900  901  902 ...  927  928  929]
              ...
              [ 960  961  962 ...  987  988  989]
              [ 990  991  992 ... 1017 1018 1019]
              [1020 1021 1022 ... 1047 1048 1049]]

             [[1050 1051 1052 ... 1077 1078 1079]
              [1080 1081 1082 ... 1107 1108 1109]
              [1110 1111 1112 ... 1137 1138 1139]
              ...
              [1170 1171 1172 ... 1197 1198 1199]
              [1200 1201 1202 ... 1227 1228 1229]
              [1230 1231 1232 ... 1257 1258 1259]]

             [[1260 1261 1262 ... 1287 1288 1289]
              [1290 1291 1292 ... 1317 1318 1319]
              [1320 1321 1322 ... 1347 1348 1349]
              ...
              [1380 1381 1382 ... 1407 1408 1409]
              [1410 1411 1412 ... 1437 1438 1439]
              [1440 1441 1442 ... 1467 1468 1469]]]
            [[[   0    1    2]
              [   3    4    5]
              [   6    7    8]
              ...
              [  51   52   53]
              [  54   55   56]
              [  57   58   59]]

             [[  60   61   62]
              [  63   64   65]
              [  66   67   68]
              ...
              [ 111  112  113]
              [ 114  115  116]
              [ 117  118  119]]

             [[ 120  121  122]
              [ 123  124  125]
              [ 126  127  128]
              ...
              [ 171  172  173]
              [ 174  175  176]
              [ 177  178  179]]

             ...

             [[1020 1021 1022]
              [1023 1024 1025]
              [1026 1027 1028]
              ...
              [1071 1072 1073]
              [1074 1075 1076]
              [1077 1078 1079]]

             [[1080 1081 1082]
              [1083 1084 1085]
              [1086 1087 1088]
              ...
              [1131 1132 1133]
              [1134 1135 1136]
              [1137 1138 1139]]

             [[1140 1141 1142]
              [1143 1144 1145]
              [1146 1147 1148]
              ...
              [1191 1192 1193]
              [1194 1195 1196]
              [1197 1198 1199]]]"#]]
        .assert_eq(&texts(&tensors));
    }

    #[test]
    fn debug_names_the_type() {
        let cases = [
            (values(&[1f32, 2.0, 3.0], [3]), expect!["f32[3] [1. 2. 3.]"]),
            (Tensor::scalar(-1i64), expect!["i64[] -1"]),
            (
                counted(DType::I32, [2, 3], 1.0),
                expect![[r#"
                i32[2,3] [[0 1 2]
                          [3 4 5]]"#]],
            ),
            (counted(DType::U8, [0, 2], 1.0), expect!["u8[0,2] []"]),
        ];
        for (tensor, expected) in cases {
            expected.assert_eq(&format!("{tensor:?}"));
        }
    }

    #[test]
    fn precision_can_be_asked_for() {
        let thirds = counted(DType::F64, [4], 3.0);
        assert_eq!(format!("{thirds:.3}"), "[0.    0.333 0.667 1.   ]");
        assert_eq!(format!("{thirds:.0}"), "[0. 0. 1. 1.]");
        assert_eq!(format!("{:.3}", Tensor::scalar(1f32)), "1.000");
    }
}
