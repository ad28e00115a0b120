//! Whether the machine was ours: a virtual one is now and then taken away by its host, which the system counts.

use std::fs;
use std::time::{Duration, Instant};

/// The part of the time that may be taken away from a round that counts.
const TAKEN: f64 = 0.02;
/// A tick of the counters, in seconds: what is less than two of them may be rounding.
const TICK: f64 = 0.01;
/// After a round that was disturbed: the next may be as well.
const PAUSE: Duration = Duration::from_millis(300);

/// A round that was disturbed is left out, whatever it says, and taken again: for so many seconds of a run, which has to
/// end one day.
pub(super) struct Patience(pub(super) f64);

/// A stretch of time from now on.
pub(super) struct Watch {
    start: Instant,
    taken: f64,
}

impl Patience {
    /// Whether what was measured since counts.
    pub(super) fn counts(&mut self, watch: &Watch) -> bool {
        let (seconds, taken) = (watch.start.elapsed().as_secs_f64(), taken() - watch.taken);
        if self.0 <= 0.0 || taken < 2.0 * TICK || taken < TAKEN * seconds {
            return true;
        }
        std::thread::sleep(PAUSE);
        self.0 -= watch.start.elapsed().as_secs_f64();
        false
    }
}

impl Watch {
    pub(super) fn start() -> Watch {
        Watch { start: Instant::now(), taken: taken() }
    }
}

/// Seconds that the host took from all processors since the machine began; 0 where nobody counts them.
fn taken() -> f64 {
    // The eighth number of the first line, the sum of all processors.
    let ticks = || fs::read_to_string("/proc/stat").ok()?.split_whitespace().nth(8)?.parse::<f64>().ok();
    TICK * ticks().unwrap_or(0.0)
}
