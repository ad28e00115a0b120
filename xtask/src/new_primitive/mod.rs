//! A new primitive: a file with every rule of the trait, and its place in the one list.

use std::fs;
use std::path::Path;

use crate::args::Args;
use crate::{Result, Verb, workspace};

pub(crate) const VERB: Verb = Verb {
    name: "new-primitive",
    usage: "NAME",
    about: "Write a primitive that compiles and keeps every law, ready to be made yours",
    details: "\
NAME is as in texts: small letters, digits and `_`. Writes crates/graph/src/prim/NAME.rs and adds it to
crates/graph/src/prim/mod.rs. The file starts as the identity, element by element; docs/adding-a-primitive.md
says what each rule must do and how the laws check it.
",
    run: |mut args: Args| {
        let name = args.word().ok_or("name the primitive: `cargo xtask new-primitive cumulative_sum`")?;
        args.finish()?;
        apply(&workspace::root(), &name)
    },
};

const ROOMS: &str = "crates/graph/src/prim";
const TEMPLATE: &str = include_str!("template.txt");
/// As in .rustfmt.toml.
const WIDTH: usize = 110;

fn apply(root: &Path, name: &str) -> Result {
    let room = root.join(ROOMS).join(format!("{name}.rs"));
    let list = root.join(ROOMS).join("mod.rs");
    if room.exists() {
        return Err(format!("{ROOMS}/{name}.rs is there already"));
    }
    let text = fs::read_to_string(&list).map_err(|error| format!("cannot read {ROOMS}/mod.rs: {error}"))?;
    let text = listed(&text, name)?;
    fs::write(&room, filled(name)).map_err(|error| format!("cannot write {ROOMS}/{name}.rs: {error}"))?;
    fs::write(&list, text).map_err(|error| format!("cannot write {ROOMS}/mod.rs: {error}"))?;
    println!("wrote {ROOMS}/{name}.rs and listed `{}` in {ROOMS}/mod.rs", camel(name));
    println!("next: cargo check -p tracewell-graph, then cargo test -p tests --test laws");
    Ok(())
}

/// The file of a primitive.
fn filled(name: &str) -> String {
    TEMPLATE.replace("{Name}", &camel(name)).replace("{name}", name)
}

