//! The page docs/errors.md: written from the programs and what they say, and compared with what is there.
//!
//! A program is a module of its file, shown as a file of its own: places in messages are counted from the module's
//! first line, so that they name the user's line and do not change when another mistake is added.
//! `TRACEWELL_BLESS=1` writes the page.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use expect_test::expect;

use super::MISTAKES;

/// A mistake, how it shows, and the way out.
pub(super) struct Mistake {
    /// The name of its file.
    pub(super) name: &'static str,
    /// The text of its file.
    pub(super) source: &'static str,
    pub(super) wrong: Wrong,
    pub(super) right: fn() -> Option<String>,
}

/// The wrong program.
pub(super) enum Wrong {
    /// It compiles, and says what is wrong when it runs.
    Runs(fn() -> Option<String>),
    /// The compiler says what is wrong.
    DoesNotCompile { program: &'static str, errors: &'static str },
}

/// What `main` returns.
pub(super) trait Ending {
    /// The error's text, if it is one.
    fn message(self) -> Option<String>;
}

impl Ending for () {
    fn message(self) -> Option<String> {
        None
    }
}

impl Ending for tracewell::Result<()> {
    fn message(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}

/// A program cut out of its file.
struct Program {
    /// As a file of its own.
    text: String,
    /// The line before its first.
    before: usize,
}

impl Mistake {
    /// The program of a module of the file.
    fn program(&self, module: &str) -> Program {
        let open = format!("pub mod {module} {{");
        let before = self.source.lines().position(|line| line == open);
        let before = before.unwrap_or_else(|| panic!("{}: there is no `{open}`", self.name)) + 1;
        let lines = self.source.lines().skip(before).take_while(|line| *line != "}");
        let text: String =
            lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
        Program { text: text.replace("pub fn main", "fn main"), before }
    }

    /// What the wrong program says, with places in the program.
    fn message(&self, run: fn() -> Option<String>) -> String {
        let found = match catch_unwind(run) {
            Ok(message) => message,
            Err(payload) => Some(payload.downcast_ref::<String>().expect("a text").clone()),
        };
        let found = found.unwrap_or_else(|| panic!("{}: the wrong program is right", self.name));
        let program = self.program("wrong");
        assert!(found.contains("--> tests/errors/"), "{}: no line of the program:\n{found}", self.name);
        assert!(!found.contains("crates/"), "{}: a line of ours:\n{found}", self.name);
        let count = program.text.lines().count();
        let path = format!("face::mistakes::{}::wrong::", self.name);
        places(&found.replace(&path, ""), &format!("tests/errors/{}.rs", self.name), |line, column| {
            let line = line.checked_sub(program.before).filter(|line| (1..=count).contains(line));
            let line = line.unwrap_or_else(|| panic!("{}: not of the program:\n{found}", self.name));
            (line, column - 4)
        })
    }

    /// Its part of the page.
    fn section(&self) -> String {
        let mut about = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let title = about.next().expect("a title").trim();
        let why: String = about.skip(1).map(|line| format!("{}\n", line.trim())).collect();
        let (wrong, message) = match self.wrong {
            Wrong::Runs(run) => (self.program("wrong").text, self.message(run)),
            Wrong::DoesNotCompile { program, errors } => (program.to_string(), first_error(errors)),
        };
        let right = self.program("right").text;
        let message = message.trim_end();
        format!(
            "### {title}\n\n{why}\n```rust\n{wrong}```\n\n```text\n{message}\n```\n\nBetter:\n\n```rust\n{right}```\n\n"
        )
    }
}

/// The text with every `file:line:column` of a file as one of `src/main.rs`, moved by `to`.
fn places(text: &str, file: &str, to: impl Fn(usize, usize) -> (usize, usize)) -> String {
    let file = format!("{file}:");
    let mut pieces = text.split(&file);
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(piece.len());
        let (line, column) = piece[..end].trim_end_matches(':').split_once(':').expect("a line and a column");
        let (line, column) = to(line.parse().expect("a line"), column.parse().expect("a column"));
        out += &format!("src/main.rs:{line}:{column}{}", &piece[end..]);
    }
    out
}

