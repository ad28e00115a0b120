//! How many failures leave a program that fails in the same way: a table, a row for each way to fail.

use std::panic::catch_unwind;

use tracewell::repro::{self, Repro, Verdict};

use crate::mistakes::wrong_programs;
use crate::scenarios::SCENARIOS;

/// The repro of a program that fails.
pub(crate) fn repro_of(run: fn() -> Option<String>) -> Option<Repro> {
    // On a thread of its own: what one leaves behind is not found by the next.
    let made = std::thread::spawn(move || {
        let (_, repro) = repro::collect(|| catch_unwind(run));
        repro
    });
    made.join().ok().filter(|repro| repro.failure().is_some())
}

/// What became of a program.
struct Row {
    name: &'static str,
    verdict: String,
    good: bool,
    exact: bool,
}

fn row(name: &'static str, run: fn() -> Option<String>) -> Row {
    let row = |verdict: String, good, exact| Row { name, verdict, good, exact };
    let Some(repro) = repro_of(run) else { return row("nothing was recorded".into(), false, false) };
    let folder = std::env::temp_dir().join(format!("tracewell-yield-{}-{name}", std::process::id()));
    let saved = repro.save(&folder).unwrap();
    let loaded = Repro::load(&saved);
    std::fs::remove_dir_all(&folder).unwrap();
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return row(format!("cannot be read: {error}\n{}", repro.to_text()), false, false),
    };
    if loaded.to_text() != repro.to_text() {
        return row("is another one when it is read".into(), false, false);
    }
    let rust = loaded.to_rust();
    if let Some(folder) = std::env::var_os("TRACEWELL_KEEP") {
        let folder = std::path::Path::new(&folder).join(name);
        loaded.save(&folder).unwrap();
        std::fs::write(folder.join("message.txt"), &repro.failure().unwrap().message).unwrap();
    }
    if let Err(error) = syn::parse_file(&rust) {
        return row(format!("is no Rust: {error}\n{rust}"), false, false);
    }
    let verdict = std::thread::spawn(move || (loaded.run(), loaded)).join();
    let exact = repro.is_exact();
    match verdict {
        Ok((Verdict::Reproduced, _)) => row("reproduced".into(), true, exact),
        Ok((verdict, loaded)) => {
            let wanted = repro.failure().unwrap();
            row(format!("{verdict:?} instead of {wanted:?}\n{}", loaded.to_text()), false, exact)
        }
        Err(_) => row("panicked".into(), false, exact),
    }
}

#[test]
fn every_failure_is_reproduced_from_its_text() {
    // Texts with commas between; none takes all.
    let only = std::env::var("TRACEWELL_ONLY").unwrap_or_default();
    let all = SCENARIOS.iter().copied().chain(wrong_programs());
    let all = all.filter(|(name, _)| only.split(',').any(|only| name.contains(only)));
    let rows: Vec<Row> = all.map(|(name, run)| row(name, run)).collect();
    let mut text = String::new();
    for Row { name, verdict, exact, .. } in &rows {
        let fidelity = if *exact { "exact" } else { "stand-in" };
        text.push_str(&format!("{name:45} {fidelity:9} {verdict}\n"));
    }
    let good = rows.iter().filter(|row| row.good).count();
    let exact = rows.iter().filter(|row| row.good && row.exact).count();
    text.push_str(&format!("{good} of {} reproduced, {exact} exact\n", rows.len()));
    println!("{text}");
    assert_eq!(good, rows.len(), "{text}");
}
