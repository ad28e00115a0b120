//! The command `tracewell view` on graphs and op traces.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tracewell::prelude::*;

/// A file of its own for each test.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("view-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn view(file: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tracewell")).arg("view").arg(file).args(options).output().unwrap()
}

#[test]
fn a_graph_becomes_a_page_beside_it() {
    let graph = trace(|x: &Array| x.sin().sum(), &Array::ones([8], F32)).unwrap();
    let path = file("graph.ir", &graph.to_string());
    assert!(view(&path, &[]).status.success());
    let page = fs::read_to_string(path.with_extension("html")).unwrap();
    assert!(page.contains("reduce_sum") && !page.contains("profiled run"));
    let other = path.with_file_name("other.html");
    assert!(view(&path, &["--profile", "--output", other.to_str().unwrap()]).status.success());
    assert!(fs::read_to_string(other).unwrap().contains("profiled run"));
}

#[test]
fn a_saved_op_trace_becomes_a_page() {
    let trace = tracing_ops(TraceOptions::default(), || Array::from([1.0f32, 2.0]).sin().sum()).1.unwrap();
    let path = file("ops.trace", &trace.to_text().unwrap());
    assert!(view(&path, &["--profile"]).status.success());
    let page = fs::read_to_string(path.with_extension("html")).unwrap();
    assert!(page.contains("what ran") && page.contains("from outside"));
}

#[test]
fn what_is_no_graph_is_refused() {
    let path = file("nothing.ir", "this is no graph");
    let output = view(&path, &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("this is no graph"));
    assert_eq!(view(Path::new("/nowhere"), &[]).status.code(), Some(3));
}
