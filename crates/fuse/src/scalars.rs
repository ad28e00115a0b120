//! Kernels of single elements that follow each other become one: launching one takes longer than what it does.
//!
//! None of them reads what another writes, so that all is read before anything is written: a result may still take over
//! the memory of an argument.

use tracewell_kernel::{BufferId, Kernel, Param, Region, Stmt, Value};

use crate::classify::Id;
use crate::emit::Emitted;

/// Most statements of a kernel that is joined from others: it is compiled as a whole.
const MOST: usize = 128;

/// Kernels that may become one.
pub(crate) struct Scalars {
    all: Vec<Emitted>,
    /// Of all of them. Nothing is added to a kernel with loops.
    statements: Option<usize>,
}

impl Scalars {
    /// A kernel by itself.
    pub(crate) fn new(emitted: Emitted) -> Scalars {
        let statements = is_straight(&emitted).then_some(emitted.kernel.body.stmts.len());
        Scalars { all: vec![emitted], statements }
    }

    /// Adds a kernel that follows, or gives it back.
    pub(crate) fn add(&mut self, next: Emitted) -> Result<(), Box<Emitted>> {
        let statements = self.statements.map(|statements| statements + next.kernel.body.stmts.len());
        let is_apart = |other: &Emitted| {
            other.results().all(|id| !next.arrays.contains(&id))
                && next.results().all(|id| !other.arrays.contains(&id))
        };
        let few = statements.is_some_and(|statements| statements <= MOST);
        if !(few && is_straight(&next) && self.all.iter().all(is_apart)) {
            return Err(Box::new(next));
        }
        self.statements = statements;
        self.all.push(next);
        Ok(())
    }

    /// The kernel of all.
    pub(crate) fn joined(mut self) -> Emitted {
        if let [_] = self.all[..] {
            return self.all.remove(0);
        }
        let mut arrays: Vec<Id> =
            self.all.iter().flat_map(|emitted| emitted.arrays.iter().copied()).collect();
        // In the order of their memory, which is then handed over as it lies.
        arrays.sort_unstable();
        arrays.dedup();
        let place = |id: Id| arrays.binary_search(&id).expect("every array is there");
        let mut params: Vec<Option<Param>> = vec![None; arrays.len()];
        let (mut values, mut stmts, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        for Emitted { kernel, arrays, .. } in &self.all {
            let first = values.len() as u32;
            arrays.iter().zip(&kernel.params).for_each(|(&id, param)| params[place(id)] = Some(*param));
            values.extend(kernel.values.iter().copied());
            let buffer = |b: BufferId| BufferId(place(arrays[b.0 as usize]) as u32);
            for stmt in &kernel.body.stmts {
                let stmt = renumbered(stmt, |value| Value(first + value.0), buffer);
                if let Stmt::Store { .. } = stmt { stores.push(stmt) } else { stmts.push(stmt) }
            }
        }
        stmts.extend(stores);
        let name = format!("{}_and_{}_more", self.all[0].kernel.name, self.all.len() - 1);
        let body = Region { stmts, ..Region::default() };
        let params = params.into_iter().flatten().collect();
        let kernel = Kernel { name, params, locals: Vec::new(), sizes: 0, values, body };
        let cost = self.all.iter().fold(0, |cost: u32, emitted| cost.saturating_add(emitted.cost));
        Emitted { kernel, arrays, sizes: Vec::new(), cost }
    }
}

/// Whether a kernel reads some elements, computes, then writes: without loops, branches, calls, or two ways to an array.
fn is_straight(emitted: &Emitted) -> bool {
    let Kernel { locals, sizes, body, .. } = &emitted.kernel;
    let is_store = |stmt: &Stmt| matches!(stmt, Stmt::Store { .. });
    let is_plain = |stmt: &Stmt| match stmt {
        Stmt::Op { .. } => true,
        Stmt::Load { index, .. } | Stmt::Store { index, .. } => index.terms.is_empty(),
        _ => false,
    };
    let is_own = |(k, id): (usize, &Id)| !emitted.arrays[..k].contains(id);
    locals.is_empty()
        && *sizes == 0
        && body.stmts.iter().all(is_plain)
        && body.stmts.is_sorted_by_key(is_store)
        && emitted.arrays.iter().enumerate().all(is_own)
}

/// A plain statement with other values and buffers.
fn renumbered(stmt: &Stmt, value: impl Fn(Value) -> Value, buffer: impl Fn(BufferId) -> BufferId) -> Stmt {
    let mut stmt = stmt.clone();
    match &mut stmt {
        Stmt::Op { out, args, .. } => {
            *out = value(*out);
            args.iter_mut().for_each(|arg| *arg = value(*arg));
        }
        Stmt::Load { out, buffer: from, .. } => (*out, *from) = (value(*out), buffer(*from)),
        Stmt::Store { buffer: to, value: stored, .. } => (*to, *stored) = (buffer(*to), value(*stored)),
        _ => unreachable!("only plain statements are joined"),
    }
    stmt
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::SmallVec;
    use tracewell_array::DType;
    use tracewell_kernel::Index;

    /// A kernel that copies a number.
    fn copied(from: Id, to: Id) -> Emitted {
        let param = |written| Param { dtype: DType::F32, written, own: false };
        let at = || Index::at(0);
        let stmts = vec![
            Stmt::Load { out: Value(0), buffer: BufferId(0), index: at() },
            Stmt::Store { buffer: BufferId(1), index: at(), value: Value(0) },
        ];
        let kernel = Kernel {
            name: "copied".to_string(),
            params: vec![param(false), param(true)],
            locals: Vec::new(),
            sizes: 0,
            values: vec![DType::F32],
            body: Region { stmts, yields: SmallVec::new() },
        };
        Emitted { kernel, arrays: vec![from, to], sizes: Vec::new(), cost: 1 }
    }

    #[test]
    fn what_depends_on_each_other_stays_apart() {
        let mut scalars = Scalars::new(copied(0, 2));
        for (from, to) in [(2, 5), (4, 2), (4, 0)] {
            assert!(scalars.add(copied(from, to)).is_err(), "{from} to {to}");
        }
        assert!(scalars.add(copied(0, 1)).is_ok());
        let joined = scalars.joined();
        assert_eq!(joined.arrays, [0, 1, 2]);
        assert_eq!(joined.results().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_kernel_does_not_grow_for_ever() {
        let mut scalars = Scalars::new(copied(0, 1));
        let added = (2..).take_while(|&to| scalars.add(copied(0, to)).is_ok()).count();
        assert_eq!(2 * (added + 1), MOST);
    }
}
