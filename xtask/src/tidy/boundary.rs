//! Every public function of the face that takes a function enters the boundary, so that errors raised inside
//! are caught, know the way they came, and observers see the call.
//!
//! Seen are `pub fn`s with `Fn(…)`, `FnMut(…)` or `FnOnce(…)`, or a trait of the face that is implemented for
//! functions, in their parameters, generics or `where`. One is fine if its body calls `boundary` or `enter`,
//! or a function of the same file that does. Not seen: functions that are hidden in a parameter's type, methods
//! of traits, and whether the call is reached.

use super::source::{braces, line, name, occurrences};
use super::tree::{Finding, Tree};

const FACE: &str = "crates/tracewell/src/";

/// Calls that enter.
const ENTRIES: &[&str] = &["boundary", "enter"];

/// Functions that need not enter, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("crates/tracewell/src/checks/keys.rs", "checking_keys", "runs its function under a switch"),
    ("crates/tracewell/src/checks/leaks.rs", "checking_leaks", "runs its function under a switch"),
    ("crates/tracewell/src/checks/misses.rs", "explain_cache_misses", "runs its function under a switch"),
    ("crates/tracewell/src/checks/purity.rs", "checking_purity", "runs its function under a switch"),
    ("crates/tracewell/src/checks/values.rs", "check_nans", "runs its function under a switch"),
    ("crates/tracewell/src/checks/values.rs", "check_compiled", "runs its function under a switch"),
    ("crates/tracewell/src/sabotage.rs", "breaking", "runs its function under a switch"),
    ("crates/tracewell/src/repro/session.rs", "recording_at_most", "runs its function under a switch"),
    ("crates/tracewell/src/op_trace/mod.rs", "tracing_ops", "runs its function under a recorder"),
    ("crates/tracewell/src/tape/query.rs", "backward_in", "calls its function at once, on nodes of a tape"),
    ("crates/tracewell/src/tape/query.rs", "forward_in", "calls its function at once, on nodes of a tape"),
    (
        "crates/tracewell/src/traced.rs",
        "start",
        "asks its function for the arguments of a call that is told of",
    ),
    (
        "crates/tracewell/src/traced.rs",
        "call",
        "the body of a user's function, which fails as it would otherwise",
    ),
    ("crates/tracewell/src/traced.rs", "end", "asks its function for the result of a call that is told of"),
    ("crates/tracewell/src/repro/mod.rs", "collect", "runs its function under a recorder"),
    ("crates/tracewell/src/repro/mod.rs", "writing_to", "runs its function under a switch"),
    ("crates/tracewell/src/repro/mod.rs", "expect", "runs its function under a recorder"),
    ("crates/tracewell/src/effects/print.rs", "capturing_prints", "runs its function under a switch"),
    ("crates/tracewell/src/effects/stop.rs", "with_cancel", "runs its function under a switch"),
    ("crates/tracewell/src/effects/stop.rs", "with_time_limit", "runs its function under a switch"),
    ("crates/tracewell/src/effects/callback.rs", "callback", "its function runs later, inside the boundary"),
    (
        "crates/tracewell/src/effects/callback.rs",
        "ordered_callback",
        "its function runs later, inside the boundary",
    ),
    ("crates/tracewell/src/jit/closure.rs", "jit", "keeps the closure; the calls of what it returns enter"),
    ("crates/tracewell/src/transform/jacobian.rs", "jacfwd", "made of `linearize` and `vmap`, which enter"),
    ("crates/tracewell/src/transform/jacobian.rs", "jacrev", "made of `vjp` and `vmap`, which enter"),
    ("crates/tracewell/src/transform/jacobian.rs", "hessian", "made of `jacfwd` and `grad`, which enter"),
    ("crates/tracewell/src/transform/jacobian.rs", "hvp", "made of `jvp` and `grad`, which enter"),
    ("crates/tracewell/src/tree.rs", "map", "a plain loop over leaves: nothing is traced"),
    ("crates/tracewell/src/tree.rs", "map2", "a plain loop over leaves: nothing is traced"),
    ("crates/tracewell/src/tree.rs", "field", "calls its function at once, with a longer path"),
    ("crates/tracewell/src/tree.rs", "variant", "calls its function at once, with a longer path"),
    ("crates/tracewell/src/tree.rs", "index", "calls its function at once, with a longer path"),
    (
        "crates/tracewell/src/windows/reduce.rs",
        "reduce_window",
        "calls its function at once, on parts of its array",
    ),
];

