//! What the macros can tell from the spelling of a type: plain Rust values, references, lifetimes, `Scalar`.
//!
//! A macro sees no types, only their names. What hides behind an alias is left to the trait bounds of the expansion.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericArgument, Ident, Lifetime, PathArguments, PathSegment, Type, TypeReference};

/// Types of the standard library that hold no arrays.
const PLAIN: &[&str] = &[
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize", "str", "String",
];

/// The path of the hidden module that holds everything generated code names.
pub(crate) fn private(krate: Option<&syn::Path>) -> TokenStream {
    match krate {
        Some(path) => quote!(#path::__private),
        None => quote!(::tracewell::__private),
    }
}

/// The type without parentheses, and without the invisible ones that a `macro_rules!` fragment brings.
pub(crate) fn peel(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Paren(inner) => &inner.elem,
            Type::Group(inner) => &inner.elem,
            _ => return ty,
        }
    }
}

/// The type behind one reference, or the type itself.
pub(crate) fn referent(ty: &Type) -> &Type {
    match peel(ty) {
        Type::Reference(reference) => peel(&reference.elem),
        other => other,
    }
}

/// Whether the type is spelled `Scalar`, by whatever path.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == "Scalar" && segment.arguments.is_none())
}

/// A plain Rust type where a tree is wanted.
pub(crate) struct Plain<'a> {
    /// The name of the plain type.
    pub(crate) name: &'a Ident,
    /// Whether it is an element of a container, as in `Vec<f32>`.
    pub(crate) contained: bool,
}

impl Plain<'_> {
    /// Whether an array could hold such values.
    pub(crate) fn is_number(&self) -> bool {
        !(self.name == "str" || self.name == "String" || self.name == "char")
    }
}

/// The first plain type in a leaf position of `ty`. Arguments of unknown generic types are left alone: what is not a
/// leaf there (`Table<String>`, the keys of a map) only its author knows.
pub(crate) fn plain(ty: &Type) -> Option<Plain<'_>> {
    let inside = |ty| plain(ty).map(|found| Plain { contained: true, ..found });
    match peel(ty) {
        Type::Reference(reference) => plain(&reference.elem),
        Type::Slice(slice) => inside(&slice.elem),
        Type::Array(array) => inside(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(inside),
        path => {
            let segment = last_segment(path)?;
            if PLAIN.iter().any(|name| segment.ident == name) {
                return Some(Plain { name: &segment.ident, contained: false });
            }
            let leaves = match segment.ident.to_string().as_str() {
                "Vec" | "Option" | "Box" => 0,
                "BTreeMap" => 1,
                _ => return None,
            };
            type_arguments(segment).nth(leaves).and_then(inside)
        }
    }
}

/// What a nested reference is nested in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Within {
    /// Another reference: `&&T`.
    Reference,
    /// A sequence: `&[&T]`, `Vec<&T>`.
    Sequence,
    /// A tuple: `(Array, &Array)`.
    Tuple,
    /// `Option<&T>`.
    Option,
    /// Any other type.
    Other,
}

/// The first reference strictly inside `ty`, where one `&` at the top does not count.
pub(crate) fn nested_reference(ty: &Type) -> Option<(&TypeReference, Within)> {
    match peel(ty) {
        Type::Reference(top) => inner_reference(&top.elem, Within::Reference),
        other => inner_reference(other, Within::Other),
    }
}

fn inner_reference(ty: &Type, within: Within) -> Option<(&TypeReference, Within)> {
    let ty = peel(ty);
    let within = match ty {
        Type::Reference(reference) => return Some((reference, within)),
        Type::Slice(_) | Type::Array(_) => Within::Sequence,
        Type::Tuple(_) => Within::Tuple,
        _ => match last_segment(ty) {
            Some(segment) if segment.ident == "Vec" => Within::Sequence,
            Some(segment) if segment.ident == "Option" => Within::Option,
            _ => Within::Other,
        },
    };
    children(ty).into_iter().find_map(|child| inner_reference(child, within))
}

