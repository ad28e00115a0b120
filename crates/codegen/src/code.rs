//! From a kernel to bytes: building, compiling, collecting what must be patched.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function};
use cranelift_codegen::{Context, FinalizedMachReloc, FinalizedRelocTarget};
use tracewell_kernel::Kernel;

use crate::abi::Symbol;
use crate::error::CodegenError;
use crate::lower::lower;
use crate::target::Target;

/// A kernel's machine code. Runs at any address once its patches are applied.
#[derive(Clone, Debug)]
pub struct Code {
    /// The instructions and constants; the entry is at offset 0.
    pub bytes: Vec<u8>,
    /// The alignment that the bytes need.
    pub align: usize,
    /// Addresses to write into the bytes.
    pub patches: Vec<Patch>,
    /// Cranelift's intermediate code, if the target asked for text.
    pub clif: Option<String>,
    /// The machine code as text, if the target asked for it.
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

/// Compiles one kernel, which must verify.
pub fn compile(kernel: &Kernel, target: &Target) -> Result<Code, CodegenError> {
    guarded(kernel, || {
        let mut context = Context::for_function(lower(kernel, target)?);
        let clif = target.text().then(|| context.func.display().to_string());
        context.set_disasm(target.text());
        let refused = |message| CodegenError::Cranelift { kernel: kernel.name.clone(), message };
        context
            .compile(target.isa(), &mut ControlPlane::default())
            .map_err(|error| refused(format!("{:?}", error.inner)))?;
        let compiled = context.take_compiled_code().ok_or_else(|| refused("no code was produced".into()))?;
        let patches = compiled
            .buffer
            .relocs()
            .iter()
            .map(|reloc| {
                patch(reloc, &context.func).ok_or_else(|| refused(format!("unexpected relocation {reloc:?}")))
            })
            .collect::<Result<_, _>>()?;
        Ok(Code {
            bytes: compiled.code_buffer().to_vec(),
            align: (compiled.buffer.alignment as usize).max(16),
            patches,
            clif,
            assembly: compiled.vcode.clone(),
        })
    })
}

/// The intermediate code of a kernel, before Cranelift's own passes, for the machine we run on.
pub fn clif_text(kernel: &Kernel) -> Result<String, CodegenError> {
    guarded(kernel, || lower(kernel, Target::host()).map(|function: Function| function.display().to_string()))
}

/// The machine code as text: instructions if the target asked for text, bytes otherwise.
pub fn disassemble(code: &Code) -> String {
    code.assembly.clone().unwrap_or_else(|| {
        let mut text = String::new();
        for (row, bytes) in code.bytes.chunks(16).enumerate() {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(text, "{:06x}  {}", row * 16, hex.join(" "));
        }
        text
    })
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
