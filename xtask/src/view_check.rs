//! `cargo xtask view-check`: the page of `tracewell view` in a browser.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::cargo::{cargo, run};
use crate::{Result, Verb, workspace};

pub(crate) const VERB: Verb = Verb {
    name: "view-check",
    usage: "[--browser PROGRAM]",
    about: "Open the page of a large graph in a headless browser: it loads, searches and folds",
    details: "\
Writes a graph of 10,000 equations, makes its page with `tracewell view`, and opens it in headless Chromium: no error on
the console, a search finds one equation, folding closes all, and it is there in under three seconds. Without a browser
it fails and says so; nothing else needs one. `--browser` names the program.
",
    run: view_check,
};

const EQUATIONS: usize = 10_000;
const LIMIT: Duration = Duration::from_secs(3);
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "chrome"];

fn view_check(mut args: Args) -> Result {
    let named = args.value("--browser")?;
    args.finish()?;
    let folder = workspace::root().join("target").join("view-check");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    let file = folder.join("large.ir");
    fs::write(&file, graph()).map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    let name = file.to_string_lossy().into_owned();
    run(&mut cargo(&["run", "--release", "--package", "tracewell-cli", "--", "view", &name]))?;
    let page = file.with_extension("html");
    let Some(browser) = named.or_else(installed) else {
        return Err(format!(
            "THERE IS NO BROWSER: the page was made but NOT LOOKED AT.\nInstall Debian's package `chromium`, or name a \
             program with --browser. The page: {}",
            page.display()
        ));
    };
    check(&browser, &page)
}

fn installed() -> Option<String> {
    let works =
        |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|said| said.status.success());
    BROWSERS.iter().find(works).map(|name| (*name).to_string())
}

/// Sums, one after the other, so that each has a line of its own.
fn graph() -> String {
    let mut text = String::from("func @large(%0: f32[16]) -> (f32[16]) {\n");
    for number in 0..EQUATIONS {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  %{}: f32[16] = add %{number}, 1.0:f32[16]    at src/large.rs:{}:5",
            number + 1,
            number + 10
        );
    }
    let _ = writeln!(text, "  return %{EQUATIONS}\n}}");
    text
}

fn check(browser: &str, page: &Path) -> Result {
    let url = format!("file://{}", page.display());
    let start = Instant::now();
    let plain = open(browser, &url)?;
    let time = start.elapsed();
    // Traced and optimized, and the line of the function.
    let lines = attribute(&plain, "data-lines")?;
    expect(lines >= 2 * EQUATIONS, &format!("{lines} lines are on the page"))?;
    expect(time < LIMIT, &format!("it took {time:.1?}, the browser's own start included"))?;
    let found = open(browser, &format!("{url}#search=src/large.rs:5432:5"))?;
    let hits = attribute(&found, "data-hits")?;
    expect(hits == 2, &format!("searching for a line finds {hits} equations, as traced and as optimized"))?;
    let folded = attribute(&open(browser, &format!("{url}#fold"))?, "data-open")?;
    expect(folded == 0, &format!("{folded} lines are open after folding"))?;
    println!("the page of {EQUATIONS} equations opens in {time:.1?}, searches and folds");
    Ok(())
}

/// The document after its scripts have run. An error on the console is one of ours.
fn open(browser: &str, url: &str) -> Result<String> {
    let words = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom", url];
    let said: Output = Command::new(browser)
        .args(words)
        .output()
        .map_err(|error| format!("cannot start `{browser}`: {error}"))?;
    let console = String::from_utf8_lossy(&said.stderr).into_owned();
    let wrong = console.lines().find(|line| line.contains("CONSOLE") || line.contains("Uncaught"));
    match wrong {
        Some(line) => Err(format!("the console says: {line}")),
        None if said.status.success() => Ok(String::from_utf8_lossy(&said.stdout).into_owned()),
        None => Err(format!("`{browser}` failed:\n{console}")),
    }
}

/// The number in an attribute of the document.
fn attribute(document: &str, name: &str) -> Result<usize> {
    let after = document.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
    after
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("the page has no `{name}`: its script did not run"))
}

fn expect(holds: bool, what: &str) -> Result {
    if holds { Ok(()) } else { Err(format!("not as it should be: {what}")) }
}
