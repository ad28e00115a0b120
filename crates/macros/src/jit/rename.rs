//! Renames `self` in a body: inside the trace the receiver is another value than the caller's.

use super::check::inside_self;
use proc_macro2::{Group, Spacing, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::visit_mut::{self, VisitMut};

/// The statements of a body with every `self` that means the receiver renamed.
pub(crate) fn rename_self(body: TokenStream) -> TokenStream {
    match syn::Block::parse_within.parse2(body.clone()) {
        Ok(mut statements) => {
            statements.iter_mut().for_each(|statement| Receiver.visit_stmt_mut(statement));
            quote!(#(#statements)*)
        }
        // The compiler will say what is wrong with it; only names matter here.
        Err(_) => tokens(body),
    }
}

struct Receiver;

impl VisitMut for Receiver {
    fn visit_expr_path_mut(&mut self, expr: &mut syn::ExprPath) {
        if expr.qself.is_none() && expr.path.is_ident("self") {
            let segment = &mut expr.path.segments[0];
            segment.ident = inside_self(segment.ident.span());
        } else {
            visit_mut::visit_expr_path_mut(self, expr);
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = tokens(std::mem::take(&mut mac.tokens));
    }

    // The `self` of a nested item is its own.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Renames in tokens that nobody knows the grammar of. There `self::` can only be the start of a path.
fn tokens(input: TokenStream) -> TokenStream {
    let mut input = input.into_iter().peekable();
    let mut output = Vec::new();
    while let Some(token) = input.next() {
        output.push(match token {
            TokenTree::Group(group) => {
                let mut renamed = Group::new(group.delimiter(), tokens(group.stream()));
                renamed.set_span(group.span());
                TokenTree::Group(renamed)
            }
            TokenTree::Ident(ident) if ident == "self" => {
                let is_path = matches!(
                    input.peek(),
                    Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint
                );
                TokenTree::Ident(if is_path { ident } else { inside_self(ident.span()) })
            }
            other => other,
        });
    }
    output.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_receiver_is_renamed_everywhere_but_in_items() {
        let body = quote! {
            struct Local;
            impl Local { fn get(&self) -> &Self { self } }
            let f = |x: &Array| self.w.dot(x);
            vec![self.b.clone(), f(self::input()), Self::new()]
        };
        let expected = quote! {
            struct Local;
            impl Local { fn get(&self) -> &Self { self } }
            let f = |x: &Array| __self.w.dot(x);
            vec![__self.b.clone(), f(self::input()), Self::new()]
        };
        assert_eq!(rename_self(body).to_string(), expected.to_string());
    }

    #[test]
    fn a_body_that_does_not_parse_is_renamed_too() {
        let renamed = rename_self(quote!(let = self.w; self::f(self)));
        assert_eq!(renamed.to_string(), "let = __self . w ; self :: f (__self)");
    }
}
