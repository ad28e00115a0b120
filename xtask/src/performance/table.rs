//! Tables of rows, in Markdown.

use super::row::Row;

/// Times, memory and building of each.
pub(super) fn comparisons(rows: &[&Row]) -> String {
    let head = [
        "program",
        "ours",
        "spread",
        "peer",
        "its time",
        "spread",
        "ratio",
        "our building",
        "its building",
        "our memory",
        "its memory",
        "share of the limit",
    ];
    let line = |row: &&Row| {
        vec![
            row.name.clone(),
            or_dash(row.ours.seconds, time),
            or_dash(row.ours.spread, two_digits),
            row.peer.clone().unwrap_or_else(dash),
            or_dash(row.theirs.seconds, time),
            or_dash(row.theirs.spread, two_digits),
            or_dash(row.ratio, two_digits),
            or_dash(row.ours.building, time),
            or_dash(row.theirs.building, time),
            or_dash(row.ours.bytes, size),
            or_dash(row.theirs.bytes, size),
            or_dash(row.share, two_digits),
        ]
    };
    table(&head, rows.iter().map(line))
}

/// First calls: the time of an equation in that of a graph of a hundred says whether the work is linear.
pub(super) fn first_calls(rows: &[&Row]) -> String {
    let head =
        ["graph", "equations", "ours", "spread", "peer", "its time", "ratio", "an equation, in those of 100"];
    let line = |row: &&Row| {
        let (kind, equations) = kind_and_size(&row.name);
        let each = |row: &Row| Some(row.ours.seconds? / kind_and_size(&row.name).1);
        let hundred =
            rows.iter().find(|other| kind_and_size(&other.name) == (kind, 100.0) && other.peer == row.peer);
        let linear = hundred.and_then(|hundred| Some(each(row)? / each(hundred)?));
        vec![
            kind.to_string(),
            equations.to_string(),
            or_dash(row.ours.seconds, time),
            or_dash(row.ours.spread, two_digits),
            row.peer.clone().unwrap_or_else(dash),
            or_dash(row.theirs.seconds, time),
            or_dash(row.ratio, two_digits),
            or_dash(linear, two_digits),
        ]
    };
    table(&head, rows.iter().map(line))
}

/// Limits by name, one column for each number of threads.
pub(super) fn limits(rows: &[&Row]) -> String {
    let mut threads: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let columns: Vec<String> = threads.iter().map(|threads| format!("threads: {threads}")).collect();
    let head: Vec<&str> = std::iter::once("limit").chain(columns.iter().map(String::as_str)).collect();
    let cell = |name: &str, threads: usize| {
        let row = rows.iter().find(|row| row.name == name && row.threads == threads);
        or_dash(row.and_then(|row| row.per_second), |rate| rate_of(name, rate))
    };
    let line = |name: &&str| {
        let cells = threads.iter().map(|&threads| cell(name, threads));
        std::iter::once(name.to_string()).chain(cells).collect()
    };
    table(&head, names.iter().map(line))
}

/// One sentence about the ratios of all rows of a table.
pub(super) fn mean(rows: &[&Row]) -> String {
    let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let below: Vec<String> = rows
        .iter()
        .filter(|row| row.ratio.is_some_and(|ratio| ratio < 1.0))
        .map(|row| format!("`{}` ({})", row.name, or_dash(row.ratio, two_digits)))
        .collect();
    let below = if below.is_empty() { "none".to_string() } else { below.join(", ") };
    format!("Geometric mean of {} ratios: {mean:.2}. Below 1: {below}.{}\n", ratios.len(), building(rows))
}

/// How much faster tracing and compiling is, where it is least.
fn building(rows: &[&Row]) -> String {
    let ratios = rows.iter().filter_map(|row| Some((row.theirs.building? / row.ours.building?, &row.name)));
    let least = ratios.min_by(|a, b| a.0.total_cmp(&b.0));
    least.map_or_else(String::new, |(least, name)| {
        format!(" Tracing and compiling takes the peer at least {least:.0} times as long (`{name}`).")
    })
}

