//! How generated code is called, and what it calls.
//!
//! The runtime transmutes code to [`Entry`]; this file and that transmute are the two ends of one contract.

use cranelift_codegen::ir::{AbiParam, LibCall, Signature, Type, types};
use cranelift_codegen::isa::CallConv;

/// The machine code of a kernel.
///
/// Arguments: the address of each buffer, each run-time size, the range of iterations of the outermost `each`
/// to run (ignored where `Kernel::parallel_extent` is `None`), and a context, handed on to the [`CallHandler`]
/// whose address is its first word; the second is the address of the byte that a `Stmt::Poll` looks at, the third that of
/// the [`BothSidesHandler`]. Returns 0, or the first status other than 0 that a handler returned, or [`STOPPED`].
pub type Entry = unsafe extern "C" fn(
    buffers: *const *mut u8,
    sizes: *const i64,
    start: i64,
    end: i64,
    context: *mut u8,
) -> i64;

/// What generated code calls for a `Stmt::Call`: the context, the number of the call in its kernel (pre-order
/// over statements) and the address of each of its buffers. A status other than 0 stops the kernel.
pub type CallHandler = unsafe extern "C" fn(context: *mut u8, call: i64, buffers: *const *mut u8) -> i64;

/// What generated code calls for two `Stmt::Call` of products that are [both sides](tracewell_kernel::BothSides) of one matrix, and
/// the `each` between them: the context, the number of the first call, the addresses of the buffers of each, the `each`
/// and what is handed to that. The number of the second call is the next one.
pub type BothSidesHandler = unsafe extern "C" fn(
    context: *mut u8,
    call: i64,
    first: *const *mut u8,
    second: *const *mut u8,
    each: WideEach,
    block: *const u8,
) -> i64;

/// An `each` of its own: iterations from a start to an end. Returns where it stopped, which is the end.
#[cfg(target_arch = "x86_64")]
pub type WideEach = unsafe extern "sysv64" fn(block: *const u8, start: i64, end: i64) -> i64;
/// An `each` of its own: there are none.
#[cfg(not(target_arch = "x86_64"))]
pub type WideEach = unsafe extern "C" fn(block: *const u8, start: i64, end: i64) -> i64;

/// Where in a context the address of the flag is that stops a kernel.
pub(crate) const STOP_AT: i32 = 8;

/// Where in a context the address of the [`BothSidesHandler`] is.
pub(crate) const BOTH_SIDES_AT: i32 = 16;

/// The status of a kernel that left because the flag was set.
pub const STOPPED: i64 = 2;

/// The namespace of the functions of wide code, by their number in the kernel; helpers are in namespace 0.
pub(crate) const WIDE_FUNCTIONS: u32 = 1;

/// Addresses are 64 bits on every machine we generate code for.
pub(crate) const POINTER: Type = types::I64;

/// The signature of [`Entry`].
pub(crate) fn entry_signature(convention: CallConv) -> Signature {
    signature(convention, &[POINTER, POINTER, types::I64, types::I64, POINTER], types::I64)
}

/// The signature of [`CallHandler`].
pub(crate) fn handler_signature(convention: CallConv) -> Signature {
    signature(convention, &[POINTER, types::I64, POINTER], types::I64)
}

/// The signature of [`BothSidesHandler`].
pub(crate) fn both_sides_signature(convention: CallConv) -> Signature {
    let pointers = [POINTER; 4];
    signature(convention, &[&[POINTER, types::I64][..], &pointers].concat(), types::I64)
}

fn signature(convention: CallConv, params: &[Type], result: Type) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
    signature.returns.push(AbiParam::new(result));
    signature
}

/// Declares the helpers: their names, Cranelift's names for those it calls by itself, and their bodies.
macro_rules! symbols {
    ($($(#[$doc:meta])* $name:ident $libcall:expr, ($($arg:ident: $ty:ty),*) -> $result:ty $body:block)*) => {
        /// A function that generated code may call, for what the machine has no instruction for.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Symbol {
            $($(#[$doc])* $name,)*
        }

        impl Symbol {
            pub(crate) const ALL: &[Symbol] = &[$(Symbol::$name),*];

            /// Where the function is in this process.
            pub fn address(self) -> usize {
                match self {
                    $(Symbol::$name => {
                        #[allow(improper_ctypes_definitions, reason = "vectors travel in registers on x86-64")]
                        extern "C" fn helper($($arg: $ty),*) -> $result $body
                        helper as *const () as usize
                    })*
                }
            }

            /// Cranelift's name for it, if Cranelift calls it by itself.
            fn libcall(self) -> Option<LibCall> {
                match self { $(Symbol::$name => $libcall,)* }
            }
        }
    };
}

symbols! {
    /// `f32::ceil`
    CeilF32 Some(LibCall::CeilF32), (x: f32) -> f32 { x.ceil() }
    /// `f64::ceil`
    CeilF64 Some(LibCall::CeilF64), (x: f64) -> f64 { x.ceil() }
    /// `f32::floor`
    FloorF32 Some(LibCall::FloorF32), (x: f32) -> f32 { x.floor() }
    /// `f64::floor`
    FloorF64 Some(LibCall::FloorF64), (x: f64) -> f64 { x.floor() }
    /// `f32::trunc`
    TruncF32 Some(LibCall::TruncF32), (x: f32) -> f32 { x.trunc() }
    /// `f64::trunc`
    TruncF64 Some(LibCall::TruncF64), (x: f64) -> f64 { x.trunc() }
    /// `f32::round_ties_even`
    NearestF32 Some(LibCall::NearestF32), (x: f32) -> f32 { x.round_ties_even() }
    /// `f64::round_ties_even`
    NearestF64 Some(LibCall::NearestF64), (x: f64) -> f64 { x.round_ties_even() }
    /// `f32::mul_add`
    FmaF32 Some(LibCall::FmaF32), (a: f32, b: f32, c: f32) -> f32 { a.mul_add(b, c) }
    /// `f64::mul_add`
    FmaF64 Some(LibCall::FmaF64), (a: f64, b: f64, c: f64) -> f64 { a.mul_add(b, c) }
    /// The remainder of `f32`, as C's `fmodf`.
    RemF32 None, (a: f32, b: f32) -> f32 { a % b }
    /// The remainder of `f64`, as C's `fmod`.
    RemF64 None, (a: f64, b: f64) -> f64 { a % b }
}

impl Symbol {
    /// The helper that Cranelift means by a call it inserted.
    pub(crate) fn of_libcall(libcall: LibCall) -> Option<Symbol> {
        Symbol::ALL.iter().copied().find(|symbol| symbol.libcall() == Some(libcall))
    }

    /// The number under which the lowering declares the helper as an external function.
    pub(crate) fn index(self) -> u32 {
        self as u32
    }

    pub(crate) fn from_index(index: u32) -> Option<Symbol> {
        Symbol::ALL.get(index as usize).copied()
    }
}
