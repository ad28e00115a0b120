//! The closed list of function-taking entry points: what the boundary, errors and observers call them.

/// A public function that takes functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Api {
    /// `jit!`, `#[jit]` and `jit(closure)`.
    Jit,
    /// `trace(f, …)`: a function's graph.
    Trace,
    /// `lower(f)`: every stage of a function's way to machine code.
    Lower,
    /// `grad(f)`.
    Grad,
    /// `value_and_grad(f)`.
    ValueAndGrad,
    /// `jvp(f, …)`.
    Jvp,
    /// `vjp(f, …)`.
    Vjp,
    /// `linearize(f, …)`.
    Linearize,
    /// `jacfwd(f)`.
    Jacfwd,
    /// `jacrev(f)`.
    Jacrev,
    /// `hessian(f)`.
    Hessian,
    /// `hvp(f, …)`.
    Hvp,
    /// `vmap(f)` and `vmap_axes(f, …)`.
    Vmap,
    /// `checkpoint(f)`.
    Checkpoint,
    /// `contract(f)`.
    Contract,
    /// `custom_jvp(f, rule)`.
    CustomJvp,
    /// `custom_vjp(fwd, bwd)`.
    CustomVjp,
    /// A derivative rule given to one of these. It is staged for tangents that are not known yet.
    Rule,
    /// `saved_residuals(f, …)`.
    SavedResiduals,
    /// `eval_shape(f, …)`.
    EvalShape,
    /// The expansion of a primitive that is defined by one.
    Expand,
    /// A function given to `callback`, while it runs.
    Callback,
    /// A function that an API returned: a pullback, a pushforward.
    Returned,
    /// A recorded program that is run again.
    Replay,
    /// `Tape::record(f)`: a function that is watched.
    Tape,
    /// `cond(pred, f, g)`.
    Cond,
    /// `switch(i, branches)`.
    Switch,
    /// `while_loop(init, cond, body)`.
    WhileLoop,
    /// `fori_loop(range, init, body)`.
    ForiLoop,
    /// `scan(init, xs, f)` and `scan_with`.
    Scan,
    /// `map(xs, f)`.
    Map,
    /// `associative_scan(xs, f)` and `associative_scan_reverse`.
    AssociativeScan,
    /// `map_reduce(init, xs, map, combine)`.
    MapReduce,
}

impl Api {
    /// All of them.
    pub const ALL: &'static [Api] = &[
        Api::Jit,
        Api::Trace,
        Api::Lower,
        Api::Grad,
        Api::ValueAndGrad,
        Api::Jvp,
        Api::Vjp,
        Api::Linearize,
        Api::Jacfwd,
        Api::Jacrev,
        Api::Hessian,
        Api::Hvp,
        Api::Vmap,
        Api::Checkpoint,
        Api::Contract,
        Api::CustomJvp,
        Api::CustomVjp,
        Api::Rule,
        Api::SavedResiduals,
        Api::EvalShape,
        Api::Expand,
        Api::Callback,
        Api::Returned,
        Api::Replay,
        Api::Tape,
        Api::Cond,
        Api::Switch,
        Api::WhileLoop,
        Api::ForiLoop,
        Api::Scan,
        Api::Map,
        Api::AssociativeScan,
        Api::MapReduce,
    ];

    /// By its name.
    pub fn parse(name: &str) -> Option<Api> {
        Api::ALL.iter().copied().find(|api| api.name() == name)
    }

    /// Its name as a user writes it.
    pub fn name(self) -> &'static str {
        match self {
            Api::Jit => "jit",
            Api::Trace => "trace",
            Api::Lower => "lower",
            Api::Grad => "grad",
            Api::ValueAndGrad => "value_and_grad",
            Api::Jvp => "jvp",
            Api::Vjp => "vjp",
            Api::Linearize => "linearize",
            Api::Jacfwd => "jacfwd",
            Api::Jacrev => "jacrev",
            Api::Hessian => "hessian",
            Api::Hvp => "hvp",
            Api::Vmap => "vmap",
            Api::Checkpoint => "checkpoint",
            Api::Contract => "contract",
            Api::CustomJvp => "custom_jvp",
            Api::CustomVjp => "custom_vjp",
            Api::Rule => "a derivative rule",
            Api::SavedResiduals => "saved_residuals",
            Api::EvalShape => "eval_shape",
            Api::Expand => "expand",
            Api::Callback => "callback",
            Api::Returned => "a returned function",
            Api::Replay => "a repro",
            Api::Tape => "a tape",
            Api::Cond => "cond",
            Api::Switch => "switch",
            Api::WhileLoop => "while_loop",
            Api::ForiLoop => "fori_loop",
            Api::Scan => "scan",
            Api::Map => "map",
            Api::AssociativeScan => "associative_scan",
            Api::MapReduce => "map_reduce",
        }
    }

    /// Whether the function it traces sees the values of its arguments, so that it may branch on them.
    pub fn is_concrete(self) -> bool {
        match self {
            Api::Grad | Api::ValueAndGrad | Api::Jvp | Api::Vjp | Api::Linearize => true,
            Api::Jacfwd | Api::Jacrev | Api::Hessian | Api::Hvp => true,
            Api::Checkpoint | Api::CustomJvp | Api::CustomVjp | Api::SavedResiduals => true,
            Api::Jit | Api::Trace | Api::Lower | Api::Vmap | Api::Contract | Api::Expand => false,
            Api::Rule | Api::EvalShape | Api::Callback | Api::Returned | Api::Replay | Api::Tape => false,
            Api::Cond | Api::Switch | Api::WhileLoop | Api::ForiLoop => false,
            Api::Scan | Api::Map | Api::AssociativeScan | Api::MapReduce => false,
        }
    }

    /// Whether it stages branches or loops, which take what their functions capture as operands.
    pub fn is_control(self) -> bool {
        matches!(
            self,
            Api::Cond
                | Api::Switch
                | Api::WhileLoop
                | Api::ForiLoop
                | Api::Scan
                | Api::Map
                | Api::AssociativeScan
                | Api::MapReduce
        )
    }
}
