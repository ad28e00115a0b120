//! The machine that code is generated for: Cranelift's view of it, and the features our lowering asks about.

use std::fmt;
use std::sync::{Arc, LazyLock};

use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable as _, Flags};
use tracewell_kernel::steps::{Fault, broken};

use crate::error::CodegenError;
use crate::wide::{Level, Width};

/// A machine to generate code for. Cheap to clone; the default is the machine we run on.
#[derive(Clone)]
pub struct Target {
    isa: Arc<dyn TargetIsa>,
    features: Features,
    text: bool,
    loops: Loops,
    broken: Option<Fault>,
}

/// How loops are written. Results do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Loops {
    /// With vectors where that is faster.
    #[default]
    Vectors,
    /// With vectors of 128 bits at most: for finding what broke a result.
    Narrow,
    /// Where there would be vectors, divided as for them, but one element at a time: for the same.
    Divided,
    /// One element at a time: for the same.
    Plain,
}

/// What the lowering wants to know about a machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// One instruction for `a * b + c`. Without it each lane is a call.
    pub(crate) fma: bool,
    /// One instruction for rounding to integral values. Without it each lane is a call.
    pub(crate) round: bool,
    /// Vectors that are wider than Cranelift's.
    pub(crate) wide: Option<Level>,
}

impl Target {
    /// The machine we run on, with everything it can do.
    pub fn host() -> &'static Target {
        static HOST: LazyLock<Target> = LazyLock::new(|| {
            // A host that Cranelift does not know cannot run anything: there is nobody to report it to.
            let isa = cranelift_native::builder().expect("a machine that Cranelift generates code for");
            let target = Target::finish(isa, cfg!(debug_assertions)).expect("the settings of this file");
            target.of_width(Width::wanted())
        });
        &HOST
    }

    /// The architecture we run on with only its baseline and these features, by Cranelift's names:
    /// `["has_sse41", "has_avx", "has_fma"]`.
    pub fn named(features: &[&str]) -> Result<Target, CodegenError> {
        let unknown = |message: &dyn fmt::Display| CodegenError::Target(message.to_string());
        let mut isa = cranelift_native::builder_with_options(false).map_err(|message| unknown(&message))?;
        for feature in features {
            isa.enable(feature).map_err(|error| unknown(&format!("{feature}: {error}")))?;
        }
        Target::finish(isa, true)
    }

    /// AArch64 with only its baseline, if Cranelift was built with it. On another machine its code can be read, not run.
    pub fn aarch64() -> Result<Target, CodegenError> {
        let isa = isa::lookup_by_name("aarch64-unknown-linux-gnu");
        Target::finish(isa.map_err(|error| CodegenError::Target(error.to_string()))?, true)
    }

    /// The same machine with vectors of another width, if the machine we run on has them.
    pub fn with_width(&self, width: Width) -> Result<Target, CodegenError> {
        if width > Width::of_machine() || (width > Width::W128 && self.isa.name() != "x64") {
            return Err(CodegenError::Target(format!("this machine has no vectors of {width} bits")));
        }
        Ok(self.of_width(width))
    }

    fn of_width(&self, width: Width) -> Target {
        let mut target = self.clone();
        target.features.wide = width.level();
        target
    }

    /// How wide its vectors are.
    pub fn width(&self) -> Width {
        Width::ALL.into_iter().find(|width| width.level() == self.features.wide).unwrap_or(Width::W128)
    }

    /// The same machine; code compiled for it carries the text of its intermediate and machine code.
    #[must_use]
    pub fn with_text(&self) -> Target {
        Target { text: true, ..self.clone() }
    }

    /// The same machine, with loops written in another way; and broken, if that is asked for on this thread.
    #[must_use]
    pub fn with_loops(&self, loops: Loops) -> Target {
        let mut target = Target { loops, broken: broken(), ..self.clone() };
        // What is broken is the code that Cranelift makes, of vectors of 128 bits.
        let of_cranelift = matches!(target.broken, Some(Fault::Tail | Fault::CodegenPanics));
        if loops != Loops::Vectors || of_cranelift {
            target.features.wide = None;
        }
        target
    }

    fn finish(isa: isa::Builder, verify: bool) -> Result<Target, CodegenError> {
        let isa = isa.finish(flags(verify)).map_err(|error| CodegenError::Target(error.to_string()))?;
        let features = Features::of(&isa);
        Ok(Target { features, isa, text: false, loops: Loops::default(), broken: None })
    }

    pub(crate) fn isa(&self) -> &dyn TargetIsa {
        &*self.isa
    }

    pub(crate) fn features(&self) -> Features {
        self.features
    }

    pub(crate) fn loops(&self) -> Loops {
        self.loops
    }

    pub(crate) fn broken(&self) -> Option<Fault> {
        self.broken
    }

    pub(crate) fn text(&self) -> bool {
        self.text
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({}, {:?})", self.isa.triple(), self.features)
    }
}

impl Features {
    fn of(isa: &OwnedTargetIsa) -> Features {
        // Other architectures have both in their baseline.
        let x86 = isa.name() == "x64";
        let has = |name| {
            !x86 || isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true))
        };
        Features { fma: has("has_fma"), round: has("has_sse41"), wide: None }
    }
}

/// The settings that do not depend on the machine.
fn flags(verify: bool) -> Flags {
    let mut flags = settings::builder();
    let verify = if verify { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", "speed"),
        // The single-pass allocator compiles twice as fast and makes vector loops up to 25 times slower.
        ("regalloc_algorithm", "backtracking"),
        ("enable_verifier", verify),
        ("is_pic", "false"),
        // Nothing unwinds through generated code: callbacks return a status.
        ("unwind_info", "false"),
        // Stack buffers may be larger than the guard page below the stack.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value).expect("a setting that Cranelift has");
    }
    Flags::new(flags)
}
