//! `dot_general[…] a, b`: products summed over contracted axes, for each index of the batch axes.
//!
//! The result has the batch axes, then the free axes of `a`, then the free axes of `b`.

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};
use tracewell_kernel::{Gemm, Library, LibraryCall, Matrices};

use super::elementwise::arity;
use super::shape_rules::{bilinear_jvp, each_index, linear_operand, position};
use super::sheet::Sheet;
use super::{Broadcast, Mul, Permute, ReduceSum};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::rows::OfRows;
use crate::ty::ArrayType;

params! {
    /// `dot_general[…] a, b`: the sum of products over pairs of contracted axes, for each batch index.
    pub struct DotGeneral {
        /// Axes of `a` to sum over, each paired with one of `b`.
        a_contract: Vec<usize>,
        /// Axes of `b` to sum over.
        b_contract: Vec<usize>,
        /// Axes of `a` that index the batch, each paired with one of `b`.
        a_batch: Vec<usize>,
        /// Axes of `b` that index the batch.
        b_batch: Vec<usize>,
    }
}

/// So many products are not worth calling somebody for.
const SMALL: usize = 512;

/// One operand's axes by their part in the product.
struct Axes<'p> {
    batch: &'p [usize],
    contract: &'p [usize],
    free: Vec<usize>,
}

impl DotGeneral {
    /// The matrix product of two matrices.
    pub fn matmul() -> DotGeneral {
        DotGeneral { a_contract: vec![1], b_contract: vec![0], a_batch: vec![], b_batch: vec![] }
    }

    fn a_axes(&self, rank: usize) -> Axes<'_> {
        Axes::new(&self.a_batch, &self.a_contract, rank)
    }

    fn b_axes(&self, rank: usize) -> Axes<'_> {
        Axes::new(&self.b_batch, &self.b_contract, rank)
    }
}

impl<'p> Axes<'p> {
    fn new(batch: &'p [usize], contract: &'p [usize], rank: usize) -> Axes<'p> {
        let free = (0..rank).filter(|a| !batch.contains(a) && !contract.contains(a)).collect();
        Axes { batch, contract, free }
    }
}

fn product(shape: &Shape, axes: &[usize]) -> usize {
    axes.iter().map(|&a| shape.size(a)).product()
}

