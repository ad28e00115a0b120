//! What a program calls instead of generating it: products, convolutions, sorts, sums at places, Fourier transforms,
//! linear algebra.
//!
//! [`call`] fills the buffers of one call, on our own threads ([`pool`]) where it is large. No result depends on how
//! many there are. What each call means, the reference in `tracewell-kernel` says.

mod add_at;
mod call;
mod conv;
mod deep;
mod fft;
mod lanes;
mod linalg;
mod matmul;
mod multiply;
pub mod pool;
#[cfg(target_arch = "x86_64")]
mod product;
mod sort;
mod subnormal;
mod vector_product;
pub mod walk;

pub use call::{both_sides, call, divides, slices};
