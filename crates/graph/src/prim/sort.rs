//! `sort[axis=A, keys=K, descending=D, kept=N] x…`: arrays in the order of the first `K` of them, along an axis.

use std::cmp::Ordering;
use std::sync::Arc;

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{Library, LibraryCall, SortRows};

use super::elementwise::{Domain, difference};
use super::shape_rules::{each_index, position};
use super::{Iota, Pad, Permute};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `sort[axis=A, keys=K, descending=D, kept=N] x…`: the arrays along axis `A` in the order of the first `K` of
    /// them, the first one first, of which the first `N` places are kept. Stable. NaN is larger than any number and
    /// equal to itself; zeros of both signs are equal.
    pub struct Sort {
        /// The axis.
        axis: usize,
        /// How many of the operands decide the order.
        keys: usize,
        /// Whether the largest comes first.
        descending: bool,
        /// How many places along the axis are kept.
        kept: usize,
    }
}

impl Sort {
    /// The order of places along the axis, as an operand that follows.
    fn places(&self, cx: &mut Cx<'_>, shape: &Shape) -> Result<Atom, RuleError> {
        cx.bind(Iota { dtype: DType::I32, shape: shape.clone(), axis: self.axis }, &[])
    }

    /// The same along another axis.
    fn along(&self, axis: usize) -> Sort {
        Sort { axis, ..self.clone() }
    }

    /// By the last axis, of which rows are dense.
    fn with_axis_last(&self, inputs: &[ArrayType]) -> Result<Graph, TypeError> {
        let rank = inputs[0].rank();
        let last: Vec<usize> = (0..rank).filter(|&a| a != self.axis).chain([self.axis]).collect();
        let back: Vec<usize> =
            (0..rank).map(|a| last.iter().position(|&b| b == a).expect("all axes")).collect();
        let mut b = GraphBuilder::new();
        let mut operands = Vec::with_capacity(inputs.len());
        for ty in inputs {
            let operand = Atom::Var(b.input(ty.clone()));
            operands.push(b.bind1(Permute { axes: last.clone() }, &[operand])?);
        }
        let sorted = b.bind(self.along(rank - 1), &operands)?;
        let put_back =
            |b: &mut GraphBuilder, x: &Atom| b.bind1(Permute { axes: back.clone() }, std::slice::from_ref(x));
        let outputs = sorted.iter().map(|x| put_back(&mut b, x)).collect::<Result<_, _>>()?;
        Ok(b.finish("sort_last_axis", outputs))
    }
}

impl Primitive for Sort {
    fn name(&self) -> &str {
        "sort"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let fail = |why: String| Err(TypeError::new("sort", why));
        let Some(first) = inputs.first() else {
            return fail("`sort` takes an array, found no operands".to_owned());
        };
        if !(1..=inputs.len()).contains(&self.keys) {
            return fail(format!("`sort` of {} arrays cannot have {} keys", inputs.len(), self.keys));
        }
        if let Some(complex) = inputs.iter().find(|ty| ty.dtype.is_complex()) {
            return Err(Domain::Ordered.refuse("sort", "sort", complex));
        }
        for other in &inputs[1..] {
            if let Some(why) = difference(first, &ArrayType { dtype: first.dtype, ..other.clone() }) {
                return fail(format!("cannot sort {first} and {other} together: {why}"));
            }
        }
        if self.axis >= first.rank() {
            return fail(format!(
                "cannot sort {first} along axis {}: its rank is {}",
                self.axis,
                first.rank()
            ));
        }
        let size = first.shape.size(self.axis);
        if self.kept > size {
            return fail(format!(
                "cannot keep {} places along axis {} of {first}, which has {size}",
                self.kept, self.axis
            ));
        }
        if i32::try_from(size).is_err() {
            return fail(format!("axis {} of {first} is too long to be sorted", self.axis));
        }
        let shape = first.shape.with(self.axis, self.kept);
        Ok(inputs.iter().map(|ty| ty.with_shape(shape.clone())).collect())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let from = inputs[0].shape();
        let to = from.with(self.axis, self.kept);
        let mut sorted: Vec<Vec<Literal>> =
            inputs.iter().map(|x| vec![Literal::zero(x.dtype()); to.len()]).collect();
        each_index(&from.with(self.axis, 1), |index| {
            let at = |shape: &Shape, place: usize| {
                let mut index = index.to_vec();
                index[self.axis] = place;
                position(shape, &index)
            };
            let mut places: Vec<usize> = (0..from.size(self.axis)).collect();
            places.sort_by(|&a, &b| {
                let by = |key: &Tensor| order(key.literal(at(from, a)), key.literal(at(from, b)));
                let order = inputs[..self.keys].iter().map(by).fold(Ordering::Equal, Ordering::then);
                if self.descending { order.reverse() } else { order }
            });
            for (x, sorted) in inputs.iter().zip(&mut sorted) {
                for (i, &place) in places[..self.kept].iter().enumerate() {
                    sorted[at(&to, i)] = x.literal(at(from, place));
                }
            }
        });
        let tensor = |(x, sorted): (&Tensor, Vec<Literal>)| {
            Tensor::from_literals(x.dtype(), to.clone(), &sorted).map_err(|e| e.to_string())
        };
        inputs.iter().zip(sorted).map(tensor).collect()
    }

