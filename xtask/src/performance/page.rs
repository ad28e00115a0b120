//! The page: prose of a template, with tables where it asks for them.
//!
//! A line `<!-- table: GROUP PEERS THREADS -->` becomes the command that measures this and its table;
//! `<!-- first calls: … -->` the same for the group of first calls, `<!-- mean: … -->` a sentence about the ratios,
//! `<!-- memory: … -->` one about memory, `<!-- elsewhere: … -->` a table of rows that took the peer another time on another
//! machine, `<!-- limits -->` what the machine can do.

use super::row::Row;
use super::{elsewhere, table};
use crate::Result;

/// Fills the template.
pub(super) fn fill(template: &str, rows: &[Row]) -> Result<String> {
    let mut page = String::new();
    for line in template.lines() {
        match line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            Some(wish) => page += &granted(wish, rows)?,
            None => page += &format!("{line}\n"),
        }
    }
    Ok(page)
}

fn granted(wish: &str, rows: &[Row]) -> Result<String> {
    if wish == "limits" {
        let found: Vec<&Row> = rows.iter().filter(|row| row.group == "limits").collect();
        return if found.is_empty() {
            Err("no limit was measured".to_string())
        } else {
            Ok(table::limits(&found))
        };
    }
    let unknown = || format!("the template asks for `{wish}`, which means nothing");
    let (what, which) = wish.split_once(": ").ok_or_else(unknown)?;
    let [group, peers, threads] = which.split(' ').collect::<Vec<_>>()[..] else { return Err(unknown()) };
    let wanted = |row: &&Row| {
        let is_of_peer =
            row.peer.as_deref().is_some_and(|peer| peers.split(',').any(|wanted| wanted == peer));
        row.group == group && is_of_peer && row.threads.to_string() == threads
    };
    let found: Vec<&Row> = rows.iter().filter(wanted).collect();
    let command = format!("cargo xtask bench --filter {group} --against {peers} --threads {threads}");
    if found.is_empty() {
        return Err(format!("nothing was measured by `{command} --json FILE`, and the page asks for it"));
    }
    if let Some(wrong) = found.iter().find(|row| row.agrees == Some(false)) {
        return Err(format!("the result of `{}` does not agree: its time says nothing", wrong.name));
    }
    let command = format!("```sh\n{command}\n```\n\n");
    match what {
        "table" => Ok(command + &table::comparisons(&found)),
        "first calls" => Ok(command + &table::first_calls(&found)),
        "mean" => Ok(table::mean(&found)),
        "memory" => Ok(table::memory(&found)),
        "elsewhere" => Ok(elsewhere::apart(&found)),
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(agrees: bool) -> Row {
        Row {
            name: "exp".to_string(),
            group: "workloads".to_string(),
            threads: 2,
            peer: Some("jax".to_string()),
            ratio: Some(2.0),
            agrees: Some(agrees),
            ..Row::default()
        }
    }

    #[test]
    fn prose_stays_and_wishes_are_granted() {
        let page = fill("# Title\n<!-- mean: workloads jax 2 -->\nEnd\n", &[row(true)]);
        assert_eq!(page.as_deref(), Ok("# Title\nGeometric mean of 1 ratios: 2.00. Below 1: none.\nEnd\n"));
        let page = fill("<!-- table: workloads jax,numpy 2 -->\n", &[row(true)]).expect("it is granted");
        assert!(page.contains("--filter workloads --against jax,numpy --threads 2\n"), "{page}");
        assert!(page.contains("| exp |"), "{page}");
    }

    #[test]
    fn what_was_not_measured_or_is_wrong_is_an_error() {
        let refused = |wish: &str, row| fill(&format!("<!-- {wish} -->"), &[row]).expect_err(wish);
        assert!(refused("table: workloads jax 1", row(true)).contains("--threads 1"));
        assert!(refused("table: workloads c 2", row(true)).contains("--against c"));
        assert!(refused("table: workloads jax 2", row(false)).contains("`exp` does not agree"));
        assert!(refused("tabel: workloads jax 2", row(true)).contains("means nothing"));
        assert!(refused("limits", row(true)).contains("no limit"));
    }
}
