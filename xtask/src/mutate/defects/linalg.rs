//! Defects of linear algebra and sums of products.

use super::Defect;

const JAX: &str = "-p tests --test face linear_algebra_agrees_with_jax";
const FACE: &str = "-p tests --test face linalg";
const TEXTBOOK: &str = "-p tracewell-kernel --lib linalg";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "the derivative of a Cholesky factor keeps the whole diagonal",
        file: "crates/graph/src/prim/cholesky.rs",
        text: "let without = part(cx, &inner, Comparison::Gt)?;",
        with: "let without = part(cx, &inner, Comparison::Ge)?;",
        test: laws!("cholesky"),
    },
    Defect {
        breaks: "the adjoint of a triangular system is not transposed",
        file: "crates/graph/src/prim/triangular_solve.rs",
        text: "let adjoint = TriangularSolve { transpose: !self.transpose, ..self.clone() };",
        with: "let adjoint = TriangularSolve { transpose: self.transpose, ..self.clone() };",
        test: laws!("triangular_solve"),
    },
    Defect {
        breaks: "the derivative of a triangle with ones on its diagonal reads the diagonal",
        file: "crates/graph/src/prim/triangular_solve.rs",
        text: "(true, true) => Comparison::Gt,",
        with: "(true, true) => Comparison::Ge,",
        test: laws!("triangular_solve"),
    },
    Defect {
        breaks: "the derivative of LU forgets that rows were exchanged",
        file: "crates/graph/src/prim/lu.rs",
        text: "let moved = reordered(cx, &primals[2], da)?;",
        with: "let moved = da.clone();",
        test: laws!("lu"),
    },
    Defect {
        breaks: "singular vectors of tall matrices do not leave their space",
        file: "crates/graph/src/prim/svd.rs",
        text: "        if m > n {\n            let out",
        with: "        if m > n + 1000 {\n            let out",
        test: laws!("svd"),
    },
    Defect {
        breaks: "the textbook takes the smallest pivot",
        file: "crates/kernel/src/linalg/textbook.rs",
        text: "if lu[(i, k)].spread() > lu[(best, k)].spread() { i } else { best }",
        with: "if lu[(i, k)].spread() < lu[(best, k)].spread() { i } else { best }",
        test: TEXTBOOK,
    },
    Defect {
        breaks: "a matrix that is not finite is factored",
        file: "crates/library/src/linalg/mod.rs",
        text: "_ if a.iter().any(|x| !Number::is_finite(*x)) => {",
        with: "_ if a.len() > 1_000_000 && a.iter().any(|x| !Number::is_finite(*x)) => {",
        test: FACE,
    },
    Defect {
        breaks: "eigenvectors have whatever sign they came with",
        file: "crates/library/src/linalg/factor.rs",
        text: "    for column in columns.chunks_exact_mut(n) {\n        fix_sign(column);\n    }\n",
        with: "",
        test: JAX,
    },
    Defect {
        breaks: "the derivative of a solution forgets the matrix",
        file: "crates/tracewell/src/linalg/systems.rs",
        text: "let dx = factored.solve(&(db - matmul(da, &x)));",
        with: "let dx = factored.solve(&(db - 0.0 * matmul(da, &x)));",
        test: JAX,
    },
    Defect {
        breaks: "an axis that a later operand needs is summed",
        file: "crates/tracewell/src/products/einsum.rs",
        text: "let needed = |label: &Label| wanted.contains(label) || terms.iter().any(|t| t.labels.contains(label));",
        with: "let needed = |label: &Label| wanted.contains(label);",
        test: FACE,
    },
    Defect {
        breaks: "the diagonal of a complex triangle is allowed to turn",
        file: "crates/graph/src/prim/qr.rs",
        text: "omega = plus(cx, &omega, &imaginary)?;",
        with: "omega = minus(cx, &omega, &imaginary)?;",
        test: laws!("qr"),
    },
    Defect {
        breaks: "eigenvectors of any matrix change their phase",
        file: "crates/graph/src/prim/eig.rs",
        text: "let im = cx.bind(Neg {}, &[&turn])?;",
        with: "let im = turn;",
        test: laws!("eig"),
    },
];
