//! Runs kernels as machine code and by evaluation, and compares.
#![allow(unsafe_code, reason = "runs machine code without an executable around it")]
#![allow(dead_code, reason = "each test file uses some of it")]

use tracewell_array::{DType, Literal, Tensor};
use tracewell_codegen::{Target, Width, compile};
use tracewell_kernel::{Cells, Kernel, Size, eval_kernel, verify_launch};
use tracewell_runtime::CodeMemory;

/// The machine with each width of vectors that it has, but the one it has by itself.
pub(crate) fn other_widths() -> Vec<Target> {
    let widths = Width::ALL.into_iter().filter(|&width| width != Target::host().width());
    widths.filter_map(|width| Target::host().with_width(width).ok()).collect()
}

/// Enough steps for every kernel of a test.
pub(crate) const STEPS: u64 = 50_000_000;

/// A kernel without library calls, in memory.
pub(crate) struct Machine {
    kernel: Kernel,
    code: CodeMemory,
}

impl Machine {
    pub(crate) fn new(kernel: &Kernel, target: &Target) -> Machine {
        let code = compile(kernel, target).unwrap_or_else(|error| panic!("{error}\n{}", text(kernel)));
        Machine { kernel: kernel.clone(), code: CodeMemory::new(&code).expect("memory for code") }
    }

    /// Runs on copies of the buffers, the outermost `each` in parts that end here.
    pub(crate) fn run(&self, buffers: &[Tensor], sizes: &[i64], ends: &[i64]) -> Vec<Tensor> {
        let lens: Vec<usize> = buffers.iter().map(Tensor::len).collect();
        // What the machine code may rely on.
        verify_launch(&self.kernel, &lens, sizes).unwrap_or_else(|errors| panic!("{errors}"));
        let mut copies: Vec<Tensor> = buffers.iter().map(copy).collect();
        let addresses: Vec<*mut u8> =
            copies.iter_mut().map(|tensor| tensor.unique_ptr().expect("a copy of our own")).collect();
        let mut start = 0;
        for &end in ends {
            // SAFETY: machine code of this kernel, with as many buffers and sizes as it has, whose launch verified.
            let status = unsafe {
                (self.code.entry())(addresses.as_ptr(), sizes.as_ptr(), start, end, std::ptr::null_mut())
            };
            assert_eq!(status, 0);
            start = end;
        }
        copies
    }
}

fn copy(tensor: &Tensor) -> Tensor {
    let literals: Vec<Literal> = tensor.literals().collect();
    Tensor::from_literals(tensor.dtype(), tensor.shape(), &literals).expect("as many as there were")
}

pub(crate) fn text(kernel: &Kernel) -> String {
    kernel.to_string()
}

/// What evaluation leaves in the buffers.
pub(crate) fn evaluate(kernel: &Kernel, buffers: &[Tensor], sizes: &[i64]) -> Vec<Tensor> {
    let mut cells: Vec<Cells> = buffers.iter().map(Cells::of).collect();
    eval_kernel(kernel, &mut cells, sizes, STEPS).unwrap_or_else(|error| panic!("{error}\n{}", text(kernel)));
    cells.iter().map(|cells| cells.tensor().expect("all buffers were defined")).collect()
}

/// Equal bits, or both NaN.
pub(crate) fn same(a: Literal, b: Literal) -> bool {
    let nan = |x: Literal| x.dtype().is_float() && x.as_f64().is_nan();
    a == b || (a.dtype() == b.dtype() && nan(a) && nan(b))
}

/// Panics if machine code leaves something else in the buffers than evaluation.
pub(crate) fn check(machine: &Machine, buffers: &[Tensor], sizes: &[i64]) {
    let expected = evaluate(&machine.kernel, buffers, sizes);
    let extent = machine.kernel.parallel_extent().map_or(0, |extent: Size| extent.get(sizes));
    for ends in [vec![extent], vec![extent / 3, extent]] {
        if ends.len() > 1 && machine.kernel.parallel_extent().is_none() {
            continue;
        }
        let found = machine.run(buffers, sizes, &ends);
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            for (at, (f, e)) in found.literals().zip(expected.literals()).enumerate() {
                assert!(
                    same(f, e),
                    "buffer {number} [{at}]: found {f}, expected {e}, sizes {sizes:?}, parts {ends:?}\n{}",
                    text(&machine.kernel)
                );
            }
        }
    }
}

/// Values at which operations change their behaviour.
pub(crate) fn edges(dtype: DType) -> Vec<Literal> {
    let ints = |dtype: DType, values: &[i64]| values.iter().map(|&v| Literal::from_i64(dtype, v)).collect();
    match dtype {
        DType::Bool => ints(dtype, &[0, 1]),
        DType::U8 => ints(dtype, &[0, 1, 2, 3, 7, 8, 9, 31, 32, 100, 127, 128, 200, 254, 255]),
        DType::U32 | DType::I32 => {
            let mut all: Vec<Literal> =
                ints(dtype, &[0, 1, -1, 2, 5, -7, 7, 8, 31, 32, 33, 255, 256, 1 << 24]);
            let far = [i64::from(i32::MAX), i64::from(i32::MIN), i64::from(i32::MIN) + 1, 16_777_217, -3];
            all.extend(ints(dtype, &far) as Vec<Literal>);
            all
        }
        DType::I64 => ints(
            dtype,
            &[
                0,
                1,
                -1,
                2,
                -7,
                8,
                31,
                32,
                63,
                64,
                65,
                1 << 32,
                i64::MAX,
                i64::MIN,
                i64::MIN + 1,
                16_777_217,
                (1 << 53) + 1,
                -(1 << 40),
                256,
            ],
        ),
        DType::F32 | DType::F64 => {
            let mut all: Vec<Literal> = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                -0.5,
                1.5,
                2.5,
                -2.5,
                3.7,
                1e-40,
                -1e-310,
                255.5,
                256.0,
                2147483648.0,
                -2147483649.0,
                4294967296.0,
                9.3e18,
                -9.3e18,
                1e30,
                f64::INFINITY,
                f64::NEG_INFINITY,
                16777217.0,
                -0.1,
                8388607.5,
            ]
            .iter()
            .map(|&v| Literal::from_f64(dtype, v))
            .collect();
            all.push(Literal::from_f64(dtype, f64::NAN));
            all.push(Literal::from_f64(dtype, f64::NAN));
            all.push(Literal::from_f64(
                dtype,
                if dtype == DType::F32 { f64::from(f32::MAX) } else { f64::MAX },
            ));
            all
        }
        DType::C64 | DType::C128 => unreachable!("kernels have no complex numbers"),
    }
}

/// Numbers that look random.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.next() % from.len() as u64) as usize]
    }

    /// Edge values mixed with ordinary ones.
    pub(crate) fn tensor(&mut self, dtype: DType, len: usize) -> Tensor {
        let edges = edges(dtype);
        let literals: Vec<Literal> = (0..len)
            .map(|_| match self.next() % 4 {
                0 => Literal::from_f64(dtype, (self.next() % 2001) as f64 / 8.0 - 125.0),
                _ => self.pick(&edges),
            })
            .collect();
        Tensor::from_literals(dtype, [len], &literals).expect("as many as asked for")
    }
}
