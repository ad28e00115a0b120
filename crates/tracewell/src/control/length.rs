//! How many elements the arrays of a tree have along their leading axes, which a loop runs over.

use tracewell_trace::{Api, Error, ErrorKind};

use crate::tree::{TreeRef, leaves, paths};

/// The common length of a tree's arrays, which must be `given` where that is.
pub(super) fn length<X: TreeRef + ?Sized>(api: Api, xs: &X, given: Option<usize>) -> Result<usize, Error> {
    let name = api.name();
    let mut length: Option<(usize, String)> = None;
    for (leaf, path) in leaves(xs).into_iter().zip(paths(xs, "xs")) {
        if leaf.rank() == 0 {
            let message = format!("`{name}` has no axis of `{path}` to run over: it is {}", leaf.ty());
            return Err(Error::new(ErrorKind::Index, message)
                .help("capture it in the closure to use it whole for every element"));
        }
        let n = leaf.shape().size(0);
        match &length {
            Some((length, first)) if *length != n => {
                let message = format!(
                    "`{name}` runs over leading axes of one length: `{first}` has {length}, `{path}` has {n}"
                );
                return Err(Error::new(ErrorKind::Type, message).help(
                    "`slice` the longer one; capture in the closure what is used whole for every element",
                ));
            }
            Some(_) => {}
            None => length = Some((n, path)),
        }
    }
    match (length, given) {
        (Some((found, path)), Some(given)) if found != given => {
            let message = format!("`{name}` was given the length {given}, but `{path}` has {found} elements");
            Err(Error::new(ErrorKind::Type, message)
                .help("the arrays say the length: leave it out, or `slice` them to it"))
        }
        (Some((found, _)), _) => Ok(found),
        (None, Some(given)) => Ok(given),
        (None, None) => Err(nothing(api)),
    }
}

fn nothing(api: Api) -> Error {
    let name = api.name();
    let message = format!("`{name}` has nothing to run over: `xs` holds no arrays");
    let error = Error::new(ErrorKind::Structure, message);
    if api == Api::Scan {
        error.help(
            "give the length: `scan_with(init, &(), ScanOptions { length: Some(n), ..ScanOptions::default() }, f)`",
        )
    } else {
        error.help("give it an array to run over, such as `Array::arange(n, I32)`")
    }
}
