//! Random good texts and files, as our own writers write them.

use tracewell::pipeline::{Settings, lower};
use tracewell_array::npy;
use tracewell_graph::text::write_with_locations;

use super::Kind;
use crate::generate::{self, Options, Rng};

/// Something that a reader of this kind reads.
pub fn fresh(kind: Kind, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let options = Options { size: 1 + rng.below(12), extreme: rng.percent(50) };
    match kind {
        Kind::Graph => {
            let graphs = if rng.percent(10) { 2 } else { 1 };
            let text = |_| write_with_locations(&generate::graph_with(rng.bits(), options).0);
            (0..graphs).map(text).collect::<String>().into_bytes()
        }
        Kind::Kernel if rng.percent(50) => {
            tracewell_kernel::generate::kernel(rng.bits()).kernel.to_string().into_bytes()
        }
        Kind::Kernel => {
            let (graph, _) = generate::graph_with(rng.bits(), options);
            let settings = Settings { fusion: rng.percent(50), ..Settings::default() };
            lower(&graph, &settings)
                .map_or_else(|_| Vec::new(), |stages| stages.program.to_string().into_bytes())
        }
        Kind::Array => {
            let (_, inputs) = generate::graph_with(rng.bits(), options);
            inputs.first().map_or_else(Vec::new, npy::write)
        }
    }
}
