//! `while[cond=C, body=B, cond_consts=m, body_consts=n] c…, b…, x…`: repeats a graph as long as another holds.
//!
//! Forward mode carries tangents beside what is carried. Reverse mode, for which the number of trips is not known
//! before, is in `while_reverse.rs`; a batch of loops is in `while_batch.rs`.

use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};
use tracewell_kernel::Comparison;

use super::nested::{built, check_operands, check_types, chosen, parts, spread};
use super::{
    Add, And, Broadcast, Compare, DotGeneral, Max, Min, Mul, Not, Prim, Select, Sin, Tanh, while_batch,
    while_record, while_reverse,
};
use crate::builder::GraphBuilder;
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

    /// The derivative rule, for a reverse mode that keeps `snapshots` of the carries, an even number. The rule itself
    /// chooses by their size.
    pub fn jvp_with_snapshots(
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
        let snapshots = while_record::affordable(&self.types().2);
        self.jvp_with_snapshots(cx, primals, tangents, snapshots)
    }

    /// The linear part of a loop's derivative is no loop but a `linear_call`.
    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("while"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        while_batch::batch(cx, self, size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::While(self.clone())))
    }

    /// Loops that end whatever their operands are.
    fn examples() -> Vec<Example> {
        let of = |dtype| [counted(dtype), halved(dtype), flagged(dtype), passed_on(dtype), product(dtype)];
        [DType::F32, DType::F64].into_iter().flat_map(of).collect()
    }
}

/// What the examples are built with.
fn bind(b: &mut GraphBuilder, prim: impl Into<Prim>, inputs: &[&Atom]) -> Atom {
    let inputs: Vec<Atom> = inputs.iter().map(|&atom| atom.clone()).collect();
    b.bind1(prim, &inputs).expect("typed")
}

fn compare(b: &mut GraphBuilder, comparison: Comparison, x: &Atom, y: &Atom) -> Atom {
    bind(b, Compare { comparison }, &[x, y])
}

fn example_graph<const N: usize>(
    types: [&ArrayType; N],
    outputs: impl FnOnce(&mut GraphBuilder, [Atom; N]) -> Vec<Atom>,
) -> Arc<Graph> {
    let mut b = GraphBuilder::new();
    let inputs = types.map(|ty| Atom::Var(b.input(ty.clone())));
    let outputs = outputs(&mut b, inputs);
    Arc::new(b.finish("example", outputs))
}

/// `0 ≤ i < most`, for an integer that wild operands cannot make run forever.
fn counting(b: &mut GraphBuilder, i: &Atom, ty: &ArrayType, most: &Atom) -> Atom {
    let from = compare(b, Comparison::Ge, i, &Atom::fill(ty, 0.0));
    let below = compare(b, Comparison::Lt, i, most);
    bind(b, And {}, &[&from, &below])
}

/// As often as a constant of the condition says: no, nine or eighteen times for 0, 1 and 2. The body has a constant too.
fn counted(dtype: DType) -> Example {
    let (int, x) = (ArrayType::new(DType::I32, Shape::scalar()), ArrayType::new(dtype, [3]));
    let cond = example_graph([&int, &int, &x], |b, [limit, i, _]| {
        let nine = bind(b, Mul {}, &[&limit, &Atom::fill(&int, 9.0)]);
        let most = bind(b, Min {}, &[&nine, &Atom::fill(&int, 20.0)]);
        vec![counting(b, &i, &int, &most)]
    });
    let body = example_graph([&x, &int, &x], |b, [w, i, x]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        let sine = bind(b, Sin {}, &[&x]);
        vec![i, bind(b, Mul {}, &[&sine, &w])]
    });
    let prim = While { cond, body, cond_consts: 1, body_consts: 1 }.into();
    Example { prim, inputs: vec![int.clone(), x.clone(), int, x] }
}

