//! How wide vectors are, and what a machine must have for that.

use std::fmt;

/// The width of vectors that code is generated for.
///
/// ```
/// use tracewell_codegen::{Target, Width};
/// let narrow = Target::host().with_width(Width::W128).expect("every machine has it");
/// assert_eq!(narrow.width(), Width::W128);
/// assert!(Width::of_machine() >= narrow.width());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// Cranelift's vectors alone: every machine.
    W128,
    /// AVX2 and FMA.
    W256,
    /// AVX-512 as servers have had it since 2017: F, CD, BW, DQ and VL.
    W512,
}

impl Width {
    /// All of them, narrow to wide.
    pub const ALL: [Width; 3] = [Width::W128, Width::W256, Width::W512];

    /// The widest that the machine we run on has.
    #[cfg(target_arch = "x86_64")]
    pub fn of_machine() -> Width {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma") && has!("bmi2");
        let avx512 =
            has!("avx512f") && has!("avx512cd") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        match (avx2, avx512) {
            (true, true) => Width::W512,
            (true, false) => Width::W256,
            (false, _) => Width::W128,
        }
    }

    /// The widest that the machine we run on has.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn of_machine() -> Width {
        Width::W128
    }

    /// What the machine has, or less if `TRACEWELL_WIDTH` says so.
    pub(crate) fn wanted() -> Width {
        let machine = Width::of_machine();
        let wanted = std::env::var("TRACEWELL_WIDTH").ok();
        let wanted = wanted.and_then(|text| Width::ALL.into_iter().find(|width| width.to_string() == text));
        wanted.unwrap_or(machine).min(machine)
    }

    pub(crate) fn level(self) -> Option<Level> {
        match self {
            Width::W128 => None,
            Width::W256 => Some(Level::Avx2),
            Width::W512 => Some(Level::Avx512),
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Width::W128 => "128",
            Width::W256 => "256",
            Width::W512 => "512",
        })
    }
}

/// The instructions of wide code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// 16 vectors of 256 bits; masks are vectors.
    Avx2,
    /// 32 vectors of 512 bits, and mask registers.
    Avx512,
}

impl Level {
    /// Bytes of a vector.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Level::Avx2 => 32,
            Level::Avx512 => 64,
        }
    }

    /// How many elements one copy of a body handles: as many as fill a vector with 32 bits each.
    pub(crate) fn lanes(self) -> usize {
        self.bytes() / 4
    }

    /// How many vectors there are.
    pub(crate) fn registers(self) -> usize {
        match self {
            Level::Avx2 => 16,
            Level::Avx512 => 32,
        }
    }
}
