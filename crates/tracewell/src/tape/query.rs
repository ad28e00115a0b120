//! Asking a tape: axes as those of XPath, and what depends on what.

use std::collections::{BTreeSet, VecDeque};

use super::node::{Argument, Kind, Node, NodeId, Reference};
use super::{Callee, Tape};

/// A direction in the tree of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    /// The call around.
    Parent,
    /// What is inside, one level deep.
    Child,
    /// Siblings that came before, in order.
    Preceding,
    /// Siblings that came after, in order.
    Following,
    /// All calls around, the innermost first.
    Ancestor,
    /// All that is inside, level by level.
    Descendant,
}

/// How far dependencies are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Within one level: among siblings. What a call gives depends on what it was given.
    Level,
    /// Across levels: from a parameter to what the caller gave, from what a call gives into the call, and to values that
    /// a function captured from outside.
    Across,
}

impl<'t> Node<'t> {
    fn node(&self, id: NodeId) -> Node<'t> {
        Node { tape: self.tape, id }
    }

    /// The nodes along an axis.
    pub fn query(&self, axis: Axis) -> Vec<Node<'t>> {
        let siblings =
            || self.parent().map(|parent| parent.children().collect::<Vec<_>>()).unwrap_or_default();
        match axis {
            Axis::Parent => self.parent().into_iter().collect(),
            Axis::Child => self.children().collect(),
            Axis::Preceding => siblings().into_iter().take(self.index().saturating_sub(1)).collect(),
            Axis::Following => siblings().into_iter().skip(self.index()).collect(),
            Axis::Ancestor => std::iter::successors(self.parent(), Node::parent).collect(),
            Axis::Descendant => {
                let mut found: Vec<Node<'t>> = Vec::new();
                let mut next: VecDeque<Node<'t>> = self.children().collect();
                while let Some(node) = next.pop_front() {
                    next.extend(node.children());
                    found.push(node);
                }
                found
            }
        }
    }

    /// What it used at its own level, each with the position of the argument, counted from 0. Numbers are left out.
    pub fn referenced(&self) -> Vec<(usize, Node<'t>)> {
        self.referenced_in(Reach::Level)
    }

    /// What it used.
    pub fn referenced_in(&self, reach: Reach) -> Vec<(usize, Node<'t>)> {
        let inside = match reach {
            Reach::Across if self.is_call() => {
                self.children().rev().find(|child| *child.kind() == Kind::Return)
            }
            _ => None,
        };
        if let Some(returned) = inside {
            return vec![(0, returned)];
        }
        let numbered = self.arguments().iter().enumerate();
        let nodes = numbered.filter_map(|(number, argument)| match argument {
            Argument::Reference(reference) => Some((number, self.node(reference.node))),
            Argument::Constant(_) | Argument::Unknown(_) => None,
        });
        nodes.filter(|(_, node)| reach == Reach::Across || node.parent() == self.parent()).collect()
    }

    /// All that it depends on at its level, the nearest first.
    pub fn backward(&self) -> Vec<Node<'t>> {
        self.backward_in(Reach::Level, |_, _| {})
    }

    /// All that it depends on, the nearest first. `visit` gets each node that is come by, this one first, with what
    /// that used.
    pub fn backward_in(
        &self,
        reach: Reach,
        mut visit: impl FnMut(Node<'t>, &[(usize, Node<'t>)]),
    ) -> Vec<Node<'t>> {
        self.closure(|node| {
            let used = node.referenced_in(reach);
            visit(node, &used);
            used.into_iter().map(|(_, node)| node).collect()
        })
    }

    /// The later siblings that used it, each with the position of the argument.
    pub fn dependents(&self) -> Vec<(usize, Node<'t>)> {
        self.dependents_in(Reach::Level)
    }

    /// What used it.
    pub fn dependents_in(&self, reach: Reach) -> Vec<(usize, Node<'t>)> {
        Users::of(self.tape, reach).0[self.id.at()]
            .iter()
            .map(|&(number, id)| (number, self.node(id)))
            .collect()
    }

    /// All that depends on it at its level, the nearest first.
    pub fn forward(&self) -> Vec<Node<'t>> {
        self.forward_in(Reach::Level, |_, _| {})
    }

    /// All that depends on it, the nearest first. `visit` gets each node that is come by, this one first, with what used
    /// that.
    pub fn forward_in(
        &self,
        reach: Reach,
        mut visit: impl FnMut(Node<'t>, &[(usize, Node<'t>)]),
    ) -> Vec<Node<'t>> {
        let users = Users::of(self.tape, reach);
        self.closure(|node| {
            let found: Vec<(usize, Node<'t>)> =
                users.0[node.id.at()].iter().map(|&(number, id)| (number, self.node(id))).collect();
            visit(node, &found);
            found.into_iter().map(|(_, node)| node).collect()
        })
    }

    /// All that is reached from here by steps, without this node, in the order in which it is reached.
    fn closure(&self, mut step: impl FnMut(Node<'t>) -> Vec<Node<'t>>) -> Vec<Node<'t>> {
        let mut seen = BTreeSet::from([self.id]);
        let mut found = Vec::new();
        let mut next = VecDeque::from([*self]);
        while let Some(node) = next.pop_front() {
            for node in step(node) {
                if seen.insert(node.id) {
                    found.push(node);
                    next.push_back(node);
                }
            }
        }
        found
    }

    /// The dynamic slice: all that had to happen for it, in the order of the program. That is what it depends on across
    /// levels, the calls that it is in, and the branches that were taken on the way to it with what they depend on.
    pub fn slice(&self) -> Vec<Node<'t>> {
        let mut found: BTreeSet<NodeId> = BTreeSet::new();
        let mut next = vec![*self];
        while let Some(node) = next.pop() {
            if !found.insert(node.id) {
                continue;
            }
            next.extend(node.referenced_in(Reach::Across).into_iter().map(|(_, node)| node));
            let before = node.query(Axis::Preceding);
            next.extend(before.into_iter().filter(|node| *node.kind() == Kind::Branch));
            // A call around it ran, whatever it gives.
            for call in node.query(Axis::Ancestor) {
                if found.insert(call.id) {
                    let before = call.query(Axis::Preceding);
                    next.extend(before.into_iter().filter(|node| *node.kind() == Kind::Branch));
                }
            }
        }
        found.into_iter().map(|id| self.node(id)).collect()
    }
}

