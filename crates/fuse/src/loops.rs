//! The loops of one nest: a chain of independent ones, and reductions hanging on it or on each other.
//!
//! Invariant: no loop has exactly one iteration, and a loop's parent was made or split before it was used.

/// A loop of its nest.
pub(crate) type LoopId = u32;

/// One loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Loop {
    pub(crate) extent: i64,
    /// The loop around it.
    pub(crate) parent: Option<LoopId>,
}

/// The loops of a nest.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Loops {
    all: Vec<Loop>,
    /// The independent ones, outermost first. All others reduce.
    pub(crate) each: Vec<LoopId>,
}

impl Loops {
    /// Adds a loop inside another.
    pub(crate) fn add(&mut self, extent: i64, parent: Option<LoopId>) -> LoopId {
        self.all.push(Loop { extent, parent });
        (self.all.len() - 1) as LoopId
    }

    pub(crate) fn extent(&self, id: LoopId) -> i64 {
        self.all[id as usize].extent
    }

    pub(crate) fn parent(&self, id: LoopId) -> Option<LoopId> {
        self.all[id as usize].parent
    }

    pub(crate) fn set_extent(&mut self, id: LoopId, extent: i64) {
        self.all[id as usize].extent = extent;
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Makes two loops of one, the inner one of `inner` iterations: a new loop, which is returned.
    pub(crate) fn split(&mut self, id: LoopId, inner: i64) -> LoopId {
        self.all[id as usize].extent /= inner;
        let new = self.add(inner, Some(id));
        for (i, other) in self.all.iter_mut().enumerate() {
            if other.parent == Some(id) && i != new as usize {
                other.parent = Some(new);
            }
        }
        if let Some(at) = self.each.iter().position(|&l| l == id) {
            self.each.insert(at + 1, new);
        }
        new
    }

    /// How many loops are directly inside it.
    pub(crate) fn children(&self, id: LoopId) -> usize {
        self.all.iter().filter(|l| l.parent == Some(id)).count()
    }

    /// Takes a loop out; what was inside it is inside its parent.
    pub(crate) fn remove(&mut self, id: LoopId) {
        let parent = self.all[id as usize].parent.take();
        for other in &mut self.all {
            if other.parent == Some(id) {
                other.parent = parent;
            }
        }
        self.each.retain(|&l| l != id);
    }

    /// Puts everything inside a loop into another, which stands for it from now on.
    pub(crate) fn rename(&mut self, from: LoopId, to: LoopId) {
        self.all[from as usize].parent = None;
        for other in &mut self.all {
            if other.parent == Some(from) {
                other.parent = Some(to);
            }
        }
    }

    /// Adds an independent loop around all others.
    pub(crate) fn surround(&mut self, extent: i64) -> LoopId {
        let new = self.add(extent, None);
        for other in &mut self.all[..new as usize] {
            other.parent = other.parent.or(Some(new));
        }
        self.each.insert(0, new);
        new
    }

    /// How many loops are around and including it.
    pub(crate) fn depth(&self, id: LoopId) -> usize {
        self.path(id).count()
    }

    /// The loop itself, then the ones around it.
    fn path(&self, id: LoopId) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(Some(id), |&l| self.parent(l))
    }

    /// The innermost of some loops that are around each other.
    pub(crate) fn innermost(&self, ids: impl IntoIterator<Item = LoopId>) -> Option<LoopId> {
        ids.into_iter().max_by_key(|&id| self.depth(id))
    }

    /// Where a scalar is computed that depends on nothing deeper than this loop: there, but never outside the
    /// outermost independent loop, because a launch is split between threads only if that loop stands alone.
    pub(crate) fn home(&self, innermost: Option<LoopId>) -> Option<LoopId> {
        innermost.or(self.each.first().copied())
    }

    /// How often the body of a loop runs.
    pub(crate) fn trips(&self, home: Option<LoopId>) -> f64 {
        home.map_or(1.0, |id| self.path(id).map(|l| self.extent(l) as f64).product())
    }
}
