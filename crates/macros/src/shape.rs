//! The type that a derive is for: its fields, its `#[tree(…)]` options and the bounds of its parameters.

use crate::mistakes::Mistakes;
use crate::types;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Data, DeriveInput, Generics, Member, Path, Token, Type, TypePath, WherePredicate, parse_quote,
};

/// A struct, or an enum.
pub(crate) struct Shape {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// The path of the hidden module of the library.
    pub(crate) private: TokenStream,
    /// A struct has one, without a name.
    pub(crate) variants: Vec<Variant>,
    pub(crate) mistakes: Mistakes,
    /// `#[tree(bound = "…")]`.
    bound: Option<Vec<WherePredicate>>,
}

/// A variant of an enum, or all there is of a struct.
pub(crate) struct Variant {
    pub(crate) name: Option<Ident>,
    pub(crate) fields: Vec<Field>,
}

/// A field of either.
pub(crate) struct Field {
    pub(crate) member: Member,
    pub(crate) ty: Type,
    /// The variable that a pattern binds it to.
    pub(crate) binding: Ident,
    /// Whether it is marked `#[tree(static)]`.
    pub(crate) is_static: bool,
}

impl Shape {
    /// Reads the input of a derive. What is wrong with it is left in `mistakes`.
    pub(crate) fn new(input: DeriveInput) -> Shape {
        let mut mistakes = Mistakes::default();
        let (krate, bound) = container_options(&input.attrs, &mut mistakes);
        let variants = match input.data {
            Data::Struct(data) => {
                vec![Variant { name: None, fields: fields(data.fields, false, &mut mistakes) }]
            }
            Data::Enum(data) => {
                let variant = |variant: syn::Variant| {
                    let is_marked = variant_options(&variant.attrs, &mut mistakes);
                    Variant {
                        name: Some(variant.ident),
                        fields: fields(variant.fields, is_marked, &mut mistakes),
                    }
                };
                data.variants.into_iter().map(variant).collect()
            }
            Data::Union(data) => {
                mistakes
                    .add(data.union_token, "a union does not say which of its fields it holds: use an enum");
                Vec::new()
            }
        };
        let private = types::private(krate.as_ref());
        Shape { ident: input.ident, generics: input.generics, private, variants, mistakes, bound }
    }

    /// Records that the type has lifetimes, which `message` says it cannot.
    pub(crate) fn reject_lifetimes(&mut self, message: &str) {
        if let Some(parameter) = self.generics.lifetimes().next() {
            self.mistakes.add(&parameter.lifetime, message);
        }
    }

