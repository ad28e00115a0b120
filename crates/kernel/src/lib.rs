//! The loop language: scalar ops, regions, kernels, programs; text, verify, evaluate.
