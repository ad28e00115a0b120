//! Graphs of several equations that meet in fusion.

use std::sync::Arc;

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_graph::prim::*;
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Splat};

/// A graph under construction, without the ceremony.
pub(crate) struct Make(pub(crate) GraphBuilder);

impl Make {
    pub(crate) fn new() -> Make {
        Make(GraphBuilder::new())
    }

    pub(crate) fn input(&mut self, shape: &[usize]) -> Atom {
        self.input_of(DType::F32, shape)
    }

    pub(crate) fn input_of(&mut self, dtype: DType, shape: &[usize]) -> Atom {
        Atom::Var(self.0.input(ArrayType::new(dtype, shape)))
    }

    pub(crate) fn op(&mut self, prim: impl Into<Prim>, inputs: &[&Atom]) -> Atom {
        let inputs: Vec<Atom> = inputs.iter().map(|&a| a.clone()).collect();
        self.0.bind1(prim, &inputs).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn fill(&self, like: &Atom, number: f64) -> Atom {
        Atom::fill(&self.0.ty(like), number)
    }

    /// Repeats along the axes that `axes` does not name.
    pub(crate) fn broadcast(&mut self, x: &Atom, shape: &[usize], axes: &[usize]) -> Atom {
        self.op(Broadcast { shape: Shape::from(shape), axes: axes.to_vec() }, &[x])
    }

    pub(crate) fn reshape(&mut self, x: &Atom, shape: &[usize]) -> Atom {
        self.op(Reshape { shape: Shape::from(shape) }, &[x])
    }

    pub(crate) fn permute(&mut self, x: &Atom, axes: &[usize]) -> Atom {
        self.op(Permute { axes: axes.to_vec() }, &[x])
    }

    pub(crate) fn sum(&mut self, x: &Atom, axes: &[usize]) -> Atom {
        self.op(ReduceSum { axes: axes.to_vec() }, &[x])
    }

    pub(crate) fn max(&mut self, x: &Atom, axes: &[usize]) -> Atom {
        self.op(ReduceMax { axes: axes.to_vec() }, &[x])
    }

    pub(crate) fn finish(self, outputs: &[&Atom]) -> Graph {
        self.0.finish("composition", outputs.iter().map(|&a| a.clone()).collect())
    }
}

/// Every composition with its name.
pub(crate) fn all() -> Vec<(&'static str, Graph)> {
    vec![
        ("nothing", Make::new().finish(&[])),
        ("softmax", softmax(&[5, 37])),
        ("softmax of blocks", softmax(&[2, 3, 4])),
        ("layernorm", layernorm(6, 19)),
        ("mlp", mlp()),
        ("regression", regression(4100, 64)),
        ("columns", columns(9, 40)),
        ("many columns", columns(3, 2500)),
        ("columns that leave a rest", columns(3, 2503)),
        ("broadcast and reduce", broadcast_reduce()),
        ("shapes", shapes()),
        ("heads", heads()),
        ("scores", scores(false)),
        ("scores of what is computed", scores(true)),
        ("products of parts", parts_of_products()),
        ("products of parts with wholes", part_with_whole()),
        ("reshape of permuted expensive", uneven()),
        ("several results", several()),
        ("handed through", handed_through()),
        ("filled", filled()),
        ("empty", empty()),
        ("scalars", scalars()),
        ("long sum", long_sum(70_000)),
        ("long sum of columns", long_columns(66_000, 3)),
        ("nested reductions", nested()),
        ("siblings", siblings()),
        ("rows of two lengths", rows_of_two_lengths()),
        ("shared", shared()),
        ("middle", middle()),
        ("squares", squares()),
        ("other rows", other_rows()),
        ("recurrent rows", recurrent_rows()),
        ("recurrent rows, backwards", gated_rows()),
        ("recurrent rows of much", wide_rows()),
        ("recurrent numbers", recurrent_numbers()),
        ("counted rows", counted_rows(false)),
        ("counted rows and their number", counted_rows(true)),
        ("turns that carry nothing", free_turns(false)),
        ("turns that carry nothing, backwards", free_turns(true)),
    ]
}

pub(crate) fn softmax(shape: &[usize]) -> Graph {
    let mut m = Make::new();
    let x = m.input(shape);
    let last = shape.len() - 1;
    let kept: Vec<usize> = (0..last).collect();
    let top = m.max(&x, &[last]);
    let top = m.broadcast(&top, shape, &kept);
    let shifted = m.op(Sub {}, &[&x, &top]);
    let e = m.op(Exp {}, &[&shifted]);
    let total = m.sum(&e, &[last]);
    let total = m.broadcast(&total, shape, &kept);
    let y = m.op(Div {}, &[&e, &total]);
    m.finish(&[&y])
}

pub(crate) fn layernorm(rows: usize, columns: usize) -> Graph {
    let mut m = Make::new();
    let shape = [rows, columns];
    let x = m.input(&shape);
    let (scale, shift) = (m.input(&[columns]), m.input(&[columns]));
    let mean = |m: &mut Make, x: &Atom| {
        let sum = m.sum(x, &[1]);
        let n = m.fill(&sum, columns as f64);
        m.op(Div {}, &[&sum, &n])
    };
    let mu = mean(&mut m, &x);
    let mu = m.broadcast(&mu, &shape, &[0]);
    let centred = m.op(Sub {}, &[&x, &mu]);
    let square = m.op(Mul {}, &[&centred, &centred]);
    let variance = mean(&mut m, &square);
    let epsilon = m.fill(&variance, 1e-5);
    let variance = m.op(Add {}, &[&variance, &epsilon]);
    let deviation = m.op(Sqrt {}, &[&variance]);
    let deviation = m.broadcast(&deviation, &shape, &[0]);
    let unit = m.op(Div {}, &[&centred, &deviation]);
    let scale = m.broadcast(&scale, &shape, &[1]);
    let shift = m.broadcast(&shift, &shape, &[1]);
    let scaled = m.op(Mul {}, &[&unit, &scale]);
    let y = m.op(Add {}, &[&scaled, &shift]);
    m.finish(&[&y])
}

pub(crate) fn mlp() -> Graph {
    let mut m = Make::new();
    let (x, w, b) = (m.input(&[4, 6]), m.input(&[6, 5]), m.input(&[5]));
    let product = m.op(DotGeneral::matmul(), &[&x, &w]);
    let bias = m.broadcast(&b, &[4, 5], &[1]);
    let sum = m.op(Add {}, &[&product, &bias]);
    let active = m.op(Tanh {}, &[&sum]);
    let v = m.0.constant(&Tensor::from_fn([3, 5], |i| i as f32 * 0.1));
    let turned = m.permute(&v, &[1, 0]);
    let y = m.op(DotGeneral::matmul(), &[&active, &turned]);
    m.finish(&[&y, &active])
}

/// The gradient of a regression: a matrix times a vector, what is off, and that times the matrix.
pub(crate) fn regression(rows: usize, columns: usize) -> Graph {
    let mut m = Make::new();
    let (x, w, y) = (m.input(&[rows, columns]), m.input(&[columns]), m.input(&[rows]));
    let product = m.op(DotGeneral::matmul(), &[&x, &w]);
    let off = m.op(Sub {}, &[&product, &y]);
    let down = DotGeneral { a_contract: vec![0], ..DotGeneral::matmul() };
    let slope = m.op(down, &[&off, &x]);
    m.finish(&[&slope])
}

pub(crate) fn columns(rows: usize, columns: usize) -> Graph {
    let mut m = Make::new();
    let (x, s) = (m.input(&[rows, columns]), m.input(&[rows]));
    let s = m.broadcast(&s, &[rows, columns], &[0]);
    let scaled = m.op(Mul {}, &[&x, &s]);
    let sum = m.sum(&scaled, &[0]);
    let top = m.max(&x, &[0]);
    let y = m.op(Add {}, &[&sum, &top]);
    m.finish(&[&y])
}

fn broadcast_reduce() -> Graph {
    let mut m = Make::new();
    let (a, b) = (m.input(&[4]), m.input(&[7]));
    let e = m.op(Exp {}, &[&b]);
    let left = m.broadcast(&a, &[4, 7], &[0]);
    let right = m.broadcast(&e, &[4, 7], &[1]);
    let outer = m.op(Mul {}, &[&left, &right]);
    let (rows, columns, all) = (m.sum(&outer, &[1]), m.sum(&outer, &[0]), m.sum(&outer, &[0, 1]));
    let turned = m.permute(&outer, &[1, 0]);
    let again = m.sum(&turned, &[0]);
    m.finish(&[&rows, &columns, &all, &again])
}

fn shapes() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[4, 6]);
    let turned = m.permute(&x, &[1, 0]);
    let flat = m.reshape(&turned, &[24]);
    let doubled = m.op(Add {}, &[&flat, &flat]);
    let blocks = m.reshape(&doubled, &[2, 3, 4]);
    let moved = m.permute(&blocks, &[2, 0, 1]);
    let again = m.reshape(&moved, &[4, 6]);
    let y = m.op(Mul {}, &[&again, &x]);
    let reversed = m.reshape(&y, &[3, 8]);
    m.finish(&[&y, &reversed, &flat])
}

