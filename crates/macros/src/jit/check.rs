//! Finds the mistakes in a signature and decides how each parameter enters the trace.

use super::parse::Function;
use crate::mistakes::Mistakes;
use crate::types::{self, Within};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, Meta, Pat, ReturnType, Type};

/// A function without mistakes.
pub(crate) struct Plan<'a> {
    pub(crate) parameters: Vec<Parameter<'a>>,
    pub(crate) output: &'a Type,
}

/// One parameter, seen from both sides: as the caller passes it and as the body finds it.
pub(crate) struct Parameter<'a> {
    /// `#[cfg]`: it goes wherever the parameter goes.
    pub(crate) cfgs: Vec<&'a Attribute>,
    /// Lint levels: they go to the author's pattern.
    pub(crate) lints: Vec<&'a Attribute>,
    /// What messages and graphs call it.
    pub(crate) name: String,
    /// The variable that holds the caller's value. The body cannot name it.
    pub(crate) outer: Ident,
    /// The pattern that the body sees.
    pub(crate) pattern: TokenStream,
    /// The type, without its `&` if it is passed by reference.
    pub(crate) ty: TokenStream,
    pub(crate) passing: Passing,
}

/// How a parameter enters the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Passing {
    /// A tree by value.
    Value { donated: bool },
    /// A tree behind a `&`.
    Reference,
    /// A traced number: the caller passes anything that converts to it.
    Scalar { donated: bool },
    /// A static argument by value.
    StaticValue,
    /// A static argument behind a `&`. If it is a `str` or a slice it has to be copied to be kept.
    StaticReference { is_unsized: bool },
}

/// Checks a signature and its options.
pub(crate) fn check(function: &Function) -> Result<Plan<'_>, Mistakes> {
    let mut mistakes = function.mistakes.clone();
    qualifiers(function, &mut mistakes);
    let mut parameters: Vec<_> = (function.sig.inputs.iter().enumerate())
        .filter_map(|(index, input)| parameter(index, input, &mut mistakes))
        .collect();
    donations(function, &mut parameters, &mut mistakes);
    match output(function, &mut mistakes) {
        Some(output) if mistakes.is_empty() => Ok(Plan { parameters, output }),
        _ => Err(mistakes),
    }
}

/// The variable that holds the caller's value of a parameter. It has the name that the author chose, for the
/// documentation, but the hygiene of the macro: the body sees only what is inside the trace.
pub(crate) fn outer(index: usize, input: &FnArg) -> Ident {
    match input {
        FnArg::Receiver(receiver) => Ident::new("self", receiver.self_token.span),
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                let mut ident = pat.ident.clone();
                ident.set_span(ident.span().resolved_at(Span::mixed_site()));
                ident
            }
            _ => format_ident!("__arg{index}", span = Span::mixed_site()),
        },
    }
}

/// Whether this is `#[static_arg]`.
pub(crate) fn is_static_mark(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "static_arg")
}

/// Whether this decides if the parameter exists.
pub(crate) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")
}

fn qualifiers(function: &Function, mistakes: &mut Mistakes) {
    let sig = &function.sig;
    if let Some(token) = &sig.constness {
        mistakes.add(token, "a jitted function cannot be `const`: it is compiled while the program runs");
    }
    if let Some(token) = &sig.asyncness {
        mistakes.add(token, "a jitted function cannot be `async`: it is traced in one go");
    }
    if let Some(token) = &sig.unsafety {
        mistakes.add(token, "a jitted function cannot be `unsafe`: its body runs only while it is traced");
    }
    if let Some(abi) = &sig.abi {
        mistakes.add(abi, "a jitted function cannot be `extern`: its arguments are trees of arrays");
    }
    if let Some(variadic) = &sig.variadic {
        mistakes.add(variadic, "a jitted function cannot be variadic: take a slice, `&[Array]`");
    }
}

