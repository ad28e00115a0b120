//! Prints the code of a kernel.
#![allow(missing_docs, clippy::print_stdout, reason = "scratch")]
use smallvec::smallvec;
use tracewell_array::DType;
use tracewell_codegen::*;
use tracewell_kernel::*;
fn at(i: Value) -> Index {
    Index { offset: Size::Const(0), terms: smallvec![(i, Size::Const(1))] }
}
fn main() {
    let which = std::env::args().nth(1).unwrap();
    let mut b = KernelBuilder::new();
    let n = b.size();
    match which.as_str() {
        "mulacc" => {
            let p: Vec<_> = (0..3).map(|_| b.param(DType::F32, false)).collect();
            let o = b.param(DType::F32, true);
            b.each(n, |b, i| {
                let v: Vec<_> = p.iter().map(|&p| b.load(p, at(i))).collect();
                let m = b.op(Op::Mul, &[v[0], v[1]]);
                let s = b.op(Op::Add, &[m, v[2]]);
                b.store(o, at(i), s);
            });
        }
        "sum" => {
            let p = b.param(DType::F32, false);
            let o = b.param(DType::F32, true);
            let s = b.reduce(n, &[Combine::Add], |b, i| smallvec![b.load(p, at(i))]);
            b.store(o, Index::at(0), s[0]);
        }
        "exp" | "tanh" | "log" | "sin" => {
            let p = b.param(DType::F32, false);
            let o = b.param(DType::F32, true);
            b.each(n, |b, i| {
                let v = b.load(p, at(i));
                let s = match which.as_str() {
                    "exp" => math::exp(b, v),
                    "tanh" => math::tanh(b, v),
                    "log" => math::log(b, v),
                    _ => math::sin(b, v),
                };
                b.store(o, at(i), s);
            });
        }
        _ => panic!(),
    }
    let k = b.finish(which);
    println!("{k}");
    let code = compile(&k, &Target::host().with_text()).unwrap();
    if std::env::args().nth(2).is_some() {
        println!("{}", code.clif.clone().unwrap());
    }
    println!("{}", disassemble(&code));
}
