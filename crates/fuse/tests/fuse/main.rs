//! Fusion from graphs to programs, judged by the evaluators of both languages.

mod compositions;
mod differential;
mod large;
mod programs;
mod random;
mod support;
