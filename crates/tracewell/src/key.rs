//! The key of a trace: everything about a call that may change its graph.
//!
//! The identity of the monomorphised function, the type identity of each tree node, shapes, dtypes, weak
//! types and static values. Compared exactly, never by hash alone.

use std::any::TypeId;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use tracewell_array::{DType, Shape};
use tracewell_trace::Value;

use crate::array::Array;

/// Collects what a trace depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Key {
    /// The closure object it belongs to; 0 for functions of the program.
    object: u64,
    types: SmallVec<[TypeId; 6]>,
    words: SmallVec<[u64; 24]>,
}

impl Key {
    /// An empty key.
    #[inline]
    pub fn new() -> Key {
        Key::default()
    }

    /// The identity of a tree node's or static value's type.
    pub fn node<T: ?Sized>(&mut self) {
        self.types.push(typeid::of::<T>());
    }

    /// A number: a length, a variant, the bits of a static value.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.words.push(word);
    }

    /// A text, by its bytes.
    pub fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// The type of an array.
    #[inline]
    pub(crate) fn array(&mut self, array: &Array) {
        match array.value() {
            Value::Known(tensor, weak) => self.leaf(tensor.dtype(), *weak, tensor.shape()),
            Value::Splat(splat) => self.leaf(splat.literal.dtype(), splat.weak, &splat.shape),
            Value::Traced(tracer) => {
                let ty = tracer.ty();
                self.leaf(ty.dtype, ty.weak, &ty.shape);
            }
        }
    }

    /// The type of an array that is not at hand.
    #[inline]
    pub(crate) fn leaf(&mut self, dtype: DType, weak: bool, shape: &Shape) {
        let head = (dtype as u64) | (u64::from(weak) << 8) | ((shape.rank() as u64) << 16);
        self.words.push(head);
        // One by one: there are few, and `extend` would count them first.
        shape.iter().for_each(|n| self.words.push(n as u64));
    }

    /// Marks the key as that of one closure object: its captures may differ from those of others of its type.
    pub(crate) fn object(&mut self, id: u64) {
        self.object = id;
    }

    /// Whether it belongs to this closure object.
    pub(crate) fn is_of(&self, id: u64) -> bool {
        self.object == id
    }

    /// Whether both belong to the same closure object, or both to a function of the program.
    pub(crate) fn is_like(&self, other: &Key) -> bool {
        self.object == other.object
    }

    /// Memory it holds beyond itself.
    pub(crate) fn bytes(&self) -> usize {
        self.types.len() * size_of::<TypeId>() + self.words.len() * 8
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.object);
        self.types.iter().for_each(|t| t.hash(state));
        self.words.iter().for_each(|&w| state.write_u64(w));
    }
}