/// The shuffle of attention heads.
fn heads() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[2, 5, 12]);
    let split = m.reshape(&x, &[2, 5, 3, 4]);
    let heads = m.permute(&split, &[0, 2, 1, 3]);
    let e = m.op(Exp {}, &[&heads]);
    let back = m.permute(&e, &[0, 2, 1, 3]);
    let y = m.reshape(&back, &[2, 5, 12]);
    m.finish(&[&y])
}

/// Scores of attention: queries and keys are parts of one array, in memory or computed.
pub(crate) fn scores(is_computed: bool) -> Graph {
    let mut m = Make::new();
    let x = m.input(&[2, 12, 3 * 4 * 16]);
    let x = if is_computed { m.op(Neg {}, &[&x]) } else { x };
    let x = m.reshape(&x, &[2, 12, 3, 4, 16]);
    let all = m.permute(&x, &[2, 0, 3, 1, 4]);
    let mut part = |k: usize| {
        let slice = Slice { start: vec![k, 0, 0, 0, 0], limit: vec![k + 1, 2, 4, 12, 16], step: vec![1; 5] };
        let slice = m.op(slice, &[&all]);
        m.reshape(&slice, &[2, 4, 12, 16])
    };
    let (q, k) = (part(1), part(2));
    let dot =
        DotGeneral { a_contract: vec![3], b_contract: vec![3], a_batch: vec![0, 1], b_batch: vec![0, 1] };
    let y = m.op(dot, &[&q, &k]);
    m.finish(&[&y])
}