fn parameter<'a>(index: usize, input: &'a FnArg, mistakes: &mut Mistakes) -> Option<Parameter<'a>> {
    let (all, ty) = match input {
        FnArg::Receiver(receiver) => (&receiver.attrs, &*receiver.ty),
        FnArg::Typed(typed) => (&typed.attrs, &*typed.ty),
    };
    let (marks, attrs): (Vec<_>, Vec<_>) = all.iter().partition(|attr| is_static_mark(attr));
    let (cfgs, lints) = attrs.into_iter().partition(|attr| is_cfg(attr));
    for mark in &marks {
        if !matches!(mark.meta, Meta::Path(_)) {
            mistakes.add(mark, "`#[static_arg]` takes no options");
        }
    }
    let problem = if marks.is_empty() { traced_problem(ty) } else { static_problem(ty) };
    if let Some((tokens, message)) = problem {
        // The type of a receiver is usually not written: then there is only the receiver to point at.
        match input {
            FnArg::Receiver(_) => mistakes.add(input, message),
            FnArg::Typed(_) => mistakes.add(tokens, message),
        }
        return None;
    }

    let is_reference = matches!(types::peel(ty), Type::Reference(_));
    let referent = types::referent(ty);
    let passing = match (marks.is_empty(), is_reference) {
        (true, true) => Passing::Reference,
        (true, false) if types::is_scalar(ty) => Passing::Scalar { donated: false },
        (true, false) => Passing::Value { donated: false },
        (false, true) => Passing::StaticReference { is_unsized: is_unsized(referent) },
        (false, false) => Passing::StaticValue,
    };
    let (name, pattern, ty) = match input {
        FnArg::Receiver(receiver) => {
            let mutability = &receiver.mutability;
            let inside = inside_self(receiver.self_token.span);
            let pattern = if is_reference { quote!(#inside) } else { quote!(#mutability #inside) };
            // `self` alone has a type that nobody wrote: errors about it are shown at `self`.
            let ty = match receiver.colon_token {
                Some(_) => quote!(#referent),
                None => quote_spanned!(receiver.self_token.span=> Self),
            };
            ("self".to_owned(), pattern, ty)
        }
        FnArg::Typed(typed) => {
            let name = match &*typed.pat {
                Pat::Ident(pat) => pat.ident.unraw().to_string(),
                pat => pat.to_token_stream().to_string(),
            };
            (name, typed.pat.to_token_stream(), quote!(#referent))
        }
    };
    Some(Parameter { cfgs, lints, name, outer: outer(index, input), pattern, ty, passing })
}

/// The name of `self` inside the trace: `self` itself stays the caller's.
pub(crate) fn inside_self(span: Span) -> Ident {
    Ident::new("__self", span.resolved_at(Span::mixed_site()))
}

type Problem = Option<(TokenStream, String)>;

/// What keeps a parameter from being traced.
fn traced_problem(ty: &Type) -> Problem {
    if let Some(problem) = common_problem(ty) {
        return Some(problem);
    }
    if let Some((reference, within)) = types::nested_reference(ty) {
        let way_out = match within {
            Within::Reference => "one `&` is enough",
            Within::Sequence => "take `&[T]` or `Vec<T>`; an array is cheap to clone",
            Within::Tuple => "take each part as a parameter of its own",
            Within::Option => "take `&Option<T>` or `Option<T>`; an array is cheap to clone",
            Within::Other => "a tree owns its arrays, which are cheap to clone",
        };
        return Some((quote!(#reference), format!("a reference inside a type cannot be traced: {way_out}")));
    }
    if let Some(lifetime) = types::lifetime_argument(ty) {
        let message =
            format!("a tree owns its arrays: a type that borrows for `{lifetime}` cannot be traced");
        return Some((quote!(#lifetime), message));
    }
    let plain = types::plain(ty)?;
    let name = plain.name;
    let message = match (plain.is_number(), plain.contained) {
        (true, false) => format!(
            "`{name}` is a plain Rust type: mark the parameter `#[static_arg]` to compile one version per value, \
             or take a `Scalar` to trace it"
        ),
        (true, true) => format!(
            "`{name}` is a plain Rust type: mark the parameter `#[static_arg]` to compile one version per value, \
             or take an `Array` to trace it"
        ),
        (false, _) => format!(
            "`{name}` is a plain Rust type: mark the parameter `#[static_arg]` to compile one version per value"
        ),
    };
    Some((quote!(#name), message))
}

/// What keeps a parameter from being static.
fn static_problem(ty: &Type) -> Problem {
    if let Some(problem) = common_problem(ty) {
        return Some(problem);
    }
    if types::is_scalar(types::referent(ty)) {
        return Some((quote!(#ty), "a `Scalar` is traced: take `f64`, or remove `#[static_arg]`".into()));
    }
    if let Some((reference, _)) = types::nested_reference(ty)
        && reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static")
    {
        let message =
            "a static argument is kept with the compiled code: only its outermost type can be a reference";
        return Some((quote!(#reference), message.into()));
    }
    let lifetime = types::lifetime_argument(ty)?;
    let message =
        format!("a static argument is kept with the compiled code: its type cannot borrow for `{lifetime}`");
    Some((quote!(#lifetime), message))
}

/// What keeps a parameter from being either.
fn common_problem(ty: &Type) -> Problem {
    if let Type::Reference(reference) = types::peel(ty)
        && let Some(mutability) = &reference.mutability
    {
        let and = reference.and_token;
        let elem = reference.elem.to_token_stream();
        let message = format!(
            "a jitted function cannot change its arguments: take `{elem}` by value and return the new one; \
             `donate` lets it reuse the buffers"
        );
        return Some((quote!(#and #mutability #elem), message));
    }
    types::impl_trait(ty).map(|found| {
        let message = "a parameter of a jitted function needs a type with a name: `fn f<T: Tree>(x: T)`";
        (quote!(#found), message.to_owned())
    })
}

fn is_unsized(ty: &Type) -> bool {
    matches!(ty, Type::Slice(_)) || matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

fn donations(function: &Function, parameters: &mut [Parameter], mistakes: &mut Mistakes) {
    for (index, ident) in function.options.donate.iter().enumerate() {
        let name = ident.unraw().to_string();
        if function.options.donate[..index].contains(ident) {
            mistakes.add(ident, format!("`{name}` is donated twice"));
            continue;
        }
        let parameter = parameters.iter_mut().find(|parameter| parameter.name == name);
        match parameter.map(|parameter| &mut parameter.passing) {
            Some(Passing::Value { donated } | Passing::Scalar { donated }) => *donated = true,
            Some(Passing::Reference) => {
                let message = format!("`{name}` is a reference: only what is taken by value can be donated");
                mistakes.add(ident, message);
            }
            Some(Passing::StaticValue | Passing::StaticReference { .. }) => {
                mistakes.add(ident, format!("`{name}` is static: it has no buffer to donate"));
            }
            // A parameter that is wrong itself has already been told about.
            None if declares(function, &name) => {}
            None => mistakes.add(ident, format!("no parameter is called `{name}`")),
        }
    }
}

fn declares(function: &Function, name: &str) -> bool {
    function.sig.inputs.iter().any(|input| match input {
        FnArg::Receiver(_) => name == "self",
        FnArg::Typed(typed) => matches!(&*typed.pat, Pat::Ident(pat) if pat.ident.unraw() == name),
    })
}

fn output<'a>(function: &'a Function, mistakes: &mut Mistakes) -> Option<&'a Type> {
    let ReturnType::Type(_, ty) = &function.sig.output else {
        let message = "a jitted function returns what it computes: add `-> Array`";
        mistakes.add_error(syn::Error::new(function.sig.paren_token.span.close(), message));
        return None;
    };
    if let Some(found) = types::impl_trait(ty) {
        let message = "the result of a jitted function needs a type with a name: `fn f<T: Tree>(x: T) -> T`";
        mistakes.add(found, message);
    } else if let Some(reference) = types::any_reference(ty) {
        mistakes.add(reference, "a jitted function returns new arrays: its result cannot be a reference");
    } else if let Some(lifetime) = types::lifetime_argument(ty) {
        let message =
            format!("a jitted function returns new arrays: its result cannot borrow for `{lifetime}`");
        mistakes.add(lifetime, message);
    }
    Some(ty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jit::parse;

    fn parse(input: TokenStream) -> Function {
        let (mut functions, mistakes) = parse::items(input);
        assert!(mistakes.is_empty(), "{:?}", mistakes.messages());
        functions.remove(0)
    }

    fn messages(input: &str) -> Vec<String> {
        let tokens = input.parse().expect("tokens");
        check(&parse(tokens)).err().map(|mistakes| mistakes.messages()).unwrap_or_default()
    }

    /// Exactly one mistake, whose message contains `part`.
    #[track_caller]
    fn one(input: &str, part: &str) {
        let messages = messages(input);
        assert!(
            messages.len() == 1 && messages[0].contains(part),
            "expected one of `{part}`, got {messages:?}"
        );
    }

    fn passings(input: TokenStream) -> Vec<(String, Passing)> {
        let function = parse(input);
        let plan = check(&function).map_err(|mistakes| mistakes.messages()).expect("no mistakes");
        plan.parameters.into_iter().map(|parameter| (parameter.name, parameter.passing)).collect()
    }

    #[test]
    fn parameters_are_classified() {
        let found = passings(quote! {
            #[jit(donate(self, a))]
            fn f(self, a: Array, (b, c): (Array, Array), d: &[Array], e: t::Scalar, #[static_arg] g: bool,
                 #[static_arg] h: &str, #[static_arg] i: &String, r#type: &Array) -> Array {}
        });
        let expected = [
            ("self", Passing::Value { donated: true }),
            ("a", Passing::Value { donated: true }),
            ("(b , c)", Passing::Value { donated: false }),
            ("d", Passing::Reference),
            ("e", Passing::Scalar { donated: false }),
            ("g", Passing::StaticValue),
            ("h", Passing::StaticReference { is_unsized: true }),
            ("i", Passing::StaticReference { is_unsized: false }),
            ("type", Passing::Reference),
        ];
        assert_eq!(found, expected.map(|(name, passing)| (name.to_owned(), passing)));
    }

    #[test]
    fn qualifiers_are_rejected() {
        one("const fn f(x: &Array) -> Array {}", "`const`");
        one("async fn f(x: &Array) -> Array {}", "`async`");
        one("unsafe fn f(x: &Array) -> Array {}", "`unsafe`");
        one(r#"extern "C" fn f(x: &Array) -> Array {}"#, "`extern`");
        one("fn f(x: &Array, ...) -> Array {}", "variadic");
    }

    #[test]
    fn parameters_are_checked() {
        one("fn f(x: &mut Array) -> Array {}", "take `Array` by value");
        one("fn f(&mut self) -> Array {}", "take `Self` by value");
        one("fn f(x: impl Tree) -> Array {}", "`fn f<T: Tree>(x: T)`");
        one("fn f(x: &impl Tree) -> Array {}", "`fn f<T: Tree>(x: T)`");
        one("fn f(x: &[&Array]) -> Array {}", "take `&[T]`");
        one("fn f(x: (Array, &Array)) -> Array {}", "each part");
        one("fn f(x: Option<&Array>) -> Array {}", "`&Option<T>`");
        one("fn f(x: View<'_>) -> Array {}", "`'_`");
        one("fn f(x: f32) -> Array {}", "take a `Scalar`");
        one("fn f(x: Vec<f32>) -> Array {}", "take an `Array`");
        one("fn f(x: &str) -> Array {}", "per value");
        one("fn f(#[static_arg] x: Scalar) -> Array {}", "take `f64`");
        one("fn f(#[static_arg] x: &[&str]) -> Array {}", "outermost");
        one("fn f(#[static_arg] x: Name<'_>) -> Array {}", "`'_`");
        one("fn f(#[static_arg(x)] x: bool) -> Array {}", "no options");
        assert!(messages("fn f(#[static_arg] x: &[&'static str]) -> Array {}").is_empty());
    }

    #[test]
    fn results_are_checked() {
        one("fn f(x: &Array) {}", "add `-> Array`");
        one("fn f(x: &Array) -> impl Tree {}", "a type with a name");
        one("fn f(x: &Array) -> Result<impl Tree> {}", "a type with a name");
        one("fn f(x: &Array) -> &Array {}", "cannot be a reference");
        one("fn f(x: &Array) -> Result<(Array, &Array)> {}", "cannot be a reference");
        one("fn f(x: &Array) -> View<'_> {}", "borrow for `'_`");
    }

    #[test]
    fn donations_are_checked() {
        one("#[jit(donate(y))] fn f(x: Array) -> Array {}", "no parameter is called `y`");
        one("#[jit(donate(x))] fn f(x: &Array) -> Array {}", "`x` is a reference");
        one("#[jit(donate(x))] fn f(#[static_arg] x: bool) -> Array {}", "`x` is static");
        one("#[jit(donate(x, x))] fn f(x: Array) -> Array {}", "twice");
        one("#[jit(donate(x))] fn f(x: &mut Array) -> Array {}", "by value");
    }

    #[test]
    fn independent_mistakes_are_all_told() {
        assert_eq!(messages("async fn f(x: f32, y: &mut Array) {}").len(), 4);
    }
}
