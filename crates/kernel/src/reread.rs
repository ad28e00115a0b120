//! What every iteration of a launch reads again.

use crate::ir::{Kernel, Region, Stmt, Value};

impl Kernel {
    /// The parameters of which every iteration of the one outermost `each` reads the same elements, many of them, and
    /// that nothing writes or calls a library with.
    pub fn reread(&self) -> Vec<usize> {
        let [Stmt::Each { body, .. }] = self.body.stmts.as_slice() else { return Vec::new() };
        let mut found = vec![Use::default(); self.params.len()];
        look(body, &mut Vec::new(), &mut found);
        let is_reread = |&param: &usize| found[param].again && !found[param].otherwise;
        (0..self.params.len()).filter(is_reread).collect()
    }
}

/// How a parameter is used.
#[derive(Clone, Copy, Default)]
struct Use {
    /// Read at places that only loops inside of an iteration go along.
    again: bool,
    otherwise: bool,
}

/// `loops` are the variables of those around, inside of an iteration.
fn look(region: &Region, loops: &mut Vec<Value>, found: &mut [Use]) {
    for stmt in &region.stmts {
        match stmt {
            Stmt::Op { .. } | Stmt::Poll => {}
            Stmt::Load { buffer, index, .. } => {
                let is_inside = index.terms.iter().all(|(value, _)| loops.contains(value));
                if let Some(of) = found.get_mut(buffer.0 as usize) {
                    of.again |= is_inside && !index.terms.is_empty();
                }
            }
            Stmt::Store { buffer, .. } => {
                found.get_mut(buffer.0 as usize).into_iter().for_each(|of| of.otherwise = true);
            }
            Stmt::Call { windows, .. } => {
                for window in windows {
                    found.get_mut(window.buffer.0 as usize).into_iter().for_each(|of| of.otherwise = true);
                }
            }
            Stmt::Each { var, body, .. } | Stmt::For { var, body, .. } | Stmt::Reduce { var, body, .. } => {
                loops.push(*var);
                look(body, loops, found);
                loops.pop();
            }
            Stmt::While { cond, body, .. } => [cond, body].into_iter().for_each(|r| look(r, loops, found)),
            Stmt::If { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(|r| look(r, loops, found));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::read_kernel;

    #[test]
    fn what_iterations_read_again_is_known() {
        let kernel = |lines: &str| {
            let head = "kernel @k(b0: f32, b1: f32, b2: f32, b3: mut f32) sizes 1 {\neach %0 < s0 {\n";
            let tail = "store b3[%0], %9\n}\n}\n";
            read_kernel(&format!("{head}{lines}\n{tail}"), &|_| None)
                .unwrap_or_else(|error| panic!("{error}"))
        };
        // Every iteration all of the second, its own row of the first, its own element and one other of the third.
        let rows = "%1: f32 = load b2[%0]
            %2: f32 = load b2[7]
            %9: f32 = reduce add over %3 < s0 {
            %4: f32 = load b0[%0*s0 + %3]
            %5: f32 = load b1[%3]
            %6: f32 = mul %4, %5
            %7: f32 = mul %6, %1
            %8: f32 = mul %7, %2
            yield %8
            }";
        assert_eq!(kernel(rows).reread(), [1]);
        // Its own element of the first, too.
        let others = rows.replace("b0[%0*s0 + %3]", "b0[%3]").replace("b2[%0]", "b1[%0]");
        assert_eq!(kernel(&others).reread(), [0, 1]);
        // What it writes is another thing in each copy.
        let written = others.replace("%9: f32", "store b1[%0], %2\n%9: f32");
        assert_eq!(kernel(&written).reread(), [0]);
    }
}