/// A batch along two axes of one operand, and along one of the other.
fn part_with_whole() -> Graph {
    let mut m = Make::new();
    let (x, w) = (m.input(&[2, 12, 4, 16]), m.input(&[2, 4, 16, 12]));
    let heads = m.permute(&x, &[0, 2, 1, 3]);
    let dot = |a: usize, b: usize| DotGeneral {
        a_contract: vec![a],
        b_contract: vec![b],
        a_batch: vec![0, 1],
        b_batch: vec![0, 1],
    };
    let left = m.op(dot(3, 2), &[&heads, &w]);
    let right = m.op(dot(2, 3), &[&w, &heads]);
    m.finish(&[&left, &right])
}

/// Products of a part of a matrix: of turned and of repeated rows, of every other column, of rows from the last on.
fn parts_of_products() -> Graph {
    let mut m = Make::new();
    let (x, w) = (m.input(&[40, 60]), m.input(&[30, 50]));
    let slice = Slice { start: vec![3, 10], limit: vec![33, 40], step: vec![1, 1] };
    let middle = m.op(slice, &[&x]);
    let turned = m.permute(&middle, &[1, 0]);
    let slice = Slice { start: vec![1, 0], limit: vec![31, 60], step: vec![1, 2] };
    let apart = m.op(slice, &[&x]);
    let back = m.op(Reverse { axes: vec![0] }, &[&middle]);
    let row = m.op(Slice { start: vec![7, 0], limit: vec![8, 30], step: vec![1, 1] }, &[&x]);
    let repeated = m.broadcast(&row, &[30, 30], &[0, 1]);
    let products: Vec<Atom> = [&middle, &turned, &apart, &back, &repeated]
        .map(|part| m.op(DotGeneral::matmul(), &[part, &w]))
        .to_vec();
    m.finish(&products.iter().collect::<Vec<_>>())
}

/// A reshape that no loops can follow.
fn uneven() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[4, 6]);
    let e = m.op(Exp {}, &[&x]);
    let turned = m.permute(&e, &[1, 0]);
    let odd = m.reshape(&turned, &[8, 3]);
    let side = m.permute(&odd, &[1, 0]);
    let odd2 = m.reshape(&side, &[2, 12]);
    let y = m.permute(&odd2, &[1, 0]);
    m.finish(&[&y])
}

