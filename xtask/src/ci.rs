//! Everything a change must pass, in one command, within a time that people accept.
//!
//! Only two sets of artefacts are made, clippy's and the tests', both of one profile: compiling is most of the
//! time. Every step runs even if an earlier one failed, so that one run shows everything there is to fix; but
//! no step starts once the time is up.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::args::Args;
use crate::cargo::{cargo, run};
use crate::{Result, Verb, repro_yield, tidy};

pub(crate) const VERB: Verb = Verb {
    name: "ci",
    usage: "",
    about: "Run what every change must pass: formatting, tidy, clippy, all tests, a few programs of repros",
    details: "\
Prints the time of each step, warns if all together take more than 15 minutes and fails from 80. The clock starts
at TRACEWELL_CI_START (seconds since 1970), if that is set, so that compiling this tool counts too.
",
    run: ci,
};

/// The test command, as the README gives it.
pub(crate) const TEST: &[&str] = &["test", "--workspace"];

/// A machine that has other things to do may take longer than we should.
const LIMIT: Duration = Duration::from_secs(80 * 60);
const WARN: Duration = Duration::from_secs(15 * 60);

type Step = (&'static str, fn() -> Result);

const STEPS: &[Step] = &[
    ("fmt", || run(&mut cargo(&["fmt", "--all", "--check"]))),
    ("tidy", tidy::check_workspace),
    ("clippy", || run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))),
    // Builds the examples and runs the documentation's too.
    ("test", || run(&mut cargo(TEST))),
    // All are replayed from their texts by the tests.
    ("repros", repro_yield::build_few),
];

fn ci(args: Args) -> Result {
    args.finish()?;
    let clock = Clock::start();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("ci: {} steps on {cores} cores", STEPS.len());
    let mut report = vec![format!("  {:<8} {:>8}", "start", show(clock.total()))];
    let mut failed: Vec<&str> = Vec::new();
    for (name, step) in STEPS {
        if clock.total() > LIMIT {
            failed.push(name);
            report.push(format!("  {name:<8} {:>8}  not run: the time is up", "-"));
            continue;
        }
        println!("\nci: {name}");
        let began = Instant::now();
        let result = step();
        let mut line = format!("  {name:<8} {:>8}", show(began.elapsed()));
        if let Err(message) = result {
            failed.push(name);
            line += &format!("  failed: {message}");
        }
        report.push(line);
    }
    println!("\nci: time\n{}\n  {:<8} {:>8}", report.join("\n"), "total", show(clock.total()));
    verdict(&failed, clock.total())
}

/// What the whole run means.
fn verdict(failed: &[&str], total: Duration) -> Result {
    if total > WARN {
        println!("ci: warning: {} of the {} that a run should take", show(total), show(WARN));
    }
    if !failed.is_empty() {
        return Err(format!("ci failed: {}", failed.join(", ")));
    }
    if total > LIMIT {
        let (total, limit) = (show(total), show(LIMIT));
        return Err(format!("ci took {total}, more than {limit}: make a step faster (docs/testing.md)"));
    }
    println!("ci: all passed");
    Ok(())
}

/// Time since the run began, which may be before this process did.
struct Clock {
    before: Duration,
    began: Instant,
}

impl Clock {
    fn start() -> Clock {
        let started = std::env::var("TRACEWELL_CI_START").ok().and_then(|text| text.parse().ok());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let before = started.map_or(Duration::ZERO, |at| now.saturating_sub(Duration::from_secs(at)));
        Clock { before, began: Instant::now() }
    }

    fn total(&self) -> Duration {
        self.before + self.began.elapsed()
    }
}

/// Seconds below a minute, then minutes.
fn show(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 59.95 { format!("{seconds:.1} s") } else { format!("{:.1} min", seconds / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_seconds_then_minutes() {
        assert_eq!(show(Duration::from_millis(1240)), "1.2 s");
        assert_eq!(show(Duration::from_millis(59_990)), "1.0 min");
        assert_eq!(show(LIMIT), "80.0 min");
    }

    #[test]
    fn a_run_fails_by_a_step_or_by_the_clock() {
        assert_eq!(verdict(&[], LIMIT), Ok(()));
        assert!(
            verdict(&[], LIMIT + Duration::from_secs(1)).is_err_and(|e| e.contains("more than 80.0 min"))
        );
        assert!(verdict(&["fmt", "test"], WARN).is_err_and(|e| e.contains("fmt, test")));
    }
}
