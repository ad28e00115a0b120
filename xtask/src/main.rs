//! The project's own verbs.
fn main() {}