fn several() -> Graph {
    let mut m = Make::new();
    let (x, y) = (m.input(&[3, 5]), m.input(&[3, 5]));
    let s = m.op(Add {}, &[&x, &y]);
    let e = m.op(Exp {}, &[&s]);
    let t = m.op(Mul {}, &[&e, &x]);
    let turned = m.permute(&t, &[1, 0]);
    m.finish(&[&s, &e, &t, &turned, &s])
}

fn handed_through() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[2, 3]);
    let flat = m.reshape(&x, &[6]);
    let c = m.0.constant(&Tensor::from_fn([2], |i| i as i32));
    let column = m.broadcast(&x, &[2, 3, 1], &[0, 1]);
    m.finish(&[&x, &flat, &c, &column, &x])
}

fn filled() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[2, 3]);
    let ones = Atom::Splat(Splat { literal: Literal::one(DType::I32), shape: Shape::from([4]), weak: false });
    let twos = m.fill(&x, 2.0);
    let product = m.op(
        DotGeneral::matmul(),
        &[
            &x,
            &Atom::Splat(Splat {
                literal: Literal::one(DType::F32),
                shape: Shape::from([3, 2]),
                weak: false,
            }),
        ],
    );
    let sum = m.sum(&twos, &[0, 1]);
    m.finish(&[&ones, &twos, &product, &sum])
}

fn empty() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[0, 3]);
    let e = m.op(Exp {}, &[&x]);
    let sum = m.sum(&e, &[0]);
    let none = m.sum(&e, &[1]);
    let wide = m.broadcast(&sum, &[2, 3], &[1]);
    m.finish(&[&e, &sum, &none, &wide])
}

fn scalars() -> Graph {
    let mut m = Make::new();
    let (a, b) = (m.input(&[]), m.input(&[]));
    let e = m.op(Exp {}, &[&a]);
    let s = m.op(Add {}, &[&e, &b]);
    let wide = m.broadcast(&s, &[3], &[]);
    m.finish(&[&s, &wide])
}

pub(crate) fn long_sum(n: usize) -> Graph {
    let mut m = Make::new();
    let x = m.input_of(DType::F64, &[n]);
    let square = m.op(Mul {}, &[&x, &x]);
    let y = m.sum(&square, &[0]);
    m.finish(&[&y])
}

fn long_columns(rows: usize, columns: usize) -> Graph {
    let mut m = Make::new();
    let x = m.input_of(DType::F64, &[rows, columns]);
    let y = m.sum(&x, &[0]);
    m.finish(&[&y])
}

fn nested() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[3, 4, 5, 2]);
    let inner = m.sum(&x, &[1, 3]);
    let e = m.op(Exp {}, &[&inner]);
    let y = m.max(&e, &[0]);
    let whole = m.sum(&x, &[0, 2]);
    m.finish(&[&y, &whole])
}

/// Results of one shape that read the same.
pub(crate) fn siblings() -> Graph {
    let mut m = Make::new();
    let (w, g, v) = (m.input(&[4, 3]), m.input(&[4, 3]), m.input(&[4, 3]));
    let rate = m.fill(&w, 0.1);
    let keep = m.fill(&w, 0.9);
    let old = m.op(Mul {}, &[&v, &keep]);
    let new = m.op(Add {}, &[&old, &g]);
    let step = m.op(Mul {}, &[&new, &rate]);
    let next = m.op(Sub {}, &[&w, &step]);
    m.finish(&[&next, &new])
}

/// An expensive value read by several kernels and by several paths.
fn shared() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[4, 4]);
    let e = m.op(Exp {}, &[&x]);
    let turned = m.permute(&e, &[1, 0]);
    let both = m.op(Add {}, &[&e, &turned]);
    let rows = m.sum(&e, &[1]);
    let columns = m.sum(&both, &[0]);
    let y = m.op(Mul {}, &[&rows, &columns]);
    m.finish(&[&y, &both])
}

/// A reduction over the middle of three axes, with work before and after.
fn middle() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[3, 50, 20]);
    let e = m.op(Tanh {}, &[&x]);
    let sum = m.sum(&e, &[1]);
    let half = m.fill(&sum, 0.5);
    let y = m.op(Mul {}, &[&sum, &half]);
    m.finish(&[&y])
}

