//! `cargo xtask performance`: writes docs/performance.md from what `bench` measured.

mod elsewhere;
mod json;
mod page;
mod row;
mod table;

use std::fs;

use self::row::Row;
use crate::args::Args;
use crate::{Result, Verb, workspace};

pub(crate) const VERB: Verb = Verb {
    name: "performance",
    usage: "FILE.json…",
    about: "Write docs/performance.md from what `bench --json` wrote",
    details: "\
Of a row that is in several files the last counts.
The prose is in xtask/src/performance/template.md; its comments say where tables go.
",
    run,
};

const TEMPLATE: &str = include_str!("template.md");
const PAGE: &str = "docs/performance.md";

fn run(mut args: Args) -> Result {
    let mut rows = Vec::new();
    while let Some(file) = args.word() {
        let text = fs::read_to_string(&file).map_err(|error| format!("cannot read {file}: {error}"))?;
        for row in row::read(&text).map_err(|error| format!("{file}: {error}"))? {
            put(&mut rows, row);
        }
    }
    args.finish()?;
    let page = page::fill(TEMPLATE, &rows)?;
    fs::write(workspace::root().join(PAGE), page).map_err(|error| format!("cannot write {PAGE}: {error}"))?;
    println!("{PAGE} is written from {} rows", rows.len());
    Ok(())
}

/// In the place of the row that was measured before, if there is one.
fn put(rows: &mut Vec<Row>, row: Row) {
    let same = |other: &&mut Row| {
        (&other.group, &other.name, &other.peer, other.threads)
            == (&row.group, &row.name, &row.peer, row.threads)
    };
    match rows.iter_mut().find(same) {
        Some(before) => *before = row,
        None => rows.push(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_measurement_counts() {
        let row =
            |ratio, threads| Row { name: "exp".to_string(), ratio: Some(ratio), threads, ..Row::default() };
        let mut rows = Vec::new();
        [row(1.0, 1), row(2.0, 2), row(3.0, 1)].into_iter().for_each(|row| put(&mut rows, row));
        let ratios: Vec<Option<f64>> = rows.iter().map(|row| row.ratio).collect();
        assert_eq!(ratios, [Some(3.0), Some(2.0)]);
    }
}
