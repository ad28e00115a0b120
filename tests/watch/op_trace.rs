//! The op trace.

use std::sync::Mutex;

use tracewell::op_trace::Full;
use tracewell::prelude::*;

use crate::bits;

jit! {
    fn softmax(x: &Array) -> Array {
        let e = (x - x.max()).exp();
        &e / e.sum()
    }
    fn scaled(x: &Array, by: Scalar) -> Array { x * by }
}

#[traced]
fn block(x: &Array) -> Array {
    softmax(&(x * 2.0)).log()
}

fn x() -> Array {
    Array::from([1.0f32, 2.0, 4.0])
}

fn traced<R>(f: impl FnOnce() -> R) -> OpTrace {
    tracing_ops(TraceOptions { values: true, ..TraceOptions::default() }, f).1.unwrap()
}

/// The recording of all threads is one: tests of it come one after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// What this thread did, in the trace of all.
fn by_name(trace: &OpTrace, name: &str) -> usize {
    trace.ops().filter(|op| op.name() == name).count()
}

#[test]
fn toggle_collect_and_purge() {
    let _alone = ALONE.lock().unwrap_or_else(|error| error.into_inner());
    let x = x();
    x.lgamma();
    assert_eq!(by_name(&collect_trace().unwrap(), "lgamma"), 0, "off by default");
    toggle_trace(true);
    x.lgamma();
    toggle_trace(false);
    x.lgamma();
    assert_eq!(by_name(&collect_trace().unwrap(), "lgamma"), 1);
    assert_eq!(by_name(&collect_trace().unwrap(), "lgamma"), 1, "collecting forgets nothing");
    purge_trace();
    assert_eq!(by_name(&collect_trace().unwrap(), "lgamma"), 0);
}

#[test]
fn all_threads_are_recorded_into_one_trace() {
    let _alone = ALONE.lock().unwrap_or_else(|error| error.into_inner());
    purge_trace();
    toggle_trace(true);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| drop(x().digamma().erf_inv())));
        }
    });
    toggle_trace(false);
    let trace = collect_trace().unwrap();
    purge_trace();
    assert_eq!(by_name(&trace, "digamma"), 100);
    let threads: std::collections::BTreeSet<usize> =
        trace.ops().filter(|op| op.name() == "digamma").map(|op| op.thread()).collect();
    assert_eq!(threads.len(), 4);
    for op in trace.ops().filter(|op| op.name() == "erf_inv") {
        let from = op.inputs()[0].unwrap();
        let made = trace.ops().find(|op| op.outputs().contains(&from)).unwrap();
        assert_eq!((made.name(), made.thread()), ("digamma", op.thread()));
    }
}

#[test]
fn ops_are_connected_by_numbers_of_arrays() {
    let x = x();
    let trace = traced(|| (x.sin() * x.cos()).sum());
    let lines: Vec<String> =
        trace.ops().map(|op| format!("{:?} = {} {:?}", op.outputs(), op.name(), op.inputs())).collect();
    assert_eq!(
        lines,
        [
            "1..2 = sin [Some(0)]",
            "2..3 = cos [Some(0)]",
            "3..4 = mul [Some(1), Some(2)]",
            "4..5 = reduce_sum [Some(3)]",
        ]
    );
    assert_eq!((trace.inputs().len(), trace.outputs()), (1, vec![4]));
}

/// A number takes no memory when nobody watches.
#[test]
fn a_number_that_is_handed_over_twice_is_one_array() {
    let (x, two) = (x(), Scalar::from(2.0));
    let trace = traced(|| scaled(&scaled(&x, &two), &two));
    assert_eq!(trace.inputs().len(), 2);
    assert_eq!(traced(|| scaled(&x, 2.0)).inputs().len(), 2);
}

