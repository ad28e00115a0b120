//! A comparison or a limit that `bench` measured.

use super::json::{self, Object, Value};
use crate::Result;

/// One object of the JSON. The fields are those that `bench --help` names.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) group: String,
    pub(super) threads: usize,
    pub(super) peer: Option<String>,
    pub(super) agrees: Option<bool>,
    /// Of a limit.
    pub(super) per_second: Option<f64>,
    pub(super) ratio: Option<f64>,
    pub(super) share: Option<f64>,
    pub(super) ours: Side,
    pub(super) theirs: Side,
}

/// What is known of one side.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub(super) seconds: Option<f64>,
    pub(super) spread: Option<f64>,
    /// Tracing and compiling.
    pub(super) building: Option<f64>,
    pub(super) bytes: Option<f64>,
}

/// The rows of a file.
pub(super) fn read(text: &str) -> Result<Vec<Row>> {
    json::read(text)?.iter().map(row).collect()
}

fn row(object: &Object) -> Result<Row> {
    let get = |key: &str| object.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let text = |key: &str| match get(key) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let number = |key: &str| match get(key) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let (Some(name), Some(group), Some(threads)) = (text("name"), text("group"), number("threads")) else {
        return Err(format!("{object:?} has no name, no group or no threads"));
    };
    Ok(Row {
        name,
        group,
        threads: threads as usize,
        peer: text("peer"),
        agrees: get("agrees").and_then(|value| if let Value::Bool(is) = value { Some(*is) } else { None }),
        per_second: number("per_second"),
        ratio: number("ratio"),
        share: number("share"),
        ours: Side {
            seconds: number("ours_s"),
            spread: number("ours_spread"),
            building: number("building_s"),
            bytes: number("ours_bytes"),
        },
        theirs: Side {
            seconds: number("peer_s"),
            spread: number("peer_spread"),
            building: number("peer_building_s"),
            bytes: number("peer_bytes"),
        },
    })
}
