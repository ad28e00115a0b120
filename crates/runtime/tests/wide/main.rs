//! Vectors of every width that the machine has give the bits of 128, for every length, and touch nothing else.

mod cases;
#[path = "../common/mod.rs"]
mod common;

use cases::{CASES, NESTS};
use common::{Machine, Random, check, same};
use tracewell_array::{DType, Literal, Tensor};
use tracewell_codegen::{Target, Width, compile};
use tracewell_kernel::Kernel;
use tracewell_kernel::math::FUNCTIONS;

/// The machine with each width that it has beyond 128 bits.
fn widths() -> Vec<Target> {
    let wide = Width::ALL.into_iter().filter(|&width| width > Width::W128);
    wide.filter_map(|width| Target::host().with_width(width).ok()).collect()
}

fn narrow() -> Target {
    Target::host().with_width(Width::W128).expect("every machine has it")
}

/// The first elements of a tensor.
fn first(tensor: &Tensor, len: usize) -> Tensor {
    let literals: Vec<Literal> = tensor.literals().take(len).collect();
    Tensor::from_literals(tensor.dtype(), [len], &literals).expect("as many as there are")
}

/// Numbers for which nothing is rare.
fn common(random: &mut Random, dtype: DType, len: usize) -> Tensor {
    let literals: Vec<Literal> =
        (0..len).map(|_| Literal::from_f64(dtype, (random.next() % 900) as f64 / 1000.0 + 0.03)).collect();
    Tensor::from_literals(dtype, [len], &literals).expect("as many as asked for")
}

/// Each math function of each float type is wide code, and has the bits of 128 at every length, for odd arguments and for
/// common ones.
#[test]
fn functions() {
    const MOST: usize = 200;
    let mut random = Random(11);
    for (math, is_common) in FUNCTIONS.iter().flat_map(|math| [(math, false), (math, true)]) {
        for dtype in [DType::F32, DType::F64] {
            let kernel = math.kernel(dtype);
            let make = if is_common { common } else { Random::tensor };
            let mut buffers: Vec<Tensor> =
                (0..=math.arity()).map(|_| make(&mut random, dtype, MOST)).collect();
            let expected = Machine::new(&kernel, &narrow()).run(&buffers, &[MOST as i64], &[MOST as i64]);
            let expected = expected.last().expect("the result").clone();
            buffers.pop();
            for target in widths() {
                let code = compile(&kernel, &target).expect("a kernel that compiles");
                assert!(!code.wide.is_empty(), "{} of {dtype} at {}", math.name, target.width());
                let machine = Machine::new(&kernel, &target);
                for length in 0..=MOST {
                    let mut inputs: Vec<Tensor> =
                        buffers.iter().map(|tensor| first(tensor, length.max(1))).collect();
                    inputs.push(random.tensor(dtype, length.max(1)));
                    let before = inputs.last().expect("the result").clone();
                    let found = machine.run(&inputs, &[length as i64], &[length as i64]);
                    let found = found.last().expect("the result");
                    let expected = if length == 0 { before } else { first(&expected, length) };
                    for (at, (f, e)) in found.literals().zip(expected.literals()).enumerate() {
                        let (name, width) = (math.name, target.width());
                        assert!(
                            same(f, e),
                            "{name} of {dtype} at {width}, {length} long, [{at}]: {f}, not {e}"
                        );
                    }
                }
            }
        }
    }
}

/// A loop that hands something on is Cranelift's, and then so is what is around the others of a kernel.
const HANDED_ON: &str =
    "%none: f32 = const 0.0 %last: f32 = for %turn < 1 with %kept: f32 = %none { yield %kept }";

