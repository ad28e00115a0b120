//! Nests written as kernels.
//!
//! A scalar is computed in the outermost loop that knows all it depends on. Extents and strides become run-time
//! sizes, so that one kernel serves every shape, with these exceptions: strides of at most 16 elements, because
//! a stride of 1 decides how code is generated and small ones belong to small inner loops; inner extents of at
//! most 16, because such loops can be unrolled. The outermost extent is always a run-time size.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use tracewell_kernel::{BufferId, Combine, Index, Kernel, KernelBuilder, Size, Value};

use crate::classify::{Flow, Id};
use crate::index::Affine;
use crate::nest::{Nest, Scalar};

/// Inner extents and strides up to this are part of a kernel.
const SMALL: i64 = 16;

/// A kernel with what it is launched on.
pub(crate) struct Emitted {
    pub(crate) kernel: Kernel,
    /// The array of each parameter.
    pub(crate) arrays: Vec<Id>,
    pub(crate) sizes: Vec<i64>,
}

/// Writes a nest as a kernel.
pub(crate) fn emit(flow: &Flow, nest: &Nest) -> Emitted {
    let mut builder = KernelBuilder::new();
    let mut buffers: FxHashMap<Id, BufferId> = FxHashMap::default();
    let mut arrays = Vec::new();
    for scalar in &nest.scalars {
        if let Scalar::Load { of, .. } = scalar {
            buffers.entry(*of).or_insert_with(|| {
                arrays.push(*of);
                builder.param(flow.nodes[*of].dtype, false)
            });
        }
    }
    let written: Vec<BufferId> = nest
        .stores
        .iter()
        .map(|store| {
            arrays.push(store.to);
            builder.param(store.dtype, true)
        })
        .collect();
    let mut emitter = Emitter {
        nest,
        buffers,
        written,
        sizes: Sizes::default(),
        levels: levels(nest),
        values: vec![None; nest.scalars.len()],
        vars: Vec::new(),
    };
    emitter.open(&mut builder);
    let sizes = emitter.sizes.values;
    Emitted { kernel: builder.finish(nest.name.clone()), arrays, sizes }
}

/// For each depth, the scalars that are computed there.
fn levels(nest: &Nest) -> Vec<Vec<usize>> {
    let depth = nest.extents.len();
    // A launch is split between threads only if the outermost loop is alone, so nothing is put before it.
    let least = usize::from(nest.kept > 0);
    let mut levels = vec![Vec::new(); depth + 1];
    let mut of: Vec<usize> = Vec::with_capacity(nest.scalars.len());
    for (i, scalar) in nest.scalars.iter().enumerate() {
        let level = match scalar {
            Scalar::Literal(_) => 0,
            Scalar::Load { at, .. } => at.level(),
            Scalar::Map { args, .. } => args.iter().map(|&a| of[a]).max().unwrap_or(0),
        };
        let level = level.max(least);
        of.push(level);
        levels[level].push(i);
    }
    levels
}

/// The run-time sizes of a launch, each once.
#[derive(Default)]
struct Sizes {
    values: Vec<i64>,
    known: FxHashMap<i64, Size>,
}

impl Sizes {
    fn param(&mut self, builder: &mut KernelBuilder, value: i64) -> Size {
        *self.known.entry(value).or_insert_with(|| {
            self.values.push(value);
            builder.size()
        })
    }

    fn extent(&mut self, builder: &mut KernelBuilder, value: i64, is_outermost: bool) -> Size {
        if !is_outermost && value <= SMALL { Size::Const(value) } else { self.param(builder, value) }
    }

    fn stride(&mut self, builder: &mut KernelBuilder, value: i64) -> Size {
        if value.abs() <= SMALL { Size::Const(value) } else { self.param(builder, value) }
    }

    fn offset(&mut self, builder: &mut KernelBuilder, value: i64) -> Size {
        if value == 0 { Size::Const(0) } else { self.param(builder, value) }
    }
}

struct Emitter<'n> {
    nest: &'n Nest,
    buffers: FxHashMap<Id, BufferId>,
    written: Vec<BufferId>,
    sizes: Sizes,
    levels: Vec<Vec<usize>>,
    values: Vec<Option<Value>>,
    /// The variables of the open loops.
    vars: Vec<Value>,
}

impl Emitter<'_> {
    /// Writes what belongs at this depth, then the next loop or the stores.
    fn open(&mut self, b: &mut KernelBuilder) {
        self.compute(b);
        let depth = self.vars.len();
        if depth < self.nest.kept {
            let extent = self.sizes.extent(b, self.nest.extents[depth], depth == 0);
            b.each(extent, |b, var| {
                self.vars.push(var);
                self.open(b);
                self.vars.pop();
            });
            return;
        }
        for store in 0..self.nest.stores.len() {
            let value = match self.nest.combine {
                Some(combine) => self.reduce(b, combine, self.nest.stores[store].scalar),
                None => self.value(self.nest.stores[store].scalar),
            };
            let index = self.index(b, &self.nest.stores[store].at);
            b.store(self.written[store], index, value);
        }
    }

    /// Reduces a scalar over the loops that are not open yet.
    fn reduce(&mut self, b: &mut KernelBuilder, combine: Combine, scalar: usize) -> Value {
        let depth = self.vars.len();
        if depth == self.nest.extents.len() {
            return self.value(scalar);
        }
        let extent = self.sizes.extent(b, self.nest.extents[depth], depth == 0);
        let outs = b.reduce(extent, &[combine], |b, var| {
            self.vars.push(var);
            self.compute(b);
            let value = self.reduce(b, combine, scalar);
            self.vars.pop();
            smallvec![value]
        });
        outs[0]
    }

    /// Writes the scalars that belong at this depth.
    fn compute(&mut self, b: &mut KernelBuilder) {
        for i in std::mem::take(&mut self.levels[self.vars.len()]) {
            let value = match &self.nest.scalars[i] {
                Scalar::Literal(literal) => b.literal(*literal),
                Scalar::Load { of, at } => {
                    let index = self.index(b, at);
                    b.load(self.buffers[of], index)
                }
                Scalar::Map { f, args } => {
                    let args: SmallVec<[Value; 3]> = args.iter().map(|&a| self.value(a)).collect();
                    f(b, &args)
                }
            };
            self.values[i] = Some(value);
        }
    }

    fn value(&self, scalar: usize) -> Value {
        self.values[scalar].expect("scalars are computed before they are used")
    }

    fn index(&mut self, b: &mut KernelBuilder, at: &Affine) -> Index {
        let offset = self.sizes.offset(b, at.offset);
        let mut terms = SmallVec::new();
        for (&c, &var) in at.coefficients.iter().zip(&self.vars) {
            if c != 0 {
                terms.push((var, self.sizes.stride(b, c)));
            }
        }
        Index { offset, terms }
    }
}
