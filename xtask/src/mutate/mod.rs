//! Whether the tests notice: the workspace with one defect at a time, of which each must make a test fail.
//!
//! Defects are put into a copy of the workspace beside the build artefacts, which stays for the next run, so
//! that each costs one small compilation. First the tests must pass without a defect, else a failure means
//! nothing; and a defect must compile, else it is the compiler who noticed. Whether a test fails for the right
//! reason only a person can tell, so the table says which one it was.

mod copy;
mod defects;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;
use std::{env, fmt, fs};

use self::copy::synchronise;
use self::defects::all;
use crate::args::Args;
use crate::cargo::cargo;
use crate::{Result, Verb, workspace};

pub(crate) const VERB: Verb = Verb {
    name: "mutate",
    usage: "[--list | --check] [--only N,M-K] [--widths W,W]",
    about: "Put known defects into a copy of the code, one at a time, and see the tests notice each",
    details: "\
  --list      show the defects with their numbers
  --check     only see that each defect's text occurs exactly once in its file (part of `tidy`)
  --only N    only these defects, such as 3 or 1,4-6
  --widths W  run the tests once for each of these widths of vectors, such as 512,256,128
Fails if a defect survives at one of the widths; one in the code of wide vectors, which not every width runs, if it
survives at all of them. The copy, its artefacts and a log for each defect stay in `mutate` in the target
folder. To add a defect, see xtask/src/mutate/defects/mod.rs.
",
    run: mutate,
};

/// A mistake that somebody could make, and the test that must notice it.
struct Defect {
    /// What it breaks, in a few words.
    breaks: &'static str,
    file: &'static str,
    /// A piece of the file that occurs once.
    text: &'static str,
    /// What is there instead.
    with: &'static str,
    /// Arguments of `cargo test`: as few tests as will do.
    test: &'static str,
}

/// Crates that most defects make the compiler build again, which takes longer than their tests run: they are not
/// optimized.
const REBUILT: [&str; 6] = ["graph", "trace", "transform", "optimize", "fuse", "repro"];

/// Widths of vectors, in bits.
const WIDTHS: [&str; 3] = ["512", "256", "128"];

/// Where code is that only some of the widths run. Of Cranelift's every width runs a part, and its tests choose targets of
/// their own.
const OF_SOME_WIDTHS: &str = "crates/codegen/src/wide/";

/// What became of a defect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Caught,
    Survived,
    DoesNotCompile,
    /// Its test fails without it too.
    Unjudged,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Fate::Caught => "caught",
            Fate::Survived => "SURVIVED",
            Fate::DoesNotCompile => "NO CODE",
            Fate::Unjudged => "NO TEST",
        })
    }
}

fn mutate(mut args: Args) -> Result {
    let (list, check) = (args.flag("--list"), args.flag("--check"));
    let (only, widths) = (args.value("--only")?, args.value("--widths")?);
    args.finish()?;
    let root = workspace::root();
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    if list {
        for (i, defect) in all().iter().enumerate() {
            println!("{:>3}  {}\n       {}  (cargo test {})", i + 1, defect.breaks, defect.file, defect.test);
        }
        return Ok(());
    }
    let problems = stale(&read);
    if !problems.is_empty() {
        return Err(problems.join("\n  "));
    }
    if check {
        println!("{} defects, each in its place", all().len());
        return Ok(());
    }
    let chosen = match only {
        Some(text) => numbers(&text, all().len())?,
        None => (1..=all().len()).collect(),
    };
    let widths = widths.iter().flat_map(|text| text.split(',')).map(str::trim);
    let mut widths: Vec<Option<&str>> = widths.map(Some).collect();
    if let Some(wrong) = widths.iter().flatten().find(|width| !WIDTHS.contains(width)) {
        return Err(format!("`{wrong}` is no width of vectors: there are {}", WIDTHS.join(", ")));
    }
    if widths.is_empty() {
        widths.push(None);
    }
    Run::prepare(&root)?.all(&chosen, &widths)
}

/// What is wrong with the list of defects, given the text of a file.
pub(crate) fn stale<S: AsRef<str>>(read: &dyn Fn(&str) -> Option<S>) -> Vec<String> {
    let problem = |(i, defect): (usize, &Defect)| {
        let number = i + 1;
        let file = defect.file;
        let why = match read(file) {
            None => "the file is gone".to_string(),
            Some(text) => match text.as_ref().matches(defect.text).count() {
                1 => return None,
                count => format!("its text occurs {count} times"),
            },
        };
        Some(format!(
            "defect {number} ({}) in {file}: {why}; change it to fit the code of today",
            defect.breaks
        ))
    };
    all().into_iter().enumerate().filter_map(problem).collect()
}

