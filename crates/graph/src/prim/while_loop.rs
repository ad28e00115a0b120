//! `while[cond=C, body=B, cond_consts=m, body_consts=n] c…, b…, x…`: repeats a graph as long as another holds.
//!
//! A carry that the body hands on as it is becomes a constant first: it needs neither tangents nor snapshots of its own.
//! Forward mode carries tangents beside what is carried. Reverse mode, for which the number of trips is not known
//! before, is in `while_reverse.rs`, the adjoint of linear loops in `while_transpose.rs`, and a batch of loops in
//! `while_batch.rs`.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::nested::{as_weak_as, built, check_operands, check_types, chosen, parts, spread};
use super::{while_batch, while_examples, while_record, while_reverse, while_transpose};
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Control, Cx, Example, Jvp, Lowering, Operand, Primitive, Walks};
use crate::ty::ArrayType;

params! {
    /// `while[cond=C, body=B, cond_consts=m, body_consts=n] c…, b…, x…`: `x = B(b…, x…)` as long as `C(c…, x…)`
    /// holds.
    pub struct While {
        /// From its constants and what is carried to a `bool` scalar.
        cond: Arc<Graph>,
        /// From its constants and what is carried to what is carried on.
        body: Arc<Graph>,
        /// How many operands only the condition reads.
        cond_consts: usize,
        /// How many operands only the body reads.
        body_consts: usize,
    }
}

/// The body of a loop with its derivative.
pub(super) struct Pushed {
    /// Which of the body's constants have a tangent.
    pub(super) consts: Vec<bool>,
    /// Which carries have a tangent, at the beginning or after some trips.
    pub(super) carries: Vec<bool>,
    /// From the constants, their tangents, the carries and theirs to the carries and theirs.
    pub(super) body: Arc<Graph>,
}

