//! With `panic = "abort"` nothing can be caught, but the message is still left.

use std::path::Path;
use std::process::Command;

/// A program of its own, because the panic strategy is chosen for a whole program.
#[test]
fn the_message_is_left_when_panics_abort() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abort");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"abort\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         tracewell-trace = {{ path = {:?} }}\ntracewell-graph = {{ path = {:?} }}\n\n[profile.dev]\npanic = \"abort\"\n",
        root.join("crates/trace"),
        root.join("crates/graph"),
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let program = r#"
        use tracewell_trace::{Api, Error, ErrorKind, boundary, raise};
        use tracewell_graph::Location;
        fn main() {
            let here = Location::caller();
            let _ = boundary(Api::Jit, Some("step"), &here, || -> () {
                raise(Error::new(ErrorKind::Type, "cannot add f32[3] and f32[4]"), &here)
            });
        }
    "#;
    std::fs::write(folder.join("src/main.rs"), program).unwrap();
    let run = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success());
    assert!(text.contains("cannot add f32[3] and f32[4]") && text.contains("while tracing `step`"), "{text}");
}