impl Tape {
    /// Where a value was made: through parameters to what the caller gave, and through calls to what they returned.
    pub fn source(&self, reference: Reference) -> Reference {
        let mut at = reference;
        // Each step goes to another node, and there are no circles: a value is made before it is used.
        loop {
            let node = Node { tape: self, id: at.node };
            let from = match node.kind() {
                Kind::Argument { .. } => node.arguments().first(),
                Kind::Return => node.arguments().get(at.result),
                // A loop gives what its turns have made, all of them together.
                Kind::Call(Callee::Primitive(prim)) if prim.is_control() => return at,
                Kind::Call(_) | Kind::Program => {
                    let returned = node.children().rev().find(|child| *child.kind() == Kind::Return);
                    returned.and_then(|returned| returned.arguments().get(at.result))
                }
                _ => None,
            };
            // A parameter that is a part of what was given is not the same value.
            let same = |to: &Reference| self.produced(*to).map(|p| &p.ty) == self.produced(at).map(|p| &p.ty);
            match from {
                Some(Argument::Reference(to)) if same(to) => at = *to,
                _ => return at,
            }
        }
    }
}

/// For each node, who used it, with the position of the argument.
struct Users(Vec<Vec<(usize, NodeId)>>);

impl Users {
    fn of(tape: &Tape, reach: Reach) -> Users {
        let mut users = vec![Vec::new(); tape.nodes.len()];
        for node in tape.nodes() {
            for (number, used) in node.referenced_in(reach) {
                users[used.id.at()].push((number, node.id));
            }
        }
        Users(users)
    }
}
