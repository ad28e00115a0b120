//! Writes the function that callers see: it collects its arguments and runs its body as a closure inside a trace.
//!
//! The body is a closure and not a nested function because it may use the generics and the `Self` around it. Locals
//! have the hygiene of the macro, so that no name of the author meets them.

use super::check::{self, Parameter, Passing, Plan};
use super::parse::Function;
use super::rename::rename_self;
use crate::types;
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, Lifetime, Pat, PatType, ReturnType, Signature, parse_quote};

/// The function, traced.
pub(crate) fn expand(function: &Function, plan: &Plan) -> TokenStream {
    let private = types::private(function.options.krate.as_ref());
    let Function { attrs, vis, .. } = function;
    let sig = signature(function);
    let output = plan.output.to_token_stream();
    let name = function.sig.ident.unraw().to_string();
    let location = location(function.sig.ident.span());
    let convert = plan.parameters.iter().filter_map(convert);
    let record = plan.parameters.iter().enumerate().map(|(index, parameter)| record(index, parameter));
    let enter = plan.parameters.iter().enumerate().map(|(index, parameter)| enter(index, parameter));
    let has_receiver = plan.parameters.iter().any(|parameter| parameter.name == "self");
    let body = if has_receiver { rename_self(function.body.stream()) } else { function.body.stream() };
    // Braces in the place of the author's, but of the macro, have its edition: what the last expression borrows from the
    // arguments is released before they are, also in a crate of an older edition.
    let traced = block(quote!(#(#enter)* #body), function.body.span().resolved_at(Span::mixed_site()));
    let inside = quote_spanned!(Span::mixed_site()=> |__inside: &mut __tracewell::Inside| -> #output #traced);
    let run = call(
        quote!(__tracewell::Call::run),
        &output,
        quote_spanned!(Span::mixed_site()=> &mut __call, #inside),
    );
    // A second one would be a warning.
    let track_caller =
        (!attrs.iter().any(|attr| attr.path().is_ident("track_caller"))).then(|| quote!(#[track_caller]));

    let outside = quote_spanned! {Span::mixed_site()=>
        use #private as __tracewell;
        static __TRACEWELL_SITE: __tracewell::Site = __tracewell::Site::new(#name, #location);
        #(#convert)*
        let mut __call = __tracewell::Call::new(&__TRACEWELL_SITE);
        #(#record)*
        #run
    };
    // Braces of the author: only of a function that is theirs from end to end does the compiler say that it is unused.
    let block = block(outside, function.body.span());
    quote_spanned! {Span::mixed_site()=>
        #(#attrs)*
        #track_caller
        #[allow(clippy::needless_pass_by_value, reason = "the body consumes a value of its own")]
        #vis #sig #block
    }
}

/// What stands in for a function with mistakes, so that its callers are not wrong as well.
pub(crate) fn stub(function: &Function) -> TokenStream {
    let Function { attrs, vis, .. } = function;
    let mut sig = signature(function);
    // A `const` one could not drop its arguments, and only `extern` blocks have variadic ones.
    sig.constness = None;
    sig.variadic = None;
    match &mut sig.output {
        ReturnType::Type(_, ty) if types::impl_trait(ty).is_none() => Elided.visit_type_mut(ty),
        output => {
            let private = types::private(function.options.krate.as_ref());
            *output = parse_quote!(-> #private::Array);
        }
    }
    quote_spanned! {Span::mixed_site()=>
        #(#attrs)*
        #[allow(unused, clippy::all, reason = "stands in for a function with mistakes")]
        #vis #sig {
            ::core::panic!("this function has mistakes")
        }
    }
}

/// The signature that callers see.
fn signature(function: &Function) -> Signature {
    let mut sig = function.sig.clone();
    for (index, input) in sig.inputs.iter_mut().enumerate() {
        let outer = check::outer(index, input);
        match input {
            FnArg::Receiver(receiver) => {
                receiver.attrs.retain(check::is_cfg);
                // The body mutates its own: see `enter`.
                if receiver.reference.is_none() {
                    receiver.mutability = None;
                }
            }
            FnArg::Typed(PatType { attrs, pat, ty, .. }) => {
                let is_static = attrs.iter().any(check::is_static_mark);
                attrs.retain(check::is_cfg);
                **pat = Pat::Verbatim(quote!(#outer));
                if !is_static && types::is_scalar(ty) {
                    **ty = parse_quote!(impl ::core::convert::Into<#ty>);
                }
            }
        }
    }
    sig
}

/// Turns what the caller passed into a `Scalar`. This comes before the call, which borrows it. The type is a generic
/// argument as it is in the signature: see `call`.
fn convert(parameter: &Parameter) -> Option<TokenStream> {
    let Parameter { cfgs, outer, ty, passing, .. } = parameter;
    matches!(passing, Passing::Scalar { .. }).then(|| {
        quote_spanned!(Span::mixed_site()=> #(#cfgs)* let #outer = ::core::convert::Into::<#ty>::into(#outer);)
    })
}

/// What is left of a donated argument: its structure, for the trace.
fn given(index: usize) -> Ident {
    format_ident!("__given{index}", span = Span::mixed_site())
}

/// Hands the caller's value to the call.
fn record(index: usize, parameter: &Parameter) -> TokenStream {
    let Parameter { cfgs, name, outer, ty, passing, .. } = parameter;
    let mixed = Span::mixed_site();
    let argument = |value: TokenStream| {
        let value = place(value, ty);
        call(quote!(__tracewell::Call::argument), ty, quote_spanned!(mixed=> &mut __call, #name, #value))
    };
    let static_argument = |value: TokenStream| {
        let value = place(value, ty);
        call(
            quote!(__tracewell::Call::static_argument),
            ty,
            quote_spanned!(mixed=> &mut __call, #name, #value),
        )
    };
    let call = match passing {
        Passing::Value { donated: true } | Passing::Scalar { donated: true } => {
            let given = given(index);
            let value = place(quote!(#outer), ty);
            let donate = call(
                quote!(__tracewell::Call::donate),
                ty,
                quote_spanned!(mixed=> &mut __call, #name, #value),
            );
            quote!(let #given = #donate)
        }
        Passing::Value { .. } | Passing::Scalar { .. } => argument(quote!(&#outer)),
        Passing::Reference => argument(quote!(#outer)),
        Passing::StaticValue => static_argument(quote!(&#outer)),
        Passing::StaticReference { is_unsized: false } => static_argument(quote!(#outer)),
        Passing::StaticReference { is_unsized: true } => {
            static_argument(quote!(&::std::borrow::ToOwned::to_owned(#outer)))
        }
    };
    quote!(#(#cfgs)* #call;)
}

/// Binds the author's pattern to the value inside the trace.
fn enter(index: usize, parameter: &Parameter) -> TokenStream {
    let Parameter { cfgs, lints, name, outer, pattern, ty, passing, .. } = parameter;
    let mixed = Span::mixed_site();
    // The trace remembers what it was made for.
    let constant = |value: TokenStream| {
        let value = place(value, ty);
        let call =
            call(quote!(__tracewell::Inside::constant), ty, quote_spanned!(mixed=> __inside, #name, #value));
        quote!(#(#cfgs)* #call;)
    };
    let owned = |value: TokenStream| {
        let value = place(value, ty);
        call(quote!(__tracewell::Inside::owned), ty, quote_spanned!(mixed=> __inside, #value))
    };
    match passing {
        Passing::Value { donated: true } | Passing::Scalar { donated: true } => {
            let given = given(index);
            let value = owned(quote!(&#given));
            quote!(#(#cfgs)* #(#lints)* let #pattern = #value;)
        }
        Passing::Value { .. } | Passing::Scalar { .. } => {
            let value = owned(quote!(&#outer));
            quote!(#(#cfgs)* #(#lints)* let #pattern = #value;)
        }
        Passing::Reference => {
            let lender = format_ident!("__lender{index}", span = mixed);
            let value = owned(quote!(#outer));
            let lent = call_method(quote!(__tracewell::TreeRef), quote!(lend), ty, quote!(&#lender));
            quote! {
                #(#cfgs)* let #lender = #value;
                #(#cfgs)* #(#lints)* let #pattern = #lent;
            }
        }
        Passing::StaticValue => {
            let constant = constant(quote!(&#outer));
            let value = call_method(quote!(::core::clone::Clone), quote!(clone), ty, quote!(&#outer));
            quote!(#constant #(#cfgs)* #(#lints)* let #pattern = #value;)
        }
        Passing::StaticReference { is_unsized } => {
            let constant = match is_unsized {
                true => constant(quote!(&::std::borrow::ToOwned::to_owned(#outer))),
                false => constant(quote!(#outer)),
            };
            quote!(#constant #(#cfgs)* #(#lints)* let #pattern = #outer;)
        }
    }
}

/// `path(arguments)`, placed where `ty` is written. If `ty` lacks a trait, every call that needs it fails at that one
/// place, and the compiler, which says a thing once per place, blames the type and nothing else.
///
/// The type is not spelled out as a generic argument: for a name it cannot find in one the compiler has another hint
/// than for the same name in a signature, and would show both.
fn call(path: TokenStream, ty: &TokenStream, arguments: TokenStream) -> TokenStream {
    let (first, last) = ends(ty);
    let path = respan(path, first, last);
    let arguments = parenthesized(arguments, last);
    quote!(#path #arguments)
}

/// `<ty as path>::method(arguments)`, placed where `ty` is written.
fn call_method(
    path: TokenStream,
    method: TokenStream,
    ty: &TokenStream,
    arguments: TokenStream,
) -> TokenStream {
    let (first, last) = ends(ty);
    let open = quote_spanned!(first=> <);
    let method = respan(method, last, last);
    let arguments = parenthesized(arguments, last);
    quote!(#open #ty as #path>::#method #arguments)
}

/// An argument whose type is `ty` or a reference to it, placed where `ty` is written.
fn place(argument: TokenStream, ty: &TokenStream) -> TokenStream {
    call(quote!(::core::convert::identity), ty, argument)
}

fn block(tokens: TokenStream, span: Span) -> Group {
    delimited(Delimiter::Brace, tokens, span)
}

fn parenthesized(tokens: TokenStream, span: Span) -> Group {
    delimited(Delimiter::Parenthesis, tokens, span)
}

fn delimited(delimiter: Delimiter, tokens: TokenStream, span: Span) -> Group {
    let mut group = Group::new(delimiter, tokens);
    group.set_span(span);
    group
}

/// The tokens, reaching from one place to another.
fn respan(tokens: TokenStream, first: Span, last: Span) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter_mut().for_each(|token| token.set_span(first));
    if let Some(token) = tokens.last_mut() {
        token.set_span(last);
    }
    tokens.into_iter().collect()
}

/// Where tokens begin and where they end.
fn ends(tokens: &TokenStream) -> (Span, Span) {
    let mut tokens = tokens.clone().into_iter();
    let first = tokens.next();
    let last = tokens.last().or_else(|| first.clone());
    let open = |token: TokenTree| match token {
        TokenTree::Group(group) => group.span_open(),
        other => other.span(),
    };
    let close = |token: TokenTree| match token {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    };
    (first.map_or_else(Span::call_site, open), last.map_or_else(Span::call_site, close))
}

/// Where the function is: `file, line, column`. Not `line!()`, which would be the line of `jit!`.
fn location(span: Span) -> TokenStream {
    if !proc_macro::is_available() {
        return quote_spanned!(span=> ::core::file!(), ::core::line!(), ::core::column!());
    }
    let span = span.unwrap();
    let (file, line, column) = (span.file(), number(span.line()), number(span.column()));
    quote!(#file, #line, #column)
}

fn number(value: usize) -> Literal {
    Literal::u32_unsuffixed(u32::try_from(value).unwrap_or(u32::MAX))
}

/// Makes elided lifetimes `'static`: in a result that should not have had any they may not resolve.
struct Elided;

impl VisitMut for Elided {
    fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
        reference.lifetime.get_or_insert_with(|| Lifetime::new("'static", Span::mixed_site()));
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jit::items;

    /// Tokens as text, without the spacing that only tells where they came from.
    fn text(tokens: TokenStream) -> String {
        tokens.to_string().split_whitespace().collect()
    }

    #[test]
    fn a_function_collects_its_arguments_and_runs_its_body_inside() {
        let input = quote! {
            /// Doc.
            #[jit(donate(a))]
            pub fn f<T: Tree>(mut a: Vec<T>, b: &[T], (c, d): (T, T), e: Scalar, #[static_arg] g: bool,
                              #[static_arg] h: &str) -> Result<T>
            where
                T: Clone,
            {
                body
            }
        };
        let expected = quote! {
            /// Doc.
            #[track_caller]
            #[allow(clippy::needless_pass_by_value, reason = "the body consumes a value of its own")]
            pub fn f<T: Tree>(a: Vec<T>, b: &[T], __arg2: (T, T), e: impl ::core::convert::Into<Scalar>, g: bool,
                              h: &str) -> Result<T>
            where
                T: Clone,
            {
                use ::tracewell::__private as __tracewell;
                static __TRACEWELL_SITE: __tracewell::Site =
                    __tracewell::Site::new("f", ::core::file!(), ::core::line!(), ::core::column!());
                let e = ::core::convert::Into::<Scalar>::into(e);
                let mut __call = __tracewell::Call::new(&__TRACEWELL_SITE);
                let __given0 = __tracewell::Call::donate(&mut __call, "a", ::core::convert::identity(a));
                __tracewell::Call::argument(&mut __call, "b", ::core::convert::identity(b));
                __tracewell::Call::argument(&mut __call, "(c , d)", ::core::convert::identity(&__arg2));
                __tracewell::Call::argument(&mut __call, "e", ::core::convert::identity(&e));
                __tracewell::Call::static_argument(&mut __call, "g", ::core::convert::identity(&g));
                __tracewell::Call::static_argument(&mut __call, "h",
                    ::core::convert::identity(&::std::borrow::ToOwned::to_owned(h)));
                __tracewell::Call::run(&mut __call, |__inside: &mut __tracewell::Inside| -> Result<T> {
                    let mut a = __tracewell::Inside::owned(__inside, ::core::convert::identity(&__given0));
                    let __lender1 = __tracewell::Inside::owned(__inside, ::core::convert::identity(b));
                    let b = <[T] as __tracewell::TreeRef>::lend(&__lender1);
                    let (c, d) = __tracewell::Inside::owned(__inside, ::core::convert::identity(&__arg2));
                    let e = __tracewell::Inside::owned(__inside, ::core::convert::identity(&e));
                    __tracewell::Inside::constant(__inside, "g", ::core::convert::identity(&g));
                    let g = <bool as ::core::clone::Clone>::clone(&g);
                    __tracewell::Inside::constant(__inside, "h",
                        ::core::convert::identity(&::std::borrow::ToOwned::to_owned(h)));
                    let h = h;
                    body
                })
            }
        };
        assert_eq!(text(items(input)), text(expected));
    }

    #[test]
    fn a_method_names_its_receiver_anew() {
        let found = text(items(quote!(
            fn f(mut self, #[cfg(x)] y: &Array) -> Self {
                self.w = 1;
                self
            }
        )));
        assert!(found.contains("fnf(self,#[cfg(x)]y:&Array)"), "{found}");
        assert!(found.contains("(&mut__call,\"self\",::core::convert::identity(&self))"), "{found}");
        assert!(found.contains("letmut__self=__tracewell::Inside::owned("), "{found}");
        assert!(found.contains("#[cfg(x)]lety="), "{found}");
        assert!(found.contains("__self.w=1;__self}"), "{found}");
    }

    #[test]
    fn a_function_with_mistakes_keeps_its_signature() {
        let found = text(items(quote!(
            const fn f(x: &mut Array, y: Scalar, ...) -> Result<&Array> {
                x
            }
        )));
        assert!(
            found.contains("fnf(x:&mutArray,y:impl::core::convert::Into<Scalar>,)->Result<&'staticArray>{"),
            "{found}"
        );
        assert!(!found.contains("constfn"), "{found}");
        let found = text(items(quote!(
            #[jit(crate = a::b)]
            fn f(x: &Array) {}
        )));
        assert!(found.contains("fnf(x:&Array)->a::b::__private::Array{::core::panic!("), "{found}");
    }
}
