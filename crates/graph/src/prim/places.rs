//! What `gather` and `scatter` share: windows of an array that start where arrays of integers say, how their elements
//! are laid out in another array, and the loops over them.
//!
//! The other array is the result of a gather and the updates of a scatter. Each of its axes is an axis of the indices,
//! an axis of the windows, or both at once: then each index has an array of its own to look in, which is all that
//! batching needs.

use smallvec::SmallVec;
use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{BufferId, Comparison, Index, KernelBuilder, Op, Size, Value};

use super::shape_rules::{each_index, position};
use super::{Prim, Reshape};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::primitive::{AxisView, Batched, Cx, Example, Lookup, LookupStart};
use crate::ty::ArrayType;

/// Windows of an array, and where their elements are in an array of all of them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Places {
    /// For each axis of the array, the axis of the windows that it follows; -1 where windows have one element.
    pub follows: Vec<i64>,
    /// For each axis of the array, how many elements a window has.
    pub sizes: Vec<usize>,
    /// For each array of indices, the axis of the array along which it says where windows start.
    pub along: Vec<usize>,
    /// For each axis of the indices, the axis of the windows that it is.
    pub index_axes: Vec<usize>,
    /// Whether negative indices count from the back.
    pub from_back: bool,
}

/// What an axis of the windows is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// An axis that is taken whole, or one of which each index has its own element: what is at two places of it is
    /// never the same element of the array.
    Apart,
    /// One of the elements from a start on.
    Window,
    /// An axis of the indices alone.
    Index,
}

impl Places {
    /// Number of axes of the windows.
    fn rank(&self) -> usize {
        let own = self.follows.iter().filter(|&&f| f >= 0 && !self.is_index_axis(f));
        self.index_axes.len() + own.count()
    }

    fn is_index_axis(&self, axis: i64) -> bool {
        self.index_axes.iter().any(|&a| a as i64 == axis)
    }

    /// The axis of the array that follows an axis of the windows.
    fn follower(&self, axis: usize) -> Option<usize> {
        self.follows.iter().position(|&f| f == axis as i64)
    }

    fn kind(&self, axis: usize) -> Kind {
        match self.follower(axis) {
            None => Kind::Index,
            Some(of) if self.along.contains(&of) => Kind::Window,
            Some(_) => Kind::Apart,
        }
    }

    /// How many starts there are along an axis of the array.
    fn starts(&self, x: &Shape, axis: usize) -> usize {
        (x.size(axis) + 1).saturating_sub(self.sizes[axis])
    }

    /// The shape of all windows together, or why there are none.
    pub(super) fn shape(&self, name: &str, x: &ArrayType, indices: &[ArrayType]) -> Result<Shape, TypeError> {
        let fail = |why: String| Err(TypeError::new(name, format!("`{name}` of {x}: {why}")));
        let (rank, count) = (self.rank(), self.along.len());
        if self.follows.len() != x.rank() || self.sizes.len() != x.rank() {
            return fail(format!("`follows` and `sizes` need {} numbers each, one an axis", x.rank()));
        }
        if indices.is_empty() || indices.len() != count {
            return fail(format!(
                "there must be {} arrays of indices, found {}",
                count.max(1),
                indices.len()
            ));
        }
        let twice = |axes: &[usize]| axes.iter().enumerate().any(|(i, a)| axes[..i].contains(a));
        if twice(&self.along) || self.along.iter().any(|&axis| axis >= x.rank()) {
            return fail(format!("`along` must name axes below {}, each once", x.rank()));
        }
        let followed: Vec<usize> = self.follows.iter().filter_map(|&f| usize::try_from(f).ok()).collect();
        let covered = (0..rank).all(|axis| self.index_axes.contains(&axis) || followed.contains(&axis));
        if !covered || twice(&followed) || twice(&self.index_axes) {
            return fail(format!("`follows` and `index_axes` must name the axes 0..{rank} of the windows"));
        }
        let mut sizes = vec![1; rank];
        for ty in indices {
            if !ty.dtype.is_integer() {
                return fail(format!("indices are integers, found {ty}"));
            }
            if ty.rank() != self.index_axes.len() {
                return fail(format!("indices have rank {}, found {ty}", self.index_axes.len()));
            }
            for (&axis, n) in self.index_axes.iter().zip(ty.shape.iter()) {
                if n != 1 && sizes[axis] != 1 && n != sizes[axis] {
                    return fail(format!("axis {axis} is {} and {n} in two arrays of indices", sizes[axis]));
                }
                if n != 1 {
                    sizes[axis] = n;
                }
            }
        }
        for (axis, (&follows, &window)) in self.follows.iter().zip(&self.sizes).enumerate() {
            let (size, is_along) = (x.shape.size(axis), self.along.contains(&axis));
            let Ok(to) = usize::try_from(follows) else {
                if window != 1 || !is_along {
                    return fail(format!("axis {axis} follows none and needs windows of size 1 and indices"));
                }
                continue;
            };
            if self.index_axes.contains(&to) {
                if is_along || size != sizes[to] || window != size {
                    return fail(format!("axis {axis} has size {size}, the indices {} for it", sizes[to]));
                }
            } else if !is_along && window != size {
                return fail(format!("axis {axis} has no indices and must be taken whole"));
            }
            sizes[to] = window;
        }
        let shape = Shape::from(sizes);
        if shape.checked_len().is_none() {
            return fail("the windows have too many elements".to_string());
        }
        for (axis, (&window, size)) in self.sizes.iter().zip(x.shape.iter()).enumerate() {
            if window > size && !shape.is_empty() {
                return fail(format!("windows are {window} along axis {axis}, which has size {size}"));
            }
        }
        Ok(shape)
    }

