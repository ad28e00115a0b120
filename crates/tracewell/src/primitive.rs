//! Primitives of your own.