impl Primitive for DotGeneral {
    fn name(&self) -> &str {
        "dot_general"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("dot_general", inputs, 2)?;
        let (a, b) = (&inputs[0], &inputs[1]);
        let error = |why: String| {
            TypeError::new("dot_general", format!("cannot take the product of {a} and {b}: {why}"))
        };
        let fail = |why| Err(error(why));
        if a.dtype != b.dtype {
            return fail(format!("dtypes are {} and {}", a.dtype, b.dtype));
        }
        if a.dtype.is_bool() {
            return Err(error("bools have no product".to_string()).help("`.convert(I32)` first"));
        }
        let pairs =
            [(&self.a_batch, &self.b_batch, "batch"), (&self.a_contract, &self.b_contract, "contracted")];
        for (left, right, part) in pairs {
            if left.len() != right.len() {
                return fail(format!("{} and {} axes are {part}", left.len(), right.len()));
            }
        }
        for (side, rank, first, second) in [
            ("left", a.rank(), &self.a_batch, &self.a_contract),
            ("right", b.rank(), &self.b_batch, &self.b_contract),
        ] {
            let mut seen = vec![false; rank];
            for &axis in first.iter().chain(second) {
                match seen.get_mut(axis) {
                    Some(seen) if !*seen => *seen = true,
                    _ => {
                        return fail(format!(
                            "axis {axis} of the {side} operand is out of range or named twice"
                        ));
                    }
                }
            }
        }
        for (left, right, part) in pairs {
            for (&i, &j) in left.iter().zip(right) {
                let (n, m) = (a.shape.size(i), b.shape.size(j));
                if n != m {
                    return Err(error(format!(
                        "{part} axis {i} of the left is {n}, {j} of the right is {m}"
                    ))
                    .help("sizes along which products are summed are equal; `.t()` reverses the axes"));
                }
            }
        }
        let (left, right) = (self.a_axes(a.rank()), self.b_axes(b.rank()));
        let of_a = left.batch.iter().chain(&left.free).map(|&i| a.shape.size(i));
        let shape: Shape = of_a.chain(right.free.iter().map(|&i| b.shape.size(i))).collect();
        if shape.checked_len().is_none() {
            return Err(error(format!("shape {shape} has too many elements")).help(Shape::LIMIT));
        }
        Ok(vec![ArrayType { dtype: a.dtype, shape, weak: a.weak && b.weak }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (a, b) = (&inputs[0], &inputs[1]);
        let types = [ArrayType::of(a), ArrayType::of(b)];
        let out = self.type_rule(&types).map_err(|e| e.message)?.remove(0);
        let (left, right) = (self.a_axes(a.rank()), self.b_axes(b.rank()));
        let contracted: Shape = left.contract.iter().map(|&i| a.shape().size(i)).collect();
        let (nb, nf) = (left.batch.len(), left.free.len());
        let mut literals = Vec::with_capacity(out.shape.len());
        each_index(&out.shape, |index| {
            let (mut i, mut j) = (vec![0; a.rank()], vec![0; b.rank()]);
            for k in 0..nb {
                i[left.batch[k]] = index[k];
                j[right.batch[k]] = index[k];
            }
            left.free.iter().enumerate().for_each(|(k, &axis)| i[axis] = index[nb + k]);
            right.free.iter().enumerate().for_each(|(k, &axis)| j[axis] = index[nb + nf + k]);
            let (mut real, mut int, mut complex) = (0.0, 0i64, Complex64::ZERO);
            each_index(&contracted, |c| {
                for k in 0..c.len() {
                    i[left.contract[k]] = c[k];
                    j[right.contract[k]] = c[k];
                }
                let x = a.literal(position(a.shape(), &i));
                let y = b.literal(position(b.shape(), &j));
                real += x.as_f64() * y.as_f64();
                int = int.wrapping_add(x.as_i64().wrapping_mul(y.as_i64()));
                complex += x.as_complex() * y.as_complex();
            });
            literals.push(if out.dtype.is_complex() {
                Literal::from_complex(out.dtype, complex)
            } else if out.dtype.is_float() {
                Literal::from_f64(out.dtype, real)
            } else {
                Literal::from_i64(out.dtype, int)
            });
        });
        Ok(vec![Tensor::from_literals(out.dtype, out.shape, &literals).map_err(|e| e.to_string())?])
    }

    /// Bilinear: d(a·b) = da·b + a·db.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        bilinear_jvp(cx, self, primals, tangents)
    }

    /// The cotangent of one operand is the product of `ct` with the other over the other's free axes, its axes
    /// then put back in order.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let (linear, ty, known) = linear_operand("dot_general", operands)?;
        let other_rank = cx.ty(known).rank();
        let (own, other) = if linear == 0 {
            (self.a_axes(ty.rank()), self.b_axes(other_rank))
        } else {
            (self.b_axes(ty.rank()), self.a_axes(other_rank))
        };
        let nb = own.batch.len();
        // The result's axes are: batch, free of a, free of b. Those of the known operand are summed away.
        let summed = if linear == 0 { nb + own.free.len() } else { nb };
        let dot = DotGeneral {
            a_contract: (summed..summed + other.free.len()).collect(),
            b_contract: other.free.clone(),
            a_batch: (0..nb).collect(),
            b_batch: other.batch.to_vec(),
        };
        let product = cx.bind(dot, &[ct, known])?;
        // Its axes are: batch, own free, then the contracted axes in the order they have in the known operand.
        let mut contracted: Vec<(usize, usize)> =
            other.contract.iter().copied().zip(own.contract.iter().copied()).collect();
        contracted.sort_unstable();
        let axes: Vec<usize> = own
            .batch
            .iter()
            .chain(&own.free)
            .copied()
            .chain(contracted.into_iter().map(|(_, own)| own))
            .collect();
        let back = Permute { axes }.inverse();
        let result = if back.is_identity() { product } else { cx.bind(back, &[&product])? };
        Ok(if linear == 0 { vec![Some(result), None] } else { vec![None, Some(result)] })
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let shift =
            |axes: &[usize], by: bool| -> Vec<usize> { axes.iter().map(|a| a + by as usize).collect() };
        let (on_a, on_b) = (operands[0].batched, operands[1].batched);
        let mut dot = DotGeneral {
            a_contract: shift(&self.a_contract, on_a),
            b_contract: shift(&self.b_contract, on_b),
            a_batch: shift(&self.a_batch, on_a),
            b_batch: shift(&self.b_batch, on_b),
        };
        if on_a && on_b {
            dot.a_batch.insert(0, 0);
            dot.b_batch.insert(0, 0);
            return Ok(vec![Batched::yes(cx.bind(dot, &[&operands[0].atom, &operands[1].atom])?)]);
        }
        // The batch axis is a free axis of one operand: the first of its free axes in the result.
        let a_free = cx.ty(&operands[0].atom).rank() - dot.a_contract.len() - dot.a_batch.len();
        let at = self.a_batch.len() + if on_a { 0 } else { a_free };
        let product = cx.bind(dot, &[&operands[0].atom, &operands[1].atom])?;
        let rank = cx.ty(&product).rank();
        let to_front = Permute { axes: std::iter::once(at).chain((0..rank).filter(|&i| i != at)).collect() };
        let result = if at == 0 { product } else { cx.bind(to_front, &[&product])? };
        Ok(vec![Batched::yes(result)])
    }

