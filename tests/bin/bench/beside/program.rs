//! A program that is measured, and what is known about it.

use std::hint::black_box;

use tracewell::prelude::*;

use super::Peer;

/// A program with its inputs.
pub(crate) type Work = Box<dyn Calls>;

/// What is called.
pub(crate) trait Calls {
    /// The arrays of one call.
    fn arrays(&mut self) -> Vec<Array>;
    /// So many calls, of which nothing is kept.
    fn calls(&mut self, count: usize);
}

impl<R: Tree, F: FnMut() -> R> Calls for F {
    fn arrays(&mut self) -> Vec<Array> {
        tree::flatten(&self())
    }

    fn calls(&mut self, count: usize) {
        for _ in 0..count {
            drop(black_box(self()));
        }
    }
}

/// Our side of a comparison; the others' have its name.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// How far results may be apart, in parts of the largest.
    pub(crate) tolerance: f64,
    /// Whether it draws numbers: NumPy draws others, which are alike as a whole only.
    pub(crate) draws: bool,
    /// Who has it too.
    pub(crate) peers: &'static [Peer],
    /// Ours, where it is not for the caller to say.
    pub(crate) threads: Option<usize>,
    /// Multiplications and additions that it cannot do without, if they are many beside what it reads.
    pub(crate) flops: f64,
    /// Whether these are of 64 bits.
    pub(crate) doubles: bool,
    /// Whether its first call is what is measured, again and again.
    pub(crate) first_calls: bool,
    /// Makes the inputs.
    pub(crate) make: fn() -> Work,
}

/// A program that JAX has too.
pub(crate) const fn program(name: &'static str, tolerance: f64, make: fn() -> Work) -> Program {
    Program {
        name,
        tolerance,
        draws: false,
        peers: &[Peer::Jax],
        threads: None,
        flops: 0.0,
        doubles: false,
        first_calls: false,
        make,
    }
}

/// A program that JAX and NumPy have too.
pub(crate) const fn in_numpy(name: &'static str, tolerance: f64, make: fn() -> Work) -> Program {
    Program { peers: &[Peer::Jax, Peer::Numpy], ..program(name, tolerance, make) }
}

impl Program {
    pub(crate) const fn drawing(self) -> Program {
        Program { draws: true, ..self }
    }

    pub(crate) const fn flops(self, flops: f64) -> Program {
        Program { flops, ..self }
    }

    pub(crate) const fn doubles(self) -> Program {
        Program { doubles: true, ..self }
    }

    pub(crate) const fn first_calls(self) -> Program {
        Program { first_calls: true, ..self }
    }
}
