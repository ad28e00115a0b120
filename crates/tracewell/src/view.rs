//! Every stage of a function on one page: its graph before and after the passes, the kernels that its equations became,
//! what they cost, and the plan of its memory.

use tracewell_array::Tensor;
use tracewell_fuse::{Options, fuse_with_groups};
use tracewell_graph::{Atom, Equation, Graph, Location};
use tracewell_kernel::{Program, Role, Slot, Step};
use tracewell_runtime::{Input, StepTime};
use tracewell_trace::{Error, ErrorKind, ask, complete};

use crate::array::Array;
use crate::jit::{Lowered, step_cost};
use crate::op_trace::OpTrace;
use crate::page::{Content, Item, Page, Section};

/// How the steps of a run went: [`Lowered::profile`].
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    steps: Vec<StepTime>,
}

impl Profile {
    /// For each step of the program how long it took in nanoseconds, into how many parts it was split for threads, and
    /// how many bytes it touched.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (u64, usize, usize)> + '_ {
        self.steps.iter().map(|step| (step.nanoseconds, step.threads, step.bytes))
    }

    /// How long all took, in nanoseconds.
    pub fn nanoseconds(&self) -> u64 {
        self.steps.iter().map(|step| step.nanoseconds).sum()
    }
}

impl Lowered {
    /// Runs it on arrays of the types of the graph's inputs, once to warm up and once to time every step.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::ones([100], F32);
    /// let lowered = jit(|x: &Array| x.exp().sum()).lower(&x).unwrap();
    /// let profile = lowered.profile(&[x]).unwrap();
    /// assert_eq!(profile.steps().len(), lowered.program().steps.len());
    /// assert!(lowered.to_html(Some(&profile)).contains("ns"));
    /// ```
    #[track_caller]
    pub fn profile(&self, inputs: &[Array]) -> Result<Profile, Error> {
        let location = Location::caller();
        self.run(inputs)?;
        let profiled = || {
            let data: Result<Vec<Tensor>, Error> =
                inputs.iter().map(|array| ask(array.value(), "profile()", &location)).collect();
            let data = data?;
            let mut lent: Vec<Input<'_>> = data.iter().map(Input::Lent).collect();
            let (_, steps) = self.executable().profile(&mut lent).map_err(Error::bug)?;
            Ok(Profile { steps })
        };
        profiled().map_err(|error| complete(error, &location))
    }

    /// A page of HTML that needs nothing else: the call tree of the traced graph, the optimized graph with its fused
    /// groups, source lines and shapes, what each step costs, and the plan of memory; with times, if there is a profile.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::ones([2], F32);
    /// let html = jit(|x: &Array| x.exp() + 1.0).lower(&x).unwrap().to_html(None);
    /// assert!(html.starts_with("<!doctype html>") && html.contains("exp %0"));
    /// ```
    pub fn to_html(&self, profile: Option<&Profile>) -> String {
        Page { title: format!("{} · Tracewell", self.graph().name), sections: self.sections(profile) }.html()
    }

    pub(crate) fn sections(&self, profile: Option<&Profile>) -> Vec<Section> {
        let section = |title: String, content: Content| Section { title, content };
        let groups = self.groups();
        let (graph, optimized, program) = (self.graph(), self.optimized(), self.program());
        vec![
            section("summary".to_string(), self.summary(profile)),
            section(
                format!("call tree as traced, {} equations", graph.equations.len()),
                Content::Tree(vec![call_item(graph)]),
            ),
            section(
                format!("optimized graph, {} equations; a colour is one step", optimized.equations.len()),
                Content::Tree(optimized_items(optimized, &groups)),
            ),
            section(
                format!("steps, {} kernels", program.kernels.len()),
                steps_table(program, &groups, profile),
            ),
            section(format!("memory, {} bytes of scratch", program.arena), memory_table(program)),
            section("program".to_string(), Content::Text(program.to_string())),
        ]
    }

    /// For each step, the equations that it computes; nothing where that is not known.
    fn groups(&self) -> Vec<Vec<usize>> {
        let found = fuse_with_groups(self.optimized(), &Options::default());
        // The same graph became the same program before.
        let groups = found.ok().filter(|(program, _)| program.steps.len() == self.program().steps.len());
        groups.map_or_else(|| vec![Vec::new(); self.program().steps.len()], |(_, groups)| groups)
    }

