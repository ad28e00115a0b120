//! Writes the function that callers see: it collects its arguments and runs its body as a closure inside a trace.
//!
//! The body is a closure and not a nested function because it may use the generics and the `Self` around it. Locals
//! have the hygiene of the macro, so that no name of the author meets them.

use super::check::{self, Parameter, Passing, Plan};
use super::parse::Function;
use super::rename::rename_self;
use crate::types;
use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
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
    let record = plan.parameters.iter().map(record);
    let enter = plan.parameters.iter().enumerate().map(|(index, parameter)| enter(index, parameter));
    let has_receiver = plan.parameters.iter().any(|parameter| parameter.name == "self");
    let body = if has_receiver { rename_self(&function.body) } else { function.body.to_token_stream() };
    // The body gets a closure of its own: there it may `return` and `?`, and its temporaries die before its arguments
    // do, as in the function that it was.
    let inside = quote_spanned! {Span::mixed_site()=>
        |__inside: &mut __tracewell::Inside| -> #output {
            #(#enter)*
            (move || -> #output #body)()
        }
    };
    let run = call(quote!(__tracewell::Call::run), &output, quote_spanned!(Span::mixed_site()=> __call, #inside));
    // A second one would be a warning.
    let track_caller = (!attrs.iter().any(|attr| attr.path().is_ident("track_caller"))).then(|| quote!(#[track_caller]));

    quote_spanned! {Span::mixed_site()=>
        #(#attrs)*
        #track_caller
        #vis #sig {
            use #private as __tracewell;
            static __TRACEWELL_SITE: __tracewell::Site = __tracewell::Site::new(#name, #location);
            #(#convert)*
            let mut __call = __tracewell::Call::new(&__TRACEWELL_SITE);
            #(#record)*
            #run
        }
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

/// Turns what the caller passed into a `Scalar`. This comes before the call, which borrows it.
fn convert(parameter: &Parameter) -> Option<TokenStream> {
    let Parameter { cfgs, outer, ty, passing, .. } = parameter;
    matches!(passing, Passing::Scalar { .. }).then(|| {
        quote_spanned!(Span::mixed_site()=> #(#cfgs)* let #outer: #ty = ::core::convert::Into::into(#outer);)
    })
}

/// Hands the caller's value to the call.
fn record(parameter: &Parameter) -> TokenStream {
    let Parameter { cfgs, name, outer, ty, passing, .. } = parameter;
    let mixed = Span::mixed_site();
    let argument = |arguments| call(quote!(__tracewell::Call::argument), ty, arguments);
    let static_argument = |arguments| call(quote!(__tracewell::Call::static_argument), ty, arguments);
    let call = match passing {
        Passing::Value { donated } | Passing::Scalar { donated } => {
            argument(quote_spanned!(mixed=> &mut __call, #name, &#outer, #donated))
        }
        Passing::Reference => argument(quote_spanned!(mixed=> &mut __call, #name, #outer, false)),
        Passing::StaticValue => static_argument(quote_spanned!(mixed=> &mut __call, #name, &#outer)),
        Passing::StaticReference { is_unsized: false } => {
            static_argument(quote_spanned!(mixed=> &mut __call, #name, #outer))
        }
        Passing::StaticReference { is_unsized: true } => {
            quote_spanned!(mixed=> __call.static_argument(#name, &::std::borrow::ToOwned::to_owned(#outer)))
        }
    };
    quote!(#(#cfgs)* #call;)
}

/// Binds the author's pattern to the value inside the trace.
fn enter(index: usize, parameter: &Parameter) -> TokenStream {
    let Parameter { cfgs, lints, outer, pattern, ty, passing, .. } = parameter;
    let mixed = Span::mixed_site();
    let owned = |arguments| call(quote!(__tracewell::Inside::owned), ty, arguments);
    match passing {
        Passing::Value { .. } | Passing::Scalar { .. } => {
            let value = owned(quote_spanned!(mixed=> __inside, &#outer));
            quote!(#(#cfgs)* #(#lints)* let #pattern = #value;)
        }
        Passing::Reference => {
            let lender = format_ident!("__lender{index}", span = mixed);
            let value = owned(quote_spanned!(mixed=> __inside, #outer));
            let lent = call_method(quote!(__tracewell::TreeRef), quote!(lend), ty, quote!(&#lender));
            quote! {
                #(#cfgs)* let #lender = #value;
                #(#cfgs)* #(#lints)* let #pattern = #lent;
            }
        }
        Passing::StaticValue => {
            let value = call_method(quote!(::core::clone::Clone), quote!(clone), ty, quote!(&#outer));
            quote!(#(#cfgs)* #(#lints)* let #pattern = #value;)
        }
        Passing::StaticReference { .. } => quote!(#(#cfgs)* #(#lints)* let #pattern = #outer;),
    }
}

/// `path::<ty>(arguments)`, placed where `ty` is written. If `ty` lacks a trait, every call that needs it fails at that
/// one place, and the compiler, which says a thing once per place, blames the type and nothing else.
fn call(path: TokenStream, ty: &TokenStream, arguments: TokenStream) -> TokenStream {
    let (first, last) = ends(ty);
    let path = respan(path, first);
    let open = quote_spanned!(first=> ::<);
    let close = quote_spanned!(last=> >);
    let arguments = parenthesized(arguments, last);
    quote!(#path #open #ty #close #arguments)
}

/// `<ty as path>::method(arguments)`, placed where `ty` is written.
fn call_method(path: TokenStream, method: TokenStream, ty: &TokenStream, arguments: TokenStream) -> TokenStream {
    let (first, last) = ends(ty);
    let open = quote_spanned!(first=> <);
    let method = respan(method, last);
    let arguments = parenthesized(arguments, last);
    quote!(#open #ty as #path>::#method #arguments)
}

fn parenthesized(tokens: TokenStream, span: Span) -> Group {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(span);
    group
}

fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let placed = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens.into_iter().map(placed).collect()
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
