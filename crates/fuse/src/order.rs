//! Which kernels and calls run before which.
//!
//! Grows while kernels are made, so that making one more array in a kernel can be refused where it would have to
//! run before and after another. Sorted once at the end.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Units that are looked at before a dependence is assumed.
const MAX_VISITED: usize = 64;

/// Something that runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Unit {
    /// The kernel of that number.
    Cluster(usize),
    /// The library call of that number.
    Call(usize),
}

/// What needs what.
#[derive(Default)]
pub(crate) struct Order {
    /// Every unit, in the order in which they were made: users before what they use, mostly.
    all: Vec<Unit>,
    known: FxHashSet<Unit>,
    needs: FxHashMap<Unit, SmallVec<[Unit; 4]>>,
}

impl Order {
    /// Adds a unit, once.
    pub(crate) fn add(&mut self, unit: Unit) {
        if self.known.insert(unit) {
            self.all.push(unit);
        }
    }

    /// Says that `unit` runs after `maker`.
    pub(crate) fn after(&mut self, unit: Unit, maker: Unit) {
        let needs = self.needs.entry(unit).or_default();
        if !needs.contains(&maker) {
            needs.push(maker);
        }
    }

    /// Whether one unit may need another, directly or not: `false` is certain.
    pub(crate) fn may_need(&self, unit: Unit, other: Unit) -> bool {
        let mut visited: SmallVec<[Unit; 16]> = SmallVec::from_slice(&[unit]);
        let mut next = 0;
        while next < visited.len() {
            for &need in self.needs.get(&visited[next]).map_or(&[][..], |needs| needs) {
                if need == other || visited.len() >= MAX_VISITED {
                    return true;
                }
                if !visited.contains(&need) {
                    visited.push(need);
                }
            }
            next += 1;
        }
        false
    }

    /// Every unit after what it needs; otherwise those made last come first. Of units that need each other one comes too
    /// early, which the verifier of programs finds.
    pub(crate) fn sorted(&self) -> Vec<Unit> {
        let mut begun: FxHashSet<Unit> = FxHashSet::default();
        let mut done: FxHashSet<Unit> = FxHashSet::default();
        let mut sorted = Vec::with_capacity(self.all.len());
        for &start in self.all.iter().rev() {
            // Depth first without recursion: a unit is done when it is seen again.
            let mut stack = vec![start];
            while let Some(&unit) = stack.last() {
                if begun.insert(unit) {
                    let needs = self.needs.get(&unit).map_or(&[][..], |needs| needs);
                    stack.extend(needs.iter().filter(|need| !begun.contains(need)));
                } else {
                    stack.pop();
                    if done.insert(unit) {
                        sorted.push(unit);
                    }
                }
            }
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_run_after_what_they_need() {
        let [a, b, c, d] = [0, 1, 2, 3].map(Unit::Cluster);
        let call = Unit::Call(0);
        let mut order = Order::default();
        [a, b, c, call, d].into_iter().for_each(|unit| order.add(unit));
        order.after(a, b);
        order.after(a, d);
        order.after(b, call);
        order.after(call, c);
        assert!(order.may_need(a, c) && order.may_need(b, c));
        assert!(!order.may_need(c, a) && !order.may_need(d, c));
        assert_eq!(order.sorted(), [d, c, call, b, a]);
        order.after(c, a);
        assert_eq!(order.sorted().len(), 5, "each once, although they need each other");
    }
}
