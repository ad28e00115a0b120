//! What a function did, as it is recorded: appended to a few lists. It becomes a part of a tree only when somebody wants
//! to see it, which is when something fails.

use std::sync::Arc;

use tracewell_graph::{Location, Prim};

use crate::tree::{ApiCall, Bind, Body, Operand, Statement, Typed};

/// A user's function as it was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// All but what was packed.
    pub(crate) body: Body,
    pub(crate) steps: Steps,
}

/// What a function did, in order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Steps {
    list: Vec<Step>,
    /// The operands of all primitives, one after the other.
    operands: Vec<Operand>,
    /// Their results.
    results: Vec<Typed>,
}

/// One thing that a function did.
#[derive(Clone, Debug)]
enum Step {
    /// A primitive was applied; its operands and results end at these places.
    Bind { prim: Prim, location: Location, operands: u32, results: u32 },
    /// An API was called.
    Api(Arc<Call>),
    /// Anything else.
    Other(Box<Statement>),
}

/// A call of an API as it was recorded.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// All but its functions.
    pub(crate) call: ApiCall,
    pub(crate) bodies: Vec<Arc<Recorded>>,
}

/// A call that was recorded and is kept beyond its tree: of those come returned functions and leaked tracers.
#[derive(Clone, Debug)]
pub struct KeptCall(Arc<Call>);

impl Recorded {
    /// One that did nothing yet.
    pub(crate) fn new(body: Body) -> Recorded {
        Recorded { body, steps: Steps::default() }
    }

    /// As a part of a tree.
    pub fn unpacked(&self) -> Body {
        let mut body = self.body.clone();
        self.steps.unpack(&mut body.statements);
        body
    }

    /// Memory it holds, roughly, in bytes. Constants are counted with the graph that they are part of.
    pub fn bytes(&self) -> usize {
        let plain = self.body.bytes() + size_of::<Recorded>() - size_of::<Body>();
        plain + self.steps.bytes()
    }
}

/// Of what was not recorded as it ran.
impl From<Body> for Recorded {
    fn from(body: Body) -> Recorded {
        Recorded::new(body)
    }
}

impl Steps {
    /// An operand of the primitive that is applied next.
    pub(crate) fn operand(&mut self, operand: Operand) {
        self.operands.push(operand);
    }

    /// A result of the primitive that is applied next.
    pub(crate) fn result(&mut self, result: Typed) {
        self.results.push(result);
    }

    /// A primitive was applied: operands and results since the one before are its own.
    pub(crate) fn bound(&mut self, prim: &Prim, location: &Location) {
        if self.list.capacity() == 0 {
            self.reserve();
        }
        self.list.push(Step::Bind {
            prim: prim.clone(),
            location: location.clone(),
            operands: self.operands.len() as u32,
            results: self.results.len() as u32,
        });
    }

    /// Room for a short function, so that lists do not grow by a few at a time.
    #[cold]
    fn reserve(&mut self) {
        self.list.reserve(24);
        self.operands.reserve(40);
        self.results.reserve(24);
    }

    pub(crate) fn call(&mut self, call: Call) {
        self.list.push(Step::Api(Arc::new(call)));
    }

    pub(crate) fn again(&mut self, call: KeptCall) {
        self.list.push(Step::Api(call.0));
    }

    pub(crate) fn other(&mut self, statement: Statement) {
        self.list.push(Step::Other(Box::new(statement)));
    }

    pub(crate) fn clear(&mut self) {
        *self = Steps::default();
    }

    /// The call that is the last.
    pub(crate) fn last_call(&mut self) -> Option<&mut Call> {
        match self.list.last_mut() {
            Some(Step::Api(call)) => Some(Arc::make_mut(call)),
            _ => None,
        }
    }

    /// The same for good.
    pub(crate) fn keep_last(&self) -> Option<KeptCall> {
        match self.list.last() {
            Some(Step::Api(call)) => Some(KeptCall(call.clone())),
            _ => None,
        }
    }

    fn unpack(&self, statements: &mut Vec<Statement>) {
        statements.reserve(self.list.len());
        let (mut operand, mut result) = (0, 0);
        for step in &self.list {
            statements.push(match step {
                Step::Bind { prim, location, operands, results } => {
                    let operands = *operands as usize;
                    let results = *results as usize;
                    let bind = Bind {
                        prim: prim.clone(),
                        operands: self.operands[operand..operands].to_vec(),
                        results: self.results[result..results].to_vec(),
                        location: location.clone(),
                    };
                    (operand, result) = (operands, results);
                    Statement::Bind(bind)
                }
                Step::Api(call) => Statement::Api(Arc::new(call.unpacked())),
                Step::Other(statement) => (**statement).clone(),
            });
        }
    }

    fn bytes(&self) -> usize {
        let inner = self.list.iter().map(|step| match step {
            Step::Api(call) => call.bytes(),
            Step::Bind { .. } => 0,
            Step::Other(_) => size_of::<Statement>(),
        });
        self.list.capacity() * size_of::<Step>()
            + self.operands.capacity() * size_of::<Operand>()
            + self.results.capacity() * size_of::<Typed>()
            + inner.sum::<usize>()
    }

    /// Replaces data by its type.
    fn lose_data(&mut self) {
        self.operands.iter_mut().for_each(lose);
        for step in &mut self.list {
            match step {
                Step::Bind { .. } => {}
                // What somebody else holds too is left alone: it is alive anyway.
                Step::Api(call) => {
                    if let Some(call) = Arc::get_mut(call) {
                        call.lose_data();
                    }
                }
                Step::Other(statement) => match &mut **statement {
                    Statement::Ask { operand, .. } => lose(operand),
                    Statement::Call { operands, .. } => operands.iter_mut().for_each(lose),
                    _ => {}
                },
            }
        }
    }
}

fn lose(operand: &mut Operand) {
    if matches!(operand, Operand::Data(..)) {
        *operand = Operand::Lost(operand.ty());
    }
}

impl Call {
    /// As a part of a tree.
    pub(crate) fn unpacked(&self) -> ApiCall {
        let mut call = self.call.clone();
        call.bodies.extend(self.bodies.iter().map(|body| Arc::new(body.unpacked())));
        call
    }

    fn bytes(&self) -> usize {
        size_of::<Call>() + self.bodies.iter().map(|body| body.bytes()).sum::<usize>()
    }

    fn lose_data(&mut self) {
        for (_, form) in &mut self.call.arguments {
            *form = form.map(&mut |operand| {
                let mut operand = operand.clone();
                lose(&mut operand);
                operand
            });
        }
        for body in self.bodies.iter_mut().filter_map(Arc::get_mut) {
            body.steps.lose_data();
        }
    }
}

impl KeptCall {
    /// As a part of a tree.
    pub fn unpacked(&self) -> Statement {
        Statement::Api(Arc::new(self.0.unpacked()))
    }

    /// Without the data of arrays, so that it keeps none alive.
    pub(crate) fn without_data(mut self) -> KeptCall {
        if let Some(call) = Arc::get_mut(&mut self.0) {
            call.lose_data();
        }
        self
    }
}