    /// `impl Trait for Type`, up to its brace.
    ///
    /// `bounds` names the traits that the type of a field needs. They are put on the type parameters in it rather than
    /// on the type itself, because bounds on recursive types never come to an end.
    pub(crate) fn header(&self, name: TokenStream, bounds: impl Fn(&Field) -> TokenStream) -> TokenStream {
        let mut generics = self.generics.clone();
        let predicates = match &self.bound {
            Some(bound) => bound.clone(),
            None => self.predicates(bounds),
        };
        let lifetimes = self.generics.lifetimes().map(|parameter| &parameter.lifetime);
        let lifetimes: Vec<WherePredicate> =
            lifetimes.map(|lifetime| parse_quote!(#lifetime: 'static)).collect();
        let clause = generics.make_where_clause();
        // Only after a mistake are there lifetimes: the trait wants `'static`, and one mistake is enough.
        clause.predicates.extend(lifetimes);
        clause.predicates.extend(predicates);
        let Shape { ident, private, .. } = self;
        let (parameters, arguments, clause) = generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #parameters #private::#name for #ident #arguments #clause
        }
    }

    fn predicates(&self, bounds: impl Fn(&Field) -> TokenStream) -> Vec<WherePredicate> {
        let parameters: Vec<Ident> =
            self.generics.type_params().map(|parameter| parameter.ident.clone()).collect();
        let mut predicates: Vec<WherePredicate> =
            parameters.iter().map(|parameter| parse_quote!(#parameter: 'static)).collect();
        for field in self.variants.iter().flat_map(|variant| &variant.fields) {
            let bound = bounds(field);
            let mut used = Used { parameters: &parameters, found: Vec::new() };
            used.visit_type_mut(&mut field.ty.clone());
            predicates
                .extend(used.found.into_iter().map(|ty| -> WherePredicate { parse_quote!(#ty: #bound) }));
        }
        let mut seen = std::collections::BTreeSet::new();
        predicates.retain(|predicate| seen.insert(predicate.to_token_stream().to_string()));
        predicates
    }
}

impl Variant {
    /// `Self::Name { a: x, … }` or `Self { a: x, … }`: a pattern or an expression. Tuples are written this way too,
    /// by number.
    pub(crate) fn write<'a>(&self, fields: impl Iterator<Item = (&'a Field, TokenStream)>) -> TokenStream {
        let fields = fields.map(|(Field { member, .. }, value)| quote!(#member: #value));
        match &self.name {
            Some(name) => quote!(Self::#name { #(#fields),* }),
            None => quote!(Self { #(#fields),* }),
        }
    }

    /// The pattern that binds every field.
    pub(crate) fn pattern(&self) -> TokenStream {
        self.write(self.fields.iter().map(|field| (field, field.binding.to_token_stream())))
    }
}

impl Field {
    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        match &self.member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        }
    }
}

/// `match self { … }`, with an arm made from each variant.
pub(crate) fn match_self(shape: &Shape, arm: impl FnMut((usize, &Variant)) -> TokenStream) -> TokenStream {
    if shape.variants.is_empty() {
        return quote!(match *self {});
    }
    let patterns = shape.variants.iter().map(Variant::pattern);
    let arms = shape.variants.iter().enumerate().map(arm);
    quote!(match self { #(#patterns => { #arms })* })
}

/// `is_marked` says that their variant has a mark, which is a mistake, but one of the variant's.
fn fields(fields: syn::Fields, is_marked: bool, mistakes: &mut Mistakes) -> Vec<Field> {
    let members: Vec<Member> = fields.members().collect();
    let read = |(index, (member, field)): (usize, (Member, syn::Field))| {
        let is_static = field_options(&field.attrs, mistakes) || is_marked;
        let binding = format_ident!("__field{index}", span = Span::mixed_site());
        Field { member, ty: field.ty, binding, is_static }
    };
    members.into_iter().zip(fields).enumerate().map(read).collect()
}

/// Whether the field is marked. After a mistake it counts as marked, so that its type is not a mistake too.
fn field_options(attrs: &[Attribute], mistakes: &mut Mistakes) -> bool {
    let mut is_marked = false;
    for attr in options(attrs) {
        is_marked = true;
        let parsed = attr.parse_nested_meta(|meta| match meta.path.is_ident("static") {
            true => Ok(()),
            false => Err(unknown(&meta.path, "a field takes `static`")),
        });
        parsed.unwrap_or_else(|error| mistakes.add_error(error));
    }
    is_marked
}

/// Whether the variant is marked, which it should not be.
fn variant_options(attrs: &[Attribute], mistakes: &mut Mistakes) -> bool {
    let marks = options(attrs).map(|attr| mistakes.add(attr, "a variant takes no options: mark its fields"));
    marks.count() > 0
}

fn options(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("tree"))
}

fn container_options(
    attrs: &[Attribute],
    mistakes: &mut Mistakes,
) -> (Option<Path>, Option<Vec<WherePredicate>>) {
    let (mut krate, mut bound) = (None, None);
    for attr in options(attrs) {
        let parsed = attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                krate = Some(meta.value()?.call(Path::parse_mod_style)?);
            } else if meta.path.is_ident("bound") {
                let text: syn::LitStr = meta.value()?.parse()?;
                let parser = Punctuated::<WherePredicate, Token![,]>::parse_terminated;
                bound = Some(text.parse_with(parser)?.into_iter().collect());
            } else {
                return Err(unknown(&meta.path, "a type takes `bound = \"…\"` and `crate = path`"));
            }
            Ok(())
        });
        parsed.unwrap_or_else(|error| mistakes.add_error(error));
    }
    (krate, bound)
}

fn unknown(path: &Path, known: &str) -> syn::Error {
    let name = path.to_token_stream();
    syn::Error::new_spanned(path, format!("unknown option `{name}`: {known}"))
}

/// Finds the type parameters in a type, and their associated types, which need bounds of their own.
struct Used<'a> {
    parameters: &'a [Ident],
    found: Vec<TypePath>,
}

impl VisitMut for Used<'_> {
    fn visit_type_path_mut(&mut self, path: &mut TypePath) {
        let is_parameter = |path: &TypePath| {
            path.path.segments.first().is_some_and(|first| self.parameters.contains(&first.ident))
        };
        let is_used = match &path.qself {
            None => path.path.leading_colon.is_none() && is_parameter(path),
            Some(qself) => matches!(types::peel(&qself.ty), Type::Path(inner) if is_parameter(inner)),
        };
        if is_used {
            self.found.push(path.clone());
        } else {
            visit_mut::visit_type_path_mut(self, path);
        }
    }
}
