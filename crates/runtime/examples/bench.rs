//! Times kernels.
#![allow(
    missing_docs,
    unsafe_code,
    clippy::all,
    clippy::print_stdout,
    clippy::undocumented_unsafe_blocks,
    reason = "scratch"
)]
use smallvec::smallvec;
use std::time::Instant;
use tracewell_array::*;
use tracewell_codegen::*;
use tracewell_kernel::*;
use tracewell_runtime::*;
fn at(i: Value) -> Index {
    Index { offset: Size::Const(0), terms: smallvec![(i, Size::Const(1))] }
}
fn kernel(which: &str, dt: DType) -> Kernel {
    let mut b = KernelBuilder::new();
    let n = b.size();
    let p: Vec<_> = (0..3).map(|_| b.param(dt, false)).collect();
    let o = b.param(dt, true);
    match which {
        "mulacc" => b.each(n, |b, i| {
            let v: Vec<_> = p.iter().map(|&p| b.load(p, at(i))).collect();
            let m = b.op(Op::Mul, &[v[0], v[1]]);
            let s = b.op(Op::Add, &[m, v[2]]);
            b.store(o, at(i), s);
        }),
        "sum" => {
            let s = b.reduce(n, &[Combine::Add], |b, i| smallvec![b.load(p[0], at(i))]);
            b.store(o, Index::at(0), s[0]);
        }
        "max" => {
            let s = b.reduce(n, &[Combine::Max], |b, i| smallvec![b.load(p[0], at(i))]);
            b.store(o, Index::at(0), s[0]);
        }
        "sumexp" => {
            let s = b.reduce(n, &[Combine::Add], |b, i| {
                let v = b.load(p[0], at(i));
                smallvec![math::exp(b, v)]
            });
            b.store(o, Index::at(0), s[0]);
        }
        "transpose" => {
            // read stride 64
            b.each(n, |b, i| {
                let v =
                    b.load(p[0], Index { offset: Size::Const(0), terms: smallvec![(i, Size::Const(64))] });
                b.store(o, at(i), v);
            })
        }
        w => b.each(n, |b, i| {
            let v = b.load(p[0], at(i));
            let s = match w {
                "exp" => math::exp(b, v),
                "tanh" => math::tanh(b, v),
                "log" => math::log(b, v),
                "sin" => math::sin(b, v),
                _ => panic!(),
            };
            b.store(o, at(i), s);
        }),
    }
    b.finish(which)
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let n: usize = args.first().map_or(2048, |s| s.parse().unwrap());
    for dt in [DType::F32, DType::F64] {
        for which in ["mulacc", "sum", "max", "exp", "sumexp", "tanh", "log", "sin", "transpose"] {
            let k = kernel(which, dt);
            let t = Instant::now();
            let code = compile(&k, Target::host()).unwrap();
            let ct = t.elapsed();
            let mem = CodeMemory::new(&code).unwrap();
            let len = if which == "transpose" { n * 64 } else { n };
            let mut bufs: Vec<Tensor> = (0..4)
                .map(|_| {
                    Tensor::from_literals(
                        dt,
                        [len],
                        &(0..len).map(|i| Literal::from_f64(dt, (i % 100) as f64 / 50.0)).collect::<Vec<_>>(),
                    )
                    .unwrap()
                })
                .collect();
            let ptrs: Vec<*mut u8> = bufs.iter_mut().map(|t| t.unique_ptr().unwrap()).collect();
            let sizes = [n as i64];
            let e = mem.entry();
            let reps = (200_000 / n).max(1);
            let mut best = f64::MAX;
            for _ in 0..200 {
                let t = Instant::now();
                for _ in 0..reps {
                    unsafe {
                        e(ptrs.as_ptr(), sizes.as_ptr(), 0, n as i64, std::ptr::null_mut());
                    }
                }
                best = best.min(t.elapsed().as_nanos() as f64 / (reps * n) as f64);
            }
            println!("{dt} {which:10} {best:.4} ns/el   compile {ct:?} {} bytes", code.bytes.len());
        }
    }
    // run latency
    let mut b = KernelBuilder::new();
    let x = b.param(DType::F32, false);
    let y = b.param(DType::F32, false);
    let o = b.param(DType::F32, true);
    let (p, q) = (b.load(x, Index::at(0)), b.load(y, Index::at(0)));
    let s = b.op(Op::Add, &[p, q]);
    b.store(o, Index::at(0), s);
    let slot = |role| Slot { dtype: DType::F32, len: 1, role };
    let program = Program {
        name: "add".into(),
        slots: vec![slot(Role::Input(0)), slot(Role::Input(1)), slot(Role::Output { reuse: None })],
        kernels: vec![std::sync::Arc::new(b.finish("add"))],
        steps: vec![Step::Launch {
            kernel: 0,
            slots: vec![SlotId(0), SlotId(1), SlotId(2)],
            sizes: vec![],
            cost: 1,
        }],
        results: vec![SlotId(2)],
        arena: 0,
    };
    let exe = Executable::new(program, vec![Shape::scalar()]).unwrap();
    let (a, c) = (Tensor::scalar(1f32), Tensor::scalar(2f32));
    let mut best = f64::MAX;
    for _ in 0..500 {
        let t = Instant::now();
        for _ in 0..1000 {
            let r = exe.run(&mut [Input::Lent(&a), Input::Lent(&c)]).unwrap();
            std::hint::black_box(&r);
        }
        best = best.min(t.elapsed().as_nanos() as f64 / 1000.0);
    }
    println!("run scalar add {best:.0} ns");
}
