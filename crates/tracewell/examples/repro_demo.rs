//! A failure deep inside a model, and what it leaves: a program that fails in the same way, and a smaller one.
//!
//! `cargo run --release --example repro_demo`

#![allow(clippy::print_stdout, reason = "an example speaks")]

use tracewell::prelude::*;

#[derive(Clone, Tree)]
struct Cell {
    w: Array,
    u: Array,
    b: Array,
}

#[derive(Clone, Tree)]
struct Model {
    cells: Vec<Cell>,
    readout: Array,
}

impl Model {
    fn new(width: usize, depth: usize) -> Model {
        let cell = |i: usize| {
            let [first, second] = random::split(&random::key(i as u64));
            Cell {
                w: 0.3 * random::normal(&first, [width, width], F32),
                u: 0.3 * random::normal(&second, [width, width], F32),
                b: Array::zeros([width], F32),
            }
        };
        // One too long, which is found where it is used.
        Model { cells: (0..depth).map(cell).collect(), readout: Array::ones([width + 1], F32) }
    }
}

/// What the cells make of a sequence, one element after the other.
fn forward(model: &Model, xs: &Array) -> Array {
    let width = model.cells[0].b.len();
    let (last, _) = scan(Array::zeros([width], F32), xs, |h, x| {
        let step = |h: Array, cell: &Cell| (h.dot(&cell.w) + x.dot(&cell.u) + &cell.b).tanh();
        (model.cells.iter().fold(h.clone(), step), ())
    });
    last
}

jit! {
    fn train(model: &Model, xs: &Array, y: &Array) -> Result<Model> {
        let loss = |model: &Model| (forward(model, xs).dot(&model.readout) - y).square();
        let gradient = grad(loss)(model);
        Ok(tree::map2(model, &gradient, |p, g| p - 0.1 * g))
    }
}

fn main() {
    let model = Model::new(4, 3);
    let xs = random::normal(&random::key(9), [10, 4], F32);
    let folder = std::env::temp_dir().join("tracewell-repro-demo");
    // Folders are written also where the variable says no, and into a place of our own.
    let result = repro::writing_to(&folder, || train(&model, &xs, &Array::from(1.0f32)));
    let Err(error) = result else {
        println!("it did not fail");
        return;
    };
    println!("{error}\n");
    let Some((found, path)) = repro::last() else {
        println!("no repro was written");
        return;
    };
    println!("replayed from its text: {:?}", found.run());
    let small = found.reduce();
    println!(
        "reduced: {} calls became {}, {} operations became {}\n",
        found.tree().size(),
        small.tree().size(),
        found.tree().leaves(),
        small.tree().leaves()
    );
    println!("{}", small.to_rust());
    println!("the whole program is `{}`", path.join("repro.rs").display());
}
