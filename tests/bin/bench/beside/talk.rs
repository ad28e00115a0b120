//! How a side is asked: one line, one answer. The same words are spoken by peer.py and loops/peer.c.
//!
//! `first NAME` runs a program for the first time and answers the seconds and the numbers of its result;
//! `time NAME CALLS` answers the seconds of one call: the median of up to [`SLICES`] equal parts of so many calls, for
//! a machine that others use too stands still now and then, and the mean would say how often;
//! `least NAME CALLS` answers the seconds of one call in the fastest of these parts, and is asked of C;
//! `build NAME` traces and compiles a program anew and answers the seconds, or NaN;
//! `peak NAME` answers the seconds of calls in turn with those of their operations alone, and is asked of us;
//! `memory NAME` answers the bytes of its arguments, of its results and of what lies between, or NaN.
//!
//! A side keeps one program: the others' arrays would only be in the way.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::memory::Bytes;
use super::summary::summary;
use super::{Work, find, peak};
use crate::Result;
use crate::measure::{median, sample};

/// How long a batch of calls takes at least.
pub(super) const BATCH: f64 = 0.055;
/// The parts of a batch that are timed.
const SLICES: usize = 64;
/// After a turn: threads spin for a while before they sleep, and would take a core from the side that is asked next.
const PAUSE: Duration = Duration::from_millis(10);

/// A process that measures itself.
pub(super) struct Member {
    child: Child,
    /// Closed first, so that the process ends.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    name: String,
    /// What the first calls were: there is only one first call of a program.
    firsts: Vec<(String, First)>,
}

/// The first call of a program.
#[derive(Clone, Default)]
pub(super) struct First {
    /// Tracing and compilation included.
    pub(super) seconds: f64,
    /// What is compared of its result.
    pub(super) result: Vec<f64>,
}

impl Member {
    /// Starts it and waits until it is ready.
    pub(super) fn start(name: &str, command: &mut Command) -> Result<Member> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (questions, answers) = pipes.ok_or_else(|| format!("{name} has no pipes"))?;
        let answers = BufReader::new(answers);
        let mut member =
            Member { child, questions: Some(questions), answers, name: name.to_string(), firsts: vec![] };
        match member.answer()?.trim() {
            "ready" => Ok(member),
            other => Err(format!("{name} said `{other}` instead of `ready`")),
        }
    }

    /// What the system calls it.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Its first call of a program.
    pub(super) fn first(&mut self, program: &str) -> Result<First> {
        if let Some((_, first)) = self.firsts.iter().find(|(name, _)| name == program) {
            return Ok(first.clone());
        }
        let first = self.first_again(program)?;
        self.firsts.push((program.to_string(), first.clone()));
        Ok(first)
    }

    /// Another first call of a program, which is forgotten before.
    pub(super) fn first_again(&mut self, program: &str) -> Result<First> {
        let mut result = self.ask(&format!("first {program}"))?;
        Ok(First { seconds: result.remove(0), result })
    }

    /// Seconds of one call, from so many. Its threads sleep when this returns.
    pub(super) fn time(&mut self, program: &str, calls: usize) -> Result<f64> {
        let seconds = self.time_at_once(program, calls)?;
        std::thread::sleep(PAUSE);
        Ok(seconds)
    }

    /// The same for what is measured right behind it: its threads may still be awake.
    pub(super) fn time_at_once(&mut self, program: &str, calls: usize) -> Result<f64> {
        Ok(self.ask(&format!("time {program} {calls}"))?[0])
    }

    /// The same when it was fastest.
    pub(super) fn least(&mut self, program: &str, calls: usize) -> Result<f64> {
        let seconds = self.ask(&format!("least {program} {calls}"))?[0];
        std::thread::sleep(PAUSE);
        Ok(seconds)
    }

    /// How many calls make a batch.
    pub(super) fn calls(&mut self, program: &str) -> Result<usize> {
        let (mut calls, mut seconds) = (1, self.time(program, 1)?);
        // A single short call says little: more, until they last.
        while seconds * (calls as f64) < BATCH / 8.0 {
            calls *= 8;
            seconds = self.time(program, calls)?;
        }
        Ok((BATCH / seconds).ceil().max(1.0) as usize)
    }

    /// Seconds of tracing and compiling, NaN where nothing is compiled.
    pub(super) fn build(&mut self, program: &str) -> Result<f64> {
        Ok(self.ask(&format!("build {program}"))?[0])
    }

    /// Pairs of seconds: of a call, and of its operations alone.
    pub(super) fn peak(&mut self, program: &str) -> Result<Vec<f64>> {
        self.ask(&format!("peak {program}"))
    }

    /// The bytes that a program takes.
    pub(super) fn memory(&mut self, program: &str) -> Result<Bytes> {
        Ok(Bytes::from_numbers(&self.ask(&format!("memory {program}"))?))
    }

    fn ask(&mut self, question: &str) -> Result<Vec<f64>> {
        let pipe = self.questions.as_mut().ok_or("the conversation is over")?;
        let sent = writeln!(pipe, "{question}").and_then(|()| pipe.flush());
        sent.map_err(|error| format!("{} does not listen: {error}", self.name))?;
        let answer = self.answer()?;
        let numbers: std::result::Result<Vec<f64>, _> = answer.split_whitespace().map(str::parse).collect();
        let numbers = numbers.ok().filter(|numbers| !numbers.is_empty());
        numbers.ok_or_else(|| format!("{} answered `{}` to `{question}`", self.name, answer.trim()))
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err(format!("{} ended", self.name)),
            Ok(_) => Ok(line),
            Err(error) => Err(format!("{} cannot be heard: {error}", self.name)),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.questions.take());
        // It has nothing to do any more; how it ends does not matter.
        let _ = self.child.wait();
    }
}

