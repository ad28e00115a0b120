//! Steps of the compiler that are broken on purpose, for tests of what finds such mistakes. Never otherwise.

use std::cell::Cell;

use tracewell_graph::Graph;

/// A step that goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Broken {
    /// The pass of this name; the first, if there are several.
    Pass(&'static str),
    /// What makes one kernel of several equations.
    Fusion,
    /// What makes kernels of equations.
    Lowering,
}

thread_local! {
    static BROKEN: Cell<Option<Broken>> = const { Cell::new(None) };
}

/// Runs `f` with a step broken: it takes the first difference the other way round.
pub fn breaking<R>(step: Broken, f: impl FnOnce() -> R) -> R {
    struct Leave(Option<Broken>);
    impl Drop for Leave {
        fn drop(&mut self) {
            BROKEN.set(self.0);
        }
    }
    let _leave = Leave(BROKEN.replace(Some(step)));
    f()
}

/// What is broken on this thread.
pub(crate) fn broken() -> Option<Broken> {
    BROKEN.get()
}

/// The graph with its first difference the other way round.
pub(crate) fn spoiled(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    if let Some(equation) = graph.equations.iter_mut().find(|equation| equation.prim.name() == "sub") {
        equation.inputs.reverse();
    }
    graph
}
