//! The call tree: API calls and user functions in turn, primitives as leaves.
//!
//! Everything else here is derived from this one type: the text form, the Rust program, replaying, reducing.
//! Values have names that are unique in the tree. A body may use the names of bodies around it, as closures do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};
use tracewell_graph::{ArrayType, Graph, Location, ParamValue, Prim, Splat};
use tracewell_trace::{Api, ErrorKind, Form};

use crate::failure::Failure;

/// The name of a value: while recording, its trace and its variable there; in a tree that is whole, a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name {
    /// The trace; 0 where nothing is traced, and in a tree that is whole.
    pub frame: u64,
    /// Its number there.
    pub var: u32,
}

/// A value with its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Typed {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: ArrayType,
}

/// What an operation is given.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A value of the tree.
    Var(Typed),
    /// One literal, repeated.
    Splat(Splat),
    /// An array of the program; its type may be weak.
    Data(Tensor, bool),
    /// An array of the program whose data was not kept: only its type is known.
    Lost(ArrayType),
}

/// A user's function, as it ran once.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What it is for the API: a condition, a body; empty where it is the only one.
    pub role: String,
    /// Where it is defined, or where it was given to the API.
    pub location: Location,
    /// The arrays it was given, in order.
    pub parameters: Vec<Typed>,
    /// Its parameters as trees, where the API does not say it: with static arguments as text.
    pub forms: Vec<(String, Form<Name>)>,
    /// What it did.
    pub statements: Vec<Statement>,
    /// What it returned; nothing if it failed.
    pub returned: Option<Form<Operand>>,
}

/// One thing that a function did.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// A primitive was applied.
    Bind(Bind),
    /// An API that takes functions was called.
    Api(Arc<ApiCall>),
    /// A value was looked at.
    Ask {
        /// Whose.
        operand: Operand,
        /// By what, such as `item()`.
        what: String,
        /// On which line.
        location: Location,
    },
    /// A function of the face that failed before it came to a primitive.
    Call {
        /// Its name.
        name: String,
        /// Its arrays.
        operands: Vec<Operand>,
        /// Its other arguments, as a program writes them.
        arguments: Vec<String>,
        /// On which line.
        location: Location,
    },
    /// A failure that nothing else in the tree brings about: it is raised as it was.
    Raise {
        /// Its kind.
        kind: ErrorKind,
        /// Its message.
        message: String,
        /// On which line.
        location: Location,
    },
    /// A panic of the user's.
    Panic {
        /// What it said.
        text: String,
    },
}

/// A primitive that was applied.
#[derive(Clone, PartialEq, Debug)]
pub struct Bind {
    /// Which one, with its parameters.
    pub prim: Prim,
    /// To what.
    pub operands: Vec<Operand>,
    /// What it gave; nothing if it failed.
    pub results: Vec<Typed>,
    /// On which line.
    pub location: Location,
}

/// A call of an API that takes functions, in uncurried form.
#[derive(Clone, PartialEq, Debug)]
pub struct ApiCall {
    /// Which one.
    pub api: Api,
    /// The name of its function, where known.
    pub function: Option<String>,
    /// Its arguments by the names of its parameters.
    pub arguments: Vec<(String, Form<Operand>)>,
    /// What else it was told.
    pub options: Vec<(String, String)>,
    /// Its functions, in the order in which they ran. One that ran for several types is here several times.
    pub bodies: Vec<Arc<Body>>,
    /// What it returned; nothing if it failed.
    pub results: Option<Form<Typed>>,
    /// The number of the function that it returned.
    pub returned: Option<u64>,
    /// On which line.
    pub location: Location,
}

/// All that is known of a failure, or of a call that did not fail.
#[derive(Clone, PartialEq, Debug)]
pub struct CallTree {
    /// The version that wrote it.
    pub version: String,
    /// Settings that are not the usual ones.
    pub settings: Vec<(String, String)>,
    /// What ran, as the body of a function without parameters.
    pub main: Body,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// What is not as it was, in words. Without any, the tree is exact.
    pub stand_ins: Vec<String>,
    /// What functions of the program gave that are not in the tree, in the order of their calls.
    pub answers: Vec<Answer>,
}

/// With what the names of functions end that answer in the place of others: those fail only where these did.
pub const IN_REPRO: &str = ", in repro ";

