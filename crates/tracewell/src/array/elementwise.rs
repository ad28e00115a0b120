//! Functions applied to every element.

use tracewell_array::DType;
use tracewell_graph::Location;
use tracewell_graph::prim::{self, Convert};

use super::{Array, apply};

macro_rules! elementwise {
    ($($(#[$doc:meta])* $method:ident $Prim:ident),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $method(&self) -> Array {
                let location = Location::caller();
                apply(prim::$Prim {}, &[self.as_float(&location).value().clone()], &location)
            }
        )*}
    };
}
elementwise! {
    /// The exponential.
    exp Exp,
    /// The natural logarithm.
    log Log,
    /// The sine.
    sin Sin,
    /// The cosine.
    cos Cos,
    /// The hyperbolic tangent.
    tanh Tanh,
    /// The square root.
    sqrt Sqrt,
    /// The largest integers not above the elements.
    floor Floor,
    /// The smallest integers not below the elements.
    ceil Ceil,
}

impl Array {
    /// Integers and bools as floats, for functions that are defined on floats.
    pub(crate) fn as_float(&self, location: &Location) -> Array {
        let dtype = match self.dtype() {
            DType::I64 => DType::F64,
            other if other.is_float() => return self.clone(),
            _ => DType::F32,
        };
        apply(Convert { dtype, weak: self.ty().weak }, &[self.value().clone()], location)
    }

    /// The magnitudes.
    #[track_caller]
    pub fn abs(&self) -> Array {
        apply(prim::Abs {}, &[self.value().clone()], &Location::caller())
    }

    /// -1, 0 or 1 by the sign of each element.
    #[track_caller]
    pub fn sign(&self) -> Array {
        apply(prim::Sign {}, &[self.value().clone()], &Location::caller())
    }

    /// The elements times themselves.
    #[track_caller]
    pub fn square(&self) -> Array {
        let value = self.value().clone();
        apply(prim::Mul {}, &[value.clone(), value], &Location::caller())
    }

    /// The array, held constant by derivatives.
    #[track_caller]
    pub fn stop_gradient(&self) -> Array {
        self.stop_gradient_at(&Location::caller())
    }

    pub(crate) fn stop_gradient_at(&self, location: &Location) -> Array {
        apply(prim::StopGradient {}, &[self.value().clone()], location)
    }
}
