//! Switches of a thread: on while a closure runs.

use std::cell::Cell;
use std::thread::LocalKey;

/// A switch of the current thread, on while a closure runs. It nests, and is left also by a panic.
#[derive(Debug)]
pub struct Switch(&'static LocalKey<Cell<usize>>);

impl Switch {
    /// A switch that counts in this cell how often it is on.
    pub const fn new(count: &'static LocalKey<Cell<usize>>) -> Switch {
        Switch(count)
    }

    /// Whether it is on.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.get() > 0
    }

    /// Runs `f` with the switch on.
    pub fn on<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Leave(&'static LocalKey<Cell<usize>>);
        impl Drop for Leave {
            fn drop(&mut self) {
                self.0.set(self.0.get() - 1);
            }
        }
        self.0.set(self.0.get() + 1);
        let _leave = Leave(self.0);
        f()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }
    static SWITCH: Switch = Switch::new(&COUNT);

    #[test]
    fn it_nests_and_belongs_to_its_thread() {
        assert!(!SWITCH.is_on());
        SWITCH.on(|| {
            SWITCH.on(|| assert!(SWITCH.is_on()));
            assert!(SWITCH.is_on(), "the outer one still is");
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(!SWITCH.is_on()));
            });
        });
        assert!(!SWITCH.is_on());
    }

    #[test]
    fn a_panic_switches_it_off() {
        let caught = std::panic::catch_unwind(|| SWITCH.on(|| std::panic::resume_unwind(Box::new(1))));
        assert!(caught.is_err());
        assert!(!SWITCH.is_on());
    }
}
