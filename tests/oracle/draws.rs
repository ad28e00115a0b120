//! Random bits, keys and integers, equal to JAX's to the bit: every row of random.txt, at once and jitted.

use tracewell::prelude::*;

/// How many rows random.txt has, so that none gets lost.
const ROWS: usize = 140;

/// What a row is the result of.
fn drawn(name: &str, key: &random::Key) -> Array {
    let logits = super::at([4, 6], 0.5);
    match name {
        "key" => key.words().clone(),
        "split" => stack(&random::split::<2>(key).map(|key| key.words().clone()), 0),
        "split_5" => random::split_n(key, 5).words().clone(),
        "bits_u8" => random::bits(key, [2, 3], U8),
        "bits_u32" => random::bits(key, [2, 3], U32),
        "bits_i64" => random::bits(key, [2, 3], I64),
        "bits_scalar_u8" => random::bits(key, [], U8),
        "bits_scalar_u32" => random::bits(key, [], U32),
        "bits_scalar_i64" => random::bits(key, [], I64),
        "uniform_f32" => random::uniform(key, [3, 5], F32).bitcast(I32),
        "uniform_f64" => random::uniform(key, [3, 5], F64).bitcast(I64),
        "randint_small_i32" => random::randint(key, [9], -3, 4, I32),
        "randint_odd_i32" => random::randint(key, [9], 0, 1_000_003, I32),
        "randint_wide_i32" => random::randint(key, [4], i64::from(i32::MIN), i64::from(i32::MAX), I32),
        "randint_i64" => random::randint(key, [4], -5, 1_000_000_000_000, I64),
        "randint_wide_i64" => random::randint(key, [4], -(1 << 62), (1 << 62) + (1 << 61), I64),
        "randint_u32" => random::randint(key, [4], 5, 4_000_000_000, U32),
        "randint_u8" => random::randint(key, [9], 5, 250, U8),
        "permutation_10" => random::permutation(key, 10),
        "permutation_2000" => random::permutation(key, 2000).slice(s![..20]),
        "shuffle_rows" => random::shuffle(key, &Array::arange(12, I32).reshape([4, 3]), 0),
        "categorical" => random::categorical(key, &logits, -1),
        "bernoulli" => random::bernoulli(key, &Array::from(0.3f64), [10]).convert(I32),
        "choice" => random::choice(key, 10, [6]),
        other => match other.strip_prefix("fold_in_").and_then(|n| n.parse::<u32>().ok()) {
            Some(n) => random::fold_in(key, n).words().clone(),
            None => panic!("there is no `{other}` here"),
        },
    }
}

#[test]
fn draws_equal_those_of_jax() {
    let lines: Vec<&str> = include_str!("random.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), ROWS, "rows of random.txt");
    for line in lines {
        let (name, rest) = line.split_once(": ").unwrap();
        let (name, seed) = name.split_once('/').unwrap();
        let (shape, elements) = rest.split_once('[').unwrap().1.split_once(']').unwrap();
        let expected: Vec<i64> = elements.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let key = random::key(seed.parse().unwrap());
        let owned = name.to_owned();
        let jitted = jit(move |key: &random::Key| drawn(&owned, key));
        for found in [drawn(name, &key), jitted.call(&key)] {
            assert_eq!(found.shape().to_string(), format!("[{shape}]"), "{line}");
            let found: Vec<i64> = found.convert(I64).to_vec().unwrap();
            assert_eq!(found, expected, "{line}");
        }
    }
}
