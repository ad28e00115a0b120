//! What is asked about a composition: its value, or one of its derivatives.

use tracewell::prelude::*;

use super::wave;

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Value,
    Grad,
    Hessian,
    Hvp,
    Third,
    Jvp,
    Push,
    Jacfwd,
    Jacrev,
    Each,
    EachGrad,
    EachHessian,
}

impl Kind {
    /// By the name that rows have.
    pub(super) fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "value" => Kind::Value,
            "grad" => Kind::Grad,
            "hessian" => Kind::Hessian,
            "hvp" => Kind::Hvp,
            "third" => Kind::Third,
            "jvp" => Kind::Jvp,
            "push" => Kind::Push,
            "jacfwd" => Kind::Jacfwd,
            "jacrev" => Kind::Jacrev,
            "each" => Kind::Each,
            "each_grad" => Kind::EachGrad,
            "each_hessian" => Kind::EachHessian,
            _ => return None,
        })
    }

    /// It at a point.
    pub(super) fn of(self, f: fn(&Array) -> Array, x: &Array) -> Array {
        let number = move |x: &Array| probed(f, x);
        let direction = || wave(x.shape(), 1.1, x);
        match self {
            Kind::Value => f(x),
            Kind::Grad => grad(number)(x),
            Kind::Hessian => hessian(number)(x),
            Kind::Hvp => hvp(number, x, &direction()),
            Kind::Third => grad(summed_grad(summed_grad(number)))(x),
            Kind::Jvp => jvp(f, x, &direction()).1,
            Kind::Push => linearize(f, x).1(&direction()),
            Kind::Jacfwd => jacfwd(f)(x),
            Kind::Jacrev => jacrev(f)(x),
            Kind::Each => vmap(f)(x),
            Kind::EachGrad => vmap(grad(number))(x),
            Kind::EachHessian => vmap(hessian(number))(x),
        }
    }
}

/// One number: the result itself, or its sum weighted by a wave.
fn probed(f: fn(&Array) -> Array, x: &Array) -> Array {
    let y = f(x);
    if y.rank() == 0 { y } else { (&y * wave(y.shape(), 0.9, &y)).sum() }
}

fn summed_grad(f: impl Fn(&Array) -> Array) -> impl Fn(&Array) -> Array {
    move |x| grad(|x: &Array| f(x))(x).sum()
}