/// Reductions at one place, over loops that are not the same.
fn rows_of_two_lengths() -> Graph {
    let mut b = Make::new();
    let (x, y) = (b.input(&[6, 40]), b.input(&[6, 23]));
    let (x, y) = (b.sum(&x, &[1]), b.sum(&y, &[1]));
    let both = b.op(Sub {}, &[&x, &y]);
    b.finish(&[&both])
}

/// Products of products, large enough for scratch to lie in the result.
pub(crate) fn squares() -> Graph {
    let mut m = Make::new();
    let (x, w) = (m.input(&[32, 32]), m.input(&[32, 32]));
    let a = m.op(DotGeneral::matmul(), &[&x, &w]);
    let b = m.op(DotGeneral::matmul(), &[&a, &a]);
    let c = m.op(DotGeneral::matmul(), &[&b, &b]);
    m.finish(&[&c])
}

/// Each row less the largest number of another: it cannot be made where its argument is.
pub(crate) fn other_rows() -> Graph {
    let mut m = Make::new();
    let x = m.input(&[40, 30]);
    let turned = m.op(Reverse { axes: vec![0] }, &[&x]);
    let top = m.max(&turned, &[1]);
    let top = m.broadcast(&top, &[40, 30], &[0]);
    let y = m.op(Sub {}, &[&x, &top]);
    m.finish(&[&y])
}

/// A scan of a body made with what is the same each time, what is carried and an element.
fn scan_of(
    m: &mut Make,
    operands: [&[&Atom]; 3],
    reverse: bool,
    body: impl Fn(&mut Make, &[Atom]) -> Vec<Atom>,
) -> Vec<Atom> {
    let [consts, carries, xs] = operands;
    let whole: Vec<ArrayType> = consts.iter().chain(carries).map(|&atom| m.0.ty(atom)).collect();
    let length = m.0.ty(xs[0]).shape.size(0);
    let elements = xs.iter().map(|&x| m.0.ty(x)).map(|ty| ty.with_shape(ty.shape.remove(0)));
    let mut inner = Make::new();
    let inputs: Vec<Atom> =
        whole.into_iter().chain(elements.collect::<Vec<_>>()).map(|ty| inner.0.input(ty).into()).collect();
    let outputs = body(&mut inner, &inputs);
    let body = Arc::new(inner.finish(&outputs.iter().collect::<Vec<_>>()));
    let scan = Scan { body, consts: consts.len(), carries: carries.len(), length, reverse, unroll: 1 };
    let operands: Vec<Atom> = operands.concat().into_iter().cloned().collect();
    m.0.bind(scan, &operands).unwrap_or_else(|error| panic!("{error}")).into_vec()
}

/// A recurrent network of which every state is a result.
pub(crate) fn recurrent_rows() -> Graph {
    let mut m = Make::new();
    let (w, bias, h, xs) = (m.input(&[5, 5]), m.input(&[5]), m.input(&[6, 5]), m.input(&[7, 6, 5]));
    let found = scan_of(&mut m, [&[&w, &bias], &[&h], &[&xs]], false, |m, of| {
        let [w, bias, h, x] = of else { unreachable!("two, one and one") };
        let product = m.op(DotGeneral::matmul(), &[h, w]);
        let bias = m.broadcast(bias, &[6, 5], &[1]);
        let sum = m.op(Add {}, &[&product, &bias]);
        let sum = m.op(Add {}, &[&sum, x]);
        let next = m.op(Tanh {}, &[&sum]);
        vec![next.clone(), next]
    });
    m.finish(&[&found[0], &found[1]])
}

