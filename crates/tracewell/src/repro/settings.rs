//! Settings that are not the usual ones: what was switched on when something failed, and is again when it is replayed.

use std::time::Duration;

use tracewell_repro::Failure;
use tracewell_trace::WATCH_TRACERS;

use crate::checks::{
    CHECK_COMPILED, CHECK_KEYS, CHECK_NANS, CHECK_PURITY, check_compiled, check_nans, checking_keys,
    checking_leaks, checking_purity,
};
use crate::effects::{Cancel, with_cancel, with_time_limit};

/// A call that was stopped after more milliseconds is stopped after so many when it is replayed.
const TIME_LIMIT: u64 = 1000;

/// The milliseconds of a time limit, as the message about it names it.
fn limit_in(message: &str) -> u64 {
    let text = message.split("limit of ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("");
    let units = [("ns", 1e-6), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let read = units.iter().find_map(|(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some((number * factor).round() as u64)
    });
    read.unwrap_or(TIME_LIMIT).min(TIME_LIMIT)
}

/// The settings of this thread.
pub(super) fn now(failure: Option<&Failure>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: &str| all.push((name.to_string(), value.to_string()));
    if CHECK_KEYS.is_on() {
        add("checking_keys", "true");
    }
    if WATCH_TRACERS.is_on() {
        add("checking_leaks", "true");
    }
    if CHECK_NANS.is_on() {
        add("check_nans", "true");
    }
    if CHECK_COMPILED.is_on() {
        add("check_compiled", "true");
    }
    if CHECK_PURITY.is_on() {
        add("checking_purity", "true");
    }
    match failure {
        Some(failure) if failure.kind == "Stopped" && failure.message.contains("cancelled") => {
            add("cancelled", "true");
        }
        Some(failure) if failure.kind == "Stopped" => {
            add("time_limit_ms", &limit_in(&failure.message).to_string());
        }
        _ => {}
    }
    all
}

/// Runs `f` with these settings.
pub(super) fn under(settings: &[(String, String)], f: impl FnOnce()) {
    let Some(((name, value), rest)) = settings.split_first() else { return f() };
    let inside = || under(rest, f);
    match (name.as_str(), value.as_str()) {
        ("checking_keys", "true") => checking_keys(inside),
        ("checking_leaks", "true") => checking_leaks(inside),
        ("check_nans", "true") => check_nans(inside),
        ("check_compiled", "true") => check_compiled(inside),
        ("checking_purity", "true") => checking_purity(inside),
        ("time_limit_ms", limit) => {
            with_time_limit(Duration::from_millis(limit.parse().unwrap_or(TIME_LIMIT)), inside);
        }
        ("cancelled", "true") => {
            let handle = Cancel::new();
            handle.cancel();
            with_cancel(&handle, inside);
        }
        _ => inside(),
    }
}
