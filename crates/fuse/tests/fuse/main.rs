//! Fusion from graphs to programs, judged by the evaluators of both languages.

mod bands;
mod compositions;
mod differential;
mod large;
mod programs;
mod random;
mod support;
