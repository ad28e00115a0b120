//! The section "Arrays" of the API page.

use tracewell::prelude::*;

#[test]
fn the_program_of_the_api_page() {
    let x = Array::from(vec![1.0f32, 2.0, 3.0]);
    let m = Array::from(ndarray::arr2(&[[1.0f64, 2.0], [3.0, 4.0]]));
    let z = Array::zeros([2, 3], F32);
    let y = 2.0 * &x + &x.sin() - 1;
    let v: ndarray::ArrayD<f32> = y.to_ndarray().unwrap();
    let s: f32 = y.sum().item();
    assert_eq!(
        (x.ty().to_string(), m.ty().to_string(), z.ty().to_string()),
        ("f32[3]".into(), "f64[2,2]".into(), "f32[2,3]".into())
    );
    let expected: Vec<f32> = [1.0f32, 2.0, 3.0].iter().map(|x| 2.0 * x + x.sin() - 1.0).collect();
    for (a, b) in v.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-6);
    }
    assert!((s - expected.iter().sum::<f32>()).abs() < 1e-5);
    assert!(y.to_ndarray::<f64>().is_err(), "a dtype mismatch is an error, not a cast");
}

#[test]
fn scalars_take_the_dtype_of_the_array() {
    let f64s = Array::from([1.0f64]);
    let f32s = Array::from([1.0f32]);
    let ints = Array::from([1i32]);
    assert_eq!((2.0 * &f32s).dtype(), F32);
    assert_eq!((2.0 * &f64s).dtype(), F64);
    assert_eq!((&f32s + 1).dtype(), F32);
    assert_eq!((1 - &ints).dtype(), I32);
    assert_eq!((&ints * 0.5f32).dtype(), F32);
    assert_eq!((&f64s * 0.5f32).dtype(), F64);
    assert_eq!((&f32s + &f64s).dtype(), F64);
    assert_eq!((&f32s + &ints).dtype(), F32);
}

#[test]
fn operators_take_values_and_references() {
    let x = Array::from([1.0f32, 2.0]);
    let y = Array::from([3.0f32, 4.0]);
    for z in [&x + &y, x.clone() + &y, &x + y.clone(), x.clone() + y.clone()] {
        assert_eq!(z.to_string(), "[4. 6.]");
    }
    assert_eq!((-&x / 2).to_string(), "[-0.5 -1. ]");
    assert_eq!((10 - x * 2.0 - 1usize).to_string(), "[7. 5.]");
}

#[test]
fn broadcasting_is_numpys() {
    let column = Array::from([[1.0f32], [2.0]]);
    let row = Array::from([10.0f32, 20.0, 30.0]);
    assert_eq!((&column + &row).to_string(), "[[11. 21. 31.]\n [12. 22. 32.]]");
    let empty = Array::zeros([0, 3], F32);
    assert_eq!((&empty + &row).shape(), &[0, 3]);
}

#[test]
fn a_vector_moves_in_and_a_slice_comes_out_without_a_copy() {
    let values = vec![1.0f32; 1000];
    let address = values.as_ptr();
    let array = Array::from(values);
    assert_eq!(array.as_slice::<f32>().unwrap().as_ptr(), address);
    assert_eq!(array.clone().as_slice::<f32>().unwrap().as_ptr(), address);
}

#[test]
fn making_arrays() {
    assert_eq!(Array::arange(4, I64).to_string(), "[0 1 2 3]");
    assert_eq!(Array::linspace(0.0, 1.0, 3, F64).to_string(), "[0.  0.5 1. ]");
    assert_eq!(Array::eye(2, I32).to_string(), "[[1 0]\n [0 1]]");
    assert_eq!(Array::full([2], 7.0, U8).to_string(), "[7 7]");
}

#[test]
fn arrays_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<Array>();
    check::<Scalar>();
    check::<Error>();
}

#[test]
fn npy_files_round_trip() {
    let path = std::env::temp_dir().join(format!("tracewell-{}.npy", std::process::id()));
    let x = Array::from([[1.5f64, -0.0], [f64::INFINITY, 4.0]]);
    x.save_npy(&path).unwrap();
    assert_eq!(Array::load_npy(&path).unwrap().to_string(), x.to_string());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn reductions_and_products() {
    let m = Array::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(m.sum().item::<f32>(), 21.0);
    assert_eq!(m.sum_axes(&[0]).to_string(), "[5. 7. 9.]");
    assert_eq!(m.sum_axes(&[-1]).to_string(), "[ 6. 15.]");
    assert_eq!(m.mean().item::<f32>(), 3.5);
    assert_eq!(m.max_axes(&[1]).to_string(), "[3. 6.]");
    assert_eq!(m.min().item::<f32>(), 1.0);
    assert_eq!(m.dot(&m.t()).to_string(), "[[14. 32.]\n [32. 77.]]");
    assert_eq!(Array::arange(5, I32).sum().item::<i32>(), 10);
    assert_eq!(m.reshape([3, 2]).to_string(), "[[1. 2.]\n [3. 4.]\n [5. 6.]]");
    assert_eq!(m.gt(2.5).convert(I32).sum().item::<i32>(), 4);
}

/// A number that is handed over takes no memory, and is an array like others.
#[test]
fn numbers_are_arrays_of_rank_0() {
    let number = Scalar::from(2.5);
    assert_eq!(number.as_slice::<f64>().unwrap(), [2.5]);
    assert_eq!((number.item::<f64>(), number.to_vec::<f64>().unwrap()), (2.5, vec![2.5]));
    assert_eq!((number.to_string(), number.dtype(), number.rank()), ("2.5".to_string(), F64, 0));
    // It takes the type of what it meets, and so does what is made of it outside of functions.
    assert_eq!((&number + &Array::from([1.0f32])).dtype(), F32);
    let array = Array::from(number);
    assert_eq!(array.as_slice::<f64>().unwrap(), [2.5]);
    assert_eq!((&array * &Array::from([1.0f32])).dtype(), F32);
}