/// The first error of the compiler, without what it says about traits and other crates.
fn first_error(errors: &str) -> String {
    let mut shown = String::new();
    let mut skipping = false;
    for line in errors.lines().take_while(|line| !line.is_empty()) {
        // `help:` and `note:` at the margin open a part of their own; `= help:` goes on in deeper lines.
        let part = line.starts_with("help:") || line.starts_with("note:");
        let list = line.trim_start().starts_with("= help:");
        if part || list {
            skipping = true;
        } else if line.trim_start().starts_with("= note:") {
            skipping = line.contains("required ");
        }
        if !skipping {
            shown += line;
            shown.push('\n');
        }
    }
    let shown = shown.trim_end_matches([' ', '|', '\n']);
    let place = shown.lines().find_map(|line| line.trim().strip_prefix("--> ")).expect("a place");
    let file = place.split(':').next().expect("a file").to_string();
    shown.replace(&format!("{file}:"), "src/main.rs:")
}

const INTRODUCTION: &str = "\
# Errors

Mistakes, what Tracewell says about them, and the way out.
This page is made from the programs in `tests/errors` and from what they say.
`cargo xtask bless -p tests --test face` writes it anew.

A message has one form, whoever finds the mistake:

```text
what is wrong, with what was expected and what was found
  --> your line, while tracing the function it is in (where that is) for the API that traces it, called from …
  note: what else helps to understand it
  help: a way out
```

An operator cannot return a `Result`, so a mistake panics with this text.
Inside a traced function that returns `Result`, it is the `Err` that the function gives to its caller.
The line is that of the operation, also inside `jit!`, `grad` and `vmap`.
Where a function was returned by an API (a pullback, `grad(f)`), the line is that of the API.

";

fn page() -> String {
    let mut page = INTRODUCTION.to_string();
    for (group, mistakes) in MISTAKES {
        page += &format!("## {group}\n\n");
        mistakes.iter().for_each(|mistake| page += &mistake.section());
    }
    page.trim_end().to_string() + "\n"
}

fn root() -> PathBuf {
    let is_root = |path: &&Path| path.join("Cargo.lock").exists();
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(is_root);
    above.expect("a workspace").to_path_buf()
}

#[test]
fn the_page_says_what_the_programs_say() {
    // Other packages have the programs for other tests, under other paths.
    if env!("CARGO_PKG_NAME") != "tests" {
        return;
    }
    let path = root().join("docs/errors.md");
    let page = page();
    if std::env::var_os("TRACEWELL_BLESS").is_some() {
        fs::write(&path, &page).expect("a writable page");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    if page != written {
        let line = page.lines().zip(written.lines()).position(|(new, old)| new != old).unwrap_or(0);
        let around =
            |text: &str| text.lines().skip(line.saturating_sub(8)).take(16).collect::<Vec<_>>().join("\n");
        let (found, expected) = (around(&page), around(&written));
        panic!(
            "docs/errors.md:{}: expected\n{expected}\nfound\n{found}\nTRACEWELL_BLESS=1 accepts it",
            line + 1
        );
    }
}

#[test]
fn the_right_programs_run() {
    // They read files beside the tests of the face; others that share the programs run elsewhere.
    if env!("CARGO_PKG_NAME") != "tests" {
        return;
    }
    for mistake in MISTAKES.iter().flat_map(|(_, mistakes)| *mistakes) {
        assert_eq!((mistake.right)(), None, "{}", mistake.name);
    }
}

#[test]
fn every_program_is_on_the_page() {
    let entries = fs::read_dir(root().join("tests/errors")).expect("a folder of programs");
    let names = entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    let mut files: Vec<String> = names
        .map(|name| name.trim_end_matches(".rs").to_string())
        .filter(|n| n != "mod" && n != "page")
        .collect();
    let mut listed: Vec<&str> =
        MISTAKES.iter().flat_map(|(_, all)| *all).map(|mistake| mistake.name).collect();
    files.sort();
    listed.sort_unstable();
    assert_eq!(files, listed);
}

#[test]
fn places_are_counted_from_the_program() {
    let text = "wrong\n  --> tests/errors/a.rs:12:9, while tracing `f` (tests/errors/a.rs:10:5) for jit";
    expect!["wrong\n  --> src/main.rs:7:5, while tracing `f` (src/main.rs:5:1) for jit"].assert_eq(&places(
        text,
        "tests/errors/a.rs",
        |line, column| (line - 5, column - 4),
    ));
}
