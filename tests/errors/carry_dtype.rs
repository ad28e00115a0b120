//! What a loop carries changes its element type
//!
//! A loop has one type for what it carries, so that one program is every turn of it.
//! The message names what changes by its path, and the line that changes it.

pub mod wrong {
    use tracewell::prelude::*;

    #[derive(Clone, Tree)]
    struct Ball {
        place: Array,
        velocity: Array,
    }

    pub fn main() {
        let ball = Ball { place: Array::zeros([3], F32), velocity: Array::zeros([3], F32) };
        let gravity = Array::from([0.0f64, 0.0, -9.81]);
        let ball = fori_loop(0..100, ball, |_, ball| {
            let velocity = &ball.velocity + 0.01 * &gravity;
            Ball { place: &ball.place + 0.01 * &ball.velocity, velocity }
        });
        println!("{} {}", ball.place, ball.velocity);
    }
}

pub mod right {
    use tracewell::prelude::*;

    #[derive(Clone, Tree)]
    struct Ball {
        place: Array,
        velocity: Array,
    }

    pub fn main() {
        let ball = Ball { place: Array::zeros([3], F32), velocity: Array::zeros([3], F32) };
        let gravity = Array::from([0.0f32, 0.0, -9.81]);
        let ball = fori_loop(0..100, ball, |_, ball| {
            let velocity = &ball.velocity + 0.01 * &gravity;
            Ball { place: &ball.place + 0.01 * &ball.velocity, velocity }
        });
        println!("{} {}", ball.place, ball.velocity);
    }
}