/// Two carried arrays that part what a product gives between them, and exchange places, from the last element on.
fn gated_rows() -> Graph {
    let mut m = Make::new();
    let (w, scale) = (m.input(&[3, 6]), m.input(&[4, 3]));
    let (h, c, xs) = (m.input(&[4, 3]), m.input(&[4, 3]), m.input(&[5, 4, 3]));
    let found = scan_of(&mut m, [&[&w, &scale], &[&h, &c], &[&xs]], true, |m, of| {
        let [w, scale, h, c, x] = of else { unreachable!("two, two and one") };
        let gates = m.op(DotGeneral::matmul(), &[h, w]);
        let [keep, new] =
            [0, 3].map(|from| m.op(Slice::along(&Shape::from([4, 6]), 1, from, from + 3), &[&gates]));
        let keep = m.op(Logistic {}, &[&keep]);
        let kept = m.op(Mul {}, &[&keep, c]);
        let new = m.op(Mul {}, &[&new, scale]);
        let next = m.op(Sub {}, &[&kept, &new]);
        let made = m.sum(&next, &[1]);
        let next = m.op(Add {}, &[&next, x]);
        vec![next, h.clone(), made]
    });
    m.finish(&[&found[0], &found[1], &found[2]])
}

/// Products between whose bands no stack has room.
pub(crate) fn wide_rows() -> Graph {
    let mut m = Make::new();
    let (u, v) = (m.input(&[2600, 2]), m.input(&[2, 2600]));
    let (h, xs) = (m.input(&[4, 2600]), m.input(&[3, 4, 2]));
    let found = scan_of(&mut m, [&[&u, &v], &[&h], &[&xs]], false, |m, of| {
        let [u, v, h, x] = of else { unreachable!("two, one and one") };
        let small = m.fill(h, 1e-3);
        let less = m.op(Mul {}, &[h, &small]);
        let narrow = m.op(DotGeneral::matmul(), &[&less, u]);
        let narrow = m.op(Add {}, &[&narrow, x]);
        let wide = m.op(DotGeneral::matmul(), &[&narrow, v]);
        let next = m.op(Max {}, &[&wide, &less]);
        vec![m.op(Add {}, &[&next, &less])]
    });
    m.finish(&[&found[0]])
}

/// Numbers of which each goes its own way, along others.
fn recurrent_numbers() -> Graph {
    let mut m = Make::new();
    let (h, xs) = (m.input(&[48]), m.input(&[9, 48]));
    let found = scan_of(&mut m, [&[], &[&h], &[&xs]], false, |m, of| {
        let [h, x] = of else { unreachable!("one and one") };
        let product = m.op(Mul {}, &[h, x]);
        let next = m.op(Sin {}, &[&product]);
        vec![next.clone(), product]
    });
    m.finish(&[&found[0], &found[1]])
}

/// Rows that are carried with a count, which is a result or not.
pub(crate) fn counted_rows(is_result: bool) -> Graph {
    let mut m = Make::new();
    let (count, h, xs) = (m.input_of(DType::I32, &[]), m.input(&[6, 5]), m.input(&[7, 6, 5]));
    let found = scan_of(&mut m, [&[], &[&count, &h], &[&xs]], false, |m, of| {
        let [count, h, x] = of else { unreachable!("none, two and one") };
        let one = m.fill(count, 1.0);
        let next = m.op(Add {}, &[count, &one]);
        let number = m.op(Convert { dtype: DType::F32, weak: false }, &[count]);
        let number = m.broadcast(&number, &[6, 5], &[]);
        let sum = m.op(Add {}, &[h, &number]);
        vec![next, m.op(Mul {}, &[&sum, x])]
    });
    if is_result { m.finish(&[&found[0], &found[1]]) } else { m.finish(&[&found[1]]) }
}

/// Turns that carry nothing: products between which no stack has room, and numbers that are the same everywhere.
pub(crate) fn free_turns(reverse: bool) -> Graph {
    let mut m = Make::new();
    let (u, v, xs) = (m.input(&[2600, 2]), m.input(&[2, 2600]), m.input(&[6, 2, 2600]));
    let same = Atom::fill(&ArrayType::new(DType::F32, [6, 2]), 0.75);
    let found = scan_of(&mut m, [&[&u, &v], &[], &[&xs, &same]], reverse, |m, of| {
        let [u, v, x, same] = of else { unreachable!("two, none and two") };
        let less = m.op(Mul {}, &[x, x]);
        let narrow = m.op(DotGeneral::matmul(), &[&less, u]);
        let same = m.broadcast(same, &[2, 2], &[1]);
        let narrow = m.op(Mul {}, &[&narrow, &same]);
        let wide = m.op(DotGeneral::matmul(), &[&narrow, v]);
        vec![m.op(Max {}, &[&wide, &less]), narrow]
    });
    m.finish(&[&found[0], &found[1]])
}
