//! Kernel to machine code, through Cranelift.