/// One sentence about rows in which we need more memory than the peer.
pub(super) fn memory(rows: &[&Row]) -> String {
    let above =
        |row: &&&Row| row.ours.bytes.zip(row.theirs.bytes).is_some_and(|(ours, theirs)| ours > theirs);
    let names: Vec<String> = rows
        .iter()
        .filter(above)
        .map(|row| {
            let Row { name, ours, theirs, .. } = row;
            format!("`{name}` ({} beside {})", or_dash(ours.bytes, size), or_dash(theirs.bytes, size))
        })
        .collect();
    let names = if names.is_empty() { "none".to_string() } else { names.join(", ") };
    format!("Memory above the peer's: {names}.\n")
}

pub(super) fn table(head: &[&str], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for line in lines {
        text += &format!("| {} |\n", line.join(" | "));
    }
    text
}

/// `wide_1000` is a wide graph of 1,000 equations.
fn kind_and_size(name: &str) -> (&str, f64) {
    let split = name.rsplit_once('_').and_then(|(kind, size)| Some((kind, size.parse().ok()?)));
    split.unwrap_or((name, f64::NAN))
}

fn dash() -> String {
    "-".to_string()
}

fn or_dash(number: Option<f64>, show: impl Fn(f64) -> String) -> String {
    number.map_or_else(dash, show)
}

pub(super) fn two_digits(x: f64) -> String {
    format!("{x:.2}")
}

pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-4 => format!("{:.1} µs", s * 1e6),
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 0.1 => format!("{:.2} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b => format!("{:.1} MB", b / 1e6),
    }
}

fn rate_of(name: &str, rate: f64) -> String {
    let unit = if name.starts_with("fma") { "GFLOP/s" } else { "GB/s" };
    format!("{:.0} {unit}", rate / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::row;

    const ROWS: &str = r#"[
  {"name": "wide_100", "group": "first", "threads": 2, "ours_s": 1e-3, "peer": "jax", "peer_s": 5e-1, "ratio": 5e2},
  {"name": "wide_1000", "group": "first", "threads": 2, "ours_s": 1.2e-2, "peer": "jax", "peer_s": 6e-3, "ratio": 5e-1,
   "building_s": 1e-3, "peer_building_s": 2.5e-2},
  {"name": "exp", "group": "memory", "threads": 2, "ours_bytes": 4e3, "peer_bytes": 4e3},
  {"name": "log", "group": "memory", "threads": 2, "ours_bytes": 5e3, "peer_bytes": 4e2},
  {"name": "sin", "group": "memory", "threads": 2, "ours_bytes": 5e3},
  {"name": "copy_l1", "group": "limits", "threads": 2, "per_second": 5e11},
  {"name": "fma_f32", "group": "limits", "threads": 1, "per_second": 1.7e11}
]"#;

    fn lines(group: &str, show: fn(&[&Row]) -> String) -> Vec<String> {
        let rows = row::read(ROWS).expect("the rows are well-formed");
        let rows: Vec<&Row> = rows.iter().filter(|row| row.group == group).collect();
        show(&rows).lines().map(String::from).collect()
    }

    #[test]
    fn first_calls_are_compared_with_those_of_a_hundred_equations() {
        let lines = lines("first", first_calls);
        assert_eq!(lines[2], "| wide | 100 | 1.00 ms | - | jax | 500 ms | 500.00 | 1.00 |");
        assert_eq!(lines[3], "| wide | 1000 | 12.00 ms | - | jax | 6.00 ms | 0.50 | 1.20 |");
    }

    #[test]
    fn limits_have_a_column_for_each_number_of_threads() {
        let lines = lines("limits", limits);
        assert_eq!(lines[0], "| limit | threads: 1 | threads: 2 |");
        assert_eq!(lines[2..], ["| copy_l1 | - | 500 GB/s |", "| fma_f32 | 170 GFLOP/s | - |"]);
    }

    #[test]
    fn more_memory_is_named() {
        assert_eq!(lines("memory", memory), ["Memory above the peer's: `log` (5.0 kB beside 400 B)."]);
        let sentence = memory(&[]);
        assert_eq!(sentence, "Memory above the peer's: none.\n");
    }

    #[test]
    fn the_mean_is_geometric_and_names_what_is_slower() {
        let sentences = "Geometric mean of 2 ratios: 15.81. Below 1: `wide_1000` (0.50). \
            Tracing and compiling takes the peer at least 25 times as long (`wide_1000`).";
        assert_eq!(lines("first", mean), [sentences]);
    }
}
