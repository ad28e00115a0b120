//! Random numbers: distributions, batches, loops, and keys that are used twice.

use tracewell::prelude::*;

const N: usize = 100_000;

/// The largest distance between the parts of a sample below its elements and a distribution function, times the root
/// of its size: beyond 1.95 once in a thousand samples.
fn kolmogorov(sample: &Array, distribution: impl Fn(f64) -> f64) -> f64 {
    let sorted: Vec<f64> = sample.convert(F64).ravel().sort(0).to_vec().unwrap();
    let n = sorted.len() as f64;
    let distance = |(i, &x): (usize, &f64)| {
        let p = distribution(x);
        (p - i as f64 / n).abs().max(((i + 1) as f64 / n - p).abs())
    };
    sorted.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
}

/// The sum of squared distances from expected counts, in units of its standard deviation from its mean.
fn chi_squared(drawn: &Array, probabilities: &[f64]) -> f64 {
    let drawn: Vec<i64> = drawn.convert(I64).to_vec().unwrap();
    let mut counts = vec![0.0; probabilities.len()];
    for &k in &drawn {
        counts[k as usize] += 1.0;
    }
    let term = |(count, p): (&f64, &f64)| {
        let expected = p * drawn.len() as f64;
        (count - expected) * (count - expected) / expected
    };
    let sum: f64 = counts.iter().zip(probabilities).map(term).sum();
    let freedom = (probabilities.len() - 1) as f64;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

fn normal_distribution(x: f64) -> f64 {
    0.5 * Array::from(-x / std::f64::consts::SQRT_2).erfc().item::<f64>()
}

#[test]
fn uniforms_are_uniform() {
    for (seed, dtype) in [(1, F32), (2, F64)] {
        let x = random::uniform(&random::key(seed), [N], dtype);
        let distance = kolmogorov(&x, |x| x.clamp(0.0, 1.0));
        assert!(distance < 1.95, "{distance}");
    }
    let x = random::uniform_in(&random::key(3), [N], -2.0, 6.0, F32);
    assert!(kolmogorov(&x, |x| (x + 2.0) / 8.0) < 1.95);
}

#[test]
fn normals_are_normal() {
    for (seed, dtype) in [(4, F32), (5, F64)] {
        let x = random::normal(&random::key(seed), [N / 10], dtype);
        let distance = kolmogorov(&x, normal_distribution);
        assert!(distance < 1.95, "{distance}");
    }
    let x = random::truncated_normal(&random::key(6), [N / 10], -1.0, 0.5, F64);
    let [low, high] = [-1.0, 0.5].map(normal_distribution);
    assert!(kolmogorov(&x, |x| (normal_distribution(x) - low) / (high - low)) < 1.95);
}

#[test]
fn other_floats_have_their_distributions() {
    let shape = [N];
    let x = random::exponential(&random::key(7), shape, F64);
    assert!(kolmogorov(&x, |x| 1.0 - (-x).exp()) < 1.95);
    let x = random::gumbel(&random::key(8), shape, F64);
    assert!(kolmogorov(&x, |x| (-(-x).exp()).exp()) < 1.95);
    let x = random::laplace(&random::key(9), shape, F64);
    assert!(kolmogorov(&x, |x| if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }) < 1.95);
}

#[test]
fn integers_and_choices_have_their_frequencies() {
    for (seed, dtype) in [(10, I32), (11, I64), (12, U32), (13, U8)] {
        let x = random::randint(&random::key(seed), [N], 5, 42, dtype);
        let far = chi_squared(&(x - 5), &[1.0 / 37.0; 37]);
        assert!(far.abs() < 4.0, "{dtype}: {far}");
    }
    let p = [0.5, 0.25, 0.125, 0.0625, 0.0625];
    let logits = Array::from(p).log().expand(0).broadcast_to([N, 5]);
    let far = chi_squared(&random::categorical(&random::key(14), &logits, 1), &p);
    assert!(far.abs() < 4.0, "{far}");
    let far = chi_squared(&random::choice_weighted(&random::key(15), &Array::from(p), [N]), &p);
    assert!(far.abs() < 4.0, "{far}");
    let coins = random::bernoulli(&random::key(16), &Array::from(0.3f64), [N]).convert(I32);
    assert!(chi_squared(&coins, &[0.7, 0.3]).abs() < 4.0);
    let far = chi_squared(&random::bits(&random::key(17), [N], U8), &[1.0 / 256.0; 256]);
    assert!(far.abs() < 4.0, "{far}");
}

/// Where each of four elements goes: all 24 orders are as likely.
#[test]
fn orders_are_all_as_likely() {
    let keys = random::split_n(&random::key(18), 24_000);
    let orders = vmap(|key: &random::Key| random::permutation(key, 4))(&keys);
    let digits = Array::from([64, 16, 4, 1]);
    let orders: Vec<i32> = (orders * digits).sum_axes(&[1]).to_vec().unwrap();
    let mut kinds = orders.clone();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 24);
    let numbers: Vec<i32> = orders.iter().map(|order| kinds.binary_search(order).unwrap() as i32).collect();
    let far = chi_squared(&Array::from(numbers), &[1.0 / 24.0; 24]);
    assert!(far.abs() < 4.0, "{far}");
}

