//! The one place of the face that reads environment variables. (`array` reads `TRACEWELL_GUARD`, `runtime`
//! `TRACEWELL_THREADS`.)

/// `TRACEWELL_CACHE_MIB`: how many MiB each cache (traces, executables) may hold; 512 unless set.
pub(crate) fn cache_bytes() -> usize {
    let mib = std::env::var("TRACEWELL_CACHE_MIB").ok().and_then(|v| v.parse::<usize>().ok()).unwrap_or(512);
    mib.saturating_mul(1 << 20)
}

/// `TRACEWELL_LOG`, read once: whether compiles are told of on stderr. Anything but `off` and `0` says so.
pub(crate) fn logs() -> bool {
    static LOGS: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
        std::env::var("TRACEWELL_LOG").is_ok_and(|v| !matches!(v.as_str(), "" | "off" | "0"))
    });
    *LOGS
}

/// `TRACEWELL_DUMP`, read once: the stages of every compile that are written into a folder, such as `traced,asm`.
pub(crate) fn dumped_stages() -> &'static [String] {
    static STAGES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
        let named = std::env::var("TRACEWELL_DUMP").unwrap_or_default();
        named.split(',').map(str::trim).filter(|stage| !stage.is_empty()).map(String::from).collect()
    });
    &STAGES
}

/// `TRACEWELL_DUMP_DIR`: where they go; `tracewell-dump` in the current folder unless set.
pub(crate) fn dump_folder() -> std::path::PathBuf {
    let named = std::env::var_os("TRACEWELL_DUMP_DIR").filter(|path| !path.is_empty());
    named.map_or_else(|| "tracewell-dump".into(), Into::into)
}

/// What `TRACEWELL_REPRO` says about repros of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repros {
    /// Written when something fails: unless set.
    On,
    /// Neither recorded nor written: `off`.
    Off,
    /// Written before what may end the process, too: `early`.
    Early,
}

/// `TRACEWELL_REPRO`, read once.
pub(crate) fn repros() -> Repros {
    static REPROS: std::sync::LazyLock<Repros> =
        std::sync::LazyLock::new(|| match std::env::var("TRACEWELL_REPRO").as_deref() {
            Ok("off" | "0") => Repros::Off,
            Ok("early") => Repros::Early,
            _ => Repros::On,
        });
    *REPROS
}

/// `TRACEWELL_REPRO_DIR`: where folders of repros go; `tracewell-repro` in the system's folder for temporary files
/// unless set.
pub(crate) fn repro_folder() -> std::path::PathBuf {
    let named = std::env::var_os("TRACEWELL_REPRO_DIR").filter(|path| !path.is_empty());
    named.map_or_else(|| std::env::temp_dir().join("tracewell-repro"), Into::into)
}
