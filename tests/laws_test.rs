//! Every law holds of every example of every primitive: a test for each primitive, so that one can be asked for by
//! its name and the slow ones run beside the others.

use libtest_mimic::{Arguments, Failed, Trial};
use tests::laws::{LAWS, table_of};
use tracewell_graph::Prim;

fn main() {
    let trial = |name: &&'static str| {
        let name = *name;
        Trial::test(format!("every_law_of_{name}"), move || every_law_of(name))
    };
    libtest_mimic::run(&Arguments::from_args(), Prim::NAMES.iter().map(trial).collect()).exit();
}

fn every_law_of(name: &'static str) -> Result<(), Failed> {
    let table = table_of(&[name]);
    if !table.failures.is_empty() {
        return Err(format!("{} failures:\n{}", table.failures.len(), table.failures.join("\n")).into());
    }
    for ((name, dtype), cells) in &table.rows {
        for (law, cell) in LAWS.iter().zip(cells) {
            if cell.checked == 0 && cell.reasons.is_empty() {
                return Err(format!("nothing is known of {} of {name} on {dtype}", law.name).into());
            }
        }
    }
    Ok(())
}
