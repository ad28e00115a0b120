//! Growing a random graph, equation by equation, around the values it has at its inputs.

use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Location};

use super::Options;
use super::rng::Rng;
use super::steady::Known;

/// A graph as wanted, and inputs for it.
pub(super) fn grow(rng: &mut Rng, options: Options, name: String, owed: Vec<usize>) -> (Graph, Vec<Tensor>) {
    let mut growth = Growth::new(rng, options, 0);
    growth.owed = owed;
    for _ in 0..2 {
        growth.input_of_any_type();
    }
    let (graph, _) = growth.grow(name);
    let inputs = growth.inputs;
    (graph, inputs)
}

/// An operand with its value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) atom: Atom,
    pub(super) ty: ArrayType,
    pub(super) known: Known,
}

pub(super) struct Growth<'r> {
    pub(super) rng: &'r mut Rng,
    pub(super) options: Options,
    pub(super) depth: usize,
    pub(super) builder: GraphBuilder,
    /// Every variable so far.
    pub(super) pool: Vec<Value>,
    pub(super) inputs: Vec<Tensor>,
    /// Graphs that were called, to be called again.
    pub(super) graphs: Vec<Arc<Graph>>,
    /// Uses that must still come.
    pub(super) owed: Vec<usize>,
    /// In a body of control flow, its inputs.
    pub(super) inputs_now: Vec<Value>,
}

impl<'r> Growth<'r> {
    pub(super) fn new(rng: &'r mut Rng, options: Options, depth: usize) -> Growth<'r> {
        Growth {
            rng,
            options,
            depth,
            builder: GraphBuilder::new(),
            pool: Vec::new(),
            inputs: Vec::new(),
            graphs: Vec::new(),
            owed: Vec::new(),
            inputs_now: Vec::new(),
        }
    }

    /// Adds equations until there are enough; gives the graph and the values of its outputs.
    pub(super) fn grow(&mut self, name: String) -> (Graph, Vec<Value>) {
        self.fill();
        let outputs = self.outputs();
        (self.finish(name, &outputs), outputs)
    }

    /// The graph of all equations so far.
    pub(super) fn finish(&mut self, name: String, outputs: &[Value]) -> Graph {
        let builder = std::mem::take(&mut self.builder);
        builder.finish(name, outputs.iter().map(|value| value.atom.clone()).collect())
    }

    /// Adds equations until there are enough.
    pub(super) fn fill(&mut self) {
        // Many steps are refused: they would leave the arrays too large, or nothing but NaN in them.
        for _ in 0..self.options.size * 8 {
            if self.builder.equations().len() >= self.options.size {
                break;
            }
            self.locate();
            let _ = match self.rng.percent(50).then(|| self.owed.pop()).flatten() {
                Some(cell) => self.pay(cell),
                None => self.step(),
            };
        }
        for cell in std::mem::take(&mut self.owed) {
            self.locate();
            let _ = self.pay(cell);
        }
    }

    /// What follows comes from some line, or from none.
    fn locate(&mut self) {
        let files = ["src/main.rs", "src/my model.rs", "C:\\src\\lib.rs", "odd \"name\".rs"];
        let location = self.rng.percent(30).then(|| Location {
            file: (*self.rng.pick(&files).expect("not empty")).into(),
            line: 1 + self.rng.below(500) as u32,
            column: 1 + self.rng.below(80) as u32,
        });
        self.builder.at(location);
    }

    /// What nothing has used yet, and now and then something else.
    fn outputs(&mut self) -> Vec<Value> {
        let used: Vec<Atom> =
            self.builder.equations().iter().flat_map(|equation| equation.inputs.iter().cloned()).collect();
        let mut outputs: Vec<Value> =
            self.pool.iter().filter(|value| !used.contains(&value.atom)).cloned().collect();
        // Some graphs have equations that no output needs.
        if self.rng.percent(30) {
            let most = 1 + self.rng.below(4);
            outputs.drain(..outputs.len().saturating_sub(most));
        }
        if self.rng.percent(10)
            && let Some(value) = self.rng.pick(&self.pool)
        {
            outputs.push(value.clone());
        }
        if self.rng.percent(5) {
            let ty = self.any_type();
            outputs.push(self.splat(&ty));
        }
        outputs
    }

    /// One step in a random direction; `None` if it led nowhere.
    fn step(&mut self) -> Option<()> {
        // Bodies are small: without this, few loops would have a loop in them.
        if self.depth > 0 && self.rng.percent(20) {
            return self.control();
        }
        match self.rng.below(100) {
            0..38 => self.elementwise(),
            38..44 => self.control(),
            44..47 => self.window(),
            47..50 => self.places(),
            50..52 => self.example(),
            52..54 => self.along_one_axis(),
            54..63 => self.along_axes(),
            63..67 => self.reshape(),
            67..72 => self.broadcast(),
            72..75 => self.slice(),
            75..78 => self.pad(),
            78..82 => self.concatenate(),
            82..89 => self.dot(),
            89..91 => self.constant(),
            91..95 => self.call_new(),
            95..97 => self.call_again(),
            _ => self.input_of_any_type(),
        }
    }
}
