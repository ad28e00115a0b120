//! `jit!` and `#[jitted]`: parse a function, check it, and expand it to one that traces its body.

mod check;
mod expand;
mod parse;
mod rename;

use parse::Function;
use proc_macro2::TokenStream;

/// `jit! { … }`: any number of functions.
pub(crate) fn items(input: TokenStream) -> TokenStream {
    let (functions, mistakes) = parse::items(input);
    let mut output: TokenStream = functions.iter().map(function).collect();
    output.extend(mistakes.to_compile_errors());
    output
}

/// `#[jitted(…)]` on one function.
pub(crate) fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<Function>(item.clone()) {
        Ok(mut parsed) => {
            parsed.add_options(options);
            function(&parsed)
        }
        Err(error) => {
            // The item is kept: whatever it is, the rest of the program may use it.
            let mut output = error.to_compile_error();
            output.extend(item);
            output
        }
    }
}

fn function(function: &Function) -> TokenStream {
    match check::check(function) {
        Ok(plan) => expand::expand(function, &plan),
        Err(mistakes) => {
            let mut output = mistakes.to_compile_errors();
            output.extend(expand::stub(function));
            output
        }
    }
}
