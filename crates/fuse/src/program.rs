//! Steps over slots: every array that has memory computed in order.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracewell_kernel::{Kernel, Program, Role, Slot, SlotId, Step};

use crate::Options;
use crate::blocks::blocks;
use crate::classify::{Call, CallKind, Costed, Def, Flow, Id};
use crate::cluster::{Cluster, Form, What};
use crate::collapse::collapse;
use crate::columns::columns;
use crate::donate::{donate, reads_where_stored};
use crate::emit::{Emitted, emit};
use crate::materialise::Plan;
use crate::nest::{Nest, nest};
use crate::order::Unit;
use crate::scalars::Scalars;
use crate::unify::unify;

/// The program of a flow, its temporaries without places, with the equations that each step computes, as far as they are
/// known. What is a view of another array is computed nowhere, and what is computed twice is in two groups.
pub(crate) fn program(
    name: &str,
    flow: &mut Flow,
    plan: Plan,
    options: &Options,
) -> (Program, Vec<Vec<usize>>) {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut clusters: Vec<Option<Cluster>> = plan.clusters.into_iter().map(Some).collect();
    let mut work = Vec::with_capacity(plan.units.len());
    for unit in plan.units {
        match unit {
            Unit::Cluster(k) => {
                let cluster = clusters[k].take().expect("each kernel runs once");
                let group = sources(flow, computed(&cluster));
                work.extend(kernels(flow, cluster).into_iter().map(Work::Launch));
                groups.resize(work.len(), group);
            }
            Unit::Call(call) => {
                work.push(Work::Call(call));
                groups.push(sources(flow, flow.calls[call].results.iter().copied()));
            }
        }
    }
    if options.fusion {
        (work, groups) = joined(work, groups);
    }
    let (slots, of) = slots(flow, &plan.stored, &same_memory(flow, &work, &options.donated));
    let mut steps = Steps { kernels: Vec::new(), known: FxHashMap::default(), steps: Vec::new(), of };
    let mut of_steps = Vec::new();
    for (work, group) in work.into_iter().zip(groups) {
        match work {
            Work::Launch(emitted) => steps.launch(emitted),
            Work::Call(call) => steps.call(&flow.calls[call]),
        }
        of_steps.resize(steps.steps.len(), group);
    }
    let results = flow.outputs.iter().map(|&id| steps.slot(id)).collect();
    let Steps { kernels, steps, .. } = steps;
    let mut program = Program { name: name.to_string(), slots, kernels, steps, results, arena: 0 };
    donate(&mut program, &options.donated);
    (program, of_steps)
}

/// The arrays that a kernel computes, in memory or not.
fn computed(cluster: &Cluster) -> impl Iterator<Item = Id> {
    let inside = cluster.found.iter().filter(|found| !matches!(found.what, What::Load | What::Recall(_)));
    inside.map(|found| found.id).chain(cluster.roots.iter().flat_map(|root| [root.to, root.of]))
}

/// The equations that arrays come from, each once.
fn sources(flow: &Flow, arrays: impl Iterator<Item = Id>) -> Vec<usize> {
    let mut all: Vec<usize> = arrays.filter_map(|id| flow.nodes[id].source).collect();
    all.sort_unstable();
    all.dedup();
    all
}

enum Work {
    Launch(Emitted),
    Call(usize),
}

/// The same with kernels of single elements joined.
fn joined(work: Vec<Work>, groups: Vec<Vec<usize>>) -> (Vec<Work>, Vec<Vec<usize>>) {
    let (mut all, mut of_all) = (Vec::with_capacity(work.len()), Vec::<Vec<usize>>::new());
    let mut open: Option<Scalars> = None;
    for (work, group) in work.into_iter().zip(groups) {
        let next = match (work, &mut open) {
            (Work::Launch(emitted), Some(scalars)) => match scalars.add(emitted) {
                Ok(()) => {
                    let joined = of_all.last_mut().expect("what is open was pushed");
                    joined.extend(group);
                    joined.sort_unstable();
                    joined.dedup();
                    continue;
                }
                Err(emitted) => Work::Launch(*emitted),
            },
            (work, _) => work,
        };
        all.extend(open.take().map(|scalars| Work::Launch(scalars.joined())));
        of_all.push(group);
        match next {
            Work::Launch(emitted) => open = Some(Scalars::new(emitted)),
            call => all.push(call),
        }
    }
    all.extend(open.map(|scalars| Work::Launch(scalars.joined())));
    (all, of_all)
}

/// The kernels of a cluster, in order.
fn kernels(flow: &mut Flow, cluster: Cluster) -> Vec<Emitted> {
    let mut nest = nest(flow, cluster);
    unify(&mut nest);
    collapse(&mut nest);
    let nests = if nest.form == Form::Blocks { blocks(flow, nest) } else { vec![nest] };
    let write = |nest: &Nest| columns(flow, nest).unwrap_or_else(|| vec![emit(flow, nest)]);
    nests.iter().flat_map(write).collect()
}

