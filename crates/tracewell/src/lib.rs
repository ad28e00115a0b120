//! Tracewell: a JIT array compiler. The face: Array, operators, jit, transforms.
