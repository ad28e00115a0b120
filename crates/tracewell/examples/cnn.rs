//! A small convolutional network learns to read digits that the program draws itself: seven segments, moved, of
//! different strength and thickness, with noise over them.
//!
//! `cargo run --release --example cnn`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use tracewell::prelude::*;

/// Images are so many pixels wide and high.
const SIZE: usize = 20;

#[derive(Clone, Tree)]
struct Layer {
    w: Array,
    b: Array,
}

#[derive(Clone, Tree)]
struct Network {
    convolutions: Vec<Layer>,
    output: Layer,
}

/// How far the training is.
pub(crate) struct Progress {
    /// Steps done.
    pub(crate) step: usize,
    /// The mean cross-entropy before this step.
    pub(crate) loss: f32,
    /// The part of digits it was not trained on that are read right.
    pub(crate) accuracy: f32,
}

/// Images `[n, SIZE, SIZE, 1]`, and the digit that each shows.
struct Digits {
    images: Array,
    labels: Array,
}

/// Numbers that look random, and are the same each time.
struct Random(u64);

impl Random {
    /// Between 0 and 1.
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    /// From a list of so many.
    fn below(&mut self, n: usize) -> usize {
        ((self.number() * n as f32) as usize).min(n - 1)
    }

    /// Between -1 and 1.
    fn array(&mut self, shape: impl Into<Shape>) -> Array {
        let shape = shape.into();
        let numbers: Vec<f32> = (0..shape.len()).map(|_| 2.0 * self.number() - 1.0).collect();
        Array::from(numbers).reshape(shape)
    }
}

/// Which segments are lit, for each digit: top, top right, bottom right, bottom, bottom left, top left, middle.
const LIT: [u8; 10] = [
    0b0111111, 0b0000110, 0b1011011, 0b1001111, 0b1100110, 0b1101101, 0b1111101, 0b0000111, 0b1111111,
    0b1101111,
];

/// Where each segment begins and ends, as column and row of a grid of 1 by 2.
const SEGMENTS: [[(f32, f32); 2]; 7] = [
    [(0.0, 0.0), (1.0, 0.0)],
    [(1.0, 0.0), (1.0, 1.0)],
    [(1.0, 1.0), (1.0, 2.0)],
    [(0.0, 2.0), (1.0, 2.0)],
    [(0.0, 1.0), (0.0, 2.0)],
    [(0.0, 0.0), (0.0, 1.0)],
    [(0.0, 1.0), (1.0, 1.0)],
];

