//! Defects of wide vectors.

use super::Defect;

const WIDE: &str = "-p tracewell-runtime --test wide";
const ALONE: &str = "-p tracewell-runtime --test operations each_alone";
const REDUCTIONS: &str = "-p tracewell-runtime --test reductions";
const DECODE: &str = "-p tracewell-codegen --test wide";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "wide code returns with the upper parts of vectors in use",
        file: "crates/codegen/src/wide/leaf.rs",
        text: "asm.zero_upper();",
        with: "let _ = Assembler::zero_upper;",
        test: DECODE,
    },
    Defect {
        breaks: "a masked loop reads and writes beyond the end",
        file: "crates/codegen/src/wide/leaf.rs",
        text: "asm.compare_const(RDX, each.step);\n        asm.jump(Some(When::Less))",
        with: "asm.compare_const(RDX, 0);\n        asm.jump(Some(When::Less))",
        test: WIDE,
    },
    Defect {
        breaks: "the upper half of lanes of 64 bits has the mask of the lower",
        file: "crates/codegen/src/wide/leaf.rs",
        text: "constant: Some(8), ..Operands::new(mask",
        with: "constant: Some(0), ..Operands::new(mask",
        test: WIDE,
    },
    Defect {
        breaks: "registers from the seventeenth on are taken for others",
        file: "crates/codegen/src/wide/encode.rs",
        text: "Place::Register(register) => (register >> 4 & 1, operands.first >> 4 & 1),",
        with: "Place::Register(_) => (0, operands.first >> 4 & 1),",
        test: WIDE,
    },
    Defect {
        breaks: "a short offset counts bytes where it counts vectors",
        file: "crates/codegen/src/wide/encode.rs",
        text: "_ if whole => 64,",
        with: "_ if whole => 1,",
        test: WIDE,
    },
    Defect {
        breaks: "what went to the stack is what is needed next",
        file: "crates/codegen/src/wide/registers.rs",
        text: "let slot = *self.slots;\n            *self.slots += 1;",
        with: "let slot = *self.slots;",
        test: WIDE,
    },
    Defect {
        breaks: "a value gives its register back while it is still needed",
        file: "crates/codegen/src/wide/registers.rs",
        text: "number >= self.line.accumulators && self.done[number] as usize + reads == self.uses[number].len()",
        with: "number >= self.line.accumulators && self.done[number] as usize + reads <= self.uses[number].len()",
        test: WIDE,
    },
    Defect {
        breaks: "a product that is subtracted is added",
        file: "crates/codegen/src/wide/select.rs",
        text: "u8::from(minus_a != minus_b) << 2",
        with: "u8::from(minus_a && minus_b) << 2",
        test: WIDE,
    },
    Defect {
        breaks: "the smaller of two floats forgets NaN",
        file: "crates/codegen/src/wide/select.rs",
        text: "let unordered = self.compared(COMPARE_F.of(wide), a, a, Some(3));",
        with: "let unordered = self.compared(COMPARE_F.of(wide), a, a, Some(0x1e));",
        test: ALONE,
    },
    Defect {
        breaks: "a reduction forgets the NaN that it met",
        file: "crates/codegen/src/wide/leaf.rs",
        text: "for &(a, b) in &self.united {",
        with: "for &(a, b) in &self.united[..0] {",
        test: REDUCTIONS,
    },
    Defect {
        breaks: "lanes that are no iterations are summed up",
        file: "crates/codegen/src/wide/select.rs",
        text: "for (part, (&accumulator, &value)) in sum.registers.iter().zip(&value).enumerate() {\n            let lanes = self.iterations(part);",
        with: "for (part, (&accumulator, &value)) in sum.registers.iter().zip(&value).enumerate() {\n            let lanes = Lanes::All;",
        test: REDUCTIONS,
    },
    Defect {
        breaks: "a float that is too large becomes the smallest integer",
        file: "crates/codegen/src/wide/convert.rs",
        text: "let above = self.compared(COMPARE_F.of(wide), a, end, Some(0x1d));",
        with: "let above = self.compared(COMPARE_F.of(wide), a, end, Some(0x1e));",
        test: ALONE,
    },
    Defect {
        breaks: "the second half of a strided operand is the first",
        file: "crates/codegen/src/wide/body.rs",
        text: "memory(access, dtype, plus + part * lanes, step)",
        with: "memory(access, dtype, plus + 0 * part * lanes, step)",
        test: WIDE,
    },
    Defect {
        breaks: "elements beyond the last that is wanted are loaded with it",
        file: "crates/codegen/src/wide/pick.rs",
        text: "if vector == step - 1 { (lanes - 1) * vector } else { lanes * vector }",
        with: "lanes * vector",
        test: "-p tracewell-runtime --test wide",
    },
    Defect {
        breaks: "a choice of the smaller takes the larger",
        file: "crates/codegen/src/wide/compare.rs",
        text: "both if both == [less, more] => Some(MIN_F),",
        with: "both if both == [less, more] => Some(MAX_F),",
        test: "-p tracewell-runtime --test operations choices_by_comparison",
    },
    Defect {
        breaks: "vectors are stored past caches beside where vectors are",
        file: "crates/codegen/src/wide/uncached.rs",
        text: "let is_whole = self.emit.icmp_const(IntCC::Equal, beside, 0);",
        with: "let is_whole = self.emit.icmp_const(IntCC::NotEqual, beside, 0);",
        test: "-p tracewell-runtime --test wide large_results",
    },
    Defect {
        breaks: "a long sum of products starts again at zero",
        file: "crates/library/src/product/blocks.rs",
        text: "c.goes_on |= p.start > 0;",
        with: "c.goes_on |= p.start > k;",
        test: "-p tracewell-library --lib product::",
    },
    Defect {
        breaks: "the last columns of a product are those of the first panel",
        file: "crates/library/src/product/blocks.rs",
        text: "let in_place = self.b.part(0, start);",
        with: "let in_place = self.b.part(0, 0 * start);",
        test: "-p tracewell-library --lib product::",
    },
    Defect {
        breaks: "a turn for which a function was not made is left out",
        file: "crates/codegen/src/wide/loops.rs",
        text: "self.call_leaf(short - 1, [block, at, until]);",
        with: "self.call_leaf(short - 1, [block, until, until]);",
        test: "-p tracewell-runtime --test wide rare_turns",
    },
    Defect {
        breaks: "a function does not see that it was not made for a turn",
        file: "crates/codegen/src/wide/encode.rs",
        text: "AnyLane = 0x5,",
        with: "AnyLane = 0x2,",
        test: "-p tracewell-runtime --test wide rare_turns",
    },
    Defect {
        breaks: "the odd vectors of a row are not summed",
        file: "crates/library/src/vector_product/rows.rs",
        text: "*chain = add::<T>(even, odd);",
        with: "*chain = add::<T>(even, even);\n        _ = odd;",
        test: "-p tracewell-library --lib vector_product",
    },
    Defect {
        breaks: "places of rows that 32 bits say are places of elements",
        file: "crates/codegen/src/wide/body.rs",
        text: "near.push((narrow, scale));",
        with: "near.push((narrow, scale.min(1)));",
        test: "-p tracewell-runtime --test wide accesses",
    },
    Defect {
        breaks: "places are said by 32 bits however far they are",
        file: "crates/codegen/src/wide/body.rs",
        text: "(farthest <= i64::from(i32::MAX)).then_some(near)",
        with: "(farthest <= i64::MAX).then_some(near)",
        test: "-p tracewell-codegen --test wide near_places_are_loaded_at_once",
    },
    Defect {
        breaks: "the loop for arrays that no cache holds leaves out every other step",
        file: "crates/codegen/src/wide/loops.rs",
        text: "loops.push(Loop { far, ..one(body, copies, false)? });",
        with: "loops.push(Loop { far, step: 2 * (copies * level.lanes()) as i32, ..one(body, copies, false)? });",
        test: "-p tracewell-runtime --test wide long_walks",
    },
];
