//! `#[derive(Static)]`: the key of a value that compiled code depends on.

use crate::shape::{Field, Shape, match_self};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::DeriveInput;

/// Derives `Static`.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    match syn::parse2::<DeriveInput>(input) {
        Ok(input) => implement(Shape::new(input)),
        Err(error) => error.to_compile_error(),
    }
}

fn implement(mut shape: Shape) -> TokenStream {
    shape.reject_lifetimes("a static value is kept with the compiled code: a type with lifetimes cannot be one");
    let errors = shape.mistakes.to_compile_errors();
    let private = &shape.private;
    let header = shape.header(quote!(Static), |_| quote!(#private::Static));
    // With mistakes there still is an implementation, so that uses of the type are not wrong as well.
    let key = match shape.mistakes.is_empty() {
        true => key(&shape),
        false => quote!(::core::panic!("this type has mistakes")),
    };
    quote! {
        #errors
        #header {
            fn key(&self, __key: &mut #private::Key) {
                #key
            }
        }
    }
}

fn key(shape: &Shape) -> TokenStream {
    let Shape { private, .. } = shape;
    let variants = match_self(shape, |(index, variant)| {
        let index = Literal::usize_unsuffixed(index);
        let index = variant.name.as_ref().map(|_| quote!(__key.word(#index);));
        let fields = variant.fields.iter().map(|Field { ty, binding, .. }| {
            quote!(<#ty as #private::Static>::key(#binding, __key);)
        });
        quote!(#index #(#fields)*)
    });
    quote!(__key.node::<Self>(); #variants)
}
