//! The defects: mistakes that somebody could make without noticing, each with the test that must notice.
//!
//! To add one: a piece of code that occurs once in its file, what a slip would make of it (it must compile, and
//! end), and the narrowest `cargo test` that should fail. Then `cargo xtask mutate --only` its number, and read
//! which test noticed: one that fails for another reason than what the defect breaks proves nothing.

use super::Defect;

const LAWS: &str = "-p tests --test laws every_law";
const EVALUATION: &str = "-p tests --test files eval";
const LINEARIZE: &str = "-p tests --test files linearize";
const TRANSPOSE: &str = "-p tests --test files transpose";
const SCALARS: &str = "-p tracewell-kernel --lib scalar";
const MATH: &str = "-p tracewell-kernel --lib math";
const OPERATIONS: &str = "-p tracewell-runtime --test operations";
const REDUCTIONS: &str = "-p tracewell-runtime --test reductions";
const FUSE: &str = "-p tracewell-fuse --lib --tests";
const OPTIMIZE: &str = "-p tracewell-optimize --lib";
const TRANSFORM: &str = "-p tracewell-transform --lib";
const CORPUS: &str = "-p tests --test differential graphs_of_the_corpus";
const RANDOM: &str = "-p tests --test differential random_graphs_agree_part_1";

pub(super) const DEFECTS: &[Defect] = &[
    // The rules of primitives.
    Defect {
        breaks: "the derivative of a product multiplies by the wrong operand",
        file: "crates/graph/src/prim/binary.rs",
        text: "slopes |_, _, b, _| Ok(Slope::Times(b.clone())), |_, a, _, _| Ok(Slope::Times(a.clone())),",
        with: "slopes |_, _, b, _| Ok(Slope::Times(b.clone())), |_, _, b, _| Ok(Slope::Times(b.clone())),",
        test: LAWS,
    },
    Defect {
        breaks: "the derivative of a difference by its second operand loses its sign",
        file: "crates/graph/src/prim/binary.rs",
        text: "(Slope::Minus, None) => cx.bind(Neg {}, &[d])?,",
        with: "(Slope::Minus, None) => d.clone(),",
        test: LAWS,
    },
    Defect {
        breaks: "the derivative of a square root is off by a factor",
        file: "crates/graph/src/prim/unary.rs",
        text: "slope |cx, _, y| Ok(Slope::Times(over(cx, 0.5, y)?));",
        with: "slope |cx, _, y| Ok(Slope::Times(over(cx, 2.0, y)?));",
        test: LAWS,
    },
    Defect {
        breaks: "the sign of zero is 1",
        file: "crates/graph/src/prim/unary.rs",
        text: "real |x| if x == 0.0 || x.is_nan() { x } else { x.signum() },",
        with: "real |x| x.signum(),",
        test: EVALUATION,
    },
    Defect {
        breaks: "a batched reduction reduces the axis before",
        file: "crates/graph/src/prim/reduce.rs",
        text: "let axes = self.axes.iter().map(|a| a + 1).collect();",
        with: "let axes = self.axes.clone();",
        test: LAWS,
    },
    Defect {
        breaks: "the derivative of a maximum counts ties more than once",
        file: "crates/graph/src/prim/reduce.rs",
        text: "cx.bind(Div {}, &[&sum, &count])",
        with: "cx.bind(Div {}, &[&sum, &cx.fill(&count, 1.0)])",
        test: "-p tests --test laws ties",
    },
    Defect {
        breaks: "the adjoint of a permutation is the permutation itself",
        file: "crates/graph/src/prim/permute.rs",
        text: "|_, ct| cx.bind(self.inverse(), &[ct])",
        with: "|_, ct| cx.bind(self.clone(), &[ct])",
        test: LAWS,
    },
    Defect {
        breaks: "the cotangents of a selection are exchanged",
        file: "crates/graph/src/prim/select.rs",
        text: "let a = of(operands[1].is_linear(), ct, &zero)?;",
        with: "let a = of(operands[1].is_linear(), &zero, ct)?;",
        test: LAWS,
    },
    Defect {
        breaks: "the adjoint of a product over several axes puts them back in the wrong order",
        file: "crates/graph/src/prim/dot_general.rs",
        text: "contracted.sort_unstable();",
        with: "contracted.reverse();",
        test: LAWS,
    },
    Defect {
        breaks: "a batched product leaves the batch axis where it is",
        file: "crates/graph/src/prim/dot_general.rs",
        text: "let at = self.a_batch.len() + if on_a { 0 } else { a_free };",
        with: "let at = self.a_batch.len() + if on_a { 0 } else { a_free.min(0) };",
        test: LAWS,
    },
    Defect {
        breaks: "the adjoint of a slice puts it at the beginning",
        file: "crates/graph/src/prim/slice.rs",
        text: "low: self.start.iter().map(|&n| n as i64).collect(),",
        with: "low: vec![0; self.start.len()],",
        test: TRANSPOSE,
    },
    Defect {
        breaks: "padding forgets the gaps between elements",
        file: "crates/graph/src/prim/pad.rs",
        text: "let gaps = (1..self.step)",
        with: "let gaps = (2..self.step)",
        test: LAWS,
    },
    Defect {
        breaks: "the first of several extremes is the last",
        file: "crates/graph/src/prim/arg_reduce.rs",
        text: "let first = b.bind1(ReduceMin { axes: vec![axis] }, &[candidates])?;",
        with: "let first = b.bind1(ReduceMax { axes: vec![axis] }, &[candidates])?;",
        test: LAWS,
    },
    // The walks.
    Defect {
        breaks: "a value that is used twice gets only one cotangent",
        file: "crates/transform/src/transpose.rs",
        text: "accumulate(builder, cotangents.slot(*var), term)?;",
        with: "*cotangents.slot(*var) = Some(term);",
        test: TRANSPOSE,
    },
    Defect {
        breaks: "an equation with one batched operand is taken for one with none",
        file: "crates/transform/src/batch.rs",
        text: "if operands.iter().all(|operand| !operand.batched) {",
        with: "if operands.iter().any(|operand| !operand.batched) {",
        test: LAWS,
    },
    Defect {
        breaks: "values that the linear part does not read are residuals",
        file: "crates/transform/src/linearize.rs",
        text: ".filter(|&i| needed[i] && !varies[i])",
        with: ".filter(|&i| (needed[i] || i < whole.inputs.len()) && !varies[i])",
        test: LINEARIZE,
    },
    Defect {
        breaks: "an equation passes nothing back unless all its results are given",
        file: "crates/transform/src/transpose.rs",
        text: "if given.iter().all(Option::is_none) {",
        with: "if given.iter().any(Option::is_none) {",
        test: TRANSFORM,
    },
    Defect {
        breaks: "cotangents are given to results that are known, not to those that are linear",
        file: "crates/transform/src/transpose.rs",
        text: "&& known.find(*var).is_none()",
        with: "&& known.find(*var).is_some()",
        test: TRANSFORM,
    },
    Defect {
        breaks: "equations are transposed in their own order",
        file: "crates/transform/src/transpose.rs",
        text: "for equation in linear_part.into_iter().rev() {",
        with: "for equation in linear_part {",
        test: TRANSFORM,
    },
    Defect {
        breaks: "a sum of cotangents is only its last term",
        file: "crates/transform/src/accumulate.rs",
        text: "Some(sum) => builder.bind1(prim::Add {}, &[sum, term])?,",
        with: "Some(_) => builder.bind1(prim::Add {}, &[term.clone(), term])?,",
        test: TRANSFORM,
    },
    Defect {
        breaks: "an equation varies only if all its operands do",
        file: "crates/transform/src/linearize.rs",
        text: "if equation.inputs.iter().any(|atom| atom.var().is_some_and(|var| depends[var.0 as usize])) {",
        with: "if equation.inputs.iter().all(|atom| atom.var().is_some_and(|var| depends[var.0 as usize])) {",
        test: TRANSFORM,
    },
    Defect {
        breaks: "values recorded before are computed again",
        file: "crates/transform/src/linearize.rs",
        text: "&& origins[place.0 as usize] == Origin::New",
        with: "&& origins[place.0 as usize] != Origin::New",
        test: TRANSFORM,
    },
    Defect {
        breaks: "an equation with one constant operand is taken for constant",
        file: "crates/transform/src/pushforward.rs",
        text: "if tangents_in.iter().all(Option::is_none) {",
        with: "if tangents_in.iter().any(Option::is_none) {",
        test: TRANSFORM,
    },
    Defect {
        breaks: "the batch axis of an input is the last one",
        file: "crates/transform/src/batch.rs",
        text: "let ty = if batched { ty.with_shape(ty.shape.insert(0, size)) } else { ty.clone() };",
        with: "let ty = if batched { ty.with_shape(ty.shape.insert(ty.rank(), size)) } else { ty.clone() };",
        test: TRANSFORM,
    },
    Defect {
        breaks: "what is the same for the whole batch is said to have the batch axis",
        file: "crates/transform/src/batch.rs",
        text: "values.define(var, Batched::no(result));",
        with: "values.define(var, Batched::yes(result));",
        test: TRANSFORM,
    },
    Defect {
        breaks: "equations that nobody needs stay",
        file: "crates/transform/src/extract.rs",
        text: "if equation.outputs.iter().any(|var| needed[var.0 as usize]) || keep(equation) {",
        with: "if !equation.outputs.is_empty() || keep(equation) {",
        test: TRANSFORM,
    },
    Defect {
        breaks: "a checkpoint computes again what it keeps",
        file: "crates/transform/src/checkpoint.rs",
        text: "if keep(equation) || equation.prim.settled().has_effect() {",
        with: "if !keep(equation) {",
        test: TRANSFORM,
    },
    Defect {
        breaks: "only the results of a checkpointed function are wanted, not what the linear part reads",
        file: "crates/transform/src/checkpoint.rs",
        text: "residuals.iter().for_each(|atom| need(&mut needed, atom));",
        with: "residuals.iter().skip(1).for_each(|atom| need(&mut needed, atom));",
        test: TRANSFORM,
    },
    // Scalars and math functions.
    Defect {
        breaks: "an integer divided by zero is zero",
        file: "crates/kernel/src/scalar.rs",
        text: "(Op::Div, 2) if arg(1) == 0 => !0,",
        with: "(Op::Div, 2) if arg(1) == 0 => 0,",
        test: SCALARS,
    },
    Defect {
        breaks: "the maximum of a NaN and a number is the number",
        file: "crates/kernel/src/scalar.rs",
        text: "(Op::Max, 2) if arg(0) > arg(1) || arg(0).is_nan() => arg(0),",
        with: "(Op::Max, 2) if arg(0) > arg(1) => arg(0),",
        test: SCALARS,
    },
    Defect {
        breaks: "an empty product is zero",
        file: "crates/kernel/src/op.rs",
        text: "Self::Mul => Literal::one(dtype),",
        with: "Self::Mul => Literal::zero(dtype),",
        test: EVALUATION,
    },
    Defect {
        breaks: "a coefficient of exp has lost a digit",
        file: "crates/kernel/src/math/exp.rs",
        text: "    0.16666516661643982,",
        with: "    0.1666516661643982,",
        test: MATH,
    },
    Defect {
        breaks: "the logarithm of a subnormal f32 is off by ln 2",
        file: "crates/kernel/src/math/log.rs",
        text: "33_554_432.0, -25.0)",
        with: "33_554_432.0, -24.0)",
        test: MATH,
    },
    Defect {
        breaks: "reductions have half as many lanes as the numeric contract says",
        file: "crates/kernel/src/op.rs",
        text: "128 / widest.max(4)",
        with: "64 / widest.max(4)",
        test: "-p tracewell-kernel --lib lanes",
    },
    // Machine code.
    Defect {
        breaks: "a shift beyond the width keeps a bit that is not the sign",
        file: "crates/codegen/src/scalar.rs",
        text: "let last = self.int(ty, i64::from(ty.bits()) - 1);",
        with: "let last = self.int(ty, i64::from(ty.bits()) - 2);",
        test: OPERATIONS,
    },
    Defect {
        breaks: "the smallest integer divided by -1 traps",
        file: "crates/codegen/src/scalar.rs",
        text: "(self.ins().select(minus_one, one, safe), zero, Some(minus_one))",
        with: "(safe, zero, Some(minus_one))",
        test: OPERATIONS,
    },
    Defect {
        breaks: "the upper two of four f64 lanes are lost on the way to f32",
        file: "crates/codegen/src/convert.rs",
        text: "[0, 1, 4, 5]",
        with: "[0, 1, 0, 1]",
        test: OPERATIONS,
    },
    Defect {
        breaks: "accumulators start from the identity only in the first lanes",
        file: "crates/codegen/src/reduce.rs",
        text: "for group in 0..lanes / LANES {\n            self.emit.store_vectors(identity,",
        with: "for group in 0..1 {\n            self.emit.store_vectors(identity,",
        test: REDUCTIONS,
    },
    // Fusion.
    Defect {
        breaks: "loops are merged though an access strides over them",
        file: "crates/fuse/src/collapse.rs",
        text: "nest.accesses().all(|at| at.coefficient(outer) == at.coefficient(inner) * extent)",
        with: "nest.accesses().any(|at| at.coefficient(outer) == at.coefficient(inner) * extent)",
        test: FUSE,
    },
    Defect {
        breaks: "arrays that are alive in the same step share memory",
        file: "crates/fuse/src/buffers.rs",
        text: "last[slot] >= first[i]",
        with: "last[slot] > first[i]",
        test: FUSE,
    },
    Defect {
        breaks: "an index may be one beyond its axis",
        file: "crates/fuse/src/index.rs",
        text: "if low >= 0 && high < size {",
        with: "if low >= 0 && high <= size {",
        test: FUSE,
    },
    Defect {
        breaks: "a kernel computes an array only as far as a part of it is read",
        file: "crates/fuse/src/materialise.rs",
        text: "let is_whole = cluster.len == node.len();",
        with: "let is_whole = true;",
        test: CORPUS,
    },
    Defect {
        breaks: "the parts of a joined array all start at its beginning",
        file: "crates/fuse/src/cluster.rs",
        text: "let mut at = Affine::constant(part.start);",
        with: "let mut at = Affine::constant(0);",
        test: "-p tests --test files fuse",
    },
    // Rewrites.
    Defect {
        breaks: "x + 0.0 is taken for x, also where x is -0.0",
        file: "crates/optimize/src/rules/arithmetic.rs",
        text: "if is(zero, -0.0) => same(x),",
        with: "if is(zero, 0.0) => same(x),",
        test: OPTIMIZE,
    },
    Defect {
        breaks: "two permutations in a row are composed the wrong way round",
        file: "crates/optimize/src/rules/shape.rs",
        text: "let axes = outer.axes.iter().map(|&a| inner.axes[a]).collect();",
        with: "let axes = inner.axes.iter().map(|&a| outer.axes[a]).collect();",
        test: OPTIMIZE,
    },
    // Control flow: its rules, its passes, its machine code.
    Defect {
        breaks: "something carried is overwritten before another takes it over",
        file: "crates/fuse/src/link/control.rs",
        text: "if from == to || !carried.contains(from) {",
        with: "if from == to || carried.contains(from) {",
        test: "-p tests --test files run",
    },
    Defect {
        breaks: "a scan that runs backwards is compiled to run forwards",
        file: "crates/fuse/src/link/control.rs",
        text: "place.part_at(scan.length, number, k as i64, scan.reverse)",
        with: "place.part_at(scan.length, number, k as i64, false)",
        test: RANDOM,
    },
    Defect {
        breaks: "a single turn that is left of an unrolled scan is dropped",
        file: "crates/fuse/src/link/control.rs",
        text: "        if rest > 0 {",
        with: "        if rest > 1 {",
        test: RANDOM,
    },
    Defect {
        breaks: "the second branch sees what the first has stored",
        file: "crates/fuse/src/link/promote.rs",
        text: "self.now.clone_from(&before);\n                let otherwise",
        with: "let otherwise",
        test: "-p tracewell-fuse --lib",
    },
    Defect {
        breaks: "a reduction that is written out forgets half of its lanes",
        file: "crates/fuse/src/link/inline.rs",
        text: "let mut width = lanes / 2;",
        with: "let mut width = lanes / 4;",
        test: CORPUS,
    },
    Defect {
        breaks: "a result takes the memory of an argument that its kernel still reads elsewhere",
        file: "crates/fuse/src/donate.rs",
        text: "last < written || last == written && reads_where_it_stores(program, written, input, output)",
        with: "last < written || last == written || reads_where_it_stores(program, written, input, output)",
        test: RANDOM,
    },
    Defect {
        breaks: "the adjoint of a scan runs in the same direction",
        file: "crates/graph/src/prim/scan_transpose.rs",
        text: "reverse: !scan.reverse,",
        with: "reverse: scan.reverse,",
        test: LAWS,
    },
    Defect {
        breaks: "the cotangent of a scan's constant is that of one turn, not the sum",
        file: "crates/graph/src/prim/scan_transpose.rs",
        text: "totals.push(b.bind1(Add {}, &[sum, term])?);",
        with: "drop(sum);\n            totals.push(term);",
        test: LAWS,
    },
    Defect {
        breaks: "what a scan carries keeps its tangents only as far as the first turn shows",
        file: "crates/graph/src/prim/scan.rs",
        text: "if more == carried {",
        with: "if more == carried || !more.is_empty() {",
        test: LAWS,
    },
    Defect {
        breaks: "elements of a batched loop that have ended run on",
        file: "crates/graph/src/prim/while_batch.rs",
        text: "cx.bind(Select {}, &[&mask, new, old])",
        with: "cx.bind(Select {}, &[&mask, new, new])",
        test: LAWS,
    },
    Defect {
        breaks: "the way back through a loop starts one trip after the last",
        file: "crates/graph/src/prim/while_back.rs",
        text: "let last = cx.bind(Sub {}, &[trips, &trip(1)])?;",
        with: "let last = cx.bind(Sub {}, &[trips, &trip(0)])?;",
        test: LAWS,
    },
    Defect {
        breaks: "a batched switch takes the other branch",
        file: "crates/graph/src/prim/switch_rules.rs",
        text: "cx.bind(Select {}, &[&condition, &result, &other])",
        with: "cx.bind(Select {}, &[&condition, &other, &result])",
        test: LAWS,
    },
    Defect {
        breaks: "the cotangents of what is the same for each index are not summed",
        file: "crates/graph/src/prim/each.rs",
        text: "cx.bind(ReduceSum { axes: vec![0] }, &[&each]).map(Some)",
        with: "cx.bind(super::ReduceMax { axes: vec![0] }, &[&each]).map(Some)",
        test: LAWS,
    },
    Defect {
        breaks: "what depends on something carried is computed before the loop",
        file: "crates/optimize/src/control/invariant.rs",
        text: "(0..operands.len()).map(|i| i < scan.consts).collect()",
        with: "(0..operands.len()).map(|i| i < scan.consts + scan.carries).collect()",
        test: RANDOM,
    },
    Defect {
        breaks: "the elements of a loop go apart though something moves them",
        file: "crates/optimize/src/control/exchange.rs",
        text: "if !same || !matches!(lowering, Lowering::Map(_)) ||",
        with: "if !same ||",
        test: CORPUS,
    },
    Defect {
        breaks: "a product of all turns contracts the turns",
        file: "crates/optimize/src/control/products.rs",
        text: "a_contract: dot.a_contract.iter().map(|axis| axis + 1).collect(), ..dot.clone()",
        with: "a_contract: dot.a_contract.clone(), ..dot.clone()",
        test: CORPUS,
    },
];