    fn summary(&self, profile: Option<&Profile>) -> Content {
        let types = |types: Vec<tracewell_graph::ArrayType>| {
            types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let row = |name: &str, value: String| vec![name.to_string(), value];
        let mut rows = vec![
            row("inputs", types(self.graph().input_types())),
            row("outputs", types(self.graph().output_types())),
            row(
                "equations",
                format!(
                    "{} traced, {} optimized",
                    self.graph().equations.len(),
                    self.optimized().equations.len()
                ),
            ),
            row("kernels", self.program().kernels.len().to_string()),
            row("estimated cost", format!("{} ns on one core, without library calls", self.cost())),
            row("memory", format!("{} bytes of results and scratch", self.memory())),
        ];
        if let Some(profile) = profile {
            rows.push(row("profiled run", format!("{} ns", profile.nanoseconds())));
        }
        Content::Table(vec!["what", "value"], rows)
    }
}

impl OpTrace {
    /// A page of HTML that needs nothing else: the calls with the ops that ran in them and their times, and every stage of
    /// the trace's graph.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let trace = tracing_ops(TraceOptions::default(), || Array::from(2.0f32).sqrt()).1.unwrap();
    /// assert!(trace.to_html(false).unwrap().contains("sqrt"));
    /// ```
    #[track_caller]
    pub fn to_html(&self, profiled: bool) -> Result<String, Error> {
        let location = Location::caller();
        let made = self.page(profiled).map_err(|error| complete(error, &location));
        made.map(|page| page.html())
    }

