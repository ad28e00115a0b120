//! What the macros say about mistakes: each program of `ui` must not compile, with the errors beside it.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