/// Draws one digit somewhere in the image, leaning and of any size that is still seen.
fn draw(digit: usize, random: &mut Random, image: &mut [f32]) {
    let (width, height) = (4.0 + 4.0 * random.number(), 4.5 + 2.5 * random.number());
    let lean = 0.6 * (random.number() - 0.5);
    let room = (SIZE as f32 - width - 4.0, SIZE as f32 - 2.0 * height - 4.0);
    let (left, top) = (2.0 + room.0 * random.number(), 2.0 + room.1 * random.number());
    let (thick, strength) = (0.6 + 0.9 * random.number(), 0.6 + 0.4 * random.number());
    let place =
        |(column, row): (f32, f32)| (left + width * column + lean * (1.0 - row) * height, top + height * row);
    for (i, pixel) in image.iter_mut().enumerate() {
        let (x, y) = ((i % SIZE) as f32, (i / SIZE) as f32);
        let mut ink = 0.0f32;
        for (_, ends) in SEGMENTS.iter().enumerate().filter(|(s, _)| LIT[digit] >> s & 1 == 1) {
            let [(x0, y0), (x1, y1)] = ends.map(place);
            let (dx, dy) = (x1 - x0, y1 - y0);
            let along = (((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
            let distance = (x - x0 - along * dx).hypot(y - y0 - along * dy);
            ink = ink.max((1.5 + thick - distance).clamp(0.0, 1.0));
        }
        *pixel = strength * ink + 0.5 * (random.number() - 0.5);
    }
}

fn digits(n: usize, seed: u64) -> Digits {
    let mut random = Random(seed);
    let mut images = vec![0.0f32; n * SIZE * SIZE];
    let labels: Vec<i32> = images
        .chunks_exact_mut(SIZE * SIZE)
        .map(|image| {
            let digit = random.below(10);
            draw(digit, &mut random, image);
            digit as i32
        })
        .collect();
    Digits { images: Array::from(images).reshape([n, SIZE, SIZE, 1]), labels: Array::from(labels) }
}

impl Network {
    /// Two convolutions, each pooled, and a layer over what they find.
    fn new() -> Network {
        let mut random = Random(1);
        let mut layer = |shape: &[usize]| {
            let (results, inputs) =
                (shape[shape.len() - 1], shape[..shape.len() - 1].iter().product::<usize>());
            let scale = (6.0 / inputs as f64).sqrt();
            Layer { w: random.array(Shape::from(shape)) * scale, b: Array::zeros([results], F32) }
        };
        let convolutions = vec![layer(&[3, 3, 1, 16]), layer(&[3, 3, 16, 32])];
        Network { convolutions, output: layer(&[5 * 5 * 32, 10]) }
    }
}

jit! {
    /// How much each image looks like each digit.
    fn read(network: &Network, images: &Array) -> Array {
        let mut h = images.clone();
        for layer in &network.convolutions {
            let found = conv(&h, &layer.w, &Conv::new().padding(Padding::Same)) + &layer.b;
            h = max_pool(&found.maximum(0.0), &Window::new(2));
        }
        let features = h.len() / h.shape().size(0);
        h.reshape([h.shape().size(0), features]).dot(&network.output.w) + &network.output.b
    }
}

jit! {
    /// The part of images that are read right.
    fn accuracy(network: &Network, images: &Array, labels: &Array) -> Array {
        read(network, images).argmax(1).eq(labels).convert(F32).mean()
    }
}

jit! {
    /// One step downhill with momentum. The new parameters take over the memory of the old.
    #[jit(donate(network, speed))]
    fn step(network: Network, speed: Network, images: &Array, labels: &Array, rate: Scalar) -> (Array, Network, Network) {
        let cross_entropy = |network: &Network| {
            let scores = read(network, images);
            let scores = &scores - scores.max_axes(&[1]).stop_gradient().expand(1);
            let own = labels.expand(1).eq(Array::iota(scores.shape(), 1, I32));
            (scores.exp().sum_axes(&[1]).log() - select(&own, &scores, 0.0).sum_axes(&[1])).mean()
        };
        let (loss, slope) = value_and_grad(cross_entropy)(&network);
        let speed = tree::map2(&speed, &slope, |v, g| 0.9 * v + g);
        let network = tree::map2(&network, &speed, |p, v| p - &rate * v);
        (loss, network, speed)
    }
}

/// Trains on batches of digits, and reports after every so many steps.
pub(crate) fn train(batch: usize, steps: usize, every: usize, mut report: impl FnMut(&Progress)) {
    let batches: Vec<Digits> = (0..steps.min(300)).map(|i| digits(batch, 1000 + i as u64)).collect();
    let unseen = digits(4 * batch, 7);
    let mut network = Network::new();
    let mut speed = tree::map(&network, |p| Array::zeros(p.shape(), F32));
    for i in 1..=steps {
        let Digits { images, labels } = &batches[i % batches.len()];
        let loss;
        let rate = 0.03 * (1.0 - i as f64 / steps as f64);
        (loss, network, speed) = step(network, speed, images, labels, rate);
        if i % every == 0 {
            let accuracy = accuracy(&network, &unseen.images, &unseen.labels).item();
            report(&Progress { step: i, loss: loss.item(), accuracy });
        }
    }
}

/// Trains on 19,200 digits; fails if fewer than 95 % of 256 others are read right in the end.
fn main() -> Result<(), String> {
    let (mut start, mut last) = (Instant::now(), 0.0);
    println!("step   loss      accuracy   time per step");
    train(64, 1200, 100, |now| {
        let each = start.elapsed() / 100;
        println!("{:4}   {:.5}   {:5.1} %    {each:.1?}", now.step, now.loss, 100.0 * now.accuracy);
        (start, last) = (Instant::now(), now.accuracy);
    });
    if last < 0.95 { Err(format!("only {:.1} % are read right", 100.0 * last)) } else { Ok(()) }
}
