//! Convolutions and reductions over windows.

use tracewell::prelude::*;

use super::{Composition, at, of, wave};

/// A convolution as a function of the image, and as one of the kernel; each squared.
macro_rules! both {
    ($name:literal, $of_kernel:literal, $x:expr, $w:expr, $conv:expr) => {
        [
            of($name, || at($x, 0.5), |x| $conv(x, &wave($w, 0.3, x)).square()),
            of($of_kernel, || at($w, 0.3), |w| $conv(&wave($x, 0.5, w), w).square()),
        ]
    };
}

const PAIRS: [[Composition; 2]; 15] = [
    both!("conv1d", "conv1d_kernel", [2, 7, 3], [3, 3, 4], |x: &Array, w: &Array| conv(x, w, &Conv::new())),
    both!("conv2d_same", "conv2d_same_kernel", [1, 5, 6, 2], [3, 3, 2, 3], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().strides(2).padding(Padding::Same))
    }),
    both!("conv2d_dilated", "conv2d_dilated_kernel", [1, 6, 5, 2], [2, 3, 2, 2], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().padding([(1, 2), (0, 1)]).dilation([2, 1]))
    }),
    both!(
        "conv2d_input_dilated",
        "conv2d_input_dilated_kernel",
        [1, 3, 3, 2],
        [2, 2, 2, 2],
        |x: &Array, w: &Array| {
            conv(x, w, &Conv::new().strides([1, 2]).padding([(2, 1), (1, 1)]).input_dilation([2, 3]))
        }
    ),
    both!("conv2d_cropped", "conv2d_cropped_kernel", [1, 6, 5, 1], [2, 2, 1, 2], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().padding([(-1, 0), (2, -2)]))
    }),
    both!("conv2d_groups", "conv2d_groups_kernel", [1, 4, 4, 4], [2, 2, 2, 6], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().groups(2))
    }),
    both!("depthwise", "depthwise_kernel", [1, 4, 5, 3], [3, 2, 1, 3], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().padding(Padding::Same).groups(3))
    }),
    both!("depthwise_twice", "depthwise_twice_kernel", [1, 4, 4, 2], [2, 2, 1, 4], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().strides(2).groups(2))
    }),
    both!("channels_first", "channels_first_kernel", [2, 2, 5, 4], [3, 2, 3, 2], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().strides([1, 2]).layout(Layout::ChannelsFirst))
    }),
    both!("conv3d", "conv3d_kernel", [1, 3, 4, 3, 2], [2, 2, 2, 2, 2], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new().strides([1, 2, 1]))
    }),
    both!("one_by_one", "one_by_one_kernel", [2, 3, 2, 3], [1, 1, 3, 4], |x: &Array, w: &Array| {
        conv(x, w, &Conv::new())
    }),
    both!(
        "one_by_one_strided",
        "one_by_one_strided_kernel",
        [1, 4, 5, 2],
        [1, 1, 2, 3],
        |x: &Array, w: &Array| conv(x, w, &Conv::new().strides([2, 3]))
    ),
    both!("transpose_same", "transpose_same_kernel", [1, 3, 4, 2], [3, 3, 2, 2], |x: &Array, w: &Array| {
        conv_transpose(x, w, &Conv::new().strides(2).padding(Padding::Same))
    }),
    both!("transpose_valid", "transpose_valid_kernel", [1, 3, 3, 2], [3, 2, 2, 1], |x: &Array, w: &Array| {
        conv_transpose(x, w, &Conv::new().strides([2, 3]))
    }),
    both!("transpose_dilated", "transpose_dilated_kernel", [1, 4, 2], [2, 2, 3], |x: &Array, w: &Array| {
        conv_transpose(x, w, &Conv::new().strides(3).padding(Padding::Same).dilation(2))
    }),
];