impl While {
    /// The operands: the condition's constants, the body's, and the carries.
    pub(super) fn split<'o, T>(&self, operands: &'o [T]) -> (&'o [T], &'o [T], &'o [T]) {
        let (cond, rest) = operands.split_at(self.cond_consts);
        let (body, carries) = rest.split_at(self.body_consts);
        (cond, body, carries)
    }

    /// The types of the operands, as the graphs declare them.
    pub(super) fn types(&self) -> (Vec<ArrayType>, Vec<ArrayType>, Vec<ArrayType>) {
        let mut cond = self.cond.input_types();
        cond.truncate(self.cond_consts);
        let mut body = self.body.input_types();
        let carries = body.split_off(self.body_consts);
        (cond, body, carries)
    }

    /// The body with its derivative along these tangents of operands; `None` where no carry ever has one. A carry that
    /// starts without a tangent may get one from another, so that this takes as many rounds as tangents travel.
    fn push(&self, walks: &dyn Walks, tangents: &[Option<Atom>]) -> Result<Option<Pushed>, RuleError> {
        let (_, consts, carries) = self.split(tangents);
        let has = |tangents: &[Option<Atom>]| tangents.iter().map(Option::is_some).collect();
        let (consts, mut carries): (Vec<bool>, Vec<bool>) = (has(consts), has(carries));
        let (both, made) = loop {
            let (both, made) = walks.jvp(&self.body, &[consts.as_slice(), &carries].concat())?;
            let more: Vec<bool> = carries.iter().zip(&made).map(|(had, made)| *had || *made).collect();
            if more == carries {
                break (both, made);
            }
            carries = more;
        };
        if !carries.contains(&true) {
            return Ok(None);
        }
        let (_, const_types, carry_types) = self.types();
        let const_tangents = chosen(&const_types, &consts);
        let inputs: [&[ArrayType]; 4] =
            [&const_types, &const_tangents, &carry_types, &chosen(&carry_types, &carries)];
        let lengths = inputs.map(<[ArrayType]>::len);
        let body = built(walks, &both.name, &inputs, |cx, inputs| {
            let [c, dc, x, dx] = parts(inputs, lengths);
            let mut results = cx.inline(&both, &[c, x, dc, dx].concat());
            let tangents = spread(results.split_off(x.len()), &made);
            for (i, tangent) in tangents.into_iter().enumerate().filter(|(i, _)| carries[*i]) {
                results.push(tangent.unwrap_or_else(|| Atom::fill(&carry_types[i], 0.0)));
            }
            Ok(results)
        })?;
        Ok(Some(Pushed { consts, carries, body }))
    }

    /// The loop with tangents beside the carries: the condition does not see them.
    fn forward(
        &self,
        cx: &mut Cx<'_>,
        pushed: Pushed,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Jvp, RuleError> {
        let (cond_types, const_types, carry_types) = self.types();
        let tangent_types = chosen(&carry_types, &pushed.carries);
        let inputs: [&[ArrayType]; 3] = [&cond_types, &carry_types, &tangent_types];
        let cond = built(cx.walks(), &self.cond.name, &inputs, |cx, inputs| {
            Ok(cx.inline(&self.cond, &inputs[..cond_types.len() + carry_types.len()]))
        })?;
        let (cond_consts, consts, carries) = self.split(primals);
        let (_, const_tangents, carry_tangents) = self.split(tangents);
        let const_tangents: Vec<Atom> = const_tangents.iter().flatten().cloned().collect();
        let carry_tangents = tangents_or_zeros(&carry_types, carry_tangents, &pushed.carries);
        let pushing = While {
            cond,
            body: pushed.body,
            cond_consts: self.cond_consts,
            body_consts: const_types.len() + const_tangents.len(),
        };
        let operands = [cond_consts, consts, &const_tangents, carries, &carry_tangents].concat();
        let mut primals = cx.bind_all(pushing, &operands)?;
        let tangents = primals.split_off(carries.len());
        Ok(Jvp { primals, tangents: spread(tangents, &pushed.carries) })
    }

    /// Which carries the body hands on as they are, and which it does not.
    fn fixed(&self) -> (Vec<bool>, Vec<bool>) {
        let carries = self.body.inputs[self.body_consts..].iter();
        carries.zip(&self.body.outputs).map(|(&var, out)| (*out == var.into(), *out != var.into())).unzip()
    }

    /// The same loop where carries that stay as they are have become constants, of the condition and of the body.
    fn hoisted(&self, walks: &dyn Walks, fixed: &[bool], moving: &[bool]) -> Result<While, RuleError> {
        let (cond_types, const_types, carry_types) = self.types();
        let (held, rest) = (chosen(&carry_types, fixed), chosen(&carry_types, moving));
        // The carries in their old order.
        let merged = |held: &[Atom], rest: &[Atom]| -> Vec<Atom> {
            let (mut held, mut rest) = (held.iter().cloned(), rest.iter().cloned());
            fixed.iter().filter_map(|&fixed| if fixed { held.next() } else { rest.next() }).collect()
        };
        let cond = built(walks, &self.cond.name, &[&cond_types, &held, &rest], |cx, inputs| {
            let [consts, held, rest] = parts(inputs, [cond_types.len(), held.len(), rest.len()]);
            Ok(cx.inline(&self.cond, &[consts, &merged(held, rest)].concat()))
        })?;
        let body = built(walks, &self.body.name, &[&const_types, &held, &rest], |cx, inputs| {
            let [consts, held, rest] = parts(inputs, [const_types.len(), held.len(), rest.len()]);
            Ok(chosen(&cx.inline(&self.body, &[consts, &merged(held, rest)].concat()), moving))
        })?;
        let (cond_consts, body_consts) = (self.cond_consts + held.len(), self.body_consts + held.len());
        Ok(While { cond, body, cond_consts, body_consts })
    }

    /// The derivative rule, for a reverse mode that keeps `snapshots` of the carries, an even number. The rule itself
    /// chooses by their size.
    pub fn jvp_with_snapshots(
        &self,
        cx: &mut Cx<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
        snapshots: usize,
    ) -> Result<Jvp, RuleError> {
        let (fixed, moving) = self.fixed();
        if !fixed.contains(&true) {
            return self.jvp_of_moving(cx, primals, tangents, snapshots);
        }
        let hoisted = self.hoisted(cx.walks(), &fixed, &moving)?;
        let primals_again = self.rearranged(primals, &fixed, &moving);
        let tangents_again = self.rearranged(tangents, &fixed, &moving);
        let moved = hoisted.jvp_of_moving(cx, &primals_again, &tangents_again, snapshots)?;
        let mut moved = moved.primals.into_iter().zip(moved.tangents);
        let ((_, _, carries), (_, _, carry_tangents)) = (self.split(primals), self.split(tangents));
        let mut all = Jvp { primals: Vec::new(), tangents: Vec::new() };
        for (i, ty) in self.types().2.iter().enumerate() {
            let moved = if fixed[i] { None } else { moved.next() };
            let (primal, tangent) = match moved {
                Some(moved) => moved,
                None => (as_weak_as(cx, &carries[i], ty)?, carry_tangents[i].clone()),
            };
            all.primals.push(primal);
            all.tangents.push(tangent);
        }
        Ok(all)
    }

    /// The operands as the hoisted loop takes them.
    fn rearranged<T: Clone>(&self, operands: &[T], fixed: &[bool], moving: &[bool]) -> Vec<T> {
        let (cond_consts, consts, carries) = self.split(operands);
        let held = chosen(carries, fixed);
        [cond_consts, &held, consts, &held, &chosen(carries, moving)].concat()
    }

    fn jvp_of_moving(
        &self,
        cx: &mut Cx<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
        snapshots: usize,
    ) -> Result<Jvp, RuleError> {
        match self.push(cx.walks(), tangents)? {
            None => {
                let results = cx.bind_all(self.clone(), primals)?;
                let none = vec![None; results.len()];
                Ok(Jvp { primals: results, tangents: none })
            }
            Some(pushed) if cx.linearizing() => {
                while_reverse::linearized(cx, self, &pushed, snapshots, primals, tangents)
            }
            Some(pushed) => self.forward(cx, pushed, primals, tangents),
        }
    }
}