/// For each result of an update whose first operand nobody reads later, that operand, and for each array that a kernel
/// computes an operand that it reads where it stores, if nobody reads that later: they share memory. A result that may
/// have the memory of an argument has that.
fn same_memory(flow: &Flow, work: &[Work], donated: &[bool]) -> FxHashMap<Id, Id> {
    let mut last_read: FxHashMap<Id, usize> = FxHashMap::default();
    for (at, work) in work.iter().enumerate() {
        let read: &[Id] = match work {
            Work::Launch(emitted) => &emitted.arrays,
            Work::Call(call) => &flow.calls[*call].operands,
        };
        last_read.extend(read.iter().map(|&id| (id, at)));
    }
    let mut same = FxHashMap::default();
    let mut is_output = vec![false; flow.nodes.len()];
    flow.outputs.iter().for_each(|&id| is_output[id] = true);
    let (mut written, mut taken) = (vec![false; flow.nodes.len()], vec![false; flow.nodes.len()]);
    for (at, work) in work.iter().enumerate() {
        let may_go = |from: Id| {
            let is_ours = !matches!(flow.nodes[from].def, Def::Input(_) | Def::Constant(_));
            is_ours && last_read.get(&from) == Some(&at) && !is_output[from]
        };
        match work {
            Work::Launch(emitted) => {
                for to in emitted.results() {
                    // What is made in parts has its memory from the first.
                    if std::mem::replace(&mut written[to], true) {
                        continue;
                    }
                    let fits = |from: Id| {
                        let alike = |id: Id| (flow.nodes[id].dtype, flow.nodes[id].len());
                        alike(from) == alike(to)
                            && last_read.get(&from) == Some(&at)
                            && reads_where_stored(&emitted.kernel, &emitted.params(from), &emitted.params(to))
                    };
                    let is_given = |from: Id| match flow.nodes[from].def {
                        Def::Input(number) => donated.get(number).copied().unwrap_or(false),
                        _ => false,
                    };
                    if is_output[to] && emitted.operands().any(|from| is_given(from) && fits(from)) {
                        continue;
                    }
                    let from = emitted
                        .operands()
                        .find(|&from| from < to && may_go(from) && !taken[from] && fits(from));
                    if let Some(from) = from {
                        taken[from] = true;
                        same.insert(to, from);
                    }
                }
            }
            Work::Call(call) => {
                let Call { kind, operands, results, .. } = &flow.calls[*call];
                let is_update = matches!(kind, CallKind::Update(_));
                if is_update && may_go(operands[0]) && !operands[1..].contains(&operands[0]) {
                    same.insert(results[0], operands[0]);
                }
            }
        }
    }
    same
}

/// A slot for each argument and each array that has memory, and which array has which.
fn slots(flow: &Flow, stored: &[bool], same: &FxHashMap<Id, Id>) -> (Vec<Slot>, Vec<Option<SlotId>>) {
    let mut is_output = vec![false; flow.nodes.len()];
    for &id in &flow.outputs {
        // With it all the arrays whose memory it has.
        let mut id = id;
        is_output[id] = true;
        while let Some(&from) = same.get(&id) {
            id = from;
            is_output[id] = true;
        }
    }
    let mut slots = Vec::new();
    let mut of = vec![None; flow.nodes.len()];
    for (id, node) in flow.nodes.iter().enumerate() {
        // Operands come before results.
        if let Some(&from) = same.get(&id) {
            of[id] = of[from];
            continue;
        }
        let role = match &node.def {
            Def::Input(i) => Role::Input(*i),
            Def::Scratch => Role::Temp { of: None, offset: 0 },
            _ if !stored[id] => continue,
            Def::Constant(tensor) => Role::Constant(tensor.clone()),
            _ if is_output[id] => Role::Output { reuse: None },
            _ => Role::Temp { of: None, offset: 0 },
        };
        of[id] = Some(SlotId(slots.len() as u32));
        slots.push(Slot { dtype: node.dtype, len: node.len(), role });
    }
    (slots, of)
}

struct Steps {
    kernels: Vec<Arc<Kernel>>,
    /// Kernels by what they do, without their names.
    known: FxHashMap<Kernel, usize>,
    steps: Vec<Step>,
    /// The slot of each array.
    of: Vec<Option<SlotId>>,
}

impl Steps {
    fn slot(&self, id: Id) -> SlotId {
        self.of[id].expect("arrays that are used have memory")
    }

    fn launch(&mut self, emitted: Emitted) {
        let Emitted { kernel, arrays, sizes, cost } = emitted;
        let slots = arrays.iter().map(|&id| self.slot(id)).collect();
        let kernel = self.kernel(kernel);
        self.steps.push(Step::Launch { kernel, slots, sizes, cost });
    }

    fn call(&mut self, call: &Call) {
        let all = call.operands.iter().chain(&call.results).chain(&call.scratch);
        let mut slots: Vec<SlotId> = all.map(|&a| self.slot(a)).collect();
        match &call.kind {
            CallKind::Library(call) => self.steps.push(Step::Call { call: call.clone(), slots }),
            CallKind::Kernels(kernels) => {
                for Costed { kernel, cost } in kernels {
                    let (kernel, slots) = (self.kernel(kernel.clone()), slots.clone());
                    self.steps.push(Step::Launch { kernel, slots, sizes: Vec::new(), cost: *cost });
                }
            }
            CallKind::Update(Costed { kernel, cost }) => {
                let (from, to) = (slots.remove(0), self.slot(call.results[0]));
                if from != to {
                    self.steps.push(Step::Copy { from, to });
                }
                let kernel = self.kernel(kernel.clone());
                self.steps.push(Step::Launch { kernel, slots, sizes: Vec::new(), cost: *cost });
            }
        }
    }

    /// The number of a kernel, the same for equal ones.
    fn kernel(&mut self, mut kernel: Kernel) -> usize {
        let name = std::mem::take(&mut kernel.name);
        if let Some(&number) = self.known.get(&kernel) {
            return number;
        }
        let number = self.kernels.len();
        self.known.insert(kernel.clone(), number);
        self.kernels.push(Arc::new(Kernel { name, ..kernel }));
        number
    }
}
