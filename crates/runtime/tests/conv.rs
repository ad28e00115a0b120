//! Convolutions of every kind against plain loops.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{
    Conv, ConvResult, Library, LibraryCall, Program, Role, Slot, SlotId, Step, WindowAxis, eval_program,
};
use tracewell_runtime::{Executable, Input};

fn program(conv: &Conv) -> (Executable, [usize; 2]) {
    let [x, w, y] = conv.shapes();
    let [a, b, c] = match conv.result {
        ConvResult::Image => [x, w, y],
        ConvResult::Kernel => [x, y, w],
    };
    let slot = |shape: &Shape, role| Slot { dtype: conv.dtype, len: shape.len(), role };
    let program = Program {
        name: "conv".to_owned(),
        slots: vec![
            slot(&a, Role::Input(0)),
            slot(&b, Role::Input(1)),
            slot(&c, Role::Output { reuse: None }),
        ],
        kernels: vec![],
        steps: vec![Step::Call {
            call: LibraryCall {
                library: Library::Conv(conv.clone()),
                inputs: vec![(conv.dtype, a.clone()), (conv.dtype, b.clone())],
                outputs: vec![(conv.dtype, c.clone())],
            },
            slots: [0, 1, 2].map(SlotId).into(),
        }],
        results: vec![SlotId(2)],
        arena: 0,
    };
    let lens = [a.len(), b.len()];
    (Executable::new(program, vec![(conv.dtype, c)]).unwrap_or_else(|error| panic!("{error}")), lens)
}

/// Small whole numbers: every sum is exact, whatever its order.
fn numbers(dtype: DType, len: usize) -> Tensor {
    let literals: Vec<Literal> =
        (0..len).map(|i| Literal::from_i64(dtype, (i as i64 * 7919) % 11 - 4)).collect();
    Tensor::from_literals(dtype, [len], &literals).expect("as many as asked for")
}

/// Along an axis: image, window, stride, low, high, dilation of the image and of the window.
fn axis([image, window, stride, low, high, image_dilation, window_dilation]: [i64; 7]) -> WindowAxis {
    let spread = |n: i64, step: i64| if n == 0 { 0 } else { (n - 1) * step + 1 };
    let room = spread(image, image_dilation) + low + high - spread(window, window_dilation);
    let places = if room < 0 { 0 } else { room / stride + 1 };
    let [image, window, places, stride] = [image, window, places, stride].map(|n| n as usize);
    let [image_dilation, window_dilation] = [image_dilation, window_dilation].map(|n| n as usize);
    WindowAxis { image, window, places, stride, low, image_dilation, window_dilation }
}

fn agrees(conv: &Conv) {
    let (executable, [a, b]) = program(conv);
    let inputs = [numbers(conv.dtype, a), numbers(conv.dtype, b)];
    let expected = eval_program(executable.program(), &inputs).expect("a convolution that evaluates");
    let found = executable.run(&mut inputs.each_ref().map(Input::Lent)).expect("a run");
    let found = found[0].reshape([expected[0].len()]).expect("as many");
    assert!(found == expected[0], "{conv:?}");
}

#[test]
fn every_window_and_group() {
    let plain = [9, 3, 1, 1, 1, 1, 1];
    let axes: [&[[i64; 7]]; 12] = [
        &[],
        &[plain],
        &[[7, 2, 2, -1, -1, 1, 3]],
        &[[5, 2, 2, 2, -1, 2, 2]],
        &[[5, 3, 1, 4, 5, 1, 1]],
        &[[4, 6, 1, 0, 0, 1, 1]],
        &[[0, 2, 1, 3, 1, 1, 1]],
        &[plain, plain],
        &[[6, 3, 2, 0, 1, 1, 1], [7, 2, 3, 1, 0, 1, 2]],
        &[[4, 2, 1, 1, 1, 3, 1], [5, 4, 1, 2, 2, 2, 1]],
        &[[3, 2, 1, 0, 0, 1, 1], [4, 3, 2, 1, 1, 1, 1], [5, 2, 1, 1, 0, 1, 1]],
        &[[40, 5, 1, 2, 2, 1, 1], [33, 1, 2, 0, 0, 1, 1]],
    ];
    for result in [ConvResult::Image, ConvResult::Kernel] {
        for axes in axes {
            let axes: Vec<WindowAxis> = axes.iter().copied().map(axis).collect();
            for (groups, from, to) in
                [(1, 1, 1), (1, 3, 2), (2, 2, 3), (5, 1, 1), (3, 1, 2), (1, 17, 5), (1, 0, 2)]
            {
                for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_bool() && !dtype.is_complex()) {
                    if !dtype.is_float() && axes.len() > 2 {
                        continue;
                    }
                    agrees(&Conv { dtype, result, batch: 2, groups, from, to, axes: axes.clone() });
                }
            }
        }
    }
}

/// More than one block of places, and more than one of the sums that make a kernel.
#[test]
fn many_blocks() {
    for result in [ConvResult::Image, ConvResult::Kernel] {
        for (groups, from, to) in [(1, 2, 3), (1, 20, 2), (4, 1, 1)] {
            let axes = vec![axis([70, 3, 1, 1, 1, 1, 1]), axis([90, 3, 1, 1, 1, 1, 1])];
            agrees(&Conv { dtype: DType::F64, result, batch: 1, groups, from, to, axes });
        }
        // More blocks than sums.
        let axes = vec![axis([20_000, 3, 1, 1, 1, 1, 1])];
        agrees(&Conv { dtype: DType::F64, result, batch: 1, groups: 1, from: 2, to: 2, axes });
    }
}