/// Until a float has fallen below another: how often depends on floats.
fn halved(dtype: DType) -> Example {
    let (x, y) = (ArrayType::new(dtype, Shape::scalar()), ArrayType::new(dtype, [2]));
    let cond = example_graph([&x, &x, &y], |b, [least, x, _]| {
        let least = bind(b, Max {}, &[&least, &Atom::fill(&ArrayType::new(dtype, Shape::scalar()), 0.03)]);
        vec![compare(b, Comparison::Gt, &x, &least)]
    });
    let body = example_graph([&y, &x, &y], |b, [w, x, y]| {
        let most = bind(b, Min {}, &[&x, &Atom::fill(&ArrayType::new(dtype, Shape::scalar()), 4.0)]);
        let half = bind(b, Mul {}, &[&most, &Atom::fill(&ArrayType::new(dtype, Shape::scalar()), 0.5)]);
        let wide = bind(b, Broadcast { shape: Shape::from([2].as_slice()), axes: vec![] }, &[&x]);
        let product = bind(b, Mul {}, &[&y, &w]);
        vec![half, bind(b, Add {}, &[&product, &wide])]
    });
    let prim = While { cond, body, cond_consts: 1, body_consts: 1 }.into();
    Example { prim, inputs: vec![x.clone(), y.clone(), x, y] }
}

/// Carries of four types, one of them the condition itself; one is always the same, and one has no elements.
fn flagged(dtype: DType) -> Example {
    let (flag, int) =
        (ArrayType::new(DType::Bool, Shape::scalar()), ArrayType::new(DType::U8, Shape::scalar()));
    let (x, none) = (ArrayType::new(dtype, [2, 2]), ArrayType::new(dtype, [0]));
    let types = [&flag, &int, &x, &x, &none];
    let cond = example_graph(types, |_, [flag, ..]| vec![flag]);
    let body = example_graph(types, |b, [flag, i, x, same, none]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        let low = bind(b, And {}, &[&i, &Atom::fill(&int, 7.0)]);
        let go_on = compare(b, Comparison::Lt, &low, &Atom::fill(&int, 5.0));
        let odd = bind(b, And {}, &[&i, &Atom::fill(&int, 1.0)]);
        let odd = compare(b, Comparison::Ne, &odd, &Atom::fill(&int, 0.0));
        let even = bind(b, Not {}, &[&odd]);
        let even = bind(b, And {}, &[&even, &flag]);
        let even = bind(b, Broadcast { shape: Shape::from([2, 2].as_slice()), axes: vec![] }, &[&even]);
        let product = bind(b, Mul {}, &[&x, &same]);
        let sum = bind(b, Add {}, &[&x, &same]);
        vec![go_on, i, bind(b, Select {}, &[&even, &product, &sum]), same, none]
    });
    let prim = While { cond, body, cond_consts: 0, body_consts: 0 }.into();
    Example { prim, inputs: vec![flag, int, x.clone(), x, none] }
}

/// A chain: each carry gets a tangent from the one before it, a trip later.
fn passed_on(dtype: DType) -> Example {
    let (int, x) = (ArrayType::new(DType::I64, Shape::scalar()), ArrayType::new(dtype, Shape::scalar()));
    let types = [&int, &x, &x, &x];
    let cond = example_graph(types, |b, [i, ..]| vec![counting(b, &i, &int, &Atom::fill(&int, 4.0))]);
    let body = example_graph(types, |b, [i, x, y, z]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        let next = bind(b, Mul {}, &[&z, &y]);
        vec![i, x.clone(), bind(b, Sin {}, &[&x]), next]
    });
    let prim = While { cond, body, cond_consts: 0, body_consts: 0 }.into();
    Example { prim, inputs: vec![int, x.clone(), x.clone(), x] }
}

/// A product so large that a batch of these loops is one loop.
fn product(dtype: DType) -> Example {
    const SIZE: usize = 32;
    let (int, x) = (ArrayType::new(DType::I32, Shape::scalar()), ArrayType::new(dtype, [SIZE]));
    let w = ArrayType::new(dtype, [SIZE, SIZE]);
    let cond = example_graph([&int, &x], |b, [i, _]| vec![counting(b, &i, &int, &Atom::fill(&int, 3.0))]);
    let body = example_graph([&w, &int, &x], |b, [w, i, x]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        let dot = DotGeneral { a_contract: vec![1], b_contract: vec![0], a_batch: vec![], b_batch: vec![] };
        let mixed = bind(b, dot, &[&w, &x]);
        let small = bind(b, Mul {}, &[&mixed, &Atom::fill(&ArrayType::new(dtype, [SIZE]), 0.125)]);
        vec![i, bind(b, Tanh {}, &[&small])]
    });
    let prim = While { cond, body, cond_consts: 0, body_consts: 1 }.into();
    Example { prim, inputs: vec![w, int, x] }
}
