//! Static arguments: plain Rust values that are part of a trace's key.

use std::fmt::Debug;

use crate::key::Key;
use crate::tree::Path;

/// A Rust value that a trace may depend on. Floats are compared by their bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a static argument",
    label = "not known to be comparable",
    note = "bools, numbers, chars, strings, and tuples, `Vec`s and `Option`s of these can; for your own type use `#[derive(Static)]`"
)]
pub trait Static: Clone + Debug + Send + Sync + 'static {
    /// Adds the value to a key: unequal values must differ.
    fn key(&self, key: &mut Key);

    /// Tells what the value is, where people want to know.
    fn describe(&self, path: &mut Path) {
        path.constant(self);
    }
}

macro_rules! by_bits {
    ($($T:ty: $value:ident => $bits:expr),* $(,)?) => {$(
        impl Static for $T {
            fn key(&self, key: &mut Key) {
                let $value = *self;
                key.word($bits);
            }
        }
    )*};
}
by_bits! {
    bool: v => v as u64, char: v => v as u64, u8: v => v as u64, u16: v => v as u64, u32: v => v as u64,
    u64: v => v, usize: v => v as u64, i8: v => v as u64, i16: v => v as u64, i32: v => v as u64,
    i64: v => v as u64, isize: v => v as u64, f32: v => v.to_bits() as u64, f64: v => v.to_bits(),
    (): _v => 0,
}

impl Static for String {
    fn key(&self, key: &mut Key) {
        key.text(self);
    }
}

impl Static for &'static str {
    fn key(&self, key: &mut Key) {
        key.text(self);
    }
}

impl Static for tracewell_array::DType {
    fn key(&self, key: &mut Key) {
        key.word(*self as u64);
    }
}

impl<T: Static> Static for Option<T> {
    fn key(&self, key: &mut Key) {
        key.word(self.is_some() as u64);
        self.iter().for_each(|v| v.key(key));
    }
}

impl<T: Static> Static for Vec<T> {
    fn key(&self, key: &mut Key) {
        key.word(self.len() as u64);
        self.iter().for_each(|v| v.key(key));
    }
}

impl<T: Static, const N: usize> Static for [T; N] {
    fn key(&self, key: &mut Key) {
        self.iter().for_each(|v| v.key(key));
    }
}

macro_rules! tuple_static {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Static),*> Static for ($($T,)*) {
            fn key(&self, key: &mut Key) {
                $(self.$i.key(key);)*
            }
        }
    };
}
tuple_static!(A 0);
tuple_static!(A 0, B 1);
tuple_static!(A 0, B 1, C 2);
tuple_static!(A 0, B 1, C 2, D 3);
