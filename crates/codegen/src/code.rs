//! From a kernel to bytes: building, compiling, collecting what must be patched.

use std::fmt::Write as _;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function};
use cranelift_codegen::{Context, FinalizedMachReloc, FinalizedRelocTarget};
use tracewell_kernel::Kernel;

use crate::abi::{Symbol, WIDE_FUNCTIONS};
use crate::error::CodegenError;
use crate::lower::lower;
use crate::target::Target;
use crate::wide::{LeafCode, whole};

/// Functions of wide code start at a line of the cache, and so do their constants.
const ALIGN: usize = 64;

/// A kernel's machine code. Runs at any address once its patches are applied.
#[derive(Clone, Debug)]
pub struct Code {
    /// The instructions and constants; the entry is at offset 0.
    pub bytes: Vec<u8>,
    /// The alignment that the bytes need.
    pub align: usize,
    /// Addresses to write into the bytes.
    pub patches: Vec<Patch>,
    /// Where the instructions are that are not Cranelift's, but of vectors wider than it knows.
    pub wide: Vec<Range<usize>>,
    /// Cranelift's intermediate code, if the target asked for text and Cranelift has a part in the kernel.
    pub clif: Option<String>,
    /// The machine code as text, if the target asked for it and Cranelift has a part in the kernel.
    assembly: Option<String>,
}

/// The address of `symbol`, plus `addend`, belongs at `offset` as eight little-endian bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patch {
    /// Where in the code.
    pub offset: usize,
    /// Whose address.
    pub symbol: Symbol,
    /// What is added to it.
    pub addend: i64,
}

impl Code {
    /// Of a kernel in which Cranelift has no part.
    fn of_wide(LeafCode { bytes, instructions }: LeafCode) -> Code {
        let all = 0..instructions;
        Code { bytes, align: ALIGN, patches: Vec::new(), wide: vec![all], clif: None, assembly: None }
    }
}

/// Compiles one kernel, which must verify.
pub fn compile(kernel: &Kernel, target: &Target) -> Result<Code, CodegenError> {
    guarded(kernel, || {
        if let Some(whole) = whole(kernel, target) {
            return Ok(Code::of_wide(whole));
        }
        let (function, leaves) = lower(kernel, target)?;
        let mut context = Context::for_function(function);
        let clif = target.text().then(|| context.func.display().to_string());
        context.set_disasm(target.text());
        let refused = |message| CodegenError::Cranelift { kernel: kernel.name.clone(), message };
        context
            .compile(target.isa(), &mut ControlPlane::default())
            .map_err(|error| refused(format!("{:?}", error.inner)))?;
        let compiled = context.take_compiled_code().ok_or_else(|| refused("no code was produced".into()))?;
        let mut bytes = compiled.code_buffer().to_vec();
        let wide: Vec<Range<usize>> = leaves.iter().map(|leaf| append(&mut bytes, leaf)).collect();
        let mut patches = Vec::new();
        for reloc in compiled.buffer.relocs() {
            if let Some(number) = wide_function(reloc, &context.func) {
                let distance = wide[number].start as i64 - i64::from(reloc.offset) + reloc.addend;
                let distance = i32::try_from(distance).map_err(|_| refused("code of 2 GiB".into()))?;
                let at = reloc.offset as usize;
                bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
                continue;
            }
            let unexpected = || refused(format!("unexpected relocation {reloc:?}"));
            patches.push(patch(reloc, &context.func).ok_or_else(unexpected)?);
        }
        let align = if wide.is_empty() { 16 } else { ALIGN };
        Ok(Code {
            bytes,
            align: (compiled.buffer.alignment as usize).max(align),
            patches,
            wide,
            clif,
            assembly: compiled.vcode.clone(),
        })
    })
}

/// The intermediate code of a kernel, before Cranelift's own passes, for the machine we run on.
pub fn clif_text(kernel: &Kernel) -> Result<String, CodegenError> {
    let target = Target::host();
    guarded(kernel, || match whole(kernel, target) {
        Some(_) => Ok(format!("; {} is compiled without Cranelift\n", kernel.name)),
        None => lower(kernel, target).map(|(function, _)| function.display().to_string()),
    })
}

/// The machine code as text: instructions if the target asked for text, bytes otherwise. What is not Cranelift's
/// is always bytes.
pub fn disassemble(code: &Code) -> String {
    let Some(assembly) = &code.assembly else { return hex(&code.bytes, 0) };
    let mut text = assembly.clone();
    for range in &code.wide {
        let _ = writeln!(text, "wide function, {} bytes:", range.len());
        text += &hex(&code.bytes[range.clone()], range.start);
    }
    text
}

/// Bytes in rows, each with its place.
fn hex(bytes: &[u8], start: usize) -> String {
    let mut text = String::new();
    for (row, bytes) in bytes.chunks(16).enumerate() {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(text, "{:06x}  {}", start + row * 16, hex.join(" "));
    }
    text
}

/// Runs `work`; its panic becomes an error.
fn guarded<T>(kernel: &Kernel, work: impl FnOnce() -> Result<T, CodegenError>) -> Result<T, CodegenError> {
    // What `work` was building is dropped when it panics: nothing half-made is seen again.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(CodegenError::Panicked { kernel: kernel.name.clone(), message: text.to_owned() })
    })
}

/// Puts a function of wide code behind others; returns where its instructions are.
fn append(bytes: &mut Vec<u8>, leaf: &LeafCode) -> Range<usize> {
    bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
    let start = bytes.len();
    bytes.extend(&leaf.bytes);
    start..start + leaf.instructions
}

/// The number of the function of wide code that is called, or whose address is wanted.
fn wide_function(reloc: &FinalizedMachReloc, function: &Function) -> Option<usize> {
    let FinalizedRelocTarget::ExternalName(ExternalName::User(name)) = &reloc.target else { return None };
    let name = function.params.user_named_funcs().get(*name)?;
    (name.namespace == WIDE_FUNCTIONS && reloc.kind == Reloc::X86CallPCRel4).then_some(name.index as usize)
}

fn patch(reloc: &FinalizedMachReloc, function: &Function) -> Option<Patch> {
    let symbol = match &reloc.target {
        FinalizedRelocTarget::ExternalName(ExternalName::LibCall(call)) => Symbol::of_libcall(*call),
        FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
            Symbol::from_index(function.params.user_named_funcs().get(*name)?.index)
        }
        _ => None,
    }?;
    let absolute = reloc.kind == Reloc::Abs8;
    absolute.then_some(Patch { offset: reloc.offset as usize, symbol, addend: reloc.addend })
}
