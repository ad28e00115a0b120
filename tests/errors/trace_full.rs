//! More ops than a trace keeps
//!
//! A trace is bounded, and with `Full::Fail` an incomplete one is an error.

pub mod wrong {
    use tracewell::op_trace::{Full, TraceOptions, tracing_ops};
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let x = Array::from([0.5f32, 1.5]);
        let options = TraceOptions { most_ops: 3, full: Full::Fail, ..TraceOptions::default() };
        let (_, trace) = tracing_ops(options, || (0..10).fold(x.clone(), |y, _| y.sin()));
        println!("{} ops", trace?.ops().len());
        Ok(())
    }
}

pub mod right {
    use tracewell::op_trace::{Full, TraceOptions, tracing_ops};
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let x = Array::from([0.5f32, 1.5]);
        let options = TraceOptions { most_ops: 100, full: Full::Fail, ..TraceOptions::default() };
        let (_, trace) = tracing_ops(options, || (0..10).fold(x.clone(), |y, _| y.sin()));
        println!("{} ops", trace?.ops().len());
        Ok(())
    }
}
