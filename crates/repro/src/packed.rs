//! What a function did, as it is recorded: appended to a few lists. It becomes a part of a tree only when somebody wants
//! to see it, which is when something fails.

use std::sync::Arc;

use tracewell_graph::{ArrayType, Location, Prim};

use crate::tree::{ApiCall, Bind, Body, Name, Operand, Statement, Typed};

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
    operands: Vec<Given>,
    /// Their results.
    results: Vec<Named>,
    /// Operands that are no values of the tree.
    others: Vec<Operand>,
    /// The types of values. There are few, of which many values are.
    types: Vec<ArrayType>,
}

/// A value of the tree, and the place of its type.
#[derive(Clone, Copy, Debug)]
struct Named {
    name: Name,
    ty: u32,
}

/// An operand.
#[derive(Clone, Copy, Debug)]
enum Given {
    Var(Named),
    /// Its place among the others.
    Other(u32),
}

/// So many of the last types are looked at to find one again.
const NEAR: usize = 4;

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
    /// A value of the tree as an operand of the primitive that is applied next.
    pub(crate) fn var(&mut self, name: Name, ty: &ArrayType) {
        let named = self.named(name, ty);
        self.operands.push(Given::Var(named));
    }

    /// Anything else as an operand of it.
    pub(crate) fn operand(&mut self, operand: Operand) {
        match operand {
            Operand::Var(typed) => self.var(typed.name, &typed.ty),
            other => {
                self.operands.push(Given::Other(self.others.len() as u32));
                self.others.push(other);
            }
        }
    }

    /// A result of the primitive that is applied next.
    pub(crate) fn result(&mut self, name: Name, ty: &ArrayType) {
        let named = self.named(name, ty);
        self.results.push(named);
    }

    fn named(&mut self, name: Name, ty: &ArrayType) -> Named {
        let near = self.types.len().saturating_sub(NEAR);
        let known = self.types[near..].iter().rposition(|known| known == ty);
        let at = known.map_or(self.types.len(), |at| near + at);
        if known.is_none() {
            self.types.push(ty.clone());
        }
        Named { name, ty: at as u32 }
    }

    fn typed(&self, named: Named) -> Typed {
        Typed { name: named.name, ty: self.types[named.ty as usize].clone() }
    }

    fn given(&self, given: &Given) -> Operand {
        match given {
            Given::Var(named) => Operand::Var(self.typed(*named)),
            Given::Other(at) => self.others[*at as usize].clone(),
        }
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

    /// Room for most functions, so that lists are not moved as they grow, nor what is allocated beside them.
    #[cold]
    fn reserve(&mut self) {
        self.list.reserve(96);
        self.operands.reserve(160);
        self.results.reserve(96);
    }

    /// Nothing is added any more: gives back the room that is left.
    pub(crate) fn finish(&mut self) {
        self.list.shrink_to_fit();
        self.operands.shrink_to_fit();
        self.results.shrink_to_fit();
        self.others.shrink_to_fit();
        self.types.shrink_to_fit();
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
                        operands: self.operands[operand..operands].iter().map(|x| self.given(x)).collect(),
                        results: self.results[result..results].iter().map(|x| self.typed(*x)).collect(),
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
            + self.operands.capacity() * size_of::<Given>()
            + self.results.capacity() * size_of::<Named>()
            + self.others.capacity() * size_of::<Operand>()
            + self.types.capacity() * size_of::<ArrayType>()
            + inner.sum::<usize>()
    }

    /// Replaces data by its type.
    fn lose_data(&mut self) {
        self.others.iter_mut().for_each(lose);
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