/// A function's text in parts.
struct Function<'t> {
    name: &'t str,
    public: bool,
    /// Generics, parameters and `where`, without the type it returns.
    takes: String,
    body: &'t str,
    at: usize,
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let face = || tree.rust().filter(|file| file.path.starts_with(FACE) && !tree.is_test(file));
    let traits: Vec<&str> = face().flat_map(|file| function_traits(&file.source().product)).collect();
    let mut findings = Vec::new();
    let mut used = vec![false; ALLOWED.len()];
    for file in face() {
        let code = &file.source().product;
        let functions = functions(code);
        let entering = entering(&functions);
        for function in functions.iter().filter(|f| f.public && takes_function(&f.takes, &traits)) {
            let enters = entering.contains(&function.name);
            match ALLOWED.iter().position(|(path, name, _)| *path == file.path && *name == function.name) {
                Some(entry) if !enters => used[entry] = true,
                None if !enters => findings.push(Finding::new(
                    &file.path,
                    line(code, function.at),
                    format!(
                        "`{}` takes a function but does not enter the boundary: call it there, \
                         or add it to xtask/src/tidy/boundary.rs with the reason",
                        function.name
                    ),
                )),
                _ => {}
            }
        }
    }
    for ((path, name, _), _) in ALLOWED.iter().zip(used).filter(|(_, used)| !used) {
        let message = format!("`{name}` of {path} needs no exception any more: remove it from the list");
        findings.push(Finding::new("xtask/src/tidy/boundary.rs", 1, message));
    }
    findings
}

/// All functions with a body.
fn functions(code: &str) -> Vec<Function<'_>> {
    let mut functions = Vec::new();
    for at in occurrences(code, "fn") {
        let rest = code[at + 2..].trim_start();
        let name = name(rest);
        // `fn(x) -> y` is a type.
        let Some((takes, body)) = (!name.is_empty()).then(|| signature(&rest[name.len()..])).flatten() else {
            continue;
        };
        let item = &code[code[..at].rfind(['{', '}', ';', ']']).map_or(0, |start| start + 1)..at];
        let public = occurrences(item, "pub").any(|p| !item[p + 3..].trim_start().starts_with('('));
        functions.push(Function { name, public, takes, body, at });
    }
    functions
}

/// What is between a function's name and its body, without the type it returns; and the body.
fn signature(rest: &str) -> Option<(String, &str)> {
    let generics = if rest.starts_with('<') { angles(rest) } else { 0 };
    let after = &rest[generics..];
    let parameters = generics + after.find('(')?;
    let parameters = parameters + braces(&rest[parameters..]);
    // A result or a `where` may hold brackets, but no braces.
    let open = parameters + rest[parameters..].find(['{', ';'])?;
    if rest[open..].starts_with(';') {
        return None;
    }
    let tail = &rest[parameters..open];
    let clause = occurrences(tail, "where").next().map_or("", |at| &tail[at..]);
    Some((format!("{} {clause}", &rest[..parameters]), &rest[open..open + braces(&rest[open..])]))
}

/// The length of a text from `<` to the `>` that closes it; the one in `->` does not.
fn angles(text: &str) -> usize {
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
        before = c;
    }
    text.len()
}

fn takes_function(takes: &str, traits: &[&str]) -> bool {
    let bounded = |kind: &&str| {
        occurrences(takes, kind).any(|at| takes[at + kind.len()..].trim_start().starts_with('('))
    };
    ["Fn", "FnMut", "FnOnce"].iter().any(bounded)
        || traits.iter().any(|name| occurrences(takes, name).next().is_some())
}