/// The numbers in `1,4-6`.
fn numbers(text: &str, count: usize) -> Result<Vec<usize>> {
    let wrong = || format!("`{text}` does not name defects: there are 1 to {count}");
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.trim().parse::<usize>(), last.trim().parse::<usize>()) else {
            return Err(wrong());
        };
        if first == 0 || first > last || last > count {
            return Err(wrong());
        }
        all.extend(first..=last);
    }
    Ok(all)
}

/// A copy of the workspace to break.
struct Run {
    tree: PathBuf,
    target: PathBuf,
    logs: PathBuf,
}

impl Run {
    fn prepare(root: &Path) -> Result<Run> {
        let home = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let home = root.join(home).join("mutate");
        let run = Run { tree: home.join("tree"), target: home.join("target"), logs: home.join("logs") };
        fs::create_dir_all(&run.logs)
            .map_err(|error| format!("cannot make {}: {error}", run.logs.display()))?;
        synchronise(root, &run.tree)?;
        println!("the copy is {}", run.tree.display());
        Ok(run)
    }

    fn all(&self, chosen: &[usize], widths: &[Option<&str>]) -> Result {
        let defects = all();
        let chosen: Vec<(usize, &Defect)> = chosen.iter().map(|&n| (n, defects[n - 1])).collect();
        let mut tests: Vec<&str> = chosen.iter().map(|(_, defect)| defect.test).collect();
        tests.sort_unstable();
        tests.dedup();
        let mut broken = Vec::new();
        for test in tests {
            let log = format!("without {test}").replace([' ', '/'], "_");
            let mut passes = true;
            for width in widths {
                passes = passes && self.cargo_test(test, Step::Run(*width), &log)?;
            }
            println!("without a defect: {:<6}  cargo test {test}", if passes { "passes" } else { "FAILS" });
            if !passes {
                broken.push(test);
            }
        }
        let mut table = Vec::new();
        for (at, (number, defect)) in chosen.iter().enumerate() {
            let began = Instant::now();
            let judged = !broken.contains(&defect.test);
            let (fate, by) = match judged {
                true => self.one(*number, defect, widths)?,
                false => (Fate::Unjudged, "-".to_string()),
            };
            let seconds = began.elapsed().as_secs_f64();
            println!("[{}/{}] {fate:<8} {seconds:>6.1} s  {}  ({by})", at + 1, chosen.len(), defect.breaks);
            table.push(Row { number: *number, fate, by, defect });
        }
        report(&table)
    }

    /// What becomes of a defect, and by which test.
    fn one(&self, number: usize, defect: &Defect, widths: &[Option<&str>]) -> Result<(Fate, String)> {
        let path = self.tree.join(defect.file);
        let whole =
            fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", defect.file))?;
        let put = |text: &str| {
            fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", defect.file))
        };
        put(&whole.replacen(defect.text, defect.with, 1))?;
        let fate = self.judge(number, defect, widths);
        put(&whole)?;
        fate
    }

    /// What becomes of a defect that is in its place.
    fn judge(&self, number: usize, defect: &Defect, widths: &[Option<&str>]) -> Result<(Fate, String)> {
        let log = number.to_string();
        if !self.cargo_test(defect.test, Step::Compile, &log)? {
            return Ok((Fate::DoesNotCompile, "-".to_string()));
        }
        let (mut by, mut missed) = (None, Vec::new());
        for width in widths {
            let log = width.map_or_else(|| log.clone(), |width| format!("{log}_{width}"));
            if self.cargo_test(defect.test, Step::Run(*width), &log)? {
                missed.extend(*width);
            } else {
                by = by.or_else(|| Some(noticed(&fs::read_to_string(self.log(&log)).unwrap_or_default())));
            }
        }
        Ok(match by {
            None => (Fate::Survived, "-".to_string()),
            Some(by) if missed.is_empty() => (Fate::Caught, by),
            Some(by) if defect.file.starts_with(OF_SOME_WIDTHS) => {
                (Fate::Caught, format!("{by}, not at {}", missed.join(", ")))
            }
            Some(by) => (Fate::Survived, format!("at {}; else {by}", missed.join(", "))),
        })
    }

    fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    /// Whether a step of `cargo test` succeeds in the copy.
    fn cargo_test(&self, test: &str, step: Step<'_>, log: &str) -> Result<bool> {
        let log = self.log(log);
        let to_log =
            || fs::File::create(&log).map_err(|error| format!("cannot write {}: {error}", log.display()));
        let file = to_log()?;
        let copy = file.try_clone().map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let mut command = cargo(&["test", "--quiet"]);
        match step {
            Step::Compile => {
                command.arg("--no-run");
            }
            Step::Run(Some(width)) => {
                command.env("TRACEWELL_WIDTH", width);
            }
            Step::Run(None) => {}
        }
        for name in REBUILT {
            command.args(["--config", &format!("profile.dev.package.tracewell-{name}.opt-level=0")]);
        }
        // What changes is a line: whole crates are not compiled again for it, whatever the environment says.
        command.env("CARGO_INCREMENTAL", "1").args(["--config", "profile.dev.debug=false"]);
        command.args(test.split_whitespace()).current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        command.stdin(Stdio::null()).stdout(file).stderr(copy);
        let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
        Ok(status.success())
    }
}

/// What is wanted of `cargo test`.
#[derive(Clone, Copy)]
enum Step<'w> {
    Compile,
    /// At this width of vectors, or at that of the environment.
    Run(Option<&'w str>),
}

/// A line of the table.
struct Row<'d> {
    number: usize,
    fate: Fate,
    by: String,
    defect: &'d Defect,
}

/// The first test that failed, by what it printed.
fn noticed(log: &str) -> String {
    let panicked = |line: &str| {
        let (name, rest) = line.strip_prefix("thread '")?.split_once('\'')?;
        rest.contains("panicked").then(|| name.to_string())
    };
    let failed = |line: &str| line.strip_prefix("---- ")?.strip_suffix(" ----").map(str::to_string);
    let died = || log.contains("(signal: ").then(|| "the process died".to_string());
    log.lines()
        .find_map(|line| panicked(line).or_else(|| failed(line)))
        .or_else(died)
        .unwrap_or_else(|| "see its log".to_string())
}

fn report(table: &[Row<'_>]) -> Result {
    println!("\n  N  fate      {:<40}  {:<42}  what it breaks", "noticed by", "file");
    for Row { number, fate, by, defect } in table {
        println!("{number:>3}  {fate:<8}  {by:<40}  {:<42}  {}", defect.file, defect.breaks);
    }
    let count = |wanted: Fate| table.iter().filter(|row| row.fate == wanted).count();
    println!("\n{} of {} caught", count(Fate::Caught), table.len());
    let ways_out = [
        (Fate::Survived, "survived: write a test that notices"),
        (Fate::DoesNotCompile, "do not compile: write them so that they do"),
        (Fate::Unjudged, "were not judged: their tests fail without them"),
    ];
    let left = ways_out.iter().filter(|(fate, _)| count(*fate) > 0);
    let left: Vec<String> = left.map(|(fate, way_out)| format!("{} {way_out}", count(*fate))).collect();
    if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_read() {
        assert_eq!(numbers("1,4-6", 6), Ok(vec![1, 4, 5, 6]));
        for wrong in ["0", "7", "5-4", "x", ""] {
            assert!(numbers(wrong, 6).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_test_that_noticed_is_named() {
        let log = "running 2 tests\n\nthread 'a::b' (17) panicked at c.rs:1:2:\nthread 'd' (18) panicked at";
        assert_eq!(noticed(log), "a::b");
        assert_eq!(noticed("didn't exit successfully: `x` (signal: 8, SIGFPE)"), "the process died");
        assert_eq!(noticed("thread 'main' says hello"), "see its log");
    }

    #[test]
    fn every_defect_changes_something_and_names_a_test() {
        for defect in all() {
            assert!(defect.text != defect.with && !defect.text.is_empty(), "{}", defect.breaks);
            assert!(defect.test.starts_with("-p "), "{}", defect.breaks);
        }
    }

    #[test]
    fn a_defect_whose_text_is_gone_is_found() {
        let problems = stale(&|_: &str| Some("another text"));
        assert_eq!(problems.len(), all().len());
        assert!(problems[0].contains("occurs 0 times"), "{}", problems[0]);
        assert!(stale(&|_: &str| None::<&str>)[0].contains("the file is gone"));
    }
}
