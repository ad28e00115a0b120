//! The process that watches: starts the one that works, and keeps its last input if it does not end well.

use std::fs;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::WORKER;
use crate::arguments::Arguments;
use crate::findings::{Desk, save};

/// How much longer than asked the work may take: the last input may be a large one, and shrinking takes its time.
const PATIENCE: Duration = Duration::from_secs(120);

/// Whether nothing was found.
pub(crate) fn run(arguments: &Arguments) -> Result<bool, String> {
    let desk = std::env::temp_dir().join(format!("tracewell-fuzz-{}", std::process::id()));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let amount = match arguments.graphs {
        Some(count) => ["--graphs".to_owned(), count.to_string()],
        None => ["--seconds".to_owned(), arguments.time.as_secs().to_string()],
    };
    let mut child = Command::new(program)
        .args(amount)
        .args(["--seed", &arguments.seed.to_string()])
        .env(WORKER, &desk)
        .spawn()
        .map_err(|error| format!("cannot start the process that works: {error}"))?;
    let status = wait(&mut child, arguments.time + PATIENCE)?;
    let last = Desk::last(&desk);
    let _ = fs::remove_file(&desk);
    match (status.and_then(|status| status.code()), last) {
        (Some(0), _) => Ok(true),
        (Some(1), _) => Ok(false),
        (_, Some((folder, input))) => {
            let how = status.map_or("it did not end".to_owned(), |status| status.to_string());
            println!("FOUND an input that ends the process: {how}\n  in {}", save(&folder, &input));
            Ok(false)
        }
        (_, None) => Err("the process that works ended before it began".to_owned()),
    }
}

/// Waits for a process; after this time it is stopped and has no status.
fn wait(child: &mut Child, time: Duration) -> Result<Option<ExitStatus>, String> {
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(Some(status)),
            None if began.elapsed() > time => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