/// The first lifetime argument in `ty` other than `'static`, as in `View<'a>`.
pub(crate) fn lifetime_argument(ty: &Type) -> Option<&Lifetime> {
    let here = last_segment(ty).into_iter().flat_map(arguments).find_map(|argument| match argument {
        GenericArgument::Lifetime(lifetime) if lifetime.ident != "static" => Some(lifetime),
        _ => None,
    });
    here.or_else(|| children(ty).into_iter().find_map(lifetime_argument))
}

/// The first reference in `ty`.
pub(crate) fn any_reference(ty: &Type) -> Option<&TypeReference> {
    match peel(ty) {
        Type::Reference(reference) => Some(reference),
        other => children(other).into_iter().find_map(any_reference),
    }
}

/// The first `impl Trait` in `ty`.
pub(crate) fn impl_trait(ty: &Type) -> Option<&syn::TypeImplTrait> {
    match peel(ty) {
        Type::ImplTrait(found) => Some(found),
        other => children(other).into_iter().find_map(impl_trait),
    }
}

/// The types that `ty` is directly made of.
fn children(ty: &Type) -> Vec<&Type> {
    match peel(ty) {
        Type::Reference(reference) => vec![&*reference.elem],
        Type::Slice(slice) => vec![&*slice.elem],
        Type::Array(array) => vec![&*array.elem],
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        other => last_segment(other).into_iter().flat_map(type_arguments).collect(),
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match peel(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

fn type_arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    arguments(segment).filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &GenericArgument> {
    match &segment.arguments {
        PathArguments::AngleBracketed(list) => Some(list.args.iter()),
        _ => None,
    }
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn plain_types_are_found_where_leaves_are() {
        let found = |ty: Type| plain(&ty).map(|found| (found.name.to_string(), found.contained));
        assert_eq!(found(parse_quote!(f32)), Some(("f32".into(), false)));
        assert_eq!(found(parse_quote!(&str)), Some(("str".into(), false)));
        assert_eq!(found(parse_quote!(std::string::String)), Some(("String".into(), false)));
        assert_eq!(found(parse_quote!(&[Vec<usize>])), Some(("usize".into(), true)));
        assert_eq!(found(parse_quote!((Array, [bool; 2]))), Some(("bool".into(), true)));
        assert_eq!(found(parse_quote!(BTreeMap<String, f64>)), Some(("f64".into(), true)));
        assert_eq!(found(parse_quote!(BTreeMap<String, Array>)), None);
        assert_eq!(found(parse_quote!(Table<f32>)), None);
        assert_eq!(found(parse_quote!(())), None);
    }

    #[test]
    fn nested_references_say_what_they_are_nested_in() {
        let found = |ty: Type| nested_reference(&ty).map(|(_, within)| within);
        assert_eq!(found(parse_quote!(&[Array])), None);
        assert_eq!(found(parse_quote!(&Array)), None);
        assert_eq!(found(parse_quote!(&&Array)), Some(Within::Reference));
        assert_eq!(found(parse_quote!(&[&Array])), Some(Within::Sequence));
        assert_eq!(found(parse_quote!(Vec<Option<&Array>>)), Some(Within::Option));
        assert_eq!(found(parse_quote!((Array, &Array))), Some(Within::Tuple));
        assert_eq!(found(parse_quote!(Pair<&Array>)), Some(Within::Other));
    }

    #[test]
    fn lifetime_arguments_are_found_except_static() {
        let found = |ty: Type| lifetime_argument(&ty).map(|lifetime| lifetime.to_string());
        assert_eq!(found(parse_quote!(&'a Array)), None);
        assert_eq!(found(parse_quote!(Vec<View<'a>>)), Some("'a".into()));
        assert_eq!(found(parse_quote!(View<'static>)), None);
        assert_eq!(found(parse_quote!(&[View<'_>])), Some("'_".into()));
    }

    #[test]
    fn scalar_is_a_name() {
        assert!(is_scalar(&parse_quote!(tracewell::Scalar)));
        assert!(!is_scalar(&parse_quote!(&Scalar)));
        assert!(!is_scalar(&parse_quote!(Scalar<f32>)));
    }
}