/// A call of a function that is not in the tree.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its name in graph texts.
    pub function: String,
    /// What it was called with: the [`fingerprint`] of it.
    pub given: u64,
    /// What it gave; nothing if it failed.
    pub results: Option<Vec<Tensor>>,
}

impl PartialEq for Answer {
    fn eq(&self, other: &Answer) -> bool {
        let same = match (&self.results, &other.results) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.bits_eq(b)),
            (a, b) => a.is_none() == b.is_none(),
        };
        same && self.function == other.function && self.given == other.given
    }
}

/// A number that tells arrays from others, to the bit: types, sizes and elements are hashed by FNV-1a.
pub fn fingerprint<'a>(arrays: impl Iterator<Item = (DType, &'a Shape, &'a [u8])>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for (dtype, shape, bytes) in arrays {
        add(dtype.name().as_bytes());
        shape.iter().for_each(|size| add(&(size as u64).to_le_bytes()));
        add(bytes);
    }
    hash
}

impl PartialEq for Operand {
    fn eq(&self, other: &Operand) -> bool {
        match (self, other) {
            (Operand::Var(a), Operand::Var(b)) => a == b,
            (Operand::Splat(a), Operand::Splat(b)) => a == b,
            (Operand::Data(a, weak), Operand::Data(b, other)) => weak == other && a.bits_eq(b),
            (Operand::Lost(a), Operand::Lost(b)) => a == b,
            _ => false,
        }
    }
}

impl Operand {
    /// Its type.
    pub fn ty(&self) -> ArrayType {
        match self {
            Operand::Var(typed) => typed.ty.clone(),
            Operand::Splat(splat) => splat.ty(),
            Operand::Data(tensor, weak) => ArrayType { weak: *weak, ..ArrayType::of(tensor) },
            Operand::Lost(ty) => ty.clone(),
        }
    }
}

impl Body {
    /// A body without parameters that did nothing yet.
    pub fn main(location: Location) -> Body {
        Body {
            name: None,
            role: String::new(),
            location,
            parameters: Vec::new(),
            forms: Vec::new(),
            statements: Vec::new(),
            returned: None,
        }
    }

    /// The equations of a graph as statements: what is left of a function whose calls were not recorded.
    pub fn from_graph(graph: &Graph, frame: u64, location: &Location) -> Body {
        let typed =
            |var: tracewell_graph::Var| Typed { name: Name { frame, var: var.0 }, ty: graph.ty(var).clone() };
        let operand = |atom: &tracewell_graph::Atom| match atom {
            tracewell_graph::Atom::Var(var) => Operand::Var(typed(*var)),
            tracewell_graph::Atom::Splat(splat) => Operand::Splat(splat.clone()),
        };
        let statements = graph.equations.iter().map(|equation| {
            Statement::Bind(Bind {
                prim: equation.prim.clone(),
                operands: equation.inputs.iter().map(operand).collect(),
                results: equation.outputs.iter().map(|&var| typed(var)).collect(),
                location: equation.location.clone().unwrap_or_else(|| location.clone()),
            })
        });
        Body {
            name: Some(graph.name.clone()),
            parameters: graph.inputs.iter().map(|&var| typed(var)).collect(),
            statements: statements.collect(),
            returned: Some(Form::List(graph.outputs.iter().map(|atom| Form::Leaf(operand(atom))).collect())),
            ..Body::main(location.clone())
        }
    }

    /// How many statements it has, those of inner functions included.
    pub fn size(&self) -> usize {
        self.statements.iter().map(Statement::size).sum()
    }

    /// Memory it holds, roughly, in bytes. Constants are counted with the graph that they are part of.
    pub fn bytes(&self) -> usize {
        size_of::<Body>() + self.size() * (size_of::<Statement>() + 2 * size_of::<Operand>())
    }
}

impl Statement {
    /// How many statements it is, those in it included.
    pub fn size(&self) -> usize {
        match self {
            Statement::Api(call) => 1 + call.bodies.iter().map(|body| body.size()).sum::<usize>(),
            _ => 1,
        }
    }

