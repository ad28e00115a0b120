//! What arrays given to branches and loops must be, and what is said where they are not.

use tracewell_array::DType;
use tracewell_graph::{ArrayType, Location};
use tracewell_trace::{Error, ErrorKind};

use crate::key::Key;
use crate::tree::{Tree, TreeRef, leaves, odd_one, paths};

/// How the structures of two trees of one type differ, in words.
pub(super) fn difference<T: Tree>(
    (first, a): (&str, &T),
    (second, b): (&str, &T),
    root: &str,
) -> Option<String> {
    let (left, right) = (paths(a, root), paths(b, root));
    if left != right {
        return Some(odd_one(first, &left, second, &right));
    }
    let key = |tree: &T| {
        let mut key = Key::new();
        tree.structure(&mut key);
        key
    };
    (key(a) != key(b)).then(|| "their static fields or map keys differ".to_string())
}

/// What a predicate must be.
pub(super) fn check_predicate(what: &str, ty: &ArrayType, line: Option<Location>) -> Result<(), Error> {
    if ty.dtype == DType::Bool && ty.rank() == 0 {
        return Ok(());
    }
    let mut error =
        Error::new(ErrorKind::Type, format!("{what} must be a bool scalar, found {}", strong(ty)));
    if let Some(line) = line {
        error = error.note(format!("it is made at {line}"));
    }
    Err(match (ty.dtype == DType::Bool, ty.rank() == 0) {
        (false, true) => error.help("compare it, as in `.gt(0)` or `.ne(0)`"),
        (false, false) => {
            error.help("compare it and make one of many, as in `.gt(0).all()` or `.ne(0).any()`")
        }
        _ => error
            .help("`.all()` or `.any()` makes one of many")
            .help("to choose for each element use `select`; to choose for each example, `vmap` the function"),
    })
}

/// What a number that chooses or counts must be.
pub(super) fn check_integer(what: &str, ty: &ArrayType, help: &str) -> Result<(), Error> {
    if ty.dtype.is_integer() && ty.rank() == 0 {
        return Ok(());
    }
    let message = format!("{what} must be an integer scalar, found {}", strong(ty));
    Err(Error::new(ErrorKind::Type, message).help(help))
}

/// What a function that is staged for whole arrays must give back: their structure and types.
pub(super) fn check_same<X: TreeRef + ?Sized>(
    what: &str,
    given: &X,
    found: &X::Owned,
    line: Location,
    help: &str,
) -> Result<(), Error> {
    let (expected, returned) = (paths(given, "x"), paths(found, "x"));
    if expected != returned {
        let odd = odd_one("what it is given", &expected, "what it returns", &returned);
        let message = format!("{what} returns another structure than it is given: {odd}");
        return Err(Error::new(ErrorKind::Structure, message).help(help));
    }
    for ((want, have), path) in leaves(given).into_iter().zip(leaves(found)).zip(expected) {
        if !want.ty().matches(&have.ty()) {
            let (want, found) = (strong(&want.ty()), strong(&have.ty()));
            let message = format!("{what} returns {found} for `{path}`, of which it is given {want}");
            let made = have.value().tracer().map_or(line, |tracer| tracer.made().clone());
            let error = Error::new(ErrorKind::Type, message);
            let error = error.note(format!("what is returned for it is made at {made}"));
            return Err(match want.shape == found.shape {
                true => error.help(format!("`.convert({})` what is returned", constant(&want))),
                false => error.help(help),
            });
        }
    }
    Ok(())
}

/// The type without its weakness, which is of no interest in an error.
pub(super) fn strong(ty: &ArrayType) -> ArrayType {
    ArrayType { weak: false, ..ty.clone() }
}

/// Its element type as the program writes it.
pub(super) fn constant(ty: &ArrayType) -> String {
    ty.dtype.to_string().to_uppercase()
}

/// A shape as the program writes it.
pub(super) fn sizes(ty: &ArrayType) -> String {
    let sizes: Vec<String> = ty.shape.iter().map(|n| n.to_string()).collect();
    format!("[{}]", sizes.join(", "))
}