/// A kernel, and the same with something in it that is Cranelift's, for all widths.
fn ways(text: &str) -> Vec<(String, Target)> {
    // Behind the brace that opens the kernel.
    let (head, body) = text.split_once('{').expect("a kernel");
    let (local, body) = match body.trim_start().strip_prefix("local") {
        Some(rest) => {
            rest.split_once(']').map(|(local, body)| (format!("local{local}]"), body)).expect("a length")
        }
        None => (String::new(), body),
    };
    let within = format!("{head}{{ {local} {HANDED_ON} {body}");
    let of = |text: &str| widths().into_iter().map(|width| (text.to_owned(), width)).collect::<Vec<_>>();
    [of(text), of(&within)].concat()
}

/// Kernels that read and write in every way that wide code takes.
#[test]
fn accesses() {
    let mut random = Random(12);
    for case in CASES {
        for (text, target) in ways(case.text) {
            let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            let code = compile(&kernel, &target.with_text()).expect("a kernel that compiles");
            let taken = case.both || target.width() == Width::W512;
            let loops = text.matches("< s0 {").count();
            // Without Cranelift all loops are one function.
            let functions = match code.clif {
                None => 1,
                _ if taken => loops,
                _ => 0,
            };
            assert_eq!(code.wide.len(), functions, "at {}\n{text}", target.width());
            let is_whole = target.width() == Width::W512 && !text.contains(HANDED_ON);
            assert_eq!(code.clif.is_none(), is_whole, "at {}\n{text}", target.width());
            let machine = Machine::new(&kernel, &target);
            for length in (0..=70).chain([79, 80, 127, 128, 129, 200]) {
                let buffers: Vec<Tensor> = case
                    .buffers
                    .iter()
                    .map(|&(dtype, each)| random.tensor(dtype, (length * each).max(each)))
                    .collect();
                check(&machine, &buffers, &[length as i64]);
            }
        }
    }
}

/// Results that no cache holds are stored past them: the same bits, in whole vectors and beside them.
#[test]
fn large_results() {
    const LENGTH: usize = (4 << 20) + 37;
    let text = "kernel @past(b0: f32, b1: f64, b2: mut f32, b3: mut f64) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %y: f64 = load b1[%i]
                %double: f32 = add %x, %x store b2[%i], %double
                %square: f64 = mul %y, %y store b3[%i], %square
            }
        }";
    // One element is not like the others.
    let rare = text.replace(
        "store b2[%i], %double",
        "%far: f32 = const 2000000.0 %is: bool = eq %x, %far %rare: bool = rarely %is
                %same: f32 = select %rare, %x, %double store b2[%i], %same",
    );
    for text in [text, rare.as_str()] {
        large_result(text, LENGTH, |i| if text == rare && i == 2_000_000 { 1.0 } else { 2.0 });
    }
}

fn large_result(text: &str, length: usize, times: impl Fn(usize) -> f32) {
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let floats = Tensor::from_fn([length], |i| i as f32);
    let doubles = Tensor::from_fn([length], |i| i as f64);
    let buffers = [floats.clone(), doubles.clone(), floats, doubles];
    for target in widths() {
        let code = compile(&kernel, &target).expect("a kernel that compiles");
        assert_eq!(code.wide.len(), 1);
        let machine = Machine::new(&kernel, &target);
        // The second part starts inside a vector.
        for ends in [vec![length as i64], vec![length as i64 / 2 + 3, length as i64]] {
            let found = machine.run(&buffers, &[length as i64], &ends);
            let floats = found[2].to_vec::<f32>().expect("floats");
            let doubles = found[3].to_vec::<f64>().expect("doubles");
            assert!(floats.iter().enumerate().all(|(i, &x)| x == times(i) * i as f32), "{ends:?}");
            assert!(doubles.iter().enumerate().all(|(i, &x)| x == i as f64 * i as f64), "{ends:?}");
        }
    }
}