/// The tangents of the carries that ever have one: zero where they begin without.
pub(super) fn tangents_or_zeros(
    types: &[ArrayType],
    tangents: &[Option<Atom>],
    varies: &[bool],
) -> Vec<Atom> {
    let all = types.iter().zip(tangents).zip(varies).filter(|(_, varies)| **varies);
    all.map(|((ty, tangent), _)| tangent.clone().unwrap_or_else(|| Atom::fill(ty, 0.0))).collect()
}

impl Primitive for While {
    fn name(&self) -> &str {
        "while"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let consts = self.cond_consts + self.body_consts;
        if inputs.len() < consts {
            let message = format!("a while takes at least {consts} operands, found {}", inputs.len());
            return Err(TypeError::new("while", message));
        }
        let (cond, rest) = inputs.split_at(self.cond_consts);
        let (_, carries) = rest.split_at(self.body_consts);
        check_operands("while", &self.cond, &[cond, carries].concat())?;
        check_operands("while", &self.body, rest)?;
        match self.cond.output_types().as_slice() {
            [ty] if ty.dtype == DType::Bool && ty.rank() == 0 => {}
            _ => return Err(TypeError::new("while", "the condition of a while gives one bool[]")),
        }
        let carried = self.body.input_types().split_off(self.body_consts);
        check_types("while", "body", &carried, &self.body.output_types())?;
        Ok(carried)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (cond, rest) = inputs.split_at(self.cond_consts);
        let (consts, carries) = rest.split_at(self.body_consts);
        let mut carries = carries.to_vec();
        while eval(&self.cond, &[cond, &carries].concat())?[0].literal(0).as_i64() != 0 {
            carries = eval(&self.body, &[consts, &carries].concat())?;
        }
        Ok(carries)
    }

    /// A loop of the body's derivative; when linearizing, a loop that keeps snapshots and a linear map that has both
    /// directions.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let snapshots = while_record::affordable(&chosen(&self.types().2, &self.fixed().1));
        self.jvp_with_snapshots(cx, primals, tangents, snapshots)
    }

    /// Where the body is linear. (The linear part of a loop's derivative is no loop but a `linear_call`.)
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        while_transpose::transpose(cx, self, operands, cotangents)
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        while_batch::batch(cx, self, size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::While(self.clone())))
    }

    fn examples() -> Vec<Example> {
        while_examples::examples()
    }
}
