//! Transforms inside of what is transformed.

use tracewell::prelude::*;

use super::calculus::rosenbrock;
use super::{Composition, at, of, wave};

pub(super) const ALL: &[Composition] = &[
    of("perturbations", || at([3], 0.5), perturbations),
    of("perturbation_of_a_number", || Array::from(1.5), perturbation_of_a_number),
    of("gradient_penalty", || at([3], 0.5), |x| grad(bowl)(x).square().sum()),
    of("jvp_along_itself", || at([3], 0.5), |x| jvp(|x: &Array| x.tanh() * x, x, &x.square()).1),
    of("pullback_of_itself", || at([3], 0.5), pullback_of_itself),
    of("pushforward_of_itself", || at([3], 0.5), pushforward_of_itself),
    of("kernel_matrix", || at([4, 2], 0.5), kernel_matrix),
    of("per_example_gradients", || at([7], 0.2), per_example_gradients),
    of("clipped_gradients", || at([4, 3], 0.2), clipped_gradients),
    of("examples", || at([4, 3], 0.2), examples),
    of("laplacian", || at([3], 0.5), laplacian),
    of("newton_step", || Array::from([-1.2, 1.0]), newton_step),
    of("held_constant", || at([4], 0.5), |x| x * stop_gradient(&x.square()) + stop_gradient(&x.sin())),
    of("straight_through", || 3.0 * at([4], 0.5), |x| (x + stop_gradient(&(x.round() - x))).square()),
    of("square_root_by_iteration", || 1.5 + at([3], 0.5), square_root_by_iteration),
    of("learning_to_learn", || at([3], 0.5), learning_to_learn),
    of("hessian_by_columns", || at([3], 0.5), hessian_by_columns),
    of("jacobian_of_jacobian", || at([2], 0.5), jacobian_of_jacobian),
    of("columns", || at([3, 4], 0.5), columns),
    of("jit_inside", || at([3, 4], 0.5), jit_inside),
    of("pendulum", || Array::from([1.0, 0.3]), pendulum),
];

fn bowl(x: &Array) -> Array {
    (x.sin() * x.square()).sum()
}

/// The outer tangent must not be taken for the inner one.
fn perturbations(x: &Array) -> Array {
    let inner = grad(|y: &Array| (x * y + x * y.sin()).sum())(&Array::ones([3], x.dtype()));
    x * inner
}

fn perturbation_of_a_number(x: &Array) -> Array {
    let two = Array::full(Shape::scalar(), 2.0, x.dtype());
    x * grad(|y: &Array| x + y)(&two) + grad(|y: &Array| x * y.powi(3))(x)
}

fn pullback_of_itself(x: &Array) -> Array {
    let (y, pull) = vjp(|x: &Array| x.sin().exp(), x);
    pull(&(y * x))
}

fn pushforward_of_itself(x: &Array) -> Array {
    let (y, push) = linearize(|x: &Array| x.powi(3), x);
    push(&y) + push(x)
}

fn kernel_matrix(x: &Array) -> Array {
    vmap(|a: &Array| vmap(|b: &Array| (-(a - b).square().sum()).exp())(x))(x)
}

fn per_example_gradients(p: &Array) -> Array {
    let examples = (wave([5, 2], 0.1, p), wave([5], 0.3, p));
    let of_example = |(x, y): &(Array, Array)| {
        grad(|p: &Array| {
            let h = x.dot(&p.slice(s![..6]).reshape([2, 3])).tanh();
            (h.sum() * p.slice(s![6]) - y).square()
        })(p)
    };
    vmap(of_example)(&examples)
}

fn clipped_gradients(x: &Array) -> Array {
    let g = grad(|x: &Array| ((2.0 * x).sin() * x).sum())(x);
    let norm = g.square().sum().sqrt();
    g / norm.maximum(1.0)
}

fn examples(x: &Array) -> Array {
    x.powi(4).sum() / (1.0 + x.square().sum()) * x.slice(s![0])
}

fn laplacian(x: &Array) -> Array {
    let h = hessian(|x: &Array| x.sin().prod() + x.powi(4).sum())(x);
    (h * Array::eye(3, x.dtype())).sum()
}

fn newton_step(x: &Array) -> Array {
    let (g, h) = (grad(rosenbrock)(x), hessian(rosenbrock)(x));
    let (g, h) = (|i: usize| g.slice(s![i]), |i: usize, j: usize| h.slice(s![i, j]));
    let determinant = h(0, 0) * h(1, 1) - h(0, 1) * h(1, 0);
    let step = [h(1, 1) * g(0) - h(0, 1) * g(1), h(0, 0) * g(1) - h(1, 0) * g(0)];
    x - stack(&step, 0) / determinant
}

/// Newton's iteration, differentiated through its steps.
fn square_root_by_iteration(x: &Array) -> Array {
    (0..6).fold(Array::ones([3], x.dtype()), |y, _| 0.5 * (&y + x / &y))
}

/// Two steps of gradient descent on one loss, judged by another.
fn learning_to_learn(p: &Array) -> Array {
    let loss = |p: &Array, data: f64, targets: f64| {
        (wave([4, 3], data, p).dot(p).tanh() - wave([4], targets, p)).square().mean()
    };
    let step = |p: Array, _| &p - 0.3 * grad(|p: &Array| loss(p, 0.1, 0.3))(&p);
    loss(&(0..2).fold(p.clone(), step), 0.6, 0.8)
}

fn hessian_by_columns(x: &Array) -> Array {
    vmap(|v: &Array| hvp(bowl, x, v))(&Array::eye(3, x.dtype()))
}

fn jacobian_of_jacobian(x: &Array) -> Array {
    let f = |x: &Array| {
        let (a, b) = (x.slice(s![0]), x.slice(s![1]));
        stack(&[(&a * &b).sin(), a.square() * b], 0)
    };
    jacfwd(jacrev(f))(x)
}

fn columns(x: &Array) -> Array {
    let scaled = |(c, w): &(Array, Array)| c.exp() * w;
    vmap_axes(scaled, (1, None), 1)(&(x.clone(), wave([3], 0.2, x)))
}

fn jit_inside(x: &Array) -> Array {
    let f = jit(|row: &Array| row.sin() * row.square().sum());
    vmap(|row: &Array| f.call(row))(x) * f.call(x)
}

/// Six steps of a symplectic integrator.
fn pendulum(state: &Array) -> Array {
    let start = (state.slice(s![0]), state.slice(s![1]));
    let (angle, speed) = (0..6).fold(start, |(angle, speed), _| {
        let speed = speed - 0.1 * angle.sin();
        (angle + 0.1 * &speed, speed)
    });
    stack(&[angle, speed], 0)
}
