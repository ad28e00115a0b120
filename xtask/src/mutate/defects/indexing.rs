//! Defects of indexing: gather, scatter and what the face makes of them.

use super::Defect;

const ORACLE: &str = "-p tests --test face oracle::indexing";
const PLACES: &str = "-p tests --test face places";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "compiled indices do not count from the back",
        file: "crates/graph/src/prim/places.rs",
        text: "asked = b.select(is_negative, from_back, asked);",
        with: "asked = b.select(is_negative, asked, asked);\n            let _ = from_back;",
        test: laws!("scatter"),
    },
    Defect {
        breaks: "an array is computed by the kernel that reads it anywhere",
        file: "crates/fuse/src/materialise/mod.rs",
        text: "if cluster.looked_up.contains(&id) {",
        with: "if false {",
        test: PLACES,
    },
    Defect {
        breaks: "what is looked up is computed where its position is known, before its start is",
        file: "crates/fuse/src/nest.rs",
        text: "self.loops.innermost(at.innermost(&self.loops).into_iter().chain(starts))",
        with: "self.loops.innermost(at.innermost(&self.loops).into_iter().chain(starts.take(0)))",
        test: laws!("gather"),
    },
    Defect {
        breaks: "an index that was moved counts as inside",
        file: "crates/graph/src/prim/places.rs",
        text: "let inside = b.compare(Comparison::Eq, moved, asked);",
        with: "let inside = b.compare(Comparison::Le, moved, asked);",
        test: laws!("gather"),
    },
    Defect {
        breaks: "of two arrays of indices only the last is looked at",
        file: "crates/graph/src/prim/places.rs",
        text: "Some(others) => b.op(Op::And, &[others, inside]),",
        with: "Some(_) => inside,",
        test: laws!("scatter"),
    },
    Defect {
        breaks: "loops over a window are merged although elements between its rows are left out",
        file: "crates/graph/src/prim/places.rs",
        text: "&& follows(self.array, inner.array)",
        with: "&& (follows(self.array, inner.array) || self.array > 0)",
        test: laws!("scatter"),
    },
    Defect {
        breaks: "batched indices look in the array of the first element",
        file: "crates/graph/src/prim/places.rs",
        text: "along: self.along.iter().map(|&axis| axis + usize::from(array)).collect(),",
        with: "along: self.along.clone(),",
        test: laws!("gather"),
    },
    Defect {
        breaks: "the tangent of what is put outside is that value",
        file: "crates/graph/src/prim/gather.rs",
        text: "Outside::Fill(value) => Outside::Fill(Literal::zero(value.dtype())),",
        with: "Outside::Fill(value) => Outside::Fill(value),",
        test: laws!("gather"),
    },
    Defect {
        breaks: "the adjoint of a gather adds also what was outside",
        file: "crates/graph/src/prim/gather.rs",
        text: "Scatter::new(self.places(), ScatterOp::Add, self.outside != Outside::Clip);",
        with: "Scatter::new(self.places(), ScatterOp::Add, false);",
        test: laws!("gather"),
    },
    Defect {
        breaks: "an element that is set keeps its own tangent",
        file: "crates/graph/src/prim/scatter_jvp.rs",
        text: "cx.bind(Select {}, &[&is_set, &put, dx.unwrap_or(&zeros)]).map(Some)",
        with: "let _ = (&is_set, &zeros);\n    let both = [&put, dx.unwrap_or(&put)];\n    cx.bind(Add {}, &both).map(Some)",
        test: laws!("scatter"),
    },
    Defect {
        breaks: "the derivative of a product forgets that another factor is zero",
        file: "crates/graph/src/prim/scatter_jvp.rs",
        text: "let slope = cx.bind(Select {}, &[&are_none, &without, &no])?;",
        with: "let slope = cx.bind(Select {}, &[&are_none, &without, &without])?;",
        test: ORACLE,
    },
    Defect {
        breaks: "equal updates each have the whole tangent of an extreme",
        file: "crates/graph/src/prim/scatter_jvp.rs",
        text: "cx.bind(Div {}, &[&sum, &count]).map(Some)",
        with: "let _ = &count;\n    Ok(Some(sum))",
        test: ORACLE,
    },
    Defect {
        breaks: "arrays of places that stand apart keep the place of the first",
        file: "crates/tracewell/src/array/placing.rs",
        text: "let first = if stand_apart { 0 } else { chosen.first().copied().unwrap_or(0) };",
        with: "let first = if stand_apart { chosen[0] } else { chosen.first().copied().unwrap_or(0) };",
        test: PLACES,
    },
    Defect {
        breaks: "a part that is walked backwards is put back forwards",
        file: "crates/tracewell/src/array/at.rs",
        text: "part = bound(Reverse { axes: plan.reversed }, &[part], location)?;",
        with: "let _ = Reverse { axes: plan.reversed };",
        test: PLACES,
    },
    Defect {
        breaks: "each part of an array takes the updates of the first",
        file: "crates/library/src/add_at.rs",
        text: "index.place(rule).wrapping_sub(first as u32)",
        with: "index.place(rule).wrapping_sub(first.min(0) as u32)",
        test: "-p tracewell-library --lib add_at",
    },
    Defect {
        breaks: "of updates of 8 bytes the second vector is kept as the first",
        file: "crates/library/src/add_at.rs",
        text: "is_kept >> half & (",
        with: "is_kept & (",
        test: "-p tracewell-library --lib add_at",
    },
    Defect {
        breaks: "of the updates of a part those that came first are added at the places of all",
        file: "crates/library/src/add_at.rs",
        text: "add_each(part, &self.places[which.clone()], &self.values[which]);",
        with: "add_each(part, &self.places[which.clone()], &self.values[..which.len()]);",
        test: "-p tracewell-library --lib add_at",
    },
    Defect {
        breaks: "updates that were kept are added after later ones",
        file: "crates/library/src/add_at.rs",
        text: "                old.add(part, 0..old.count);\n                old.count = 0;\n",
        with: "",
        test: "-p tracewell-library --lib add_at",
    },
    Defect {
        breaks: "updates that were added between are added once more",
        file: "crates/library/src/add_at.rs",
        text: "added += BLOCK / 2;",
        with: "added += BLOCK / 4;",
        test: "-p tracewell-library --lib add_at",
    },
];
