//! Graphs that the unit tests share.
