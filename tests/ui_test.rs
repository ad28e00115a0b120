//! What the compiler says about mistakes in jitted functions and trees: programs that must not compile, each with
//! the errors beside it.
//!
//! What the macros say themselves is also tested on tokens, in their own crate. Here that takes a second a program,
//! and all dependencies are checked once more before the first: so by default only those run that need the types of
//! the library, with a few others. `RUN_SLOW=1` runs them all.

/// What no test on tokens can see, and one program for each macro.
const USUAL: [&str; 6] = [
    "ui/*_not_*.rs",
    "ui/jit_mistakes_in_body.rs",
    "ui/jit_several_mistakes.rs",
    "ui/jit_unknown_type.rs",
    "ui/jitted_struct.rs",
    "ui/tree_unknown_option.rs",
];

#[test]
fn mistakes_are_explained() {
    let all = std::env::var_os("RUN_SLOW").is_some_and(|value| value == "1");
    let programs: &[&str] = if all { &["ui/*.rs"] } else { &USUAL };
    let cases = trybuild::TestCases::new();
    programs.iter().for_each(|programs| cases.compile_fail(programs));
}