    /// Calls `f` with the position of each element of the windows, in row-major order, its position in the array, and
    /// whether all starts of its window are such that the window is inside. Else they are moved to the nearest such.
    pub(super) fn each(
        &self,
        x: &Shape,
        windows: &Shape,
        indices: &[Tensor],
        mut f: impl FnMut(usize, usize, bool),
    ) {
        let mut at = 0;
        each_index(windows, |index| {
            let mut place: Vec<usize> =
                self.follows.iter().map(|&f| usize::try_from(f).map_or(0, |f| index[f])).collect();
            let mut inside = true;
            for (indices, &axis) in indices.iter().zip(&self.along) {
                let sizes = indices.shape().iter().zip(&self.index_axes);
                let from: Vec<usize> = sizes.map(|(n, &a)| if n == 1 { 0 } else { index[a] }).collect();
                let asked = indices.literal(position(indices.shape(), &from)).as_i64();
                let back = if self.from_back && asked < 0 { x.size(axis) as i64 } else { 0 };
                let last = self.starts(x, axis) as i64 - 1;
                inside &= (0..=last).contains(&(asked + back));
                place[axis] += (asked + back).clamp(0, last) as usize;
            }
            f(at, position(x, &place), inside);
            at += 1;
        });
    }

    /// What is added to negative indices along an axis of the array.
    fn back(&self, x: &Shape, axis: usize, indices: &ArrayType) -> Option<usize> {
        let is_signed = matches!(indices.dtype, DType::I32 | DType::I64);
        (self.from_back && is_signed).then_some(x.size(axis))
    }

    /// How an element of the windows is found.
    pub(super) fn lookup(&self, x: &Shape, indices: &[ArrayType], outside: Option<Literal>) -> Lookup {
        let follow = |&follows: &i64| usize::try_from(follows).map_or(AxisView::fixed(), AxisView::follow);
        let start = |(&axis, ty): (&usize, &ArrayType)| LookupStart {
            view: self.index_axes.iter().zip(ty.shape.iter()).map(|(&a, n)| index_view(a, n)).collect(),
            axis,
            places: self.starts(x, axis).max(1),
            back: self.back(x, axis, ty),
        };
        let starts = self.along.iter().zip(indices).map(start).collect();
        Lookup { view: self.follows.iter().map(follow).collect(), starts, outside }
    }

    /// The same for a new leading axis on the array, on indices, or on both.
    pub(super) fn batched(&self, size: usize, array: bool, indices: bool) -> Places {
        let mut follows: Vec<i64> = self.follows.iter().map(|&f| if f < 0 { f } else { f + 1 }).collect();
        let mut sizes = self.sizes.clone();
        if array {
            follows.insert(0, 0);
            sizes.insert(0, size);
        }
        let shifted = self.index_axes.iter().map(|&axis| axis + 1);
        Places {
            follows,
            sizes,
            along: self.along.iter().map(|&axis| axis + usize::from(array)).collect(),
            index_axes: indices.then_some(0).into_iter().chain(shifted).collect(),
            from_back: self.from_back,
        }
    }
}