fn camel(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

/// The rooms' `mod.rs` with one more primitive: its module, its export and its place in the list.
fn listed(text: &str, name: &str) -> Result<String> {
    let plain = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !name.split('_').all(|word| plain(word) && word.chars().all(fits)) {
        return Err(format!("`{name}` is no name for a primitive: small letters, digits and single `_`"));
    }
    let variant = camel(name);
    if text.contains(&format!("\"{name}\"")) || text.contains(&format!("{variant} \"")) {
        return Err(format!("there is a primitive `{name}` already"));
    }
    let text = with_module(text, name)?;
    let text = with_entry(&text, "pub use self::{\n", "\n};", &format!("{name}::*"))?;
    with_entry(&text, "\nprimitives! {\n", "\n}\n", &format!("{variant} \"{name}\""))
}

/// Adds `mod name;` where it belongs in the alphabet.
fn with_module(text: &str, name: &str) -> Result<String> {
    let new = format!("mod {name};");
    let mut lines: Vec<&str> = text.lines().collect();
    let is_module = |line: &&str| line.starts_with("mod ") && line.ends_with(';');
    let last = lines.iter().rposition(is_module).ok_or("no `mod …;` is left in the list of primitives")?;
    let at = lines.iter().position(|line| is_module(line) && *line > new.as_str()).unwrap_or(last + 1);
    lines.insert(at, &new);
    Ok(lines.join("\n") + "\n")
}

/// Adds an entry to the comma-separated list between two marks, where it belongs in the alphabet, and fills the
/// lines again.
fn with_entry(text: &str, open: &str, close: &str, entry: &str) -> Result<String> {
    let lost = || format!("`{}` is not where it was: add `{entry}` by hand", open.trim());
    let (head, rest) = text.split_once(open).ok_or_else(lost)?;
    let (list, tail) = rest.split_once(close).ok_or_else(lost)?;
    if list.contains("//") {
        return Err(lost());
    }
    let mut entries: Vec<&str> = list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
    let at = entries.iter().position(|other| *other > entry).unwrap_or(entries.len());
    entries.insert(at, entry);
    Ok(format!("{head}{open}{}{close}{tail}", fill(&entries)))
}

/// As many entries on a line as fit, as rustfmt does.
fn fill(entries: &[&str]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for entry in entries {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + entry.len() < WIDTH => *line += &format!(" {entry},"),
            _ => lines.push(format!("    {entry},")),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy of the real rooms, so that a change of their layout is noticed here.
    fn copy(test: &str) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("tracewell-xtask-{test}-{}", std::process::id()));
        fs::create_dir_all(root.join(ROOMS)).unwrap();
        fs::copy(workspace::root().join(ROOMS).join("mod.rs"), root.join(ROOMS).join("mod.rs")).unwrap();
        root
    }

    #[test]
    fn a_new_primitive_has_its_file_and_its_places_in_the_list() {
        let root = copy("new");
        apply(&root, "log_twice").unwrap();
        let room = fs::read_to_string(root.join(ROOMS).join("log_twice.rs")).unwrap();
        let list = fs::read_to_string(root.join(ROOMS).join("mod.rs")).unwrap();
        let again = apply(&root, "log_twice");
        fs::remove_dir_all(&root).unwrap();

        assert!(room.starts_with("//! `log_twice x`"));
        assert!(
            room.contains("impl Primitive for LogTwice")
                && !room.contains("{name}")
                && !room.contains("{Name}")
        );
        assert!(list.contains("\nmod log_twice;\n"));
        assert!(list.contains(" log_twice::*,"));
        assert!(list.contains(" LogTwice \"log_twice\","));
        assert!(list.lines().all(|line| line.len() <= WIDTH));
        assert!(again.is_err_and(|message| message.contains("there already")));
    }

    /// But for one that has a body already.
    #[test]
    fn every_rule_of_the_trait_is_in_the_template() {
        let rules = fs::read_to_string(workspace::root().join("crates/graph/src/primitive.rs")).unwrap();
        let start = rules.find("pub trait Primitive").unwrap();
        let body = &rules[start..start + rules[start..].find("\n}\n").unwrap()];
        for rule in body.split("\n    fn ").skip(1) {
            let name = rule.split('(').next().unwrap();
            let has_body = rule[rule.find([';', '{']).unwrap()..].starts_with('{');
            assert_eq!(TEMPLATE.contains(&format!("    fn {name}(")), !has_body, "{name}");
        }
    }

    #[test]
    fn names_are_checked() {
        for name in ["Sinh", "a-b", "a__b", "_a", "2d", "a_2"] {
            assert!(listed("mod a;", name).is_err_and(|message| message.contains("no name")), "{name}");
        }
        let list = "mod add;\n\npub use self::{\n    add::*,\n};\n\nprimitives! {\n    Add \"add\",\n}\n";
        assert!(listed(list, "add").is_err_and(|message| message.contains("already")));
        assert_eq!(
            listed(list, "abs").unwrap(),
            "mod abs;\nmod add;\n\npub use self::{\n    abs::*, add::*,\n};\n\nprimitives! {\n    Abs \"abs\", Add \"add\",\n}\n"
        );
    }

    #[test]
    fn lines_are_filled_to_the_width() {
        // Four spaces, then 52 and 51 letters with a comma each and a space between: exactly the width.
        let (long, short) = ("x".repeat(52), "y".repeat(51));
        assert_eq!(fill(&[&long, &short]).lines().map(str::len).collect::<Vec<_>>(), [WIDTH]);
        assert_eq!(fill(&[&long, &long]).lines().count(), 2);
    }
}
