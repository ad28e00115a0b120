//! Defects of repros: what is recorded, replayed, reduced and blamed.

use super::Defect;

const YIELD: &str = "-p tracewell-cli --test repro every_failure";
const FOLDERS: &str = "-p tracewell-cli --test repro folders::";
const BROKEN: &str = "-p tracewell-cli --test repro broken::";
const PRIMITIVES: &str = "-p tracewell-cli --test repro user_primitive::";
const NAMES: &str = "-p tracewell-cli --test repro names::";
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
        breaks: "a panic of fusion passes for one of the user's",
        file: "crates/tracewell/src/pipeline.rs",
        text: "Some(text) => text,\n        None => resume_unwind(payload),",
        with: "Some(_) | None => resume_unwind(payload),",
        test: BROKEN,
    },
    Defect {
        breaks: "a step that panics leaves its limit behind",
        file: "crates/kernel/src/steps.rs",
        text: "LIMIT.set(self.0.take());",
        with: "",
        test: "-p tracewell-kernel --lib steps::",
    },
    Defect {
        breaks: "functions of the user's give zeros in a repro",
        file: "crates/tracewell/src/repro/stand_in.rs",
        text: "output.bytes.copy_from_slice(result.as_bytes());",
        with: "",
        test: PRIMITIVES,
    },
    Defect {
        breaks: "a cached call that fails is not run again",
        file: "crates/tracewell/src/jit/call.rs",
        text: "learn(entry, &error, &kept(inputs), false);",
        with: "",
        test: PRIMITIVES,
    },
    Defect {
        breaks: "a callback that does something is called again",
        file: "crates/tracewell/src/repro/again.rs",
        text: "self.effects |= callback.ordered;",
        with: "",
        test: PRIMITIVES,
    },
    Defect {
        breaks: "a failure in a rule of a primitive is left out",
        file: "crates/tracewell/src/repro/stand_in.rs",
        text: "if by_a_rule { with_failure(tree) } else { tree }",
        with: "if by_a_rule && tree.main.statements.is_empty() { with_failure(tree) } else { tree }",
        test: PRIMITIVES,
    },
    Defect {
        breaks: "two fields of a program have one name",
        file: "crates/repro/src/rust/names.rs",
        text: "while all.contains(&ident) {",
        with: "while ident.is_empty() {",
        test: NAMES,
    },
    Defect {
        breaks: "numbers are not made simple",
        file: "crates/repro/src/reduce/literals.rs",
        text: "(Ok(_), _) => Literal::one(literal.dtype()),",
        with: "(Ok(_), _) => literal,",
        test: "-p tracewell-cli --test repro laws::numbers",
    },
    Defect {
        breaks: "a text in a comment is not escaped",
        file: "crates/repro/src/rust/names.rs",
        text: "if c.is_control() || is_hidden(c) {",
        with: "if is_hidden(c) {",
        test: "-p tracewell-repro --lib names::",
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