/// The indices of a batch, and whether they have its axis: those without it then have one of size 1.
pub(super) fn batched_indices(cx: &mut Cx<'_>, indices: &[Batched]) -> Result<(Vec<Atom>, bool), RuleError> {
    let any = indices.iter().any(|index| index.batched);
    let one = |index: &Batched| {
        if !any || index.batched {
            return Ok(index.atom.clone());
        }
        let shape = cx.ty(&index.atom).shape.insert(0, 1);
        cx.bind(Reshape { shape }, &[&index.atom])
    };
    Ok((indices.iter().map(one).collect::<Result<_, _>>()?, any))
}

/// The loops that write the elements of windows. Those that meet at one place of the array come in the order of the
/// windows. Axes along which none meet are outside, where threads share them, or inside, where they are vectors.
pub(super) struct PlaceLoops {
    loops: Vec<Loop>,
    starts: Vec<Start>,
    /// Whether windows that are not inside are left out; else they are moved.
    drop: bool,
}

struct Loop {
    extent: usize,
    /// Whether its iterations may be done in any order.
    is_free: bool,
    kind: Kind,
    /// Strides in the array, in the windows, and in each array of indices.
    array: usize,
    windows: usize,
    indices: SmallVec<[usize; 2]>,
}

/// An array of indices.
struct Start {
    /// How many places there are for a window, and how far apart they are.
    places: usize,
    stride: usize,
    /// The size of the axis, if negative indices count from its end.
    back: Option<usize>,
}

impl PlaceLoops {
    pub(super) fn new(
        places: &Places,
        (x, windows): (&Shape, &Shape),
        indices: &[ArrayType],
        drop: bool,
    ) -> PlaceLoops {
        let (array, own) = (x.strides(), windows.strides());
        let mut loops: Vec<Loop> = Vec::new();
        for axis in 0..windows.rank() {
            let index_axis = places.index_axes.iter().position(|&a| a == axis);
            let stride = |ty: &ArrayType| match index_axis {
                Some(at) if ty.shape.size(at) != 1 => ty.shape.strides()[at],
                _ => 0,
            };
            let new = Loop {
                extent: windows.size(axis),
                is_free: false,
                kind: places.kind(axis),
                array: places.follower(axis).map_or(0, |of| array[of]),
                windows: own[axis],
                indices: indices.iter().map(stride).collect(),
            };
            match loops.last_mut() {
                _ if new.extent == 1 => {}
                Some(outer) if outer.goes_on_as(&new) => {
                    *outer = Loop { extent: outer.extent * new.extent, ..new }
                }
                _ => loops.push(new),
            }
        }
        let lead = loops.iter().take_while(|one| one.kind == Kind::Apart).count();
        loops[lead..].sort_by_key(|one| one.kind == Kind::Apart);
        // Where starts differ inside of it, nothing says that the elements of a window stay apart.
        let last = loops.iter().rposition(|one| one.kind == Kind::Index);
        let inner = loops.iter().skip(lead).rposition(|one| one.kind == Kind::Apart).map(|at| at + lead);
        for (at, one) in loops.iter_mut().enumerate() {
            one.is_free = match one.kind {
                Kind::Apart => true,
                Kind::Window => last.max(inner).is_none_or(|last| at > last),
                Kind::Index => false,
            };
        }
        let start = |(&axis, ty): (&usize, &ArrayType)| Start {
            places: places.starts(x, axis).max(1),
            stride: array[axis],
            back: places.back(x, axis, ty),
        };
        PlaceLoops { loops, starts: places.along.iter().zip(indices).map(start).collect(), drop }
    }

    /// Runs `body` for every element, with its index in the array and its index in the windows.
    pub(super) fn build(
        &self,
        b: &mut KernelBuilder,
        indices: &[BufferId],
        body: &impl Fn(&mut KernelBuilder, Index, Index),
    ) {
        let open = Open { vars: Vec::new(), starts: vec![None; indices.len()], inside: None };
        self.nest(b, indices, open, body);
    }

