//! Branches return what each other return: one structure, and one type for every array. Weak types yield.

use tracewell_graph::{ArrayType, Location};
use tracewell_trace::{Error, ErrorKind};

use super::body::{Body, converted};
use super::checks::{constant, difference, strong};
use crate::array::common_dtype;
use crate::staging::Function;
use crate::tree::{Tree, leaves, paths};

/// Makes the branches of a choice return one type. `names` says what the user calls each.
pub(super) fn unify<T: Tree>(
    function: &Function,
    bodies: &mut [Body<T>],
    names: &[String],
) -> Result<(), Error> {
    let api = function.api.name();
    let Some(first) = bodies.first() else { return Ok(()) };
    for (body, name) in bodies.iter().zip(names).skip(1) {
        let found = difference((&names[0], &first.result), (name, &body.result), "result");
        if let Some(difference) = found {
            let message = format!("the branches of `{api}` return different structures: {difference}");
            let error = Error::new(ErrorKind::Structure, message);
            let error = with_line(error, &names[0], None, first.line(0), function);
            return Err(with_line(error, name, None, body.line(0), function)
                .help("all branches return one structure: the same lengths, variants and static fields"));
        }
    }
    let mut types = Vec::new();
    for i in 0..leaves(&first.result).len() {
        let of_branches: Vec<ArrayType> =
            bodies.iter().map(|body| body.graph.output_types()[i].clone()).collect();
        let (dtype, weak) = common_dtype(&of_branches);
        let want = ArrayType { weak, ..of_branches[0].with_dtype(dtype) };
        let is_odd = |ty: &ArrayType| ty.shape != want.shape || (ty.dtype != dtype && !ty.weak);
        let Some(odd) = of_branches.iter().position(is_odd) else {
            types.push(want);
            continue;
        };
        // The other that it disagrees with: the first branch, unless it is that itself.
        let disagrees = |other: &usize| !strong(&of_branches[*other]).matches(&strong(&of_branches[odd]));
        let other = (0..of_branches.len()).find(disagrees).unwrap_or(0);
        let (a, b) = (odd.min(other), odd.max(other));
        let path = &paths(&first.result, "result")[i];
        let message = format!("the branches of `{api}` return different types for `{path}`");
        let mut error = Error::new(ErrorKind::Type, message);
        for branch in [a, b] {
            let line = bodies[branch].line(i);
            error = with_line(error, &names[branch], Some(&of_branches[branch]), line, function);
        }
        return Err(error.help(if of_branches[a].shape == of_branches[b].shape {
            let (a, b) = (constant(&of_branches[a]), constant(&of_branches[b]));
            format!("`.convert({a})` the second, or `.convert({b})` the first")
        } else {
            "all branches return one shape: `broadcast_to` or `reshape` one of them".to_string()
        }));
    }
    for body in bodies {
        body.graph = converted(&body.graph, &types)?;
    }
    Ok(())
}

/// Adds a note of what a branch returns, and where.
fn with_line(
    error: Error,
    name: &str,
    ty: Option<&ArrayType>,
    line: Option<Location>,
    function: &Function,
) -> Error {
    let line = line.unwrap_or_else(|| function.location.clone());
    match ty {
        Some(ty) => error.note(format!("{name} returns {} at {line}", strong(ty))),
        None => error.note(format!("{name} returns at {line}")),
    }
}