    /// Where it is in the user's program.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Statement::Bind(bind) => Some(&bind.location),
            Statement::Api(call) => Some(&call.location),
            Statement::Ask { location, .. }
            | Statement::Call { location, .. }
            | Statement::Raise { location, .. } => Some(location),
            Statement::Panic { .. } => None,
        }
    }

    /// What it reads, itself.
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Statement::Bind(bind) => bind.operands.iter().collect(),
            Statement::Api(call) => call.arguments.iter().flat_map(|(_, form)| form.leaves()).collect(),
            Statement::Ask { operand, .. } => vec![operand],
            Statement::Call { operands, .. } => operands.iter().collect(),
            Statement::Raise { .. } | Statement::Panic { .. } => Vec::new(),
        }
    }

    /// The values it gives.
    pub fn results(&self) -> Vec<&Typed> {
        match self {
            Statement::Bind(bind) => bind.results.iter().collect(),
            Statement::Api(call) => call.results.iter().flat_map(|form| form.leaves()).collect(),
            _ => Vec::new(),
        }
    }
}

impl ApiCall {
    /// What it was told.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// An argument by its name.
    pub fn argument(&self, name: &str) -> Option<&Form<Operand>> {
        self.arguments.iter().find(|(key, _)| key == name).map(|(_, form)| form)
    }

    /// Its functions of this role.
    pub fn bodies_of<'c>(&'c self, role: &'c str) -> impl Iterator<Item = &'c Arc<Body>> {
        self.bodies.iter().filter(move |body| body.role == role)
    }
}

impl CallTree {
    /// How many statements it has.
    pub fn size(&self) -> usize {
        self.main.size()
    }

    /// The names of the functions that it calls back.
    pub fn callbacks(&self) -> BTreeSet<String> {
        fn of_prim(prim: &Prim, names: &mut BTreeSet<String>) {
            let calls_back = prim.name() == "callback";
            prim.rules().each_param(&mut |_, value| {
                if let (true, ParamValue::Text(name)) = (calls_back, &value) {
                    names.insert(name.clone());
                }
                for graph in value.graphs() {
                    graph.equations.iter().for_each(|equation| of_prim(&equation.prim, names));
                }
            });
        }
        fn of_body(body: &Body, names: &mut BTreeSet<String>) {
            for statement in &body.statements {
                match statement {
                    Statement::Bind(bind) => of_prim(&bind.prim, names),
                    Statement::Api(call) => call.bodies.iter().for_each(|inner| of_body(inner, names)),
                    _ => {}
                }
            }
        }
        let mut names = BTreeSet::new();
        of_body(&self.main, &mut names);
        names
    }

    /// How many primitives and failing operations it has: what a person must read.
    pub fn leaves(&self) -> usize {
        fn of(body: &Body) -> usize {
            let one = |statement: &Statement| match statement {
                Statement::Api(call) => call.bodies.iter().map(|body| of(body)).sum(),
                _ => 1,
            };
            body.statements.iter().map(one).sum()
        }
        of(&self.main)
    }

    /// What ran, without what replaying does not know: lines, names of functions, parameters as trees, notes, and that
    /// data was not kept.
    pub fn without_places(&self) -> CallTree {
        fn of(body: &Body) -> Body {
            let nowhere = || Location { file: "".into(), line: 0, column: 0 };
            let statements = body.statements.iter().map(|statement| {
                let mut statement = statement.clone();
                match &mut statement {
                    Statement::Bind(bind) => bind.location = nowhere(),
                    Statement::Ask { location, .. }
                    | Statement::Call { location, .. }
                    | Statement::Raise { location, .. } => *location = nowhere(),
                    Statement::Panic { .. } => {}
                    Statement::Api(call) => {
                        let call = Arc::make_mut(call);
                        call.location = nowhere();
                        call.function = None;
                        call.bodies = call.bodies.iter().map(|body| Arc::new(of(body))).collect();
                    }
                }
                statement
            });
            let statements = statements.collect();
            Body { name: None, location: nowhere(), forms: Vec::new(), statements, ..body.clone() }
        }
        let main = crate::folder::map_operands(&of(&self.main), &mut |operand| match operand {
            Operand::Lost(ty) => {
                let zeros = Tensor::full(tracewell_array::Literal::zero(ty.dtype), ty.shape.clone());
                Operand::Data(zeros, ty.weak)
            }
            other => other.clone(),
        });
        let nothing = (Vec::new(), Vec::new(), Vec::new());
        let (stand_ins, settings, answers) = nothing;
        CallTree { main, stand_ins, settings, answers, ..self.clone() }
    }

