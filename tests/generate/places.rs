//! Elements of something where arrays of integers say, read or changed.

use tracewell_array::{DType, Shape};
use tracewell_graph::ArrayType;
use tracewell_graph::prim::{Gather, Outside, Places, Prim, Scatter, ScatterOp};

use super::grow::Growth;
use super::values;

impl Growth<'_> {
    /// A gather or a scatter. Each axis of the array has places, windows or neither, or follows the places; the axes of
    /// what is read or put there are in any order.
    pub(super) fn places(&mut self) -> Option<()> {
        let x = self.pick_value()?;
        let rank = x.ty.rank();
        if rank == 0 {
            return None;
        }
        // The sizes of the indices' axes; some are those of axes of the array, which then follow them.
        let mut index_sizes: Vec<usize> =
            (0..self.rng.below(3)).map(|_| values::axis_size(self.rng)).collect();
        let mut shared: Vec<Option<usize>> = vec![None; rank];
        let (mut windows, mut along) = (vec![1; rank], Vec::new());
        let sure = self.rng.below(rank);
        let mut own = vec![false; rank];
        for (axis, size) in x.ty.shape.iter().enumerate() {
            match self.rng.below(4) {
                0 if axis != sure => {
                    shared[axis] = Some(index_sizes.len());
                    index_sizes.push(size);
                    windows[axis] = size;
                }
                1 if axis != sure => {
                    own[axis] = true;
                    windows[axis] = size;
                }
                2 if size > 0 => {
                    own[axis] = true;
                    windows[axis] = 1 + self.rng.below(size);
                    along.push(axis);
                }
                _ => along.push(axis),
            }
        }
        let owners = own.iter().filter(|own| **own).count();
        let mut order: Vec<usize> = (0..index_sizes.len() + owners).collect();
        if self.rng.percent(50) {
            self.rng.shuffle(&mut order);
        }
        let index_axes: Vec<usize> = order.drain(..index_sizes.len()).collect();
        let mut order = order.into_iter();
        let mut follow = |axis: usize| match shared[axis] {
            Some(at) => index_axes[at] as i64,
            None if own[axis] => order.next().map_or(-1, |to| to as i64),
            None => -1,
        };
        let follows: Vec<i64> = (0..rank).map(&mut follow).collect();
        let mut indices = Vec::with_capacity(along.len());
        for k in 0..along.len() {
            // All but the first may be repeated along an axis.
            let repeated = |growth: &mut Self, n: usize| if k > 0 && growth.rng.percent(30) { 1 } else { n };
            let shape: Shape = index_sizes.iter().map(|&n| repeated(self, n)).collect();
            let dtype = *self.rng.pick(&[DType::I32, DType::I32, DType::I64, DType::U32, DType::U8])?;
            indices.push(self.operand(&ArrayType::new(dtype, shape))?);
        }
        let mut sizes = vec![0; index_sizes.len() + owners];
        for (&axis, &size) in index_axes.iter().zip(&index_sizes) {
            sizes[axis] = size;
        }
        for (axis, &to) in follows.iter().enumerate().filter(|(_, to)| **to >= 0) {
            sizes[to as usize] = windows[axis];
        }
        let places = Places { follows, sizes: windows, along, index_axes, from_back: self.rng.percent(70) };
        let mut operands = vec![x.clone()];
        let is_outside = self.rng.percent(50);
        let prim: Prim = if self.rng.percent(50) {
            let fill = values::literal(self.rng, x.ty.dtype, self.options.extreme);
            Gather::new(places, if is_outside { Outside::Fill(fill) } else { Outside::Clip }).into()
        } else {
            operands.push(self.operand(&x.ty.with_shape(Shape::from(sizes)))?);
            let ops = if x.ty.dtype.is_bool() { &ScatterOp::ALL[..1] } else { &ScatterOp::ALL[..] };
            Scatter::new(places, *self.rng.pick(ops)?, is_outside).into()
        };
        operands.extend(indices);
        self.bind(prim, &operands).map(drop)
    }
}
