//! Defects of repros: what is recorded, replayed, reduced and blamed.

use super::Defect;

const YIELD: &str = "-p tracewell-cli --test repro every_failure";
const FOLDERS: &str = "-p tracewell-cli --test repro folders::";
const BROKEN: &str = "-p tracewell-cli --test repro broken::";
const WARM: &str = "-p tests --test warm";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "a call of `einsum` that failed is done again with another formula",
        file: "crates/tracewell/src/repro/calls.rs",
        text: "drop(products::einsum(formula, &all.iter().collect::<Vec<_>>())),",
        with: "drop(products::einsum(&formula[1..], &all.iter().collect::<Vec<_>>())),",
        test: YIELD,
    },
    Defect {
        breaks: "a tree past its bound loses what it had",
        file: "crates/repro/src/record.rs",
        text: "body.statements = frame.iter().flat_map(|frame| equations_of(frame)).collect();\n                    }\n                    body.statements.extend(inner.take());",
        with: "}\n                    body.statements.extend(inner.take());",
        test: FOLDERS,
    },
    Defect {
        breaks: "values from outside are not found past the bound",
        file: "crates/repro/src/record.rs",
        text: "Some(value) => plain_operand(value),",
        with: "Some(_) => Operand::Var(typed(*var)),",
        test: FOLDERS,
    },
    Defect {
        breaks: "the failure may be another one while it is reduced",
        file: "crates/repro/src/replay.rs",
        text: "(Some(expected), Some(found)) if expected.signature() == found.signature() => Verdict::Reproduced,",
        with: "(Some(_), Some(_)) => Verdict::Reproduced,",
        test: "-p tracewell-cli --test repro command::another_failure",
    },
    Defect {
        breaks: "the step before the broken one is blamed",
        file: "crates/tracewell/src/repro/bisect.rs",
        text: "(bad, run(bad).1.last)",
        with: "(good, run(good).1.last)",
        test: BROKEN,
    },
    Defect {
        breaks: "a vector tail is blamed on the vectors",
        file: "crates/codegen/src/loops.rs",
        text: "let outer = std::mem::replace(&mut self.in_tail, divided);",
        with: "let outer = std::mem::replace(&mut self.in_tail, divided && self.loops == Loops::Vectors);",
        test: BROKEN,
    },
    Defect {
        breaks: "a warm call is recorded",
        file: "crates/tracewell/src/jit/call.rs",
        text: "self.key.node::<F>();\n        if is_idle()",
        with: "self.key.node::<F>();\n        let _session = repro::session();\n        if is_idle()",
        test: WARM,
    },
    Defect {
        breaks: "NaN of complex numbers is not seen",
        file: "crates/tracewell/src/checks/values.rs",
        text: "DType::C64 => tensor.as_slice::<Complex32>().ok()?.iter().position(|x| !x.is_finite())?,",
        with: "DType::C64 => tensor.as_slice::<Complex32>().ok()?.iter().position(|x| x.re > f32::MAX)?,",
        test: FOLDERS,
    },
];
