//! A file that is no op trace
//!
//! `OpTrace::load` reads what `save` wrote.

pub mod wrong {
    use tracewell::op_trace::OpTrace;
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        println!("{} ops", OpTrace::load("Cargo.toml")?.ops().len());
        Ok(())
    }
}

pub mod right {
    use tracewell::op_trace::{OpTrace, TraceOptions, tracing_ops};
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let x = Array::from([0.5f32, 1.5]);
        let (_, trace) = tracing_ops(TraceOptions::default(), || x.sin());
        let file = std::env::temp_dir().join(format!("sine-{}.trace", std::process::id()));
        trace?.save(&file)?;
        println!("{} ops", OpTrace::load(&file)?.ops().len());
        Ok(())
    }
}
