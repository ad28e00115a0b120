//! Steps of the compiler: taken as far as asked, to find the one that breaks a result, and broken on purpose, to see
//! that it is found.
//!
//! Here, because everything that compiles knows this crate. Nothing is asked of it while compiled code runs.

use std::cell::{Cell, RefCell};

thread_local! {
    static LIMIT: RefCell<Option<Taken>> = const { RefCell::new(None) };
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// What came of steps that were counted.
#[derive(Clone, Default, Debug)]
pub struct Taken {
    most: usize,
    /// How many there were, those that were not taken included.
    pub count: usize,
    /// The last that was taken, in words.
    pub last: Option<String>,
}

/// Whether a step is taken that can be left out: a rewrite, a fusion. It always is, but inside [`up_to`].
pub fn take(what: impl FnOnce() -> String) -> bool {
    LIMIT.with_borrow_mut(|limit| {
        let Some(taken) = limit else { return true };
        taken.count += 1;
        if taken.count == taken.most {
            taken.last = Some(what());
        }
        taken.count <= taken.most
    })
}

/// Runs `f`, in which only so many steps are taken, and says how many there were.
pub fn up_to<R>(most: usize, f: impl FnOnce() -> R) -> (R, Taken) {
    struct Leave(Option<Taken>);
    impl Drop for Leave {
        fn drop(&mut self) {
            LIMIT.set(self.0.take());
        }
    }
    let _leave = Leave(LIMIT.replace(Some(Taken { most, ..Taken::default() })));
    let result = f();
    (result, LIMIT.take().unwrap_or_default())
}

/// A step that goes wrong on purpose. For tests of what finds such mistakes, never otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A rewrite: of two negations one is left out.
    Rewrite,
    /// A fusion: what is computed inside a kernel for another result takes its two operands the other way round.
    Fusion,
    /// A lowering: a difference is taken the other way round.
    Lowering,
    /// Code after a vector loop: the rest of the elements has differences the other way round.
    Tail,
    /// Vectors wider than Cranelift's: they have differences the other way round.
    Wide,
    /// A rewrite: that of two negations panics.
    RewritePanics,
    /// A fusion: what is computed inside a kernel for another result, of two operands, panics.
    FusionPanics,
    /// Code generation: a difference panics.
    CodegenPanics,
}

/// Runs `f` with a step broken.
pub fn breaking<R>(fault: Fault, f: impl FnOnce() -> R) -> R {
    struct Leave(Option<Fault>);
    impl Drop for Leave {
        fn drop(&mut self) {
            FAULT.set(self.0);
        }
    }
    let _leave = Leave(FAULT.replace(Some(fault)));
    f()
}

/// What is broken on this thread.
pub fn broken() -> Option<Fault> {
    FAULT.get()
}

/// Whether this is.
pub fn is_broken(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_taken_up_to_a_limit() {
        assert!(take(|| unreachable!("nobody asks")));
        let (results, taken) = up_to(2, || [1, 2, 3].map(|i| take(|| i.to_string())));
        assert_eq!(results, [true, true, false]);
        assert_eq!((taken.count, taken.last.as_deref()), (3, Some("2")));
        assert!(take(|| unreachable!("nobody asks")));
    }

    #[test]
    fn a_panic_leaves_no_limit_behind() {
        std::panic::catch_unwind(|| up_to(0, || std::panic::resume_unwind(Box::new(())))).unwrap_err();
        assert!(take(|| unreachable!("nobody asks")));
    }

    #[test]
    fn a_fault_belongs_to_its_scope_and_thread() {
        breaking(Fault::Tail, || {
            assert!(is_broken(Fault::Tail) && !is_broken(Fault::Fusion));
            assert_eq!(std::thread::spawn(broken).join().expect("nothing panics"), None);
        });
        assert_eq!(broken(), None);
    }
}
