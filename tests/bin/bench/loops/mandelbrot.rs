//! How long points of the plane stay near: a loop over arrays, and one loop a point.

use tracewell::prelude::*;

use super::Work;

const SIDE: usize = 512;
const STEPS: i64 = 100;

/// The real and the imaginary part of every point.
fn plane() -> (Array, Array) {
    let step = 2.5 / SIDE as f64;
    let part = |axis, from: f64| from + step * Array::iota([SIDE, SIDE], axis, F32);
    (part(1, -2.0), part(0, -1.25))
}

jit! {
    fn whole(c_re: &Array, c_im: &Array) -> Array {
        let (zero, count) = (Array::zeros([SIDE, SIDE], F32), Array::zeros([SIDE, SIDE], I32));
        let start = (zero.clone(), zero, count, Array::from(0i32));
        let end = while_loop(start, |(_, _, _, i)| i.lt(STEPS), |(re, im, count, i)| {
            let inside = (re * re + im * im).le(4);
            let (new_re, new_im) = (re * re - im * im + c_re, 2 * re * im + c_im);
            let (re, im) = (select(&inside, &new_re, re), select(&inside, &new_im, im));
            (re, im, count + inside.convert(I32), i + 1)
        });
        end.2
    }
}

jit! {
    fn each(c_re: &Array, c_im: &Array) -> Array {
        let point = |(c_re, c_im): &(Array, Array)| {
            let start = (Array::from(0f32), Array::from(0f32), Array::from(0i32));
            let alive = |(re, im, i): &(Array, Array, Array)| (re * re + im * im).le(4) & i.lt(STEPS);
            while_loop(start, alive, |(re, im, i)| (re * re - im * im + c_re, 2 * re * im + c_im, i + 1)).2
        };
        vmap(vmap(point))(&(c_re.clone(), c_im.clone()))
    }
}

/// A loop over arrays: all points a hundred times, changed where they are still near.
pub(super) fn array() -> Work {
    let (re, im) = plane();
    Box::new(move || whole(&re, &im))
}

/// A loop of scalars that ends when the point is far, for every point.
pub(super) fn vmapped() -> Work {
    let (re, im) = plane();
    Box::new(move || each(&re, &im))
}
