//! Repros from end to end: every failure is recorded, written, read, replayed, and fails in the same way.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "repro/broken.rs"]
mod broken;
#[path = "repro/command.rs"]
mod command;
#[path = "repro/folders.rs"]
mod folders;
#[path = "repro/killed.rs"]
mod killed;
#[path = "repro/laws.rs"]
mod laws;
#[path = "errors/mod.rs"]
mod mistakes;
#[path = "repro/names.rs"]
mod names;
#[path = "repro/scenarios.rs"]
mod scenarios;
#[path = "repro/user_primitive.rs"]
mod user_primitive;
#[path = "repro/view.rs"]
mod view;
#[path = "repro/yield_table.rs"]
mod yield_table;
