//! Collects the mistakes in one item, so that its author sees all of them at once, each at its own tokens.

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fmt::Display;

/// The mistakes found so far.
#[derive(Clone, Default)]
pub(crate) struct Mistakes(Option<syn::Error>);

impl Mistakes {
    /// Records a mistake that is shown under `at`.
    pub(crate) fn add(&mut self, at: impl ToTokens, message: impl Display) {
        self.add_error(syn::Error::new_spanned(at, message));
    }

    /// Records a mistake that was found while parsing.
    pub(crate) fn add_error(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` per mistake.
    pub(crate) fn to_compile_errors(&self) -> TokenStream {
        self.0.as_ref().map(syn::Error::to_compile_error).unwrap_or_default()
    }

    /// The messages alone.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.0.clone().into_iter().flatten().map(|error| error.to_string()).collect()
    }
}
