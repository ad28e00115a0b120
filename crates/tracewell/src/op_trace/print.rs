//! An op trace as text: calls with what ran in them.

use std::fmt;

use super::{Op, OpInput, OpTrace};

impl Op<'_> {
    /// `#5: f32[2] = mul #0, #1`
    fn line(&self) -> String {
        let input = |input: &OpInput| match input {
            OpInput::Array(number) => format!("#{number}"),
            OpInput::Number(splat) => splat.literal.to_string(),
        };
        let inputs: Vec<String> = self.record.inputs.iter().map(input).collect();
        let results: Vec<String> =
            self.outputs().zip(self.types()).map(|(number, ty)| format!("#{number}: {ty}")).collect();
        let name = if crate::stepping::called(&self.record.prim).is_some() {
            format!("jit {}", self.name())
        } else {
            tracewell_graph::text::write_prim(&self.record.prim)
        };
        format!("{} = {name} {}", results.join(", "), inputs.join(", ")).trim_end().to_string()
    }
}

/// One line a call or op, what is inside of a call two spaces deeper, with how long it took.
impl fmt::Display for OpTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (tensor, _)) in self.inputs.iter().enumerate() {
            writeln!(f, "#{number}: {} from outside", tracewell_graph::ArrayType::of(tensor))?;
        }
        let mut open: Vec<usize> = Vec::new();
        for op in self.ops() {
            let parents = std::iter::successors(op.call(), |&call| self.calls[call].parent);
            let mut around: Vec<usize> = parents.collect();
            around.reverse();
            let common = around.iter().zip(&open).take_while(|(a, b)| a == b).count();
            for (depth, &call) in around.iter().enumerate().skip(common) {
                writeln!(f, "{:1$}{2}", "", depth * 2, self.calls[call].what)?;
            }
            writeln!(
                f,
                "{:1$}{2}    {3} ns at {4}",
                "",
                around.len() * 2,
                op.line(),
                op.nanoseconds(),
                op.location()
            )?;
            open = around;
        }
        match self.dropped {
            0 => Ok(()),
            dropped => writeln!(f, "and {dropped} ops for which there was no room"),
        }
    }
}
