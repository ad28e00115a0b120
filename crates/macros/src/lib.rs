//! jit!, #[jit], #[derive(Tree)], #[derive(Static)].