/// A kernel of one loop that wants single elements of arrays too, here and there in them; in whole and in parts.
#[test]
fn single_elements() {
    let text = "kernel @single(b0: f32, b1: f32, b2: f64, b3: mut f32, b4: mut f64) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %s: f32 = load b1[3] %t: f64 = load b2[2]
                %y: f32 = mul %x, %s %w: f64 = convert %y %z: f64 = add %w, %t
                store b3[%i], %y store b4[%i], %z
            }
        }";
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    for len in [0, 1, 15, 16, 17, 200] {
        let buffers = [
            Tensor::from_fn([len], |i| i as f32 - 7.5),
            Tensor::from_fn([4], |i| i as f32 + 0.25),
            Tensor::from_fn([3], |i| i as f64 + 0.125),
            Tensor::from_fn([len], |_| 0.0f32),
            Tensor::from_fn([len], |_| 0.0f64),
        ];
        let sizes = [len as i64];
        let expected = Machine::new(&kernel, &narrow()).run(&buffers, &sizes, &sizes);
        for target in widths() {
            let machine = Machine::new(&kernel, &target);
            for ends in [vec![len as i64], vec![len as i64 / 3, len as i64]] {
                let found = machine.run(&buffers, &sizes, &ends);
                for (found, expected) in found.iter().zip(&expected) {
                    let equal = found.literals().zip(expected.literals()).all(|(a, b)| same(a, b));
                    assert!(equal, "{len} in {ends:?} at {}", target.width());
                }
            }
        }
    }
}

/// Loops around loops where the length of rows is part of the kernel.
#[test]
fn known_lengths() {
    const ROW: usize = 200;
    let mut random = Random(18);
    for (text, buffers) in NESTS {
        for columns in [16, 17, 24, 31, 32, 33, 40, 64, 95, 129, ROW] {
            let length = columns.to_string();
            let text = text.replace("40", "200").replace("< s1", &format!("< {length}"));
            for (text, target) in ways(&text.replace("*s1", &format!("*{length}"))) {
                let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
                let code = compile(&kernel, &target.with_text()).expect("a kernel that compiles");
                let is_whole = target.width() == Width::W512 && !text.contains(HANDED_ON);
                assert_eq!(code.clif.is_none(), is_whole, "{text}");
                let machine = Machine::new(&kernel, &target);
                for rows in [0, 1, 2, 5] {
                    let each = |each: usize| if each == 40 { ROW } else { each };
                    let tensor = |&(dtype, of): &(DType, usize)| random.tensor(dtype, rows.max(1) * each(of));
                    let buffers: Vec<Tensor> = buffers.iter().map(tensor).collect();
                    check(&machine, &buffers, &[rows as i64, columns as i64]);
                }
            }
        }
    }
}

/// The same where the launch says it.
#[test]
fn nests() {
    let mut random = Random(16);
    for (text, buffers) in NESTS {
        for (text, target) in ways(text) {
            let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
            let code = compile(&kernel, &target.with_text()).expect("a kernel that compiles");
            let is_whole = target.width() == Width::W512 && !text.contains(HANDED_ON);
            assert_eq!(code.clif.is_none(), is_whole, "{text}");
            let machine = Machine::new(&kernel, &target);
            for rows in 0..=9 {
                for columns in [0, 1, 15, 16, 17, 31, 32, 33, 40] {
                    let tensor =
                        |&(dtype, each): &(DType, usize)| random.tensor(dtype, (rows * each).max(each));
                    let buffers: Vec<Tensor> = buffers.iter().map(tensor).collect();
                    check(&machine, &buffers, &[rows as i64, columns]);
                }
            }
        }
    }
}

