//! `cargo xtask laws`: every law on every example of every primitive, as a table.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::process::ExitCode;

use tests::laws::{LAWS, table};

fn main() -> ExitCode {
    if std::env::args().len() > 1 {
        println!("laws: checks every law on every example and prints how many hold. It takes no arguments.");
        return ExitCode::SUCCESS;
    }
    for law in LAWS {
        println!("{:<10} {}", law.name, law.statement);
    }
    let table = table();
    println!("\n{table}");
    if table.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
