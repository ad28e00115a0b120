#![allow(unsafe_code)]
use tracewell::prelude::*;
#[derive(Clone, Tree)]
struct Weights {
    w: Array,
    u: Array,
    b: Array,
}
fn network(weights: &Weights, xs: &Array, h: &Array) -> (Array, Array) {
    let Weights { w, u, b } = weights;
    let (h, ()) = scan(h.clone(), xs, |h: &Array, x: &Array| ((h.dot(w) + x.dot(u) + b).tanh(), ()));
    (h.square().mean(), h)
}
jit! {
    fn slope(weights: &Weights, xs: &Array, h: &Array) -> Weights {
        grad(|weights: &Weights| network(weights, xs, h).0)(weights)
    }
}
fn main() {
    let batch: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut seed = 1u64;
    let mut z = |s: &[usize]| {
        let n: usize = s.iter().product();
        let sc = if n > 200000 || s.len() == 3 {
            2.0
        } else if s.len() == 2 && s[0] == 128 {
            0.3
        } else {
            0.1
        };
        let v: Vec<f32> = (0..n)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (((seed >> 33) as f64 / (1u64 << 31) as f64) - 0.5) as f32 * sc
            })
            .collect();
        Array::from(v).reshape(s.to_vec())
    };
    if std::env::var("FTZ").is_ok() {
        #[allow(deprecated)]
        unsafe {
            core::arch::x86_64::_mm_setcsr(0x9fc0)
        }
    }
    let w = Weights { w: z(&[128, 128]), u: z(&[128, 128]), b: z(&[128]) };
    let xs = z(&[1000, batch, 128]);
    let h = z(&[batch, 128]);
    let l = lower(|| slope(&w, &xs, &h)).unwrap();
    if std::env::args().nth(2).is_some() {
        println!("{}", l.optimized());
        println!("{}", l.program());
    }
    for _ in 0..3 {
        let t = std::time::Instant::now();
        let r = slope(&w, &xs, &h);
        let _ = r.w.to_vec::<f32>();
        println!("{:?}", t.elapsed());
    }
}
