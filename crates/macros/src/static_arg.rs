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
    shape.reject_lifetimes(
        "a static value is kept with the compiled code: a type with lifetimes cannot be one",
    );
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
        let fields = variant
            .fields
            .iter()
            .map(|Field { ty, binding, .. }| quote!(<#ty as #private::Static>::key(#binding, __key);));
        quote!(#index #(#fields)*)
    });
    quote!(__key.node::<Self>(); #variants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_holds_the_type_the_variant_and_the_fields() {
        let found = derive(quote!(
            enum Kind<T> {
                A,
                B(T, bool),
            }
        ));
        let expected = quote! {
            #[automatically_derived]
            impl<T> ::tracewell::__private::Static for Kind<T>
            where
                T: 'static,
                T: ::tracewell::__private::Static
            {
                fn key(&self, __key: &mut ::tracewell::__private::Key) {
                    __key.node::<Self>();
                    match self {
                        Self::A {} => { __key.word(0); }
                        Self::B { 0: __field0, 1: __field1 } => {
                            __key.word(1);
                            <T as ::tracewell::__private::Static>::key(__field0, __key);
                            <bool as ::tracewell::__private::Static>::key(__field1, __key);
                        }
                    }
                }
            }
        };
        assert_eq!(found.to_string(), expected.to_string());
    }

    #[test]
    fn an_empty_enum_has_no_arms() {
        assert!(
            derive(quote!(
                enum Never {}
            ))
            .to_string()
            .contains("match * self { }")
        );
    }
}
