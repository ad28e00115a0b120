//! Fusion and buffer planning: which arrays share loops, rows and memory.

use super::Defect;

const FUSE: &str = "-p tracewell-fuse --lib --tests";
const OPTIMIZE: &str = "-p tracewell-optimize --lib";
const RANDOM: &str = "-p tests --test differential random_graphs_agree_part_1";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "an array is put where another one ends before it does",
        file: "crates/fuse/src/buffers.rs",
        text: "offset = offset.max(end);",
        with: "offset = offset.max(start);",
        test: RANDOM,
    },
    Defect {
        breaks: "the arena is as large as the last array, not as the furthest",
        file: "crates/fuse/src/buffers.rs",
        text: "arena = arena.max(offset + bytes);",
        with: "arena = offset + bytes;",
        test: RANDOM,
    },
    Defect {
        breaks: "a result takes the memory of an argument of another type",
        file: "crates/fuse/src/donate.rs",
        text: "(to.dtype, to.len) == (from.dtype, from.len)",
        with: "to.len == from.len",
        test: RANDOM,
    },
    Defect {
        breaks: "one argument is given to two results",
        file: "crates/fuse/src/donate.rs",
        text: "        taken[input] = true;\n",
        with: "",
        test: "-p tests --test face donation::",
    },
    Defect {
        breaks: "reductions over rows of different lengths share their loops",
        file: "crates/fuse/src/unify.rs",
        text: "nest.loops.parent(a[0]) == nest.loops.parent(b[0]) && extents(a) == extents(b)",
        with: "nest.loops.parent(a[0]) == nest.loops.parent(b[0])",
        test: FUSE,
    },
    Defect {
        breaks: "what is left after the last whole block of a long reduction is taken from its beginning",
        file: "crates/fuse/src/blocks.rs",
        text: "nest.each_access(|at| at.offset += start * at.coefficient(outer));",
        with: "nest.each_access(|at| at.offset += 0 * start * at.coefficient(outer));",
        test: FUSE,
    },
    Defect {
        breaks: "columns that are left after whole tiles are those at the beginning",
        file: "crates/fuse/src/columns.rs",
        text: "part.each_access(|at| at.offset += start * at.coefficient(inner));",
        with: "part.each_access(|at| at.offset += 0 * start * at.coefficient(inner));",
        test: FUSE,
    },
    Defect {
        breaks: "a row that is kept is read from where the array starts",
        file: "crates/fuse/src/rows.rs",
        text: "inner.add(-1, start);",
        with: "inner.add(0, start);",
        test: FUSE,
    },
    Defect {
        breaks: "a kernel computes along what a step between needs and makes",
        file: "crates/fuse/src/materialise/mod.rs",
        text: "readers.chain(calls).all(|unit| !self.order.may_need(Unit::Cluster(k), unit))",
        with: "readers.chain(calls).all(|unit| self.order.may_need(Unit::Cluster(k), unit) || true)",
        test: RANDOM,
    },
    Defect {
        breaks: "a kernel looks up elements of an array that it is computing",
        file: "crates/fuse/src/materialise/mod.rs",
        text: "if cluster.looked_up.contains(&id) {",
        with: "if false && cluster.looked_up.contains(&id) {",
        test: "-p tests --test face places::",
    },
    Defect {
        breaks: "a loop is split, and what is reduced over it is forgotten",
        file: "crates/fuse/src/cluster.rs",
        text: "loops.insert(place + 1, new);",
        with: "loops[place] = new;",
        test: RANDOM,
    },
    Defect {
        breaks: "a step between two parts of a narrow array is taken for one",
        file: "crates/optimize/src/narrow/role.rs",
        text: "j >= start && (j - start).is_multiple_of(step) && (j - start) / step",
        with: "j >= start && (j - start) / step",
        test: OPTIMIZE,
    },
    Defect {
        breaks: "a narrow array that is turned around is taken apart as if it were not",
        file: "crates/optimize/src/narrow/role.rs",
        text: "Some(axis) if axis == last => view.start + view.step * j as i64,",
        with: "Some(axis) if axis == last => view.start.min(0) + j as i64,",
        test: RANDOM,
    },
    Defect {
        breaks: "the first column of a narrow array is taken for all",
        file: "crates/optimize/src/narrow/columns.rs",
        text: "(start[axis], limit[axis]) = (j, j + 1);",
        with: "(start[axis], limit[axis]) = (0, 1);",
        test: OPTIMIZE,
    },
    Defect {
        breaks: "columns are reduced where that is done in another order than in the whole",
        file: "crates/optimize/src/narrow/role.rs",
        text: "let is_innermost = last > 0 && axes.contains(&(last - 1)) && !axes.contains(&last);",
        with: "let is_innermost = last > 0 && !axes.contains(&last);",
        test: OPTIMIZE,
    },
    Defect {
        breaks: "a repeated column follows the wrong axis",
        file: "crates/optimize/src/narrow/role.rs",
        text: "places.push(axis)",
        with: "places.push(i)",
        test: OPTIMIZE,
    },
    Defect {
        breaks: "parts of a result that are no neighbours are stored as if they were, in wide vectors",
        file: "crates/codegen/src/wide/body.rs",
        text: "let places = self.apart(access, dtype, plus, step)?;",
        with: "let places = self.apart(access, dtype, plus, 1)?;",
        test: "-p tracewell-runtime --test wide",
    },
    Defect {
        breaks: "a product with exchanged axes is that of operands that are not exchanged",
        file: "crates/optimize/src/rules/shape.rs",
        text: "let exchanged = (0..batch).chain(batch + free..all).chain(batch..batch + free);",
        with: "let exchanged = (0..batch).chain(batch..all);",
        test: "-p tracewell-optimize --lib rules",
    },
    Defect {
        breaks: "wide rows are taken apart although others read with them are in memory",
        file: "crates/optimize/src/narrow/mod.rs",
        text: "let grown = grown(graph, roles, |operands| !operands.contains(&false));",
        with: "let grown = grown(graph, roles, |operands| operands.contains(&true));",
        test: "-p tracewell-optimize --lib narrow",
    },
    Defect {
        breaks: "a reduction that is written out in a kernel always reads its first element",
        file: "crates/fuse/src/emit.rs",
        text: "Some(turn) => offset += turn * c,",
        with: "Some(turn) => offset += 0 * turn * c,",
        test: "-p tracewell-fuse --test fuse",
    },
    Defect {
        breaks: "a reduction that is written out in a kernel adds neighbours first",
        file: "crates/fuse/src/emit.rs",
        text: "let others = lanes.split_off(apart);",
        with: "let others: Vec<Value> = (1..lanes.len().min(2)).map(|_| lanes.remove(1)).collect();\n        _ = apart;",
        test: "-p tracewell-fuse --lib emit::",
    },
    Defect {
        breaks: "what was computed in one branch is taken for known after it",
        file: "crates/kernel/src/build.rs",
        text: "let Open { stmts, .. } = self.open.pop().expect(\"the region opened above\");",
        with: "let Open { stmts, known } = self.open.pop().expect(\"the region opened above\");\n        self.region_here().known.extend(known);",
        test: "-p tracewell-kernel --lib build::",
    },
];
