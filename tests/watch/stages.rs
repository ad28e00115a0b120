//! Every stage visible: pages, profiles, dumps, the log.

use std::process::Command;

use tracewell::prelude::*;

jit! {
    fn layered(x: &Array) -> Array {
        let e = (x - x.max()).exp();
        (&e / e.sum()).dot(&Array::ones([64, 3], F32))
    }
}

fn lowered() -> Lowered {
    lower(|| layered(&Array::ones([64], F32))).unwrap()
}

#[test]
fn the_page_shows_every_stage() {
    let lowered = lowered();
    let html = lowered.to_html(None);
    for part in
        ["call tree as traced", "optimized graph", "steps", "memory", "stages.rs:", "f32[64]", "estimated"]
    {
        assert!(html.contains(part), "{part}");
    }
    assert!(html.contains("step 0"), "equations say which step computes them");
}

#[test]
fn every_equation_but_views_is_in_a_step() {
    let x = Array::ones([8, 8], F32);
    let lowered = tracewell::jit(|x: &Array| (x.sin() * x.cos()).sum_axes(&[1]).exp()).lower(&x).unwrap();
    let html = lowered.to_html(None);
    let equations = lowered.optimized().equations.len();
    assert_eq!(html.matches("step ").count(), equations, "{html}");
}

#[test]
fn a_profile_has_time_threads_and_bytes_of_each_step() {
    let lowered = lowered();
    let profile = lowered.profile(&[Array::ones([64], F32)]).unwrap();
    assert_eq!(profile.steps().len(), lowered.program().steps.len());
    assert!(profile.steps().all(|(_, threads, bytes)| threads >= 1 && bytes > 0));
    assert!(profile.nanoseconds() > 0);
    assert!(lowered.to_html(Some(&profile)).contains("profiled run"));
}

#[test]
fn cost_and_memory_are_numbers() {
    let lowered = lowered();
    assert!(lowered.cost() > 0 && lowered.memory() >= 12);
}

#[test]
fn other_types_than_the_graphs_are_an_error() {
    let error = lowered().run(&[Array::ones([65], F32)]).unwrap_err();
    assert!(error.message().contains("takes (f32[64]), and was given (f32[65])"), "{error}");
}

/// Runs one test again in a process of its own, with these variables; gives what it said on stderr.
fn alone(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--test-threads", "1", "--nocapture"]).env("WATCH_ALONE", "1");
    let child = command.envs(variables.iter().copied()).output().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    String::from_utf8_lossy(&child.stderr).into_owned()
}

#[test]
fn a_program_that_compiles() {
    layered(&Array::ones([64], F32));
}

#[test]
fn the_log_tells_of_traces_and_compiles() {
    let said = alone("stages::a_program_that_compiles", &[("TRACEWELL_LOG", "compiles")]);
    assert!(said.contains("tracewell: traced `layered` in "), "{said}");
    assert!(
        said.contains("tracewell: compiled `layered` in ") && said.contains("(f32[64]) -> (f32[3])"),
        "{said}"
    );
    let silent = alone("stages::a_program_that_compiles", &[]);
    assert!(!silent.contains("tracewell:"), "{silent}");
}

#[test]
fn stages_are_dumped_into_a_folder() {
    let folder = std::env::temp_dir().join(format!("tracewell-dump-{}", std::process::id()));
    let path = folder.to_str().unwrap();
    let stages = "traced,optimized,program,clif,asm";
    alone("stages::a_program_that_compiles", &[("TRACEWELL_DUMP", stages), ("TRACEWELL_DUMP_DIR", path)]);
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name.contains("layered"));
    names.sort();
    let ends: Vec<&str> = names.iter().map(|name| name.split_once("layered.").unwrap().1).collect();
    assert_eq!(ends, ["asm.s", "clif.clif", "optimized.ir", "program.txt", "traced.ir"]);
    let traced = names.iter().find(|name| name.ends_with("traced.ir")).unwrap();
    let text = std::fs::read_to_string(folder.join(traced)).unwrap();
    assert!(tracewell::read_graph(&text).unwrap().equations.len() > 3);
    std::fs::remove_dir_all(folder).unwrap();
}
