//! Tokens to functions. Signatures are parsed; bodies are carried as they came, so that the compiler itself reports
//! what is wrong inside them.

use crate::mistakes::Mistakes;
use proc_macro2::{Delimiter, Group, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{AttrStyle, Attribute, Ident, Meta, Path, Result, Signature, Token, Visibility, token};

const NOT_A_FUNCTION: &str = "expected a function, as in `jit! { fn f(x: &Array) -> Array { … } }`";

/// A function as its author wrote it.
pub(crate) struct Function {
    /// Attributes to carry over: the options of `jit` are taken out.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// The braces and what is between them.
    pub(crate) body: Group,
    pub(crate) options: Options,
    /// What was wrong with the options.
    pub(crate) mistakes: Mistakes,
}

/// `donate(a, b), crate = path`.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) donate: Vec<Ident>,
    pub(crate) krate: Option<Path>,
}

/// The functions of a `jit!` block up to the first that cannot be parsed, and why it cannot.
pub(crate) fn items(input: TokenStream) -> (Vec<Function>, Mistakes) {
    let mut functions = Vec::new();
    let mut mistakes = Mistakes::default();
    let parser = |input: ParseStream| {
        while !input.is_empty() {
            functions.push(input.parse()?);
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(input) {
        mistakes.add_error(error);
    }
    (functions, mistakes)
}

impl Function {
    /// Adds the options given to the attribute form.
    pub(crate) fn add_options(&mut self, tokens: TokenStream) {
        let options = &mut self.options;
        if let Err(error) = (|input: ParseStream| options.parse_more(input)).parse2(tokens) {
            self.mistakes.add_error(error);
        }
    }
}

impl Parse for Function {
    fn parse(input: ParseStream) -> Result<Self> {
        let all = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        expect_function(input)?;
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(input.error("a jitted function needs a body"));
        }
        if !input.peek(token::Brace) {
            return Err(input.error("expected the body of the function"));
        }
        let (inner, body) = split_body(&input.parse()?)?;

        let mut function = Function {
            attrs: inner,
            vis,
            sig,
            body,
            options: Options::default(),
            mistakes: Mistakes::default(),
        };
        for attr in all {
            if !is_options(&attr) {
                function.attrs.push(attr);
                continue;
            }
            match attr.meta {
                Meta::Path(_) => {}
                Meta::List(list) => function.add_options(list.tokens),
                Meta::NameValue(_) => {
                    function.mistakes.add(attr, "expected `#[jit(donate(…), crate = path)]`")
                }
            }
        }
        Ok(function)
    }
}

impl Options {
    fn parse_more(&mut self, input: ParseStream) -> Result<()> {
        while !input.is_empty() {
            let name = input.call(Ident::parse_any)?;
            if name == "donate" {
                if !input.peek(token::Paren) {
                    return Err(syn::Error::new_spanned(
                        name,
                        "expected a list of parameters: `donate(a, b)`",
                    ));
                }
                let list;
                syn::parenthesized!(list in input);
                self.donate.extend(list.parse_terminated(Ident::parse_any, Token![,])?);
            } else if name == "crate" {
                input.parse::<Token![=]>()?;
                self.krate = Some(input.call(Path::parse_mod_style)?);
            } else {
                let message = format!("unknown option `{name}`: `jit` takes `donate(…)` and `crate = path`");
                return Err(syn::Error::new_spanned(name, message));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }
}

/// `#[jit(…)]` holds options in both forms of the macro. `#[jitted]` inside `jit!` can only mean the same, and left in
/// place it would trace the expansion once more.
fn is_options(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "jit" || segment.ident == "jitted")
}

/// Says what to do instead if what follows is not a function; else syn would expect a keyword the author never meant.
fn expect_function(input: ParseStream) -> Result<()> {
    if input.peek(Token![|]) || input.peek(Token![||]) || input.peek(Token![move]) {
        return Err(
            input.error("`jit!` defines functions; a closure is wrapped by a call: `jit(|x: &Array| …)`")
        );
    }
    let ahead = input.fork();
    let qualified = |input: ParseStream| -> Result<()> {
        input.parse::<Option<Token![const]>>()?;
        input.parse::<Option<Token![async]>>()?;
        input.parse::<Option<Token![unsafe]>>()?;
        input.parse::<Option<syn::Abi>>()?;
        input.parse::<Token![fn]>().map(drop)
    };
    qualified(&ahead).map_err(|_| input.error(NOT_A_FUNCTION))
}

/// Takes the inner attributes out of a body and makes them outer ones: the body becomes that of a closure, which
/// cannot have any.
fn split_body(body: &Group) -> Result<(Vec<Attribute>, Group)> {
    let parser =
        |input: ParseStream| Ok((input.call(Attribute::parse_inner)?, input.parse::<TokenStream>()?));
    let (mut attrs, rest) = parser.parse2(body.stream())?;
    for attr in &mut attrs {
        attr.style = AttrStyle::Outer;
    }
    let mut group = Group::new(Delimiter::Brace, rest);
    group.set_span(body.span());
    Ok((attrs, group))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{ToTokens, quote};

    fn messages(input: &str) -> Vec<String> {
        let (functions, mistakes) = items(input.parse().expect("tokens"));
        functions
            .iter()
            .flat_map(|function| function.mistakes.messages())
            .chain(mistakes.messages())
            .collect()
    }

    #[test]
    fn several_functions_with_attributes_and_options() {
        let (functions, mistakes) = items(quote! {
            /// Doc.
            #[jit(donate(a, b), crate = other::tracewell)]
            pub fn f(a: Array, b: Array) -> Array { a + b }
            fn g(x: &Array) -> Array { #![allow(unused)] this is not( even ) Rust }
        });
        assert!(mistakes.is_empty());
        let [f, g] = &functions[..] else { panic!("expected two functions") };
        assert_eq!(f.attrs.len(), 1);
        assert_eq!(f.options.donate.iter().map(Ident::to_string).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(f.options.krate.to_token_stream().to_string(), "other :: tracewell");
        assert_eq!(g.attrs.len(), 1);
        assert_eq!(g.body.to_string(), "{ this is not (even) Rust }");
    }

    #[test]
    fn what_is_not_a_function_is_told_once() {
        assert_eq!(messages("struct A; struct B;"), [NOT_A_FUNCTION]);
        assert_eq!(messages("pub const A: u8 = 1;"), [NOT_A_FUNCTION]);
        assert!(messages("|x: &Array| x.sin()")[0].contains("`jit(|x: &Array| …)`"));
        assert_eq!(messages("fn f(&self) -> Array;"), ["a jitted function needs a body"]);
    }

    #[test]
    fn functions_before_a_mistake_survive() {
        let (functions, mistakes) = items(quote!(
            fn f() -> Array {}
            struct A;
        ));
        assert_eq!(functions.len(), 1);
        assert!(!mistakes.is_empty());
    }

    #[test]
    fn options_are_checked() {
        assert!(messages("#[jit(donat(x))] fn f() -> A {}")[0].starts_with("unknown option `donat`"));
        assert!(messages("#[jit(donate)] fn f() -> A {}")[0].contains("`donate(a, b)`"));
        assert!(messages(r#"#[jit = "x"] fn f() -> A {}"#)[0].contains("expected `#[jit("));
        assert!(messages("#[jit] fn f() -> A {}").is_empty());
    }
}
