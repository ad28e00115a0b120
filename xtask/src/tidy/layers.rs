//! Crates use only what the table in the architecture page lets them, so that the page stays true.
//!
//! The table's rows are `` | `crate` | what it is | may use | `` in reading order. What a crate's tests use
//! besides need only be above it. Every crate has a row, every row a crate, and every dependency comes from the
//! table of the workspace, where it has a comment that says why.

use super::tree::{File, Finding, Tree};

const PAGE: &str = "docs/architecture.md";

/// A row of the table.
struct Row<'t> {
    name: &'t str,
    uses: Vec<&'t str>,
    line: usize,
}

/// A line of a manifest's dependencies.
struct Dependency<'t> {
    name: &'t str,
    /// Whether only tests use it.
    dev: bool,
    /// Whether it is taken from the workspace.
    inherited: bool,
    line: usize,
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.file(PAGE) else {
        return vec![Finding::new(PAGE, 1, "there is no table of crates")];
    };
    let rows = rows(page);
    let mut findings = Vec::new();
    for row in &rows {
        if !manifests(tree).any(|file| crate_of(file) == Some(row.name)) {
            findings.push(Finding::new(
                PAGE,
                row.line,
                format!("there is no crate `{}`: remove the row", row.name),
            ));
        }
    }
    for file in manifests(tree) {
        let Some(name) = crate_of(file) else { continue };
        let Some(at) = rows.iter().position(|row| row.name == name) else {
            let message =
                format!("`{name}` has no row in the table of {PAGE}: say what it is and what it may use");
            findings.push(Finding::new(&file.path, 1, message));
            continue;
        };
        for dependency in dependencies(&file.text) {
            findings.extend(judge(&rows, at, &file.path, &dependency));
        }
    }
    findings
}

fn judge(rows: &[Row<'_>], at: usize, path: &str, dependency: &Dependency<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |message: String| findings.push(Finding::new(path, dependency.line, message));
    if !dependency.inherited {
        let name = dependency.name;
        say(format!("`{name}` is not taken from the workspace: write `{name}.workspace = true`"));
    }
    let row = &rows[at];
    let short = crate_name(dependency.name);
    let Some(place) = rows.iter().position(|row| row.name == short) else { return findings };
    if dependency.dev && place >= at {
        say(format!("the tests of `{}` use `{short}`, which is above it: move them to `tests`", row.name));
    }
    if !dependency.dev && !row.uses.contains(&short) {
        let allowed = if row.uses.is_empty() { "nothing".to_string() } else { row.uses.join(" ") };
        say(format!(
            "`{}` uses `{short}`, the table of {PAGE} lets it use {allowed}: find another way, \
             or change the table and write in docs/decisions why",
            row.name
        ));
    }
    findings
}

fn rows(page: &File) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let head = page.text.lines().position(|line| line.replace(' ', "") == "|crate|whatitis|mayuse|");
    let Some(head) = head else { return rows };
    for (i, text) in page.text.lines().enumerate().skip(head + 2) {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [_, name, _, uses, _] = cells.as_slice() else { break };
        let uses = if *uses == "all above" {
            rows.iter().map(|row| row.name).collect()
        } else {
            uses.split([' ', ','])
                .map(|word| word.trim_matches('`'))
                .filter(|w| !matches!(*w, "" | "–" | "-"))
                .collect()
        };
        rows.push(Row { name: name.trim_matches('`'), uses, line: i + 1 });
    }
    rows
}

/// The manifests of all crates, not that of the workspace.
fn manifests(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| file.path.ends_with("/Cargo.toml"))
}

/// The crate of a manifest, as the table names it.
fn crate_of(file: &File) -> Option<&str> {
    let line = file.text.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(crate_name(line.trim().trim_matches('"')))
}

fn crate_name(package: &str) -> &str {
    package.strip_prefix("tracewell-").unwrap_or(package)
}

/// The dependencies of a manifest: `name.workspace = true`, `name = { … }`, or a section `[dependencies.name]`.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found: Vec<Dependency<'_>> = Vec::new();
    let mut section = "";
    for (i, text) in manifest.lines().enumerate() {
        let line = i + 1;
        let text = text.split('#').next().unwrap_or(text).trim();
        if let Some(header) = text.strip_prefix('[') {
            section = header.trim_matches(['[', ']']);
            if let Some((kind, name)) = section.rsplit_once("dependencies.") {
                found.push(Dependency { name, dev: kind.ends_with("dev-"), inherited: false, line });
            }
        } else if section.ends_with("dependencies") && text.contains('=') {
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            let (name, field) = key.trim().split_once('.').unwrap_or((key.trim(), ""));
            let inherited = field == "workspace" || value.replace(' ', "").contains("workspace=true");
            found.push(Dependency { name, dev: section.ends_with("dev-dependencies"), inherited, line });
        } else if section.contains("dependencies.") && text.replace(' ', "") == "workspace=true" {
            found.last_mut().into_iter().for_each(|dependency| dependency.inherited = true);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
# Page

| crate | what it is | may use |
|---|---|---|
| `array` | arrays | – |
| `graph` | graphs | array |
| `tracewell` | the face | all above |

| other | table |
";

    fn manifest(name: &str, dependencies: &str) -> String {
        format!("[package]\nname = \"{name}\"\n\n{dependencies}\n[lints]\nworkspace = true\n")
    }

    fn found(graph: &str) -> Vec<String> {
        let tree = Tree::fake(&[
            (PAGE, TABLE),
            ("Cargo.toml", "[workspace]"),
            ("crates/array/Cargo.toml", &manifest("tracewell-array", "")),
            ("crates/graph/Cargo.toml", &manifest("tracewell-graph", graph)),
            (
                "crates/tracewell/Cargo.toml",
                &manifest("tracewell", "[dependencies]\ntracewell-graph.workspace = true"),
            ),
        ]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_table_allows_is_allowed() {
        let dependencies =
            "[dependencies]\ntracewell-array.workspace = true # why\nsmallvec = { workspace = true }";
        assert_eq!(found(dependencies), Vec::<String>::new());
        assert_eq!(found("[dev-dependencies.tracewell-array]\nworkspace = true"), Vec::<String>::new());
    }

    #[test]
    fn what_it_does_not_allow_is_found() {
        let up = found("[dependencies]\ntracewell.workspace = true");
        assert!(
            up.len() == 1 && up[0].starts_with("crates/graph/Cargo.toml:5: `graph` uses `tracewell`"),
            "{up:?}"
        );
        let tests = found("[dev-dependencies]\ntracewell.workspace = true");
        assert!(tests.len() == 1 && tests[0].contains("which is above it"), "{tests:?}");
        let version = found("[dependencies]\nlibc = \"0.2\"");
        assert!(version.len() == 1 && version[0].contains("`libc.workspace = true`"), "{version:?}");
        let section = found("[target.'cfg(unix)'.dependencies.tracewell]\nworkspace = true");
        assert_eq!(section.len(), 1, "{section:?}");
    }

    #[test]
    fn rows_and_crates_belong_together() {
        let tree = Tree::fake(&[(PAGE, TABLE), ("crates/new/Cargo.toml", &manifest("tracewell-new", ""))]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].starts_with("docs/architecture.md:5: there is no crate `array`"));
        assert!(found[3].starts_with("crates/new/Cargo.toml:1: `new` has no row"));
    }
}
