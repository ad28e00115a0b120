//! The op trace: attention with nested calls is recorded, saved, read, replayed to the bit, and compared with a variant.
//!
//! `cargo run --release --example op_trace`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use tracewell::prelude::*;

jit! {
    /// Weights that sum to one along the last axis.
    fn softmax(scores: &Array) -> Array {
        let e = (scores - scores.max_axes(&[-1]).expand(-1)).exp();
        &e / e.sum_axes(&[-1]).expand(-1)
    }
}

/// How well each query fits each key.
#[traced]
fn scores(q: &Array, k: &Array, scale: f64) -> Array {
    einsum("qd,kd->qk", &[q, k]) * scale
}

#[traced]
fn attention(q: &Array, k: &Array, v: &Array, scale: f64) -> Array {
    softmax(&scores(q, k, scale)).dot(v)
}

fn main() -> Result<()> {
    let keys: [random::Key; 3] = random::split(&random::key(1));
    let [q, k, v] = keys.each_ref().map(|key| random::normal(key, [4, 8], F32));

    toggle_trace_with(TraceOptions { values: true, ..TraceOptions::default() });
    let y = attention(&q, &k, &v, 0.125f64.sqrt());
    let trace = collect_trace()?;
    toggle_trace(false);
    purge_trace();
    println!("{trace}");

    let file = std::env::temp_dir().join(format!("attention-{}.trace", std::process::id()));
    trace.save(&file)?;
    let loaded = OpTrace::load(&file)?;
    println!("saved to {} and read again: {} ops", file.display(), loaded.ops().len());
    assert!(loaded == trace, "what is read is what was written");

    let again = loaded.replay()?;
    let same = again.results()[0].to_vec::<f32>()? == y.to_vec::<f32>()?;
    println!("replayed: {}", if same { "equal to the bit" } else { "not the same" });
    assert!(same);
    assert!(collect_trace()?.ops().len() == 0, "purged");

    let variant = tracing_ops(TraceOptions::default(), || attention(&q, &k, &v, 0.125)).1?;
    let compared = loaded.diff(&variant, 1e-6)?;
    println!("{} ops are in both; the first that differs:", compared.matched);
    let first = compared.first.expect("the variant scales by another number");
    println!("{first}");
    assert_eq!(first.left.name, "mul");
    std::fs::remove_file(&file).map_err(Error::bug)?;
    Ok(())
}