    fn page(&self, profiled: bool) -> Result<Page, Error> {
        let lines = self.to_string();
        let ran = Section { title: "what ran".to_string(), content: Content::Tree(indented(&lines)) };
        let lowered = Lowered::new(&self.graph()?)?;
        let profile = if profiled { Some(lowered.profile(&self.inputs())?) } else { None };
        let stages = lowered.sections(profile.as_ref());
        Ok(Page {
            title: "op trace · Tracewell".to_string(),
            sections: std::iter::once(ran).chain(stages).collect(),
        })
    }
}

/// A graph from its text, as `TRACEWELL_DUMP=traced` and [`Graph`]'s `to_string` write it. Nothing is run.
///
/// ```
/// use tracewell::prelude::*;
///
/// let graph = trace(|x: &Array| x.sin() * 2.0, &Array::zeros([3], F32)).unwrap();
/// assert_eq!(tracewell::read_graph(&graph.to_string()).unwrap(), graph);
/// ```
#[track_caller]
pub fn read_graph(text: &str) -> Result<Graph, Error> {
    let read = tracewell_graph::text::read(text, &tracewell_graph::text::NoCustom);
    read.map_err(|error| {
        let error = Error::new(ErrorKind::Io, format!("this is no graph: {error}"));
        complete(
            error.help("primitives of your own and callbacks cannot be read from a text"),
            &Location::caller(),
        )
    })
}

/// Lines as a tree, by how far they are indented: two spaces a level.
fn indented(text: &str) -> Vec<Item> {
    let mut open: Vec<Vec<Item>> = vec![Vec::new()];
    let close = |open: &mut Vec<Vec<Item>>| {
        let inner = open.pop().unwrap_or_default();
        if let Some(last) = open.last_mut().and_then(|outer| outer.last_mut()) {
            last.children = inner;
        }
    };
    for line in text.lines() {
        let trimmed = line.trim_start();
        let depth = (line.len() - trimmed.len()) / 2;
        while open.len() > depth + 1 {
            close(&mut open);
        }
        while open.len() < depth + 1 {
            open.push(Vec::new());
        }
        let (text, aside) = trimmed.split_once("    ").unwrap_or((trimmed, ""));
        if let Some(items) = open.last_mut() {
            items.push(Item::new(text, aside));
        }
    }
    while open.len() > 1 {
        close(&mut open);
    }
    open.pop().unwrap_or_default()
}

/// `%5: f32[2] = mul %0, 2.0`
fn equation_text(graph: &Graph, equation: &Equation) -> String {
    let results: Vec<String> =
        equation.outputs.iter().map(|&var| format!("%{}: {}", var.0, graph.ty(var))).collect();
    let operand = |atom: &Atom| match atom {
        Atom::Var(var) => format!("%{}", var.0),
        Atom::Splat(splat) => splat.literal.to_string(),
    };
    let operands: Vec<String> = equation.inputs.iter().map(operand).collect();
    let nested = nested(equation);
    let prim = match nested.is_empty() {
        true if equation.inputs.is_empty() => equation.prim.name().to_string(),
        true => tracewell_graph::text::write_prim(&equation.prim),
        false => {
            let names: Vec<String> = nested.iter().map(|graph| format!("@{}", graph.name)).collect();
            format!("{} {}", equation.prim.name(), names.join(" "))
        }
    };
    format!("{} = {prim} {}", results.join(", "), operands.join(", ")).trim().to_string()
}

/// The graphs that an equation runs.
fn nested(equation: &Equation) -> Vec<std::sync::Arc<Graph>> {
    let mut found = Vec::new();
    equation.prim.rules().each_param(&mut |_, value| found.extend(value.graphs().iter().cloned()));
    found
}

fn place(equation: &Equation) -> String {
    equation.location.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// A graph with what it calls inside of it.
fn call_item(graph: &Graph) -> Item {
    let types = |types: Vec<tracewell_graph::ArrayType>| {
        types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let text =
        format!("@{}({}) -> ({})", graph.name, types(graph.input_types()), types(graph.output_types()));
    let child = |equation: &Equation| {
        let children = nested(equation).iter().map(|graph| call_item(graph)).collect();
        Item { children, ..Item::new(equation_text(graph, equation), place(equation)) }
    };
    Item { children: graph.equations.iter().map(child).collect(), ..Item::new(text, "") }
}

fn optimized_items(graph: &Graph, groups: &[Vec<usize>]) -> Vec<Item> {
    let mut steps: Vec<Vec<usize>> = vec![Vec::new(); graph.equations.len()];
    for (step, group) in groups.iter().enumerate() {
        for &equation in group {
            if let Some(steps) = steps.get_mut(equation) {
                steps.push(step);
            }
        }
    }
    let item = |(equation, steps): (&Equation, &Vec<usize>)| {
        let numbers: Vec<String> = steps.iter().map(ToString::to_string).collect();
        let which = if steps.is_empty() { String::new() } else { format!("step {} · ", numbers.join(", ")) };
        let children = nested(equation).iter().map(|graph| call_item(graph)).collect();
        let text = equation_text(graph, equation);
        Item { children, group: steps.first().copied(), ..Item::new(text, which + &place(equation)) }
    };
    graph.equations.iter().zip(&steps).map(item).collect()
}

fn steps_table(program: &Program, groups: &[Vec<usize>], profile: Option<&Profile>) -> Content {
    let mut head = vec!["step", "what", "equations", "slots", "estimated ns"];
    if profile.is_some() {
        head.extend(["ns", "threads", "bytes"]);
    }
    let row = |(number, step): (usize, &Step)| {
        let what = match step {
            Step::Launch { kernel, .. } => program.kernels[*kernel].name.clone(),
            Step::Copy { .. } => "copy".to_string(),
            Step::Call { call, .. } => {
                let text = format!("{:?}", call.library);
                format!("library {}", text.split(['(', ' ']).next().unwrap_or(&text).to_lowercase())
            }
        };
        let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(" ");
        let equations = groups.get(number).map_or(&[][..], Vec::as_slice);
        let mut cells = vec![
            number.to_string(),
            what,
            list(&mut equations.iter().map(ToString::to_string)),
            list(&mut step.slots().iter().map(|slot| slot.0.to_string())),
            step_cost(program, step).map_or_else(String::new, |cost| cost.to_string()),
        ];
        if let Some(step) = profile.and_then(|profile| profile.steps.get(number)) {
            cells.extend([step.nanoseconds.to_string(), step.threads.to_string(), step.bytes.to_string()]);
        }
        cells
    };
    Content::Table(head, program.steps.iter().enumerate().map(row).collect())
}

fn memory_table(program: &Program) -> Content {
    let mut lives: Vec<Option<(usize, usize)>> = vec![None; program.slots.len()];
    for (at, step) in program.steps.iter().enumerate() {
        for id in step.slots() {
            let life = lives[id.0 as usize].get_or_insert((at, at));
            life.1 = at;
        }
    }
    let row = |(number, slot): (usize, &Slot)| {
        let role = match &slot.role {
            Role::Input(input) => format!("input {input}"),
            Role::Output { reuse: None } => "result".to_string(),
            Role::Output { reuse: Some(input) } => format!("result, may take over input {input}"),
            Role::Temp { of: None, offset } => format!("scratch at {offset}"),
            Role::Temp { of: Some(output), offset } => format!("scratch at {offset} of {}", output.0),
            Role::Constant(_) => "constant".to_string(),
        };
        let life = lives[number].map_or_else(String::new, |(first, last)| format!("{first}–{last}"));
        vec![
            number.to_string(),
            format!("{}[{}]", slot.dtype, slot.len),
            (slot.len * slot.dtype.size()).to_string(),
            role,
            life,
        ]
    };
    Content::Table(
        vec!["slot", "elements", "bytes", "where", "steps"],
        program.slots.iter().enumerate().map(row).collect(),
    )
}