/// A batch of keys draws what each of them does, and so does a loop.
#[test]
fn batches_and_loops_draw_what_each_key_does() {
    let keys = random::split_n(&random::key(19), 4);
    let rows = vmap(|key: &random::Key| random::normal(key, [3], F64))(&keys);
    let (_, scanned) =
        scan(Array::from(0), &keys, |n, key: &random::Key| (n + 1, random::normal(key, [3], F64)));
    for (i, key) in random::split::<4>(&random::key(19)).iter().enumerate() {
        let alone = random::normal(key, [3], F64).to_string();
        assert_eq!(rows.slice(s![i]).to_string(), alone);
        assert_eq!(scanned.slice(s![i]).to_string(), alone);
    }
}

/// The same numbers at once and compiled, also where they are part of a larger kernel.
#[test]
fn compiled_draws_are_the_same() {
    let at_once = random::uniform(&random::key(20), [1000], F32);
    let jitted = jit(|key: &random::Key| random::uniform(key, [1000], F32));
    assert_eq!(at_once.to_vec::<f32>().unwrap(), jitted.call(&random::key(20)).to_vec::<f32>().unwrap());
    let normal = jit(|key: &random::Key| random::normal(key, [1000], F32) * 2.0);
    let expected = random::normal(&random::key(20), [1000], F32) * 2.0;
    assert_eq!(normal.call(&random::key(20)).to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
}

/// No array of bits is made on the way from the key to normals.
#[test]
fn normals_are_one_kernel() {
    let f = jit(|key: &random::Key| random::normal(key, [5000], F32));
    let program = f.lower(&random::key(0)).unwrap().program().to_string();
    assert_eq!(program.matches("kernel @").count(), 1, "{program}");
}

#[test]
fn folded_numbers_give_other_keys() {
    let key = random::key(21);
    let words = |key: random::Key| key.words().to_string();
    assert_eq!(words(random::fold_in(&key, 3)), words(random::fold_in(&key, Array::from(3u32))));
    assert_ne!(words(random::fold_in(&key, 3)), words(random::fold_in(&key, 4)));
    let jitted = jit(|(key, i): &(random::Key, Array)| random::fold_in(key, i));
    assert_eq!(words(jitted.call(&(key.clone(), Array::from(3)))), words(random::fold_in(&key, 3)));
}

#[test]
fn a_key_that_is_used_twice_is_found_with_both_lines() {
    let draw = |key: &random::Key| -> Result<Array> {
        let (x, first) = (random::normal(key, [2], F32), line!());
        let (y, second) = (random::uniform(key, [2], F32), line!());
        let _ = (first, second);
        Ok(x + y)
    };
    let line = line!() - 5;
    let twice = jit(draw);
    assert!(twice.call(&random::key(0)).is_ok());
    let error = checking_keys(|| twice.call(&random::key(0))).unwrap_err();
    assert_eq!(error.kind(), tracewell::ErrorKind::KeyReused);
    let text = error.to_string();
    assert!(text.contains("a random key is used a second time"), "{text}");
    assert!(text.contains(&format!("it was used before at tests/face/random.rs:{line}:")), "{text}");
    assert!(text.contains(&format!("random.rs:{}:", line + 1)), "{text}");
}

#[test]
fn a_known_key_is_known_by_its_words() {
    let draws = jit(|_: &Array| -> Result<Array> {
        let x = random::uniform(&random::key(1), [2], F32);
        Ok(x + random::uniform(&random::key(1), [2], F32))
    });
    let error = checking_keys(|| draws.call(&Array::from(0))).unwrap_err();
    assert_eq!(error.kind(), tracewell::ErrorKind::KeyReused);
}

#[test]
fn keys_that_are_used_once_pass() {
    let sum = checking_keys(|| {
        let key = random::key(2);
        let folded = [0, 1].map(|i| random::uniform(&random::fold_in(&key, i), [2], F32));
        let [a, b] = random::split(&key);
        let model = jit(|key: &random::Key| random::normal(key, [2], F32));
        model.call(&a) + model.call(&b) + &folded[0] + &folded[1]
    });
    assert_eq!(sum.shape().to_string(), "[2]");
    // What was used is forgotten with the check.
    for _ in 0..2 {
        checking_keys(|| random::bits(&random::key(3), [1], U32));
    }
}

#[test]
fn mistakes_are_named() {
    let message = |f: fn() -> Array| {
        let wrapped = jit(move |_: &Array| -> Result<Array> { Ok(f()) });
        wrapped.call(&Array::from(0)).unwrap_err().message().to_owned()
    };
    assert_eq!(
        message(|| random::normal(&random::key(0), [2], I32)),
        "`random::normal` draws floats, not i32"
    );
    assert_eq!(
        message(|| random::randint(&random::key(0), [2], 5, 5, I32)),
        "there is no i32 from 5 to 5, 5 not included"
    );
    assert_eq!(message(|| random::bits(&random::key(0), [2], F32)), "random bits are integers, not f32");
    assert_eq!(
        message(|| random::uniform(&random::split_n(&random::key(0), 3), [2], F32)),
        "one key is used here, found u32[3,2] of them"
    );
    assert_eq!(
        message(|| random::Key::from_words(&Array::from([1, 2])).words().clone()),
        "a key is made of u32[2], found i32[2]"
    );
}
