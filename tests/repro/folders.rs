//! What is written when something fails, and what is not.

use std::fs;
use std::path::PathBuf;

use tracewell::__private::{Fault, breaking};
use tracewell::prelude::*;
use tracewell::repro::{self, Repro};

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tracewell-folders-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

fn wrong(n: usize) -> Result<Array> {
    jit(move |x: &Array| -> Result<Array> { Ok(x.sin().dot(&Array::ones([n], F32))) })
        .call(&Array::ones([3], F32))
}

#[test]
fn the_error_says_where_its_repro_is() {
    let root = folder("says");
    let error = repro::writing_to(&root, || wrong(5)).unwrap_err();
    let path = error.repro().unwrap().to_string();
    assert!(error.to_string().ends_with(&format!("\n  repro: {path}")), "{error}");
    assert!(Repro::load(&path).unwrap().run().is_reproduced());
    for file in ["repro.rs", "Cargo.toml", "repro.txt", "signature.txt"] {
        assert!(PathBuf::from(&path).join(file).is_file(), "{file}");
    }
    fs::remove_dir_all(root).unwrap();
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let root = folder("owner");
    let error = repro::writing_to(&root, || wrong(6)).unwrap_err();
    for path in [root.clone(), error.repro().unwrap().into()] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    }
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn one_folder_for_each_kind_of_failure() {
    let root = folder("each");
    repro::writing_to(&root, || {
        let first = wrong(7).unwrap_err();
        let second = wrong(8).unwrap_err();
        assert_eq!(first.repro(), second.repro(), "only the numbers differ");
        let other = jit(|x: &Array| -> Result<Array> { Ok(x.reshape([5])) }).call(&Array::ones([3], F32));
        assert_ne!(other.unwrap_err().repro(), first.repro());
    });
    assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn an_error_stays_what_it_is_where_nothing_can_be_written() {
    let file = folder("file");
    fs::write(&file, "not a folder").unwrap();
    let error = repro::writing_to(&file, || wrong(9)).unwrap_err();
    assert!(error.repro().is_none());
    assert!(error.message().contains("f32[9]"), "{error}");
    fs::remove_file(file).unwrap();
}

#[test]
fn a_warm_call_has_no_observer_and_a_failing_one_has_its_tree() {
    jit! {
        fn checked(x: &Array) -> Result<Array> {
            check!(x.gt(0.0).all(), "x is {}", x);
            Ok(x.sin().cos())
        }
    }
    let root = folder("warm");
    repro::writing_to(&root, || {
        let x = Array::from([1.0f32, 2.0]);
        checked(&x).unwrap();
        assert!(!tracewell::observe::is_observed());
        checked(&x).unwrap();
        let error = checked(&Array::from([1.0f32, -2.0])).unwrap_err();
        let repro = Repro::load(error.repro().unwrap()).unwrap();
        assert!(repro.to_text().contains("\"sin\""), "{}", repro.to_text());
        assert!(repro.run().is_reproduced());
    });
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_panic_of_the_user_leaves_a_folder() {
    let root = folder("panic");
    let run = || {
        repro::writing_to(&root, || {
            std::panic::catch_unwind(|| {
                jit(|x: &Array| -> Array { panic!("no {} here", x.sin().rank()) })
                    .call(&Array::ones([2], F32))
            })
        })
    };
    assert!(run().is_err());
    let found = fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
    let repro = Repro::load(&found).unwrap();
    assert!(!repro.is_exact() && repro.run().is_reproduced());
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn nans_are_found_by_primitive_and_line() {
    let root = folder("nans");
    let f = jit(|x: &Array| -> Result<Array> { Ok(((x - 1.0).log() * 2.0).exp().sum()) });
    let error =
        repro::writing_to(&root, || repro::check_nans(|| f.call(&Array::from([0.5f32, 2.0])))).unwrap_err();
    assert_eq!(error.message(), "`log` gave NaN for finite operands, first at [0]");
    assert!(error.location().unwrap().file.ends_with("folders.rs"), "{error}");
    assert!(Repro::load(error.repro().unwrap()).unwrap().run().is_reproduced());
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn nans_that_are_not_there_when_each_primitive_runs_alone() {
    let (a, b) = (Array::linspace(2.0, 3.0, 5, F32), Array::linspace(0.0, 1.0, 5, F32));
    let f = jit(|(a, b): &(Array, Array)| -> Result<Array> { Ok((a - b).log().sum()) });
    let pair = (a, b);
    // Inside the kernel of the logarithm the difference is taken the other way round.
    let broken = || breaking(Fault::Fusion, || repro::check_nans(|| f.call(&pair).unwrap_err()));
    assert_eq!(broken().message(), "result 0 is NaN at [], and finite if each primitive runs alone");
    repro::check_nans(|| f.call(&pair).unwrap());
}

#[test]
fn compiled_and_evaluated_results_agree() {
    let f = jit(|x: &Array| x.sin().dot(&x.t()).exp().sum_axes(&[0]));
    repro::check_compiled(|| f.call(&Array::linspace(-1.0, 1.0, 12, F32).reshape([4, 3])));
}

#[test]
fn a_result_that_is_not_expected_is_a_failure() {
    let root = folder("expect");
    let x = Array::from([1.0f32, 2.0]);
    let run = || repro::expect(|| jit(|x: &Array| (-x).sum()).call(&x), |y| y.item::<f32>() > 0.0);
    let error = repro::writing_to(&root, run).unwrap_err();
    let repro = Repro::load(error.repro().unwrap()).unwrap();
    assert!(!repro.is_exact() && repro.run().is_reproduced(), "{}", repro.to_text());
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn nans_of_complex_numbers_are_found() {
    let f = jit(|x: &Array| -> Result<Array> { Ok((x / x).sum()) });
    let x = complex(Array::from([0.0f32, 1.0]), Array::from([0.0f32, 1.0]));
    let error = repro::check_nans(|| f.call(&x)).unwrap_err();
    assert_eq!(error.message(), "`div` gave NaN for finite operands, first at [0]");
}

#[test]
fn a_tree_past_its_bound_is_graphs_and_inputs() {
    let x = Array::linspace(0.0, 1.0, 20, F32);
    let f = |x: &Array| -> Result<Array> {
        let y = (0..40).fold(x.sin(), |y, _| y * 0.5 + x);
        let slope = grad(|y: &Array| (y * x).square().sum())(&y);
        let both = vmap(|(a, b): &(Array, Array)| a + b)(&(slope, y.clone()));
        // Inside another function, which uses what is outside.
        Ok(checkpoint(|z: &Array| (z * &y).dot(&Array::ones([7], F32)))(&both))
    };
    let run = || repro::assert_reproduces(|| jit(f).call(&x));
    let (exact, bounded) = (run(), repro::recording_at_most(20, run));
    assert!(exact.is_exact() && !bounded.is_exact());
    let note = "there were more than 20 statements: functions are what their graphs are";
    assert!(bounded.to_text().contains(note), "{}", bounded.to_text());
    // Nothing else is stood in for: what functions use of those around them is found there.
    assert_eq!(bounded.tree().stand_ins, [note]);
    assert_eq!(exact.failure(), bounded.failure());
    assert!(bounded.tree().leaves() > 80, "nothing is missing: {}", bounded.to_text());
    assert!(bounded.to_text().contains("checkpoint"), "{}", bounded.to_text());
    // A trace that is cached is kept by its graph, too.
    let g = jit(|x: &Array| (0..40).fold(x.sin(), |y, _| y * 0.5 + x));
    let cached = repro::recording_at_most(20, || {
        repro::assert_reproduces(|| {
            g.call(&x);
            jit(|x: &Array| g.call(x).reshape([3])).call(&x)
        })
    });
    assert!(cached.to_text().contains("call[graph="), "{}", cached.to_text());
}