    fn nest(
        &self,
        b: &mut KernelBuilder,
        indices: &[BufferId],
        mut open: Open,
        body: &impl Fn(&mut KernelBuilder, Index, Index),
    ) {
        let depth = open.vars.len();
        // Inside a loop that threads can share, so that it is all there is to the kernel. Not inside a window: all of its
        // elements have one start.
        let is_shared = self.loops.first().is_some_and(|first| first.kind == Kind::Apart);
        if depth > 0 || !is_shared {
            let was_known = open.starts.iter().all(Option::is_some);
            for (k, &buffer) in indices.iter().enumerate() {
                let is_given = self.loops[depth..].iter().all(|one| one.indices[k] == 0);
                if is_given && open.starts[k].is_none() {
                    self.load(b, k, buffer, &mut open);
                }
            }
            let is_known = open.starts.iter().all(Option::is_some);
            if let (true, false, Some(inside)) = (is_known, was_known, open.inside) {
                let then = |b: &mut KernelBuilder| {
                    self.inner(b, indices, open, body);
                    SmallVec::new()
                };
                b.if_else(inside, then, |_| SmallVec::new());
                return;
            }
        }
        self.inner(b, indices, open, body);
    }

    /// The next loop, or the body.
    fn inner(
        &self,
        b: &mut KernelBuilder,
        indices: &[BufferId],
        open: Open,
        body: &impl Fn(&mut KernelBuilder, Index, Index),
    ) {
        let Some(next) = self.loops.get(open.vars.len()) else {
            let (mut array, mut windows) = (Index::at(0), Index::at(0));
            for (&var, one) in open.vars.iter().zip(&self.loops) {
                add(&mut array, var, one.array);
                add(&mut windows, var, one.windows);
            }
            for (start, one) in open.starts.iter().zip(&self.starts) {
                add(&mut array, start.expect("all indices are loaded"), one.stride);
            }
            return body(b, array, windows);
        };
        let extent = Size::Const(next.extent as i64);
        let with = |var: Value| {
            let mut open = open;
            open.vars.push(var);
            open
        };
        if next.is_free {
            b.each(extent, |b, var| self.nest(b, indices, with(var), body));
        } else {
            b.for_loop(extent, &[], |b, var, _| {
                self.nest(b, indices, with(var), body);
                SmallVec::new()
            });
        }
    }

    /// Loads an index, and moves it where the window is inside.
    fn load(&self, b: &mut KernelBuilder, k: usize, buffer: BufferId, open: &mut Open) {
        let mut at = Index::at(0);
        for (&var, one) in open.vars.iter().zip(&self.loops) {
            add(&mut at, var, one.indices[k]);
        }
        let mut asked = b.load(buffer, at);
        if b.dtype(asked) != DType::I64 {
            asked = b.op(Op::Convert(DType::I64), &[asked]);
        }
        if let Some(size) = self.starts[k].back {
            let (zero, size) = (b.constant(0i64), b.constant(size as i64));
            let is_negative = b.compare(Comparison::Lt, asked, zero);
            let from_back = b.op(Op::Add, &[asked, size]);
            asked = b.select(is_negative, from_back, asked);
        }
        let moved = b.op(Op::Clamp(Size::Const(self.starts[k].places as i64)), &[asked]);
        open.starts[k] = Some(moved);
        if self.drop {
            let inside = b.compare(Comparison::Eq, moved, asked);
            open.inside = Some(match open.inside {
                Some(others) => b.op(Op::And, &[others, inside]),
                None => inside,
            });
        }
    }
}

impl Loop {
    /// Whether the elements of this loop and the one inside it follow each other everywhere.
    fn goes_on_as(&self, inner: &Loop) -> bool {
        let follows = |outer: usize, one: usize| outer == one * inner.extent;
        let in_indices = self.indices.iter().zip(&inner.indices).all(|(&a, &b)| follows(a, b));
        self.kind == inner.kind
            && follows(self.array, inner.array)
            && follows(self.windows, inner.windows)
            && in_indices
    }
}

/// The loops that are open, and what was loaded in them.
#[derive(Clone)]
struct Open {
    vars: Vec<Value>,
    starts: Vec<Option<Value>>,
    inside: Option<Value>,
}

