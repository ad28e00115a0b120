//! Rust closures to graphs: tracers, bind, the boundary, raise, observers, Executor.
