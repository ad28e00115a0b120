//! The walk along all arguments of each function, chunk by chunk, on several threads.

use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tests::math::{Tally, Walk};

use crate::arguments::Arguments;
use crate::state::{CHUNK, State};

/// Walks what is not done yet of every function asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    for function in &arguments.functions {
        let walk = Walk::new(function)?;
        let mut state = State::open(&walk)?;
        if arguments.again {
            state.clear();
        }
        go(&walk, state, arguments)?;
    }
    Ok(())
}

fn go(walk: &Walk, state: State, arguments: &Arguments) -> Result<(), String> {
    let mut open = state.open_chunks();
    open.truncate(usize::try_from(arguments.chunks).unwrap_or(usize::MAX));
    let (next, began) = (AtomicUsize::new(0), Instant::now());
    let state = Mutex::new(state);
    let worker = || -> Result<(), String> {
        while let Some(&chunk) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut tally = Tally::default();
            let numbers = chunk * CHUNK..((chunk + 1) * CHUNK).min(walk.len());
            walk.numbers(numbers, &mut tally)?;
            let mut state = state.lock().map_err(|_| "another thread failed".to_owned())?;
            state.finish(chunk, &tally)?;
            show(walk, &state);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.threads).map(|_| scope.spawn(worker)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err("a thread failed".to_owned()))
        };
        threads.into_iter().try_for_each(join)
    })?;
    let state = state.into_inner().map_err(|_| "a thread failed".to_owned())?;
    show(walk, &state);
    let (name, time) = (walk.function().name, began.elapsed().as_secs_f64());
    let walked = (open.len() as u64 * CHUNK).min(walk.len());
    let each = if walked == 0 { 0.0 } else { 1e9 * time / walked as f64 };
    println!("\r{name}: {}, {time:.0} s, {each:.1} ns each", line(walk, &state));
    Ok(())
}

fn show(walk: &Walk, state: &State) {
    print!("\r{}: {:5.1} %, {}   ", walk.function().name, 100.0 * state.progress(), line(walk, state));
    // Progress that cannot be shown is no reason to stop.
    let _ = std::io::stdout().flush();
}

fn line(walk: &Walk, state: &State) -> String {
    let mistakes = state.tally.counts[4];
    let (error, bits) = state.tally.largest().unwrap_or((0.0, 0));
    let at = tests::math::show(walk.function(), bits);
    format!("{error:.3} ulp at {at}, {mistakes} special values wrong")
}
