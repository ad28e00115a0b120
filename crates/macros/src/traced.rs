//! `#[traced]`: a function whose calls observers are told of.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, FnArg, Pat, Path, Result, ReturnType, Signature, Token, Type, Visibility, token};

/// A function: its body is carried as it came, so that the compiler itself reports what is wrong in it.
struct Function {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let ahead = input.fork();
        let Ok(_) = ahead.parse::<Signature>() else {
            return Err(input.error("expected a function, as in `#[traced] fn f(x: &Array) -> Array { … }`"));
        };
        let sig = input.parse()?;
        if !input.peek(token::Brace) {
            return Err(input.error("a traced function needs a body"));
        }
        let body;
        syn::braced!(body in input);
        Ok(Function { attrs, vis, sig, body: body.parse()? })
    }
}

pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = krate(options).and_then(|krate| expand(&krate, syn::parse2(item.clone())?));
    expanded.unwrap_or_else(|error| {
        // The function is kept: the rest of the program may use it.
        let mut output = error.to_compile_error();
        output.extend(item);
        output
    })
}

/// `crate = path`, or where the library is otherwise.
fn krate(options: TokenStream) -> Result<Path> {
    if options.is_empty() {
        return Ok(syn::parse_quote!(::tracewell));
    }
    let parser = |input: ParseStream| {
        if !input.peek(Token![crate]) {
            return Err(input.error("`traced` takes `crate = path` and nothing else"));
        }
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        input.call(Path::parse_mod_style)
    };
    parser.parse2(options)
}

fn expand(krate: &Path, function: Function) -> Result<TokenStream> {
    let Function { attrs, vis, sig, body } = function;
    if let Some(word) = &sig.asyncness {
        return Err(syn::Error::new_spanned(
            word,
            "an async function cannot be traced: mark the function that it awaits",
        ));
    }
    if let Some(word) = &sig.constness {
        return Err(syn::Error::new_spanned(
            word,
            "a const function cannot be traced: nothing watches the compiler",
        ));
    }
    let returns: Type = match &sig.output {
        ReturnType::Default => syn::parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    };
    if let Type::ImplTrait(ty) = &returns {
        return Err(syn::Error::new_spanned(ty, "a traced function names the type that it returns"));
    }
    let name = sig.ident.to_string();
    let arguments = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Receiver(_) => None,
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pat) => Some((&pat.ident, matches!(&*typed.ty, Type::Reference(_)))),
            _ => None,
        },
    });
    let tell = arguments.map(|(ident, is_reference)| {
        let name = ident.to_string();
        let value = if is_reference { quote!(&*#ident) } else { quote!(&#ident) };
        quote!((&&&#krate::__private::Told(#value)).tell(#name, &mut __told);)
    });
    Ok(quote! {
        #(#attrs)*
        #[track_caller]
        #vis #sig {
            let __running = #krate::__private::Running::start(#name, |mut __told| {
                #[allow(unused_imports)]
                use #krate::__private::{TellNothing as _, TellText as _, TellTree as _};
                #(#tell)*
                __told
            });
            let __result: #returns = #krate::__private::Running::call(|| { #body });
            {
                #[allow(unused_imports)]
                use #krate::__private::{TellNothing as _, TellText as _, TellTree as _};
                __running.end(|| (&&&#krate::__private::Told(&__result)).result());
            }
            __result
        }
    })
}

#[cfg(test)]
mod tests {
    use super::attribute;
    use quote::quote;

    fn text(options: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> String {
        attribute(options, item).to_string()
    }

    #[test]
    fn a_function_keeps_its_signature_and_body() {
        let text = text(
            quote!(),
            quote!(
                pub fn f(x: &Array, n: usize) -> Array {
                    x * n
                }
            ),
        );
        assert!(text.contains("pub fn f (x : & Array , n : usize) -> Array"), "{text}");
        assert!(text.contains("{ x * n }"), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
    }

    #[test]
    fn mistakes_are_told() {
        for (options, item, message) in [
            (
                quote!(),
                quote!(
                    struct A;
                ),
                "expected a function",
            ),
            (
                quote!(),
                quote!(
                    fn f();
                ),
                "a traced function needs a body",
            ),
            (
                quote!(),
                quote!(
                    async fn f() {}
                ),
                "an async function cannot be traced",
            ),
            (
                quote!(),
                quote!(
                    const fn f() {}
                ),
                "a const function cannot be traced",
            ),
            (
                quote!(),
                quote!(
                    fn f() -> impl Tree {}
                ),
                "names the type that it returns",
            ),
            (
                quote!(depth = 3),
                quote!(
                    fn f() {}
                ),
                "takes `crate = path` and nothing else",
            ),
        ] {
            assert!(text(options, item).contains(message), "{message}");
        }
    }
}
