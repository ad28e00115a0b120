//! What library calls mean to the reference evaluator.

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};

use crate::cells::Cells;
use crate::eval::Budget;
use crate::fft::Fft;
use crate::library::{BufferMut, BufferRef, Gemm, Library, LibraryCall, Matrices};
use crate::op::Op;
use crate::scalar;

/// Calls a library function on copies of its operands and says what it put into the outputs.
pub(crate) fn eval_call(
    call: &LibraryCall,
    operands: Vec<Cells>,
    budget: &mut Budget,
) -> Result<Vec<Cells>, String> {
    let types: Vec<_> = call.memory().collect();
    if operands.len() != types.len() {
        return Err("a library call has another number of operands".to_owned());
    }
    for ((dtype, shape), operand) in types.iter().zip(&operands) {
        if *dtype != operand.dtype || shape.checked_len() != Some(operand.cells.len()) {
            return Err(format!("a library call on {dtype}{shape} has another operand"));
        }
    }
    match &call.library {
        Library::Gemm(gemm) => match operands.as_slice() {
            [a, b, c]
                if Shape::from([gemm.batch[0], gemm.batch[1], gemm.m, gemm.n]).checked_len()
                    == Some(c.cells.len()) =>
            {
                Ok(vec![eval_gemm(gemm, a, b, budget)?])
            }
            _ => Err("`gemm` has other operands than it needs".to_owned()),
        },
        Library::Sort(sort) => {
            sort.check(call)?;
            for _ in 0..operands[0].cells.len() {
                budget.spend()?;
            }
            sort.eval(&operands[..call.inputs.len()])
        }
        Library::AddAt(add_at) => {
            add_at.check(call)?;
            budget.spend_all(operands[0].cells.len().saturating_add(operands[1].cells.len()))?;
            Ok(vec![add_at.eval(&operands[..call.inputs.len()])?])
        }
        Library::Fft(fft) => match (operands.as_slice(), call.inputs.as_slice()) {
            ([x, _], [ty]) => Ok(vec![eval_fft(fft, ty, x, budget)?]),
            _ => Err("`fft` has other operands than it needs".to_owned()),
        },
        Library::Conv(conv) => match conv.mistake(&call.inputs, &call.outputs) {
            Some(mistake) => Err(mistake),
            None => {
                let cells = conv.eval(&operands[0].cells, &operands[1].cells, || budget.spend())?;
                Ok(vec![Cells { dtype: conv.dtype, cells }])
            }
        },
        Library::Linalg(linalg) => {
            let numbers: Result<Vec<Tensor>, String> =
                operands.iter().zip(&call.inputs).map(|(cells, ty)| whole(cells, ty)).collect();
            Ok(linalg.reference(&numbers?)?.iter().map(in_parts).collect())
        }
        Library::Custom(custom) => {
            let inputs: Option<Vec<Tensor>> =
                operands[..call.inputs.len()].iter().map(Cells::tensor).collect();
            let inputs = inputs.ok_or("a library call reads what was never written")?;
            let inputs: Vec<BufferRef<'_>> = inputs
                .iter()
                .zip(&call.inputs)
                .map(|(tensor, (dtype, shape))| BufferRef { dtype: *dtype, shape, bytes: tensor.as_bytes() })
                .collect();
            // Room to start at a multiple of the alignment, wherever the allocation starts.
            let sizes: Vec<usize> =
                call.outputs.iter().map(|(dtype, shape)| shape.len() * dtype.size()).collect();
            let mut rooms: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; size + size_of::<u64>()]).collect();
            let mut outputs: Vec<BufferMut<'_>> = rooms
                .iter_mut()
                .zip(&sizes)
                .zip(&call.outputs)
                .map(|((room, size), (dtype, shape))| {
                    let start = room.as_ptr().align_offset(size_of::<u64>());
                    BufferMut { dtype: *dtype, shape, bytes: &mut room[start..start + size] }
                })
                .collect();
            custom.function().call(&inputs, &mut outputs).map_err(|error| error.to_string())?;
            Ok(outputs.iter().map(|output| from_bytes(output.dtype.real(), output.bytes)).collect())
        }
    }
}