/// Loops that compute little have a copy for arrays that no cache holds, which leaves the last iterations to the others:
/// the bits of 128, on both sides of the size from which on it runs, in one loop and in rows.
#[test]
fn long_walks() {
    let map = "kernel @map(b0: f32, b1: mut f32) sizes 2 {
            each %i < s0 {
                %x: f32 = load b0[%i] %a: f32 = mul %x, %x %b: f32 = add %a, %x %c: f32 = mul %b, %a
                store b1[%i], %c
            }
        }";
    let rows = "kernel @rows(b0: f32, b1: mut f32) sizes 2 {
            each %i < s0 {
                %y: f32 = reduce max over %j < s1 { %x: f32 = load b0[%i*s1 + %j] yield %x }
                store b1[%i], %y
            }
        }";
    let known = rows.replace("s1 {", "300 {").replace("*s1", "*300");
    for (text, sizes) in [
        (map, [(1 << 18) - 1, 1]),
        (map, [1 << 18, 1]),
        (map, [(1 << 18) + 77, 1]),
        (rows, [77, 3405]),
        (rows, [76, 3405]),
        (rows, [3, (1 << 17) + 5]),
        (&known, [874, 300]),
        (&known, [873, 300]),
    ] {
        let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let number = |i: usize| ((i * 7919) % 4001) as f32 * 0.25 - 500.0;
        let input = Tensor::from_fn([(sizes[0] * sizes[1]) as usize], number);
        let buffers = [input, Tensor::from_fn([sizes[0] as usize], |_| 0.0f32)];
        let expected = Machine::new(&kernel, &narrow()).run(&buffers, &sizes, &[sizes[0]]);
        for target in widths() {
            let code = compile(&kernel, &target).expect("a kernel that compiles");
            assert!(!code.wide.is_empty(), "{sizes:?} at {}\n{text}", target.width());
            let machine = Machine::new(&kernel, &target);
            for ends in [vec![sizes[0]], vec![sizes[0] / 2, sizes[0]]] {
                let found = machine.run(&buffers, &sizes, &ends);
                let equal = found[1].literals().zip(expected[1].literals()).all(|(a, b)| same(a, b));
                assert!(equal, "{sizes:?} in {ends:?} at {}\n{text}", target.width());
            }
        }
    }
}

/// Turns in which something holds that hardly ever does: a second function is for them, and does what the first had not
/// begun.
#[test]
fn rare_turns() {
    let text = "kernel @rare(b0: f32, b1: own f32) sizes 1 {
            each %i < s0 {
                %x: f32 = load b0[%i] %y: f32 = load b1[%i]
                %limit: f32 = const 100.0
                %is_large: bool = lt %limit, %x
                %rare: bool = rarely %is_large
                %root: f32 = sqrt %x
                %sum: f32 = add %x, %y
                %z: f32 = select %rare, %root, %sum
                %all: f32 = add %z, %y
                store b1[%i], %all
            }
        }";
    for (text, target) in ways(text) {
        let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let code = compile(&kernel, &target.with_text()).expect("a kernel that compiles");
        let is_new = target.width() == Width::W512;
        assert_eq!(code.wide.len(), if is_new && code.clif.is_some() { 2 } else { 1 });
        assert_eq!(code.clif.is_none(), is_new && !text.contains(HANDED_ON));
        let machine = Machine::new(&kernel, &target);
        for length in (1..=40).chain([79, 80, 81, 200]) {
            for large in
                [vec![], vec![0], vec![length - 1], vec![length / 2, length / 3], (0..length).collect()]
            {
                let x = |i: usize| if large.contains(&i) { 900.0 + i as f32 } else { i as f32 * 0.25 };
                let buffers = [Tensor::from_fn([length], x), Tensor::from_fn([length], |i| i as f32)];
                check(&machine, &buffers, &[length as i64]);
            }
        }
    }
}

/// The same in a process whose buffers end before protected pages: nothing beyond them is touched.
#[cfg(unix)]
#[test]
fn guarded() {
    if std::env::var_os("TRACEWELL_GUARD").is_some() {
        return;
    }
    let tests = std::env::current_exe().expect("a running test");
    for test in ["functions", "accesses", "large_results", "nests", "known_lengths", "rare_turns"] {
        let output = std::process::Command::new(&tests)
            .args(["--exact", test])
            .env("TRACEWELL_GUARD", "1")
            .output()
            .expect("the same test binary");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("1 passed") && output.status.success(), "{:?}\n{text}", output.status);
    }
}
