//! Work on every element, on several threads if there are many.
#![allow(unsafe_code, reason = "memory that nobody has written yet is filled by several threads")]

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::merge::PARALLEL;

/// Elements that a thread takes at a time.
const SOME: usize = 1 << 14;

/// Changes every element.
pub(super) fn each<T: Send>(all: &mut [T], work: impl Fn(&mut T) + Sync) {
    if all.len() < PARALLEL {
        all.iter_mut().for_each(work);
    } else {
        all.par_chunks_mut(SOME).for_each(|some| some.iter_mut().for_each(&work));
    }
}

/// Fills memory with what is made of elements, of which there are as many.
pub(super) fn fill<'m, A: Copy + Sync, B: Send>(
    to: &'m mut [MaybeUninit<B>],
    from: &[A],
    make: impl Fn(A) -> B + Sync,
) -> &'m mut [B] {
    assert_eq!(to.len(), from.len(), "one element for each");
    let some = |(to, from): (&mut [MaybeUninit<B>], &[A])| {
        to.iter_mut().zip(from).for_each(|(to, &x)| {
            to.write(make(x));
        });
    };
    if from.len() < PARALLEL {
        some((to, from));
    } else {
        to.par_chunks_mut(SOME).zip(from.par_chunks(SOME)).for_each(some);
    }
    // SAFETY: each was written above: parts of the same lengths of both cover all of them.
    unsafe { to.assume_init_mut() }
}

/// What is made of every number below a count.
pub(super) fn collect<T: Send>(count: usize, make: impl Fn(u32) -> T + Sync + Send) -> Vec<T> {
    if count < PARALLEL {
        (0..count as u32).map(make).collect()
    } else {
        (0..count as u32).into_par_iter().with_min_len(SOME).map(make).collect()
    }
}
