//! Defects of the tape, the op trace and the pages.

use super::Defect;

const TAPE: &str = "-p tests --test watch tape::";
const QUERIES: &str = "-p tests --test watch queries::";
const CONTEXTS: &str = "-p tests --test watch contexts::";
const UPDATE: &str = "-p tests --test watch update::";
const OPS: &str = "-p tests --test watch op_trace::";
const PAGE: &str = "-p tracewell --lib page";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "what has an effect is done again when a compiled call is opened",
        file: "crates/tracewell/src/stepping.rs",
        text: "    if prim.has_effect() {\n        return Ok(None);",
        with: "    if prim.has_effect() && operands.is_empty() {\n        return Ok(None);",
        test: TAPE,
    },
    Defect {
        breaks: "a loop is recorded for one turn more than asked",
        file: "crates/tracewell/src/tape/inside.rs",
        text: "for turn in 0..turns.min(scan.length) {",
        with: "for turn in 0..(turns + 1).min(scan.length) {",
        test: TAPE,
    },
    Defect {
        breaks: "dependencies within a level reach other levels",
        file: "crates/tracewell/src/tape/query.rs",
        text: "reach == Reach::Across || node.parent() == self.parent()",
        with: "reach == Reach::Across || node.parent().is_some()",
        test: QUERIES,
    },
    Defect {
        breaks: "a slice forgets the branches before it",
        file: "crates/tracewell/src/tape/query.rs",
        text: "            let before = node.query(Axis::Preceding);",
        with: "            let before = node.query(Axis::Following);",
        test: QUERIES,
    },
    Defect {
        breaks: "a composition of contexts enters what one of them does",
        file: "crates/tracewell/src/tape/context.rs",
        text: "self.0.enters(call) && self.1.enters(call)",
        with: "self.0.enters(call) || self.1.enters(call)",
        test: CONTEXTS,
    },
    Defect {
        breaks: "an update runs on where a result is the same",
        file: "crates/tracewell/src/tape/update.rs",
        text: "if !same && fits {",
        with: "if (!same || made.value.is_some()) && fits {",
        test: UPDATE,
    },
    Defect {
        breaks: "an update goes on past a value that the program looked at",
        file: "crates/tracewell/src/tape/update.rs",
        text: "Kind::Branch if stale => Err(self.another_way(id)),",
        with: "Kind::Branch if stale && children.len() > 1 => Err(self.another_way(id)),",
        test: UPDATE,
    },
    Defect {
        breaks: "an array is taken for another that had its memory before",
        file: "crates/tracewell/src/op_trace/record.rs",
        text: "Made::Inside(first + number));",
        with: "Made::Inside(first));",
        test: OPS,
    },
    Defect {
        breaks: "a full op trace goes on",
        file: "crates/tracewell/src/op_trace/record.rs",
        text: "self.ops.len() >= self.options.most_ops",
        with: "self.ops.len() > self.options.most_ops",
        test: OPS,
    },
    Defect {
        breaks: "two traces are compared as if any tolerance were 1",
        file: "crates/tracewell/src/op_trace/diff.rs",
        text: "distance <= tolerance *",
        with: "distance <= tolerance.max(1.0) *",
        test: OPS,
    },
    Defect {
        breaks: "a page lets text be markup",
        file: "crates/tracewell/src/page.rs",
        text: "            '<' => out.push_str(\"&lt;\"),\n",
        with: "",
        test: PAGE,
    },
];
