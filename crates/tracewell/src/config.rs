//! The one place of the face that reads environment variables. (`array` reads `TRACEWELL_GUARD`, `runtime`
//! `TRACEWELL_THREADS`.)

/// `TRACEWELL_CACHE_MIB`: how many MiB each cache (traces, executables) may hold; 512 unless set.
pub(crate) fn cache_bytes() -> usize {
    let mib = std::env::var("TRACEWELL_CACHE_MIB").ok().and_then(|v| v.parse::<usize>().ok()).unwrap_or(512);
    mib.saturating_mul(1 << 20)
}
