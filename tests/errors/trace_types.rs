//! A replay on arrays of other types
//!
//! What ran was compiled for the types that it ran on.

pub mod wrong {
    use tracewell::op_trace::{TraceOptions, tracing_ops};
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let x = Array::from([0.5f32, 1.5]);
        let (_, trace) = tracing_ops(TraceOptions::default(), || x.sin());
        let again = trace?.replay_on(&[Array::from([0.5f64, 1.5])])?;
        println!("{}", again.results()[0]);
        Ok(())
    }
}

pub mod right {
    use tracewell::op_trace::{TraceOptions, tracing_ops};
    use tracewell::prelude::*;

    pub fn main() -> Result<()> {
        let x = Array::from([0.5f32, 1.5]);
        let (_, trace) = tracing_ops(TraceOptions::default(), || x.sin());
        let again = trace?.replay_on(&[Array::from([2.5f32, 3.5])])?;
        println!("{}", again.results()[0]);
        Ok(())
    }
}
