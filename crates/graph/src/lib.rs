//! The graph language: types, graphs, primitives with all their rules; text, verify, evaluate.