#[test]
fn ops_are_nested_under_the_calls_they_ran_in() {
    let x = x();
    let trace = traced(|| grad(|x: &Array| block(x).sum())(&x));
    let log = trace.ops().find(|op| op.name() == "log").unwrap();
    let calls: Vec<&str> = log.calls().iter().map(|call| call.what.as_str()).collect();
    assert_eq!(calls, ["grad", "traced block"]);
    let soft = trace.ops().find(|op| op.calls().iter().any(|call| call.what == "jit softmax")).unwrap();
    assert_eq!(soft.calls().len(), 3);
}

#[test]
fn ops_have_types_parameters_lines_and_times() {
    let x = x();
    let trace = traced(|| x.reshape([3, 1]).sum_axes(&[0]));
    let sum = trace.ops().find(|op| op.name() == "reduce_sum").unwrap();
    assert_eq!(sum.types()[0].to_string(), "f32[1]");
    let mut axes = String::new();
    sum.primitive().rules().each_param(&mut |name, value| axes = format!("{name}={value:?}"));
    assert!(axes.contains("axes"), "{axes}");
    assert!(sum.location().file.ends_with("op_trace.rs") && sum.nanoseconds() > 0);
}

#[test]
fn values_are_kept_on_request() {
    let x = x();
    let with = traced(|| x.sin());
    assert_eq!(bits(with.ops().next().unwrap().values()[0].as_ref().unwrap()), bits(&x.sin()));
    let without = tracing_ops(TraceOptions::default(), || x.sin()).1.unwrap();
    assert!(without.ops().next().unwrap().values()[0].is_none());
}

#[test]
fn data_that_nobody_keeps_is_freed_and_its_numbers_stay_apart() {
    let x = Array::ones([1000], F32);
    let trace = tracing_ops(TraceOptions::default(), || {
        (0..50).for_each(|_| drop(x.sin()));
        x.cos()
    });
    let trace = trace.1.unwrap();
    assert_eq!(
        trace.outputs().len(),
        51,
        "each result is an array of its own, also where memory is the same"
    );
}

#[test]
fn a_replay_is_equal_to_the_bit() {
    let x = x();
    for program in [
        &(|| block(&x)) as &dyn Fn() -> Array,
        &|| grad(|x: &Array| block(x).square().sum())(&x),
        &|| vmap(|x: &Array| softmax(x))(&Array::from([[1.0f32, 2.0], [3.0, 9.0]])),
        &|| while_loop(x.sum(), |s: &Array| s.lt(100.0), |s: &Array| s * 1.5),
    ] {
        let plain = bits(&program());
        let trace = traced(program);
        let again = trace.replay().unwrap();
        assert!(again.results().iter().any(|array| bits(array) == plain), "{trace}");
        for op in trace.ops() {
            for (number, kept) in op.outputs().zip(op.values()) {
                assert_eq!(bits(again.array(number)), bits(&kept.unwrap()), "{} in {trace}", op.name());
            }
        }
    }
}

#[test]
fn a_trace_is_one_graph() {
    let x = x();
    let trace = traced(|| block(&x));
    let graph = trace.graph().unwrap();
    let lowered = Lowered::new(&graph).unwrap();
    assert_eq!(bits(&lowered.run(&trace.inputs()).unwrap()[0]), bits(&block(&x)));
}

#[test]
fn what_is_saved_is_read_again() {
    let x = x();
    let trace = traced(|| grad(|x: &Array| block(x).sum())(&x));
    let text = trace.to_text().unwrap();
    let again = OpTrace::from_text(&text).unwrap();
    assert_eq!(again, trace);
    assert_eq!(again.to_text().unwrap(), text);
}

#[test]
fn damaged_files_are_errors() {
    let x = x();
    let text = traced(|| block(&x)).to_text().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for left_out in 0..lines.len() {
        let kept = lines.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, line)| *line);
        let damaged = kept.collect::<Vec<_>>().join("\n");
        // Whatever is left of it is read or refused, and does not panic.
        let _ = OpTrace::from_text(&damaged);
    }
    assert!(OpTrace::from_text("tracewell trace 1\nop - 0 0\nfunc @f() -> () {\n  return\n}\n").is_err());
    let error = OpTrace::load("/nowhere/at/all").unwrap_err();
    assert!(error.message().contains("is no op trace"), "{error}");
}