/// What a function sees of cells: complex numbers are whole.
fn whole(cells: &Cells, (dtype, shape): &(DType, Shape)) -> Result<Tensor, String> {
    let parts: Option<Vec<Literal>> = cells.cells.iter().copied().collect();
    let parts = parts.ok_or("a library call reads what was never written")?;
    let literals = if dtype.is_complex() {
        parts.chunks_exact(2).map(|parts| Literal::of_parts(parts[0], parts[1])).collect()
    } else {
        parts
    };
    Tensor::from_literals(*dtype, shape, &literals).map_err(|error| error.to_string())
}

/// Complex numbers as their parts, one after the other.
fn in_parts(tensor: &Tensor) -> Cells {
    if !tensor.dtype().is_complex() {
        return Cells::of(tensor);
    }
    let cells = tensor.literals().flat_map(|z| [Some(z.re()), Some(z.im())]).collect();
    Cells { dtype: tensor.dtype().real(), cells }
}

fn from_bytes(dtype: DType, bytes: &[u8]) -> Cells {
    let literal = |element: &[u8]| {
        let mut bits = [0; 8];
        bits[..element.len()].copy_from_slice(element);
        Literal::from_bits(dtype, u64::from_le_bytes(bits).into())
    };
    Cells { dtype, cells: bytes.chunks_exact(dtype.size()).map(literal).map(Some).collect() }
}

fn eval_fft(
    fft: &Fft,
    (dtype, shape): &(DType, Shape),
    x: &Cells,
    budget: &mut Budget,
) -> Result<Cells, String> {
    let Some(result) = fft.result(shape) else {
        return Err(format!("`fft` of lengths {:?} has the operand {dtype}{shape}", fft.lengths));
    };
    let terms: usize = fft.lengths.iter().sum();
    budget.spend_all(result.len().saturating_mul(terms))?;
    let numbers: Option<Vec<f64>> = x.cells.iter().map(|cell| Some((*cell)?.as_f64())).collect();
    let numbers = numbers.ok_or("`fft` reads what was never written")?;
    let values: Vec<Complex64> = if dtype.is_complex() {
        numbers.chunks_exact(2).map(|parts| Complex64::new(parts[0], parts[1])).collect()
    } else {
        numbers.into_iter().map(Complex64::from).collect()
    };
    let part = |x: f64| Some(Literal::from_f64(dtype.real(), x));
    let made = fft.naive(shape, &values);
    let cells = if fft.kind.gives_real() {
        made.iter().map(|z| part(z.re)).collect()
    } else {
        made.iter().flat_map(|z| [part(z.re), part(z.im)]).collect()
    };
    Ok(Cells { dtype: dtype.real(), cells })
}

fn eval_gemm(g: &Gemm, a: &Cells, b: &Cells, budget: &mut Budget) -> Result<Cells, String> {
    if g.dtype.is_bool() || g.dtype.is_complex() || a.dtype != g.dtype || b.dtype != g.dtype {
        return Err("the operands of `gemm` do not have its type".to_owned());
    }
    let at = |operand: &Cells, matrices: &Matrices, number: usize, row: usize, column: usize| {
        let index = matrices.begin(g.place(number)) + row * matrices.row + column * matrices.col;
        let cell = operand.cells.get(index).ok_or("`gemm` reaches outside an operand")?;
        cell.ok_or("`gemm` reads what was never written")
    };
    let reach = |matrices: &Matrices, rows, columns| matrices.reach(g.batch, rows, columns);
    if reach(&g.a, g.m, g.k).is_none() || reach(&g.b, g.k, g.n).is_none() {
        return Err("`gemm` reaches outside an operand".to_owned());
    }
    let mut cells = Vec::new();
    for number in 0..g.count() {
        for i in 0..g.m {
            for j in 0..g.n {
                budget.spend()?;
                let mut sum = Literal::zero(g.dtype);
                for k in 0..g.k {
                    budget.spend()?;
                    let factors = [at(a, &g.a, number, i, k)?, at(b, &g.b, number, k, j)?];
                    sum = scalar::eval(Op::Add, &[sum, scalar::eval(Op::Mul, &factors, &[])], &[]);
                }
                cells.push(Some(sum));
            }
        }
    }
    Ok(Cells { dtype: g.dtype, cells })
}
