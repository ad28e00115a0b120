//! A random graph that fails, made small enough to be read and to be kept in a file.

use tracewell_array::Tensor;
use tracewell_graph::text::write;
use tracewell_graph::{Graph, eval};

use super::{Way, check};
use crate::generate::{self, Options, shrink};

/// A graph with inputs that a seed gives: all that a failure needs to be repeated.
#[derive(Clone, Debug)]
pub struct Seeded {
    /// The graph.
    pub graph: Graph,
    /// Of its inputs.
    pub seed: u64,
    /// Whether there are NaNs and the like among them.
    pub extreme: bool,
}

impl Seeded {
    /// The inputs.
    pub fn inputs(&self) -> Vec<Tensor> {
        generate::inputs(&self.graph, self.seed, self.extreme)
    }

    /// The text of a file: [`Seeded::read`] reads it.
    pub fn text(&self) -> String {
        format!("// inputs {} {}\n{}", self.seed, self.extreme, write(&self.graph))
    }

    /// Reads a file that begins with `// inputs SEED EXTREME`.
    pub fn read(text: &str) -> Result<Seeded, String> {
        let first = text.lines().next().and_then(|line| line.strip_prefix("// inputs "));
        let words: Vec<&str> =
            first.ok_or("the first line is not `// inputs SEED EXTREME`")?.split(' ').collect();
        let [seed, extreme] = words[..] else { return Err("two words follow `// inputs`".to_owned()) };
        let seed = seed.parse().map_err(|_| format!("`{seed}` is not a seed"))?;
        let extreme = extreme.parse().map_err(|_| format!("`{extreme}` is not `true` or `false`"))?;
        let graph = text.parse().map_err(|error| format!("{error}"))?;
        Ok(Seeded { graph, seed, extreme })
    }
}

/// What to say about the random graph of a seed that fails, and the smallest like it, if it can be had.
pub fn report(seed: u64, options: Options, way: Way, why: &str) -> (String, Option<Seeded>) {
    let (graph, _) = generate::graph_with(seed, options);
    let seeded = |graph: &Graph| Seeded { graph: graph.clone(), seed, extreme: options.extreme };
    let head = format!("seed {seed}, {options:?}, {way}: {why}");
    // With other inputs than its own it may not fail, or for reasons of its own.
    if fails(&seeded(&graph), way).is_none() {
        return (format!("{head}\n{}", write(&graph)), None);
    }
    let small = seeded(&shrink(graph, &mut |graph| fails(&seeded(graph), way).is_some()));
    let why = fails(&small, way).unwrap_or_default();
    (format!("{head}\nsmaller, with inputs of the same seed: {why}\n{}", small.text()), Some(small))
}

/// How a graph fails. What cannot even be evaluated is not what was looked for.
fn fails(seeded: &Seeded, way: Way) -> Option<String> {
    let inputs = seeded.inputs();
    eval(&seeded.graph, &inputs).ok()?;
    check(&seeded.graph, &inputs, way).err()
}
