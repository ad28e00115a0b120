//! `#[derive(Tree)]`: the four walks over the arrays in a value.

use crate::shape::{Field, Shape, Variant, match_self};
use crate::types;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::DeriveInput;

/// Derives `Tree`.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    match syn::parse2::<DeriveInput>(input) {
        Ok(input) => implement(Shape::new(input)),
        Err(error) => error.to_compile_error(),
    }
}

fn implement(mut shape: Shape) -> TokenStream {
    shape.reject_lifetimes("a tree owns its arrays: a type with lifetimes cannot be one");
    reject_plain_fields(&mut shape);
    let errors = shape.mistakes.to_compile_errors();
    let private = &shape.private;
    let header = shape.header(quote!(Tree), |field| match field.is_static {
        true => quote!(#private::Static),
        false => quote!(#private::Tree),
    });
    // With mistakes there still is an implementation, so that uses of the type are not wrong as well.
    let bodies = match shape.mistakes.is_empty() {
        true => [visit(&shape), rebuild(&shape), structure(&shape), describe(&shape)],
        false => [(); 4].map(|()| quote!(::core::panic!("this type has mistakes"))),
    };
    let [visit, rebuild, structure, describe] = bodies;
    quote! {
        #errors
        #header {
            fn visit<'__tracewell>(
                &'__tracewell self,
                __leaf: &mut dyn ::core::ops::FnMut(&'__tracewell #private::Array),
            ) {
                #visit
            }

            fn rebuild(&self, __leaf: &mut dyn ::core::ops::FnMut(&#private::Array) -> #private::Array) -> Self {
                #rebuild
            }

            fn structure(&self, __key: &mut #private::Key) {
                #structure
            }

            fn describe(&self, __path: &mut #private::Path, __leaf: &mut dyn ::core::ops::FnMut(&#private::Path)) {
                #describe
            }
        }
    }
}

/// A plain Rust type without a mark is the commonest mistake, so it gets an answer of its own.
fn reject_plain_fields(shape: &mut Shape) {
    for field in shape.variants.iter().flat_map(|variant| &variant.fields).filter(|field| !field.is_static) {
        if let Some(plain) = types::plain(&field.ty) {
            let name = plain.name;
            let or_array = if plain.is_number() { ", or make it an `Array`" } else { "" };
            let message =
                format!("`{name}` is a plain Rust type: mark the field `#[tree(static)]`{or_array}");
            shape.mistakes.add(name, message);
        }
    }
}

fn visit(shape: &Shape) -> TokenStream {
    match_self(shape, |(_, variant)| {
        let calls = trees(variant).map(|field| call(shape, field, quote!(visit), quote!(__leaf)));
        quote!(#(#calls)*)
    })
}

fn rebuild(shape: &Shape) -> TokenStream {
    let Shape { private, .. } = shape;
    match_self(shape, |(_, variant)| {
        variant.write(variant.fields.iter().map(|field| {
            let Field { ty, binding, .. } = field;
            let value = match field.is_static {
                // `Static` includes `Clone`. Naming it here too makes its lack one error instead of two.
                true => quote!({
                    let _ = <#ty as #private::Static>::key;
                    <#ty as ::core::clone::Clone>::clone(#binding)
                }),
                false => quote!(<#ty as #private::Tree>::rebuild(#binding, __leaf)),
            };
            (field, value)
        }))
    })
}

fn structure(shape: &Shape) -> TokenStream {
    let Shape { private, .. } = shape;
    let variants = match_self(shape, |(index, variant)| {
        let index = Literal::usize_unsuffixed(index);
        let index = variant.name.as_ref().map(|_| quote!(__key.word(#index);));
        let statics = variant
            .fields
            .iter()
            .filter(|field| field.is_static)
            .map(|Field { ty, binding, .. }| quote!(<#ty as #private::Static>::key(#binding, __key);));
        let trees = trees(variant).map(|field| call(shape, field, quote!(structure), quote!(__key)));
        quote!(#index #(#statics)* #(#trees)*)
    });
    quote!(__key.node::<Self>(); #variants)
}

fn describe(shape: &Shape) -> TokenStream {
    let Shape { private, ident, .. } = shape;
    let type_name = syn::ext::IdentExt::unraw(ident).to_string();
    let variants = match_self(shape, |(_, variant)| {
        let fields = variant.fields.iter().map(|field| {
            let name = field.name();
            let Field { ty, binding, .. } = field;
            let call = match field.is_static {
                true => quote!(<#ty as #private::Static>::describe(#binding, __path);),
                false => call(shape, field, quote!(describe), quote!(__path, __leaf)),
            };
            quote!(__path.field(#name, |__path| { #call });)
        });
        let fields = quote!(#(#fields)*);
        match &variant.name {
            Some(name) => {
                let name = syn::ext::IdentExt::unraw(name).to_string();
                let path = if fields.is_empty() { quote!(_) } else { quote!(__path) };
                quote!(__path.variant(#name, |#path| { #fields });)
            }
            None => fields,
        }
    });
    quote!(__path.record(#type_name); #variants)
}

fn trees(variant: &Variant) -> impl Iterator<Item = &Field> {
    variant.fields.iter().filter(|field| !field.is_static)
}

/// Calls a method of `Tree` on a field. The type is spelled out: then all four methods fail with the same words at the
/// same place if it is no tree, and the compiler shows them as one error.
fn call(shape: &Shape, field: &Field, method: TokenStream, arguments: TokenStream) -> TokenStream {
    let Shape { private, .. } = shape;
    let Field { ty, binding, .. } = field;
    quote!(<#ty as #private::Tree>::#method(#binding, #arguments);)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens as text, without the spacing that only tells where they came from.
    fn text(tokens: TokenStream) -> String {
        tokens.to_string().split_whitespace().collect()
    }

    #[test]
    fn an_enum_is_walked_variant_by_variant() {
        let input = quote! {
            enum Node<T> {
                Leaf(T),
                Pair { left: Box<Node<T>>, #[tree(static)] rank: usize },
                Empty,
            }
        };
        let expected = quote! {
            #[automatically_derived]
            impl<T> ::tracewell::__private::Tree for Node<T>
            where
                T: 'static,
                T: ::tracewell::__private::Tree
            {
                fn visit<'__tracewell>(
                    &'__tracewell self,
                    __leaf: &mut dyn ::core::ops::FnMut(&'__tracewell ::tracewell::__private::Array),
                ) {
                    match self {
                        Self::Leaf { 0: __field0 } => {
                            <T as ::tracewell::__private::Tree>::visit(__field0, __leaf);
                        }
                        Self::Pair { left: __field0, rank: __field1 } => {
                            <Box<Node<T>> as ::tracewell::__private::Tree>::visit(__field0, __leaf);
                        }
                        Self::Empty {} => {}
                    }
                }

                fn rebuild(
                    &self,
                    __leaf: &mut dyn ::core::ops::FnMut(&::tracewell::__private::Array) -> ::tracewell::__private::Array
                ) -> Self {
                    match self {
                        Self::Leaf { 0: __field0 } => {
                            Self::Leaf { 0: <T as ::tracewell::__private::Tree>::rebuild(__field0, __leaf) }
                        }
                        Self::Pair { left: __field0, rank: __field1 } => {
                            Self::Pair {
                                left: <Box<Node<T>> as ::tracewell::__private::Tree>::rebuild(__field0, __leaf),
                                rank: {
                                    let _ = <usize as ::tracewell::__private::Static>::key;
                                    <usize as ::core::clone::Clone>::clone(__field1)
                                }
                            }
                        }
                        Self::Empty {} => { Self::Empty {} }
                    }
                }

                fn structure(&self, __key: &mut ::tracewell::__private::Key) {
                    __key.node::<Self>();
                    match self {
                        Self::Leaf { 0: __field0 } => {
                            __key.word(0);
                            <T as ::tracewell::__private::Tree>::structure(__field0, __key);
                        }
                        Self::Pair { left: __field0, rank: __field1 } => {
                            __key.word(1);
                            <usize as ::tracewell::__private::Static>::key(__field1, __key);
                            <Box<Node<T>> as ::tracewell::__private::Tree>::structure(__field0, __key);
                        }
                        Self::Empty {} => { __key.word(2); }
                    }
                }

                fn describe(
                    &self,
                    __path: &mut ::tracewell::__private::Path,
                    __leaf: &mut dyn ::core::ops::FnMut(&::tracewell::__private::Path)
                ) {
                    __path.record("Node");
                    match self {
                        Self::Leaf { 0: __field0 } => {
                            __path.variant("Leaf", |__path| {
                                __path.field("0", |__path| {
                                    <T as ::tracewell::__private::Tree>::describe(__field0, __path, __leaf);
                                });
                            });
                        }
                        Self::Pair { left: __field0, rank: __field1 } => {
                            __path.variant("Pair", |__path| {
                                __path.field("left", |__path| {
                                    <Box<Node<T>> as ::tracewell::__private::Tree>::describe(__field0, __path, __leaf);
                                });
                                __path.field("rank", |__path| {
                                    <usize as ::tracewell::__private::Static>::describe(__field1, __path);
                                });
                            });
                        }
                        Self::Empty {} => {
                            __path.variant("Empty", |_| {});
                        }
                    }
                }
            }
        };
        assert_eq!(text(derive(input)), text(expected));
    }

    #[test]
    fn bounds_follow_the_use_of_a_parameter() {
        let bounds = |input| {
            let found = text(derive(input));
            let (_, rest) = found.split_once("where").expect("a where clause");
            rest.split_once('{').expect("a body").0.replace("::tracewell::__private::", "")
        };
        assert_eq!(
            bounds(quote!(
                struct A<T, K> {
                    t: Vec<T>,
                    #[tree(static)]
                    k: K,
                }
            )),
            "T:'static,K:'static,T:Tree,K:Static",
        );
        assert_eq!(
            bounds(quote!(
                struct A<C: Config> {
                    p: C::P,
                    q: Vec<<C as Config>::Q>,
                }
            )),
            "C:'static,C::P:Tree,<CasConfig>::Q:Tree",
        );
        assert_eq!(
            bounds(quote!(
                #[tree(bound = "T: Mine")]
                struct A<T> {
                    t: T,
                }
            )),
            "T:Mine"
        );
        assert_eq!(
            bounds(quote!(
                struct A<T>(T)
                where
                    T: Copy;
            )),
            "T:Copy,T:'static,T:Tree"
        );
    }

    #[test]
    fn a_type_with_mistakes_is_still_implemented() {
        let found = text(derive(quote!(
            struct View<'a> {
                x: &'a Array,
                n: f32,
            }
        )));
        assert_eq!(found.matches("compile_error!").count(), 2);
        assert!(found.contains("impl<'a>::tracewell::__private::TreeforView<'a>where'a:'static{"), "{found}");
        assert_eq!(found.matches("::core::panic!(").count(), 4);
    }
}
