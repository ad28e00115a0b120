//! Where an array is while a linked kernel runs.

use smallvec::SmallVec;
use tracewell_array::DType;
use tracewell_kernel::{BufferId, Index, KernelBuilder, LibraryCall, Size, Value, Window};

/// Element `i` of an array is at `offset + Σ value × stride + i × scale` of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Place {
    pub(crate) buffer: BufferId,
    pub(crate) offset: i64,
    pub(crate) terms: SmallVec<[(Value, i64); 2]>,
    pub(crate) scale: i64,
    /// Number of elements of the array.
    pub(crate) len: usize,
    pub(crate) dtype: DType,
}

impl Place {
    /// A buffer from its first element on.
    pub(crate) fn whole(buffer: BufferId, dtype: DType, len: usize) -> Place {
        Place { buffer, offset: 0, terms: SmallVec::new(), scale: 1, len, dtype }
    }

    /// Part number `value` of `count` equal parts that lie one after the other.
    pub(crate) fn part(&self, value: Value, count: usize) -> Place {
        self.part_at(count, Some((value, 1)), 0, false)
    }

    /// One of `count` equal parts that lie one after the other: the number is `plus`, and a value times a factor.
    /// Backwards it is counted from the last part.
    pub(crate) fn part_at(
        &self,
        count: usize,
        number: Option<(Value, i64)>,
        plus: i64,
        backwards: bool,
    ) -> Place {
        let len = self.len.checked_div(count).unwrap_or(0);
        let step = len as i64 * self.scale;
        let mut part = Place { len, ..self.clone() };
        part.offset += step * if backwards { count as i64 - 1 - plus } else { plus };
        let sign = if backwards { -1 } else { 1 };
        part.terms.extend(number.map(|(value, factor)| (value, sign * factor * step)));
        part
    }

    /// Every `count`-th element from element number `value` on.
    pub(crate) fn lane(&self, value: Value, count: usize) -> Place {
        let len = self.len.checked_div(count).unwrap_or(0);
        let mut lane = Place { len, scale: self.scale * count as i64, ..self.clone() };
        lane.terms.push((value, self.scale));
        lane
    }

    /// The index of an element.
    pub(crate) fn at(&self, element: i64) -> Index {
        let terms = self.terms.iter().map(|&(value, stride)| (value, Size::Const(stride))).collect();
        Index { offset: Size::Const(self.offset + element * self.scale), terms }
    }

    /// As the operand of a call, if the elements lie one after the other.
    fn window(&self) -> Option<Window> {
        (self.scale == 1 || self.len <= 1).then(|| Window { buffer: self.buffer, start: self.at(0) })
    }
}

/// Copies all elements.
pub(crate) fn copy(b: &mut KernelBuilder, from: &Place, to: &Place) {
    if from == to || from.len == 0 {
        return;
    }
    if from.len <= super::SMALL {
        for i in 0..from.len as i64 {
            let value = b.load(from.buffer, from.at(i));
            b.store(to.buffer, to.at(i), value);
        }
        return;
    }
    b.each(Size::Const(from.len as i64), |b, i| {
        let along = |place: &Place| {
            let mut index = place.at(0);
            index.terms.push((i, Size::Const(place.scale)));
            index
        };
        let value = b.load(from.buffer, along(from));
        b.store(to.buffer, along(to), value);
    });
}

/// Calls a library function on arrays, of which it is said whether iterations of an `each` share their buffers: what
/// calls write must be an iteration's own. What is not, or does not lie in one piece, is copied.
pub(crate) fn call_on(b: &mut KernelBuilder, call: &LibraryCall, places: Vec<(Place, bool)>) {
    let mut windows = Vec::with_capacity(places.len());
    let mut back = Vec::new();
    for (i, (place, is_shared)) in places.into_iter().enumerate() {
        let is_output = i >= call.inputs.len();
        match place.window() {
            Some(window) if !(is_output && is_shared) => windows.push(window),
            _ => {
                let own = Place::whole(b.local(place.dtype, place.len), place.dtype, place.len);
                windows.push(Window::whole(own.buffer));
                if is_output {
                    back.push((own, place));
                } else {
                    copy(b, &place, &own);
                }
            }
        }
    }
    b.call(call.clone(), windows);
    back.iter().for_each(|(from, to)| copy(b, from, to));
}
