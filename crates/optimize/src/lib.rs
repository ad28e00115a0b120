//! Graph passes that keep meaning, and the list of them.