fn add(index: &mut Index, value: Value, stride: usize) {
    if stride != 0 {
        index.terms.push((value, Size::Const(stride as i64)));
    }
}

/// An axis of indices of this size, which follows an axis of the windows or is repeated along it.
fn index_view(axis: usize, size: usize) -> AxisView {
    if size == 1 { AxisView::fixed() } else { AxisView::follow(axis) }
}

/// Arrays, arrays of indices, and windows.
type PlacesCase = (&'static [usize], &'static [&'static [usize]], Places);

/// Uses for the laws: elements, rows, columns, one for each row, several arrays of indices, windows that overlap, empty
/// and size-1 axes, up to rank 5, and axes of the windows in another order than in the array.
fn cases() -> Vec<PlacesCase> {
    let of =
        |follows: &[i64], sizes: &[usize], along: &[usize], index_axes: &[usize], from_back: bool| Places {
            follows: follows.to_vec(),
            sizes: sizes.to_vec(),
            along: along.to_vec(),
            index_axes: index_axes.to_vec(),
            from_back,
        };
    vec![
        (&[7], &[&[5]], of(&[-1], &[1], &[0], &[0], true)),
        (&[4], &[&[]], of(&[-1], &[1], &[0], &[], false)),
        (&[3, 4], &[&[2, 2]], of(&[-1, 2], &[1, 4], &[0], &[0, 1], true)),
        (&[3, 4], &[&[3]], of(&[0, -1], &[3, 1], &[1], &[1], false)),
        (&[3, 4], &[&[3, 2]], of(&[0, -1], &[3, 1], &[1], &[0, 1], true)),
        (&[3, 4, 2], &[&[2, 1], &[1, 3]], of(&[-1, -1, 2], &[1, 1, 2], &[0, 1], &[0, 1], true)),
        (&[5, 6], &[&[3], &[3]], of(&[1, 2], &[2, 3], &[0, 1], &[0], false)),
        (&[3, 0], &[&[2]], of(&[-1, 1], &[1, 0], &[0], &[0], false)),
        (&[0], &[&[0]], of(&[-1], &[1], &[0], &[0], true)),
        (&[2, 1, 3, 1, 2], &[&[2]], of(&[0, 1, -1, 3, 4], &[2, 1, 1, 1, 2], &[2], &[2], true)),
        (&[4, 3], &[&[2]], of(&[-1, 0], &[1, 3], &[0], &[1], false)),
        (&[2, 5], &[&[2, 3]], of(&[0, 1], &[2, 2], &[1], &[0, 2], true)),
        (&[7], &[&[]], of(&[0], &[3], &[0], &[], true)),
        (&[4, 3, 5], &[&[], &[]], of(&[0, 1, 2], &[2, 3, 4], &[0, 2], &[], false)),
        (&[4, 4], &[&[2, 1], &[1, 3]], of(&[1, -1], &[2, 1], &[0, 1], &[0, 2], false)),
    ]
}

/// An example of each case for each element type: made by `prim` from the windows and a number that differs.
pub(super) fn place_examples(
    dtypes: &[DType],
    prim: impl Fn(Places, DType, usize) -> Prim,
    keep: impl Fn(usize) -> bool,
    with_updates: bool,
) -> Vec<Example> {
    let integers = [DType::I32, DType::I64, DType::U32, DType::U8];
    let mut examples = Vec::new();
    for (d, &dtype) in dtypes.iter().enumerate() {
        for (c, (x, indices, places)) in cases().into_iter().enumerate().filter(|(c, _)| keep(c + d)) {
            let x = ArrayType::new(dtype, x);
            let index = |(i, shape): (usize, &&[usize])| ArrayType::new(integers[(c + d + i) % 4], *shape);
            let indices: Vec<ArrayType> = indices.iter().enumerate().map(index).collect();
            let windows = places.shape("example", &x, &indices).expect("examples are typed");
            let updates = with_updates.then(|| ArrayType::new(dtype, windows));
            let inputs = std::iter::once(x).chain(updates).chain(indices).collect();
            examples.push(Example { prim: prim(places, dtype, c + d), inputs });
        }
    }
    examples
}