    /// The same tree with names counted from 0 in the order of their definition. What is used but defined nowhere
    /// becomes data that was not kept. A function that several calls share is written for each. What functions gave that
    /// are not called any more is forgotten.
    pub fn numbered(&self) -> CallTree {
        let mut numbers =
            Numbers { next: 0, names: BTreeMap::new(), functions: BTreeMap::new(), lost: false };
        let main = numbers.body(&self.main);
        let mut stand_ins = self.stand_ins.clone();
        if numbers.lost {
            let note = "an array that was made elsewhere is stood in for by zeros";
            if !stand_ins.iter().any(|known| known == note) {
                stand_ins.push(note.to_string());
            }
        }
        let mut numbered = CallTree { main, stand_ins, ..self.clone() };
        if !numbered.answers.is_empty() {
            let names = numbered.callbacks();
            numbered.answers.retain(|answer| names.contains(&answer.function));
        }
        numbered
    }
}

struct Numbers {
    next: u32,
    names: BTreeMap<Name, u32>,
    functions: BTreeMap<u64, u64>,
    lost: bool,
}

impl Numbers {
    /// A new number, also for a body that is there a second time.
    fn define(&mut self, name: Name) -> Name {
        let var = self.next;
        self.next += 1;
        self.names.insert(name, var);
        Name { frame: 0, var }
    }

    /// The number of what was defined.
    fn known(&self, name: Name) -> Name {
        Name { frame: 0, var: self.names.get(&name).copied().unwrap_or(0) }
    }

    fn typed(&mut self, typed: &Typed) -> Typed {
        Typed { name: self.define(typed.name), ty: typed.ty.clone() }
    }

    fn operand(&mut self, operand: &Operand) -> Operand {
        let Operand::Var(typed) = operand else { return operand.clone() };
        match self.names.get(&typed.name) {
            Some(&var) => Operand::Var(Typed { name: Name { frame: 0, var }, ty: typed.ty.clone() }),
            None => {
                self.lost = true;
                Operand::Lost(typed.ty.clone())
            }
        }
    }

    fn body(&mut self, body: &Body) -> Body {
        let parameters: Vec<Typed> = body.parameters.iter().map(|typed| self.typed(typed)).collect();
        let forms = body.forms.iter();
        let forms =
            forms.map(|(root, form)| (root.clone(), form.map(&mut |name| self.known(*name)))).collect();
        let statements = body.statements.iter().map(|statement| self.statement(statement)).collect();
        let returned = body.returned.as_ref().map(|form| form.map(&mut |operand| self.operand(operand)));
        Body { parameters, forms, statements, returned, ..body.clone() }
    }

    fn statement(&mut self, statement: &Statement) -> Statement {
        match statement {
            Statement::Bind(bind) => Statement::Bind(Bind {
                operands: bind.operands.iter().map(|operand| self.operand(operand)).collect(),
                results: bind.results.iter().map(|typed| self.typed(typed)).collect(),
                ..bind.clone()
            }),
            Statement::Ask { operand, what, location } => Statement::Ask {
                operand: self.operand(operand),
                what: what.clone(),
                location: location.clone(),
            },
            Statement::Call { name, operands, arguments, location } => Statement::Call {
                name: name.clone(),
                operands: operands.iter().map(|operand| self.operand(operand)).collect(),
                arguments: arguments.clone(),
                location: location.clone(),
            },
            Statement::Raise { .. } | Statement::Panic { .. } => statement.clone(),
            Statement::Api(call) => {
                let arguments = call
                    .arguments
                    .iter()
                    .map(|(root, form)| (root.clone(), form.map(&mut |operand| self.operand(operand))));
                let arguments = arguments.collect();
                let mut options = call.options.clone();
                for (name, value) in &mut options {
                    if name == "function"
                        && let Some(number) = value.parse().ok().and_then(|n| self.functions.get(&n))
                    {
                        *value = number.to_string();
                    }
                }
                let bodies = call.bodies.iter().map(|body| Arc::new(self.body(body))).collect();
                let results = call.results.as_ref().map(|form| form.map(&mut |typed| self.typed(typed)));
                let returned = call.returned.map(|number| {
                    let next = self.functions.len() as u64;
                    *self.functions.entry(number).or_insert(next)
                });
                Statement::Api(Arc::new(ApiCall {
                    arguments,
                    options,
                    bodies,
                    results,
                    returned,
                    ..(**call).clone()
                }))
            }
        }
    }
}
