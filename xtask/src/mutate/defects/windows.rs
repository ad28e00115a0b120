//! Defects of convolutions and of reductions over windows.

use super::Defect;

const CALLS: &str = "-p tracewell-runtime --test conv";
const FACE: &str = "-p tests --test face windows";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "the way back from a convolution starts one element late",
        file: "crates/graph/src/prim/sliding.rs",
        text: "let low = window - 1 - a.low;",
        with: "let low = window - a.low;",
        test: laws!("conv"),
    },
    Defect {
        breaks: "the adjoint of a convolution does not reverse the kernel",
        file: "crates/graph/src/prim/conv.rs",
        text: "let backwards = cx.bind(Reverse { axes: (0..d).collect() }, &[&joined])?;",
        with: "let backwards = joined;",
        test: laws!("conv"),
    },
    Defect {
        breaks: "kernels of a batch are joined group by group in the wrong order",
        file: "crates/graph/src/prim/conv.rs",
        text: "let axes = (1..rank).chain([0, rank]).collect();",
        with: "let axes = (1..rank - 1).chain([0, rank - 1, rank]).collect();",
        test: laws!("conv"),
    },
    Defect {
        breaks: "elements between those of a dilated image count",
        file: "crates/kernel/src/conv.rs",
        text: "(at.is_multiple_of(self.image_dilation) && element < self.image).then_some(element)",
        with: "(element < self.image).then_some(element)",
        test: laws!("conv"),
    },
    Defect {
        breaks: "the last of equal extremes gets the derivative",
        file: "crates/graph/src/prim/select_and_gather.rs",
        text: "let mut keeps = b.bind1(Compare { comparison }, &[x.clone(), y])?;",
        with: "let strict = if comparison == Comparison::Ge { Comparison::Gt } else { Comparison::Lt };\n        let mut keeps = b.bind1(Compare { comparison: strict }, &[x.clone(), y])?;",
        test: FACE,
    },
    Defect {
        breaks: "a window that is combined by halves forgets its dilation",
        file: "crates/graph/src/prim/sliding.rs",
        text: "let start = done * apart;",
        with: "let start = done;",
        test: FACE,
    },
    Defect {
        breaks: "rows of a window forget what those before them have summed",
        file: "crates/library/src/conv/rows.rs",
        text: "                    done > 0,",
        with: "                    false,",
        test: "-p tracewell-library --lib conv",
    },
    Defect {
        breaks: "a row of an image is taken for another that was in its place",
        file: "crates/library/src/conv/rows.rs",
        text: "place.is_some_and(|(row, place)| held[place] != Some(row))",
        with: "place.is_some_and(|(_, place)| held[place].is_none())",
        test: "-p tracewell-library --lib conv",
    },
    Defect {
        breaks: "a row of an image overwrites one that is not multiplied yet",
        file: "crates/library/src/conv/rows.rs",
        text: "is_new && under_next.contains(&at)",
        with: "is_new && under_next.is_empty()",
        test: "-p tracewell-library --lib conv",
    },
    Defect {
        breaks: "every piece of a row is multiplied as if it were the first",
        file: "crates/library/src/product/tile.rs",
        text: "let at = a.at.wrapping_add(piece);",
        with: "let at = a.at.wrapping_add(pieces[0].min(piece));",
        test: "-p tracewell-library --lib conv",
    },
    Defect {
        breaks: "padding before a row is copied as if it were elements",
        file: "crates/library/src/conv/mod.rs",
        text: "let at = (start * from as i64 + before as i64) as usize;",
        with: "let at = (start.max(0) * from as i64 + before as i64) as usize;",
        test: CALLS,
    },
    Defect {
        breaks: "the sums of a kernel lose all blocks but the first of each part",
        file: "crates/library/src/conv/mod.rs",
        text: "for start in places.clone().step_by(self.block) {\n                    self.kernel_block",
        with: "for start in places.clone().step_by(self.block).take(1) {\n                    self.kernel_block",
        test: CALLS,
    },
];
