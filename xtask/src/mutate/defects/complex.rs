//! Defects of complex numbers and Fourier transforms.

use super::Defect;

const FACE: &str = "-p tests --test face complex";
const JAX: &str = "-p tests --test face complex_numbers_agree_with_jax";
const FFT: &str = "-p tracewell-runtime --test fft";
const RANDOM: &str = "-p tests --test differential random_graphs_agree_part_1";
const ARRAY: &str = "-p tracewell-array --lib";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "a product of complex numbers adds what it should subtract",
        file: "crates/graph/src/prim/complex_math.rs",
        text: "let (re, im) = (s.sub(&ac, &bd), s.add(&ad, &bc));",
        with: "let (re, im) = (s.add(&ac, &bd), s.add(&ad, &bc));",
        test: laws!("mul"),
    },
    Defect {
        breaks: "a quotient of complex numbers has the wrong sign where the divisor is steep",
        file: "crates/graph/src/prim/complex_math.rs",
        text: "let im = s.select(&wide, &im, &opposite);",
        with: "let im = s.select(&wide, &im, &im);",
        test: laws!("div"),
    },
    Defect {
        breaks: "the square root does not see the sign of a zero imaginary part",
        file: "crates/graph/src/prim/sheet.rs",
        text: "let negative = self.compare(Comparison::Lt, &bits, &zero);",
        with: "let negative = self.compare(Comparison::Lt, y, &self.fill(y, 0.0));",
        test: FACE,
    },
    Defect {
        breaks: "the adjoint of the imaginary part loses its sign",
        file: "crates/graph/src/prim/complex.rs",
        text: "cx.bind(Complex {}, &[&zero, &opposite])",
        with: "cx.bind(Complex {}, &[&zero, ct])",
        test: laws!("imag"),
    },
    Defect {
        breaks: "the derivative of a magnitude is not conjugated",
        file: "crates/graph/src/prim/magnitude.rs",
        text: "slope = cx.bind(Conj {}, &[&slope])?;",
        with: "slope = slope.clone();",
        test: JAX,
    },
    Defect {
        breaks: "both parts of a complex number are taken for its real part",
        file: "crates/graph/src/apart.rs",
        text: "let part = usize::from(matches!(prim, Prim::Imag(_)));",
        with: "let part = usize::from(matches!(prim, Prim::Complex(_)));",
        test: laws!("imag"),
    },
    Defect {
        breaks: "a loop over parts counts complex constants once",
        file: "crates/graph/src/apart.rs",
        text: "let (consts, carries) = (width_of(&inputs[consts]), width_of(&inputs[carries]));",
        with: "let (consts, carries) = (consts.len(), width_of(&inputs[carries]));",
        test: RANDOM,
    },
    Defect {
        breaks: "half a spectrum counts its last element twice",
        file: "crates/graph/src/prim/fft.rs",
        text: "if k == 0 || 2 * k == n { 1.0 } else { 2.0 }",
        with: "if k == 0 { 1.0 } else { 2.0 }",
        test: laws!("fft"),
    },
    Defect {
        breaks: "a transform along another axis turns the wrong way",
        file: "crates/library/src/fft.rs",
        text: "outer.iter().for_each(|axis| columns(&mut halves, *axis, true));",
        with: "outer.iter().for_each(|axis| columns(&mut halves, *axis, false));",
        test: FFT,
    },
    Defect {
        breaks: "a double and a complex number of floats meet in the narrow type",
        file: "crates/array/src/promote.rs",
        text: "(DType::F64, DType::C64) => DType::C128,",
        with: "(DType::F64, DType::C64) => DType::C64,",
        test: ARRAY,
    },
];