    /// Products and sums where it is small or of vectors; a matrix product where each group of axes is one stride; otherwise the
    /// operands are permuted first.
    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        let (a, b) = (&inputs[0], &inputs[1]);
        if a.dtype.is_complex() {
            return Ok(Sheet::bilinear(self, inputs));
        }
        let (left, right) = (self.a_axes(a.rank()), self.b_axes(b.rank()));
        let is_small = outputs[0].shape.len().saturating_mul(product(&a.shape, left.contract)) <= SMALL;
        // Nothing is used twice: such products wait for memory, and fuse with what makes their operands.
        let are_of_vectors = product(&a.shape, &left.free) == 1 && product(&b.shape, &right.free) == 1;
        if is_small || are_of_vectors {
            return Ok(Lowering::Late(self.written_out(a, b)?.into()));
        }
        let matrices = |ty: &ArrayType, batch: &[usize], rows: &[usize], columns: &[usize]| {
            let stride = |group| group_stride(&ty.shape, group);
            Some(Matrices::new(stride(batch)?, stride(rows)?, stride(columns)?))
        };
        let of_a = matrices(a, left.batch, &left.free, left.contract);
        let of_b = matrices(b, right.batch, right.contract, &right.free);
        let (Some(of_a), Some(of_b)) = (of_a, of_b) else {
            return Ok(Lowering::Graph(self.canonical(a, b)?.into()));
        };
        let gemm = Gemm {
            dtype: a.dtype,
            batch: [1, product(&a.shape, left.batch)],
            m: product(&a.shape, &left.free),
            n: product(&b.shape, &right.free),
            k: product(&a.shape, left.contract),
            a: of_a,
            b: of_b,
        };
        let types = |types: &[ArrayType]| types.iter().map(|t| (t.dtype, t.shape.clone())).collect();
        Ok(Lowering::Library(LibraryCall {
            library: Library::Gemm(gemm),
            inputs: types(inputs),
            outputs: types(outputs),
        }))
    }

    /// The leading axis of the result is a batch axis, a free axis of the first operand, or one of the second.
    fn of_rows(&self, inputs: &[ArrayType], _: &ArrayType, _: usize) -> Option<OfRows> {
        let (a, b) = (self.a_axes(inputs[0].rank()), self.b_axes(inputs[1].rank()));
        let (axes, operands) = match (a.batch.first(), b.batch.first()) {
            (Some(a), Some(b)) => (vec![a, b], [true, true]),
            _ if !a.free.is_empty() => (vec![&a.free[0]], [true, false]),
            _ => (vec![b.free.first()?], [false, true]),
        };
        axes.iter().all(|&&axis| axis == 0).then(|| OfRows::same(operands))
    }

    fn examples() -> Vec<Example> {
        type Case = (&'static [usize], &'static [usize], [&'static [usize]; 4]);
        let cases: [Case; 9] = [
            (&[3], &[3], [&[0], &[0], &[], &[]]),
            (&[2, 3], &[3, 4], [&[1], &[0], &[], &[]]),
            (&[3, 2], &[4, 3], [&[0], &[1], &[], &[]]),
            (&[2], &[3], [&[], &[], &[], &[]]),
            (&[2, 3, 4], &[2, 4, 5], [&[2], &[1], &[0], &[0]]),
            (&[3, 2, 4], &[4, 2, 5], [&[2], &[0], &[1], &[1]]),
            (&[2, 3, 4], &[4, 5, 3], [&[1, 2], &[2, 0], &[], &[]]),
            (&[2, 0], &[0, 3], [&[1], &[0], &[], &[]]),
            (&[2, 3, 2, 2], &[2, 2, 3], [&[3], &[1], &[1, 0], &[2, 0]]),
        ];
        let numbers: Vec<DType> = DType::ALL.iter().copied().filter(|d| !d.is_bool()).collect();
        super::examples_of(
            &cases.map(|(a, b, [ac, bc, ab, bb])| {
                let dot = DotGeneral {
                    a_contract: ac.to_vec(),
                    b_contract: bc.to_vec(),
                    a_batch: ab.to_vec(),
                    b_batch: bb.to_vec(),
                };
                (dot.into(), vec![Shape::from(a), Shape::from(b)])
            }),
            &numbers,
        )
    }
}

impl DotGeneral {
    /// All products, then their sums.
    fn written_out(&self, a: &ArrayType, b: &ArrayType) -> Result<crate::graph::Graph, RuleError> {
        let (left, right) = (self.a_axes(a.rank()), self.b_axes(b.rank()));
        let (nb, nc) = (left.batch.len(), left.contract.len());
        let (na, kept) = (nb + left.free.len(), nb + left.free.len() + right.free.len());
        let sizes =
            |ty: &ArrayType, axes: &[usize]| axes.iter().map(|&i| ty.shape.size(i)).collect::<Vec<_>>();
        let all =
            [sizes(a, left.batch), sizes(a, &left.free), sizes(b, &right.free), sizes(a, left.contract)];
        let shape: Shape = all.concat().into_iter().collect();
        let mut builder = GraphBuilder::new();
        let inputs = [a, b].map(|ty| Atom::Var(builder.input(ty.clone())));
        let mut spread = |x: Atom, groups: [&[usize]; 3], free: std::ops::Range<usize>| {
            let order: Vec<usize> = groups.into_iter().flatten().copied().collect();
            let ordered = builder.bind1(Permute { axes: order }, &[x])?;
            let axes = (0..nb).chain(free).chain(kept..kept + nc).collect();
            builder.bind1(Broadcast { shape: shape.clone(), axes }, &[ordered])
        };
        let [x, y] = inputs;
        let x = spread(x, [left.batch, &left.free, left.contract], nb..na)?;
        let y = spread(y, [right.batch, &right.free, right.contract], na..kept)?;
        let products = builder.bind1(Mul {}, &[x, y])?;
        let sums = builder.bind1(ReduceSum { axes: (kept..kept + nc).collect() }, &[products])?;
        Ok(builder.finish("dot_general", vec![sums]))
    }

    /// The same product with batch axes first, then free, then contracted (contracted before free for `b`).
    fn canonical(&self, a: &ArrayType, b: &ArrayType) -> Result<crate::graph::Graph, RuleError> {
        let (left, right) = (self.a_axes(a.rank()), self.b_axes(b.rank()));
        let (nb, nc) = (left.batch.len(), left.contract.len());
        let order_a: Vec<usize> =
            [left.batch, &left.free, left.contract].into_iter().flatten().copied().collect();
        let order_b: Vec<usize> =
            [right.batch, right.contract, &right.free].into_iter().flatten().copied().collect();
        let mut builder = GraphBuilder::new();
        let (x, y) = (builder.input(a.clone()), builder.input(b.clone()));
        let x = builder.bind1(Permute { axes: order_a }, &[Atom::Var(x)])?;
        let y = builder.bind1(Permute { axes: order_b }, &[Atom::Var(y)])?;
        let dot = DotGeneral {
            a_contract: (nb + left.free.len()..a.rank()).collect(),
            b_contract: (nb..nb + nc).collect(),
            a_batch: (0..nb).collect(),
            b_batch: (0..nb).collect(),
        };
        let out = builder.bind1(dot, &[x, y])?;
        Ok(builder.finish("dot_general", vec![out]))
    }
}

/// The stride by which a group of axes, taken as one in this order, is walked; `None` if it is not one stride.
fn group_stride(shape: &Shape, axes: &[usize]) -> Option<usize> {
    let strides = shape.strides();
    // An axis of size 1 is never walked, so its stride does not matter.
    let walked: Vec<usize> = axes.iter().copied().filter(|&a| shape.size(a) != 1).collect();
    let chained = walked.windows(2).all(|w| strides[w[0]] == strides[w[1]] * shape.size(w[1]));
    chained.then(|| walked.last().map_or(1, |&a| strides[a]))
}