#[test]
fn a_full_trace_stops_or_fails_as_asked() {
    let x = x();
    let few = TraceOptions { most_ops: 3, ..TraceOptions::default() };
    let run = || (0..10).fold(x.clone(), |y, _| y.sin());
    let stopped = tracing_ops(few, run).1.unwrap();
    assert_eq!((stopped.ops().len(), stopped.dropped()), (3, 7));
    let error = tracing_ops(TraceOptions { full: Full::Fail, ..few }, run).1.unwrap_err();
    assert_eq!(error.message(), "7 ops did not fit into the op trace");
    let small = TraceOptions { values: true, most_bytes: 30, ..TraceOptions::default() };
    assert_eq!(tracing_ops(small, run).1.unwrap().ops().len(), 2, "12 bytes from outside, 12 of each result");
}

#[test]
fn diff_finds_the_first_op_whose_results_differ() {
    let x = x();
    let other = |x: &Array| {
        let e = (x - x.max()).exp();
        (&e / (e.sum() + 0.5)).log()
    };
    let (left, right) = (traced(|| softmax(&x).log()), traced(|| other(&x)));
    let compared = left.diff(&right, 1e-6).unwrap();
    let first = compared.first.unwrap();
    assert_eq!(
        (first.left.name.as_str(), first.right.name.as_str()),
        ("broadcast", "broadcast"),
        "of the sum"
    );
    assert_eq!(first.left.calls, ["jit softmax"]);
    assert_eq!((compared.only_left, compared.only_right), (0, 1), "one more sum");
    assert!(first.largest > 0.0 && first.to_string().contains("`broadcast` gives"));
}

#[test]
fn diff_of_equal_programs_finds_nothing() {
    let x = x();
    let plain = |x: &Array| {
        let e = (x - x.max()).exp();
        (&e / e.sum()).log()
    };
    let (left, right) = (traced(|| softmax(&x).log()), traced(|| plain(&x)));
    let compared = left.diff(&right, 1e-6).unwrap();
    assert!(compared.first.is_none(), "{compared:?}");
    assert_eq!((compared.only_left, compared.only_right), (0, 0));
}

#[test]
fn recording_ops_changes_no_bit() {
    let x = x();
    let program = || grad(|x: &Array| block(x).square().sum())(&x);
    let plain = bits(&program());
    let (watched, _) = tracing_ops(TraceOptions::default(), program);
    assert_eq!(bits(&watched), plain);
    assert_eq!(bits(&program()), plain);
}

#[test]
fn chrome_gets_calls_and_ops() {
    let x = x();
    let json = traced(|| block(&x)).to_chrome();
    for part in
        ["\"traceEvents\":[", "\"name\":\"traced block\",\"cat\":\"call\"", "\"name\":\"log\",\"cat\":\"op\""]
    {
        assert!(json.contains(part), "{part}: {json}");
    }
}

#[test]
fn what_was_captured_is_the_array_that_it_was() {
    let (x, y) = (x(), Array::from(2.0f32).broadcast_to([4]));
    let f = |y: &Array| {
        let twice = y.exp();
        vmap(|x: &Array| (x * twice.sum()).sin())(&x)
    };
    let trace = traced(|| f(&y));
    assert!(trace.ops().all(|op| op.name() != "constant"), "{trace}");
    let other = Array::from([1.0f32, 2.0, 3.0, 4.0]);
    let inputs: Vec<Array> = trace
        .inputs()
        .into_iter()
        .map(|input| if bits(&input) == bits(&y) { other.clone() } else { input })
        .collect();
    let replayed = trace.replay_on(&inputs).unwrap();
    assert_eq!(bits(replayed.results()[0]), bits(&f(&other)));
}