/// Our side: answers until nobody asks.
pub(crate) fn serve() -> Result {
    println!("ready");
    let mut ready: Option<(String, Work)> = None;
    for line in std::io::stdin().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = match words[..] {
            ["first", name] => {
                // Frees what the last one held, and forgets what was compiled.
                drop(ready.take());
                tracewell::clear_caches();
                let program = find(name).ok_or_else(|| format!("there is no program `{name}`"))?;
                let mut work = (program.make)();
                let start = Instant::now();
                let result = work.arrays();
                let seconds = start.elapsed().as_secs_f64();
                ready = Some((name.to_string(), work));
                let numbers = summary(&result).map_err(|error| error.to_string())?;
                [&[seconds], &numbers[..]].concat()
            }
            ["time", name, calls] => {
                let calls: usize = calls.parse().map_err(|_| format!("`{calls}` is no count"))?;
                vec![median(&mut slices(work(&mut ready, name)?, calls))]
            }
            ["build", name] => {
                let work = work(&mut ready, name)?;
                tracewell::clear_caches();
                let building = || tracewell::cache_stats().building;
                let before = building();
                drop(work.arrays());
                vec![(building() - before).as_secs_f64()]
            }
            ["peak", name] => {
                let program = find(name).ok_or_else(|| format!("there is no program `{name}`"))?;
                peak::pairs(work(&mut ready, name)?, program.flops, program.doubles)
            }
            ["memory", name] => Bytes::of(work(&mut ready, name)?).numbers().to_vec(),
            _ => return Err(format!("`{line}` is no question")),
        };
        let numbers: Vec<String> = numbers.iter().map(|x| format!("{x:e}")).collect();
        println!("{}", numbers.join(" "));
    }
    Ok(())
}

/// The program that was asked for, if it is the one that was run first.
fn work<'a>(ready: &'a mut Option<(String, Work)>, name: &str) -> Result<&'a mut Work> {
    let found = ready.as_mut().filter(|(other, _)| other == name);
    found.map(|(_, work)| work).ok_or_else(|| format!("`{name}` was not run first"))
}

/// Seconds of one call in each part of so many, after one that fills the caches and wakes the threads, unless one call is all.
fn slices(work: &mut Work, calls: usize) -> Vec<f64> {
    if calls > 1 {
        work.calls(1);
    }
    let slice = calls.div_ceil(SLICES);
    (0..calls / slice).map(|_| sample(&mut || work.calls(slice), 1) / slice as f64).collect()
}