    /// Tangents follow the keys as any operand does: the order does not change with small steps.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let given: Vec<Atom> = tangents.iter().flatten().cloned().collect();
        if given.is_empty() {
            let primals = cx.bind_all(self.clone(), primals)?;
            return Ok(Jvp { primals, tangents: vec![None; tangents.len()] });
        }
        let (sorted, moved) = if cx.linearizing() {
            // With the places, as the adjoint asks for them: then they are sorted once.
            let places = self.places(cx, &cx.ty(&primals[0]).shape.clone())?;
            let mut sorted = cx.bind_all(self.clone(), &[primals, &[places]].concat())?;
            sorted.truncate(primals.len());
            let moved = cx.bind_all(self.clone(), &[&primals[..self.keys], &given].concat())?;
            (sorted, moved[self.keys..].to_vec())
        } else {
            let mut sorted = cx.bind_all(self.clone(), &[primals, &given].concat())?;
            let moved = sorted.split_off(primals.len());
            (sorted, moved)
        };
        let mut moved = moved.into_iter();
        let tangents = tangents.iter().map(|t| t.as_ref().and_then(|_| moved.next())).collect();
        Ok(Jvp { primals: sorted, tangents })
    }

    /// Linear in what is no key. A cotangent goes back to the place that its element came from: the places, sorted
    /// again by themselves, take it there.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let keys: Option<Vec<Atom>> = operands[..self.keys].iter().map(|key| key.known().cloned()).collect();
        let keys = keys.ok_or_else(|| RuleError::not_linear("sort"))?;
        let shape = cx.ty(&keys[0]).shape;
        let size = shape.size(self.axis);
        let whole = Sort { kept: size, ..self.clone() };
        let wanted: Vec<usize> =
            (0..operands.len()).filter(|&i| operands[i].is_linear() && cotangents[i].is_some()).collect();
        let mut found = vec![None; operands.len()];
        if wanted.is_empty() {
            return Ok(found);
        }
        let places = self.places(cx, &shape)?;
        let came_from = cx.bind_all(whole, &[keys, vec![places]].concat())?.pop();
        let mut columns = vec![came_from.expect("one result for each operand")];
        for &i in &wanted {
            let ct = cotangents[i].as_ref().expect("asked for above");
            let zero = Atom::fill(&cx.ty(ct).with_shape(Shape::scalar()), 0.0);
            let mut high = vec![0; shape.rank()];
            high[self.axis] = (size - self.kept) as i64;
            let pad = Pad { low: vec![0; shape.rank()], high, interior: vec![0; shape.rank()] };
            columns.push(cx.bind(pad, &[ct, &zero])?);
        }
        let back = Sort { axis: self.axis, keys: 1, descending: false, kept: size };
        for (i, column) in wanted.into_iter().zip(cx.bind_all(back, &columns)?.into_iter().skip(1)) {
            found[i] = Some(column);
        }
        Ok(found)
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let operands = cx.batch_all(size, operands)?;
        let sorted = cx.bind_all(self.along(self.axis + 1), &operands)?;
        Ok(sorted.into_iter().map(Batched::yes).collect())
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        let shape = &inputs[0].shape;
        if (self.axis + 1..shape.rank()).any(|axis| shape.size(axis) != 1) {
            return Ok(Lowering::Graph(Arc::new(self.with_axis_last(inputs)?)));
        }
        let rows = SortRows {
            keys: self.keys,
            descending: self.descending,
            rows: shape.remove(self.axis).len(),
            len: shape.size(self.axis),
            kept: self.kept,
        };
        let types = |types: &[ArrayType]| types.iter().map(|ty| (ty.dtype, ty.shape.clone())).collect();
        let library = Library::Sort(rows);
        Ok(Lowering::Library(LibraryCall { library, inputs: types(inputs), outputs: types(outputs) }))
    }

    fn examples() -> Vec<Example> {
        let sort =
            |axis: usize, keys: usize, descending: bool, kept: usize| Sort { axis, keys, descending, kept };
        let cases: [(&[usize], Sort); 9] = [
            (&[1], sort(0, 1, false, 1)),
            (&[9], sort(0, 1, false, 9)),
            (&[9], sort(0, 1, true, 3)),
            (&[0], sort(0, 1, false, 0)),
            (&[2, 5], sort(1, 1, true, 5)),
            (&[4, 3], sort(0, 1, false, 4)),
            (&[2, 0, 3], sort(2, 1, false, 2)),
            (&[3, 1, 1], sort(0, 1, false, 2)),
            (&[2, 3, 1, 2, 2], sort(1, 1, false, 3)),
        ];
        let mut all = super::examples_of(
            &cases.map(|(shape, sort)| (sort.into(), vec![Shape::from(shape)])),
            DType::REAL,
        );
        // Several operands, of which some are keys, and element types mixed.
        let mixed = |shape: &[usize], sort: Sort, dtypes: &[DType]| Example {
            prim: sort.into(),
            inputs: dtypes.iter().map(|&dtype| ArrayType::new(dtype, shape)).collect(),
        };
        use DType::{Bool, F32, F64, I32, I64, U8, U32};
        all.extend([
            mixed(&[7], sort(0, 1, false, 7), &[F32, I32]),
            mixed(&[7], sort(0, 1, true, 2), &[F32, F32]),
            mixed(&[7], sort(0, 1, true, 7), &[I64, F64, U8]),
            mixed(&[3, 4], sort(1, 2, false, 4), &[Bool, F64, F64]),
            mixed(&[5, 2], sort(0, 3, true, 4), &[U8, U32, I32, F32, Bool]),
            mixed(&[2, 67], sort(1, 2, false, 67), &[U8, Bool, I64]),
        ]);
        all
    }
}

/// The order of two elements of one type.
fn order(a: Literal, b: Literal) -> Ordering {
    if !a.dtype().is_float() {
        return a.as_i64().cmp(&b.as_i64());
    }
    match (a.as_f64(), b.as_f64()) {
        (a, b) if a.is_nan() || b.is_nan() => a.is_nan().cmp(&b.is_nan()),
        (a, b) if a < b => Ordering::Less,
        (a, b) if a > b => Ordering::Greater,
        _ => Ordering::Equal,
    }
}
