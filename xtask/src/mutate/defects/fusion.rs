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
        text: "(start[last], limit[last]) = (j, j + 1);",
        with: "(start[last], limit[last]) = (0, 1);",
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
];