const OTHERS: [Composition; 23] = [
    of(
        "each_image",
        || at([3, 5, 2], 0.5),
        |x| {
            conv(&x.expand(0), &wave([3, 2, 2], 0.3, x), &Conv::new().padding(Padding::Same))
                .squeeze(0)
                .square()
        },
    ),
    of(
        "each_batch_of_images",
        || at([3, 4, 4, 1], 0.5),
        |x| conv(&x.expand(0), &wave([2, 2, 1, 2], 0.3, x), &Conv::new()).squeeze(0).square(),
    ),
    of(
        "each_kernel",
        || at([3, 2, 2, 4], 0.3),
        |w| conv(&wave([2, 5, 4], 0.5, w), w, &Conv::new().strides(2).groups(2)).square(),
    ),
    of("each_both", || at([3, 22], 0.3), |p| image_and_kernel(p, &Conv::new()).square().sum()),
    of(
        "of_both",
        || at([22], 0.3),
        |p| image_and_kernel(p, &Conv::new().padding(Padding::Same)).squeeze(0).slice(s![..;2, ..2]),
    ),
    of("max_pool", || at([1, 4, 6, 2], 0.5), |x| max_pool(x, &Window::new(2)).square()),
    of(
        "max_pool_overlapping",
        || at([1, 5, 6, 2], 0.5),
        |x| max_pool(x, &Window::new(3).strides(2).padding(Padding::Same)).square(),
    ),
    of(
        "max_pool_channels_first",
        || at([2, 2, 5, 4], 0.5),
        |x| {
            let window = Window::new([2, 3]).strides([1, 2]).padding([(1, 0), (0, 2)]);
            max_pool(x, &window.layout(Layout::ChannelsFirst)).square()
        },
    ),
    of(
        "min_pool",
        || at([1, 8, 2], 0.5),
        |x| min_pool(x, &Window::new(3).strides(2).padding([(1, 1)])).square(),
    ),
    of(
        "max_pool_dilated",
        || at([1, 7, 7, 1], 0.5),
        |x| max_pool(x, &Window::new([2, 3]).strides(1).dilation([3, 2])).square(),
    ),
    of("max_of_many", || at([30], 0.5), |x| x.window_max(&Window::new(19).strides(2)).square()),
    of(
        "ties_of_max",
        || (2.0 * at([1, 6, 6, 1], 0.5)).round(),
        |x| max_pool(x, &Window::new(3).strides(2).padding(Padding::Same)),
    ),
    of("ties_of_min", || (2.0 * at([12], 0.5)).round(), |x| x.window_min(&Window::new(3))),
    of("avg_pool", || at([1, 4, 6, 2], 0.5), |x| avg_pool(x, &Window::new([2, 3])).square()),
    of(
        "avg_pool_same",
        || at([1, 5, 5, 1], 0.5),
        |x| avg_pool(x, &Window::new(3).strides(2).padding(Padding::Same)).square(),
    ),
    of(
        "sums",
        || at([4, 5], 0.5),
        |x| {
            let window = Window::new([3, 2]).strides([2, 1]).padding([(1, 2), (-1, 1)]);
            x.window_sum(&window.dilation([1, 2]).input_dilation([2, 1])).square()
        },
    ),
    of(
        "sums_of_many",
        || at([40], 0.5),
        |x| x.window_sum(&Window::new(21).strides(3).padding([(4, 2)])).square(),
    ),
    of("products", || at([7], 0.5), |x| x.window_prod(&Window::new(3))),
    of(
        "products_of_zeros",
        || Array::from([1.5, 0.0, -2.0, 0.0, 0.0, 3.0]),
        |x| x.window_prod(&Window::new(3)),
    ),
    of("each_pool", || at([3, 6, 2], 0.5), |x| x.window_max(&Window::new([3, 1]).strides([2, 1])).square()),
    of(
        "global_pools",
        || at([2, 5, 5, 2], 0.5),
        |x| global_avg_pool(x, Layout::ChannelsLast) * global_max_pool(x, Layout::ChannelsLast),
    ),
    of(
        "network_of_parameters",
        || at([66], 0.4),
        |p| {
            let w1 = p.slice(s![..18]).reshape([3, 3, 1, 2]);
            let w2 = p.slice(s![18..42]).reshape([2, 2, 2, 3]);
            network(&w1, &w2, &p.slice(s![42..]).reshape([3, 8]), &wave([2, 6, 6, 1], 0.1, p))
        },
    ),
    of(
        "network_of_images",
        || at([3, 6, 6, 1], 0.4),
        |x| {
            let x = if x.rank() == 4 { x.clone() } else { x.expand(0) };
            let [w1, w2] = [wave([3, 3, 1, 2], 0.1, &x), wave([2, 2, 2, 3], 0.2, &x)];
            network(&w1, &w2, &wave([3, 2], 0.3, &x), &x)
        },
    ),
];

pub(super) const ALL: &[Composition] = {
    const BOTH: [Composition; 53] = {
        let mut all = [OTHERS[0]; 53];
        let mut i = 0;
        while i < all.len() {
            all[i] = if i < 30 { PAIRS[i / 2][i % 2] } else { OTHERS[i - 30] };
            i += 1;
        }
        all
    };
    &BOTH
};

fn image_and_kernel(p: &Array, how: &Conv) -> Array {
    conv(&p.slice(s![..10]).reshape([1, 5, 2]), &p.slice(s![10..]).reshape([2, 2, 3]), how)
}

fn network(w1: &Array, w2: &Array, w3: &Array, x: &Array) -> Array {
    let h = conv(x, w1, &Conv::new().padding(Padding::Same)).tanh();
    let h = conv(&max_pool(&h, &Window::new(2)), w2, &Conv::new()).tanh();
    global_avg_pool(&h, Layout::ChannelsLast).dot(w3)
}