/// Traits that are implemented for functions: `impl<…, F, …> Name<…> for F where F: Fn…`.
fn function_traits(code: &str) -> Vec<&str> {
    let mut traits = Vec::new();
    for at in occurrences(code, "impl") {
        let rest = &code[at + 4..];
        if !rest.starts_with('<') {
            continue;
        }
        let head = &rest[..rest.find('{').unwrap_or(rest.len())];
        let generics = angles(head);
        let target = head[generics..].trim_start();
        let Some((_, subject)) = target.split_once(" for ") else { continue };
        let subject = name(subject.trim_start());
        let bound = [format!("{subject}: Fn"), format!("{subject}: for<")];
        if !subject.is_empty() && bound.iter().any(|b| head.contains(b.as_str())) && head.contains("Fn") {
            traits.push(name(target));
        }
    }
    traits
}

/// The functions that enter, themselves or through another of the file.
fn entering<'t>(functions: &[Function<'t>]) -> Vec<&'t str> {
    let calls = |body: &str, callee: &str| {
        occurrences(body, callee).any(|at| {
            let after = &body[at + callee.len()..];
            after.starts_with('(') || after.starts_with("::<")
        })
    };
    let mut entering: Vec<&str> = functions
        .iter()
        .filter(|f| ENTRIES.iter().any(|entry| calls(f.body, entry)))
        .map(|f| f.name)
        .collect();
    loop {
        let more: Vec<&str> = functions
            .iter()
            .filter(|f| !entering.contains(&f.name) && entering.iter().any(|callee| calls(f.body, callee)))
            .map(|f| f.name)
            .collect();
        if more.is_empty() {
            return entering;
        }
        entering.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut files = vec![("crates/tracewell/src/grad.rs", text.to_string())];
        // Every exception is in use, so that only what is asked about is found.
        for (path, name, _) in ALLOWED {
            let function = format!("pub fn {name}(f: impl Fn()) {{}}\n");
            match files.iter_mut().find(|(known, _)| known == path) {
                Some((_, text)) => text.push_str(&function),
                None => files.push((path, function)),
            }
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        check(&Tree::fake(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn functions_that_do_not_enter_are_found() {
        for text in [
            "\npub fn grad(f: impl Fn(&X) -> Y) -> Z { f(x) }",
            "\npub fn grad<F: FnOnce() -> Vec<u8>, T>(f: F) -> T where T: A { f() }",
            "\npub const fn grad<F>(f: F) where F: FnMut(&X) { f() }",
            "\npub fn grad(f: &dyn Fn(&X)) { my_boundary(f) }",
            "\npub fn grad<F: Traceable<X>>(f: F) { f() }\nimpl<F, X> Traceable<X> for F where F: Fn(X) -> X {}",
        ] {
            let found = found(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(
                found[0].starts_with("crates/tracewell/src/grad.rs:2: `grad` takes a function"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn functions_that_enter_or_take_none_are_fine() {
        for text in [
            "pub fn grad(f: impl Fn(&X) -> Y) -> Z { enter(Api::Grad, || f(x)) }",
            "pub fn grad(f: impl Fn(&X) -> Y) -> Z { enter::<X, Y>(|| f(x)) }",
            "pub fn grad(f: impl Fn(&X) -> Y) -> Z { inner(f) }\nfn inner<F>(f: F) -> Z { trace::boundary(f) }",
            "pub fn grad() -> impl Fn(&X) -> Y { |x| x }",
            "pub fn grad(x: X) -> fn(&X) -> Y { f }",
            "pub(crate) fn grad(f: impl Fn()) { f() }",
            "fn grad(f: impl Fn()) { f() }",
            "pub trait A { fn visit(&self, f: &mut dyn FnMut(&X)); }",
            "// pub fn grad(f: impl Fn()) { f() }",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn exceptions_that_are_not_needed_are_found() {
        let found = check(&Tree::fake(&[]));
        assert_eq!(found.len(), ALLOWED.len());
    }

    #[test]
    fn words_are_whole() {
        assert!(!takes_function("<F: MyFn(x)>", &[]));
    }
}
