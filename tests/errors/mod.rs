//! Every mistake of docs/errors.md, one file each: why it is one, the wrong program and the right one.
//!
//! The page is made from these files and from what their programs say: `page.rs` writes and checks it. A mistake
//! that the compiler finds has only its right program here; the wrong one is in `ui`, with its errors.

#![allow(clippy::print_stdout, unreachable_pub, reason = "these are programs")]

mod page;

mod add_shapes;
mod argument_in_jit;
mod associative_shape;
mod axis_range;
mod axis_twice;
mod bits_float;
mod branch_structure;
mod branch_types;
mod broadcast_rank;
mod broadcast_size;
mod callback_gradient;
mod callback_panics;
mod callback_result;
mod carry_dtype;
mod carry_shape;
mod carry_structure;
mod check_condition;
mod check_fails;
mod closure_without_type;
mod compare_with_operators;
mod complex_function;
mod complex_order;
mod complex_to_real;
mod constant_in_jit;
mod conv_channels;
mod conv_groups;
mod conv_rank;
mod cotangent_type;
mod cross_size;
mod donated_reference;
mod dot_scalar;
mod dot_sizes;
mod einsum_letter;
mod einsum_operands;
mod einsum_size;
mod elements_in_jit;
mod escaped_tracer;
mod factors_of_complex;
mod fft_lengths;
mod fft_of_complex;
mod fft_of_one;
mod file_dtype;
mod file_missing;
mod file_not_npy;
mod fold_float;
mod grad_by_integer;
mod grad_of_complex;
mod grad_of_count;
mod grad_of_vector;
mod hessian_of_vector;
mod huge_array;
mod huge_result;
mod if_on_an_array;
mod impure_constant;
mod impure_function;
mod index_along;
mod index_checked;
mod index_empty;
mod index_mask;
mod index_shapes;
mod index_type;
mod item_of_many;
mod item_type;
mod jacobian_by_complex;
mod key_twice;
mod key_words;
mod keys_at_once;
mod leaked_tracer;
mod lower_nothing;
mod map2_structure;
mod mask_shape;
mod matmul_batch;
mod matrix_not_square;
mod matrix_rank_low;
mod mistake_in_expansion;
mod mistake_under_hessian;
mod ndarray_type;
mod negative_size;
mod no_result;
mod normal_integers;
mod number_on_the_left;
mod number_too_large;
mod permute_axes;
mod plain_field;
mod plain_number;
mod predicate_rank;
mod predicate_type;
mod primitive_captures;
mod primitive_name;
mod primitive_parameters;
mod primitive_results;
mod quantile_range;
mod randint_range;
mod recursion;
mod reshape_count;
mod result_not_arrays;
mod scalar_rank;
mod scan_length;
mod scan_lengths;
mod scan_nothing;
mod scan_scalar;
mod search_rank;
mod segment_ids;
mod select_condition;
mod solve_sides;
mod sort_keys;
mod sort_shapes;
mod squeeze_size;
mod static_own_type;
mod static_scalar;
mod sum_of_bools;
mod switch_index;
mod switch_nothing;
mod tangent_structure;
mod tangent_type;
mod tape_branch;
mod tape_fixed;
mod tape_in_loop;
mod tape_type;
mod top_k_size;
mod trace_file;
mod trace_full;
mod trace_types;
mod unique_empty;
mod update_shape;
mod update_type;
mod used_after_donation;
mod value_in_grad_in_jit;
mod value_in_jit;
mod value_in_loop;
mod value_in_vmap;
mod vmap_axis;
mod vmap_nothing;
mod vmap_result_axis;
mod vmap_scalar;
mod vmap_sizes;
mod vmap_whole_result;
mod weights_rank;
mod window_axes;
mod window_padding;
mod window_stride;
mod window_too_large;

use page::{Ending, Mistake, Wrong};

/// A mistake that shows when the program runs.
macro_rules! runs {
    ($name:ident) => {
        Mistake {
            name: stringify!($name),
            source: include_str!(concat!(stringify!($name), ".rs")),
            wrong: Wrong::Runs(|| $name::wrong::main().message()),
            right: || $name::right::main().message(),
        }
    };
}

/// A mistake that the compiler finds, in a program of `ui`.
macro_rules! does_not_compile {
    ($name:ident, $program:literal) => {
        Mistake {
            name: stringify!($name),
            source: include_str!(concat!(stringify!($name), ".rs")),
            wrong: Wrong::DoesNotCompile {
                program: include_str!(concat!("../ui/", $program, ".rs")),
                errors: include_str!(concat!("../ui/", $program, ".stderr")),
            },
            right: || $name::right::main().message(),
        }
    };
}

/// All mistakes, in the order of the page.
const MISTAKES: &[(&str, &[Mistake])] = &[
    (
        "Shapes and axes",
        &[
            runs!(add_shapes),
            runs!(dot_sizes),
            runs!(matmul_batch),
            runs!(einsum_letter),
            runs!(einsum_size),
            runs!(einsum_operands),
            runs!(matrix_rank_low),
            runs!(matrix_not_square),
            runs!(factors_of_complex),
            runs!(solve_sides),
            runs!(cross_size),
            runs!(dot_scalar),
            runs!(reshape_count),
            does_not_compile!(negative_size, "negative_size"),
            runs!(broadcast_size),
            runs!(broadcast_rank),
            runs!(axis_range),
            runs!(axis_twice),
            runs!(permute_axes),
            runs!(squeeze_size),
            runs!(huge_array),
            runs!(huge_result),
            runs!(fft_of_complex),
            runs!(fft_lengths),
            runs!(fft_of_one),
        ],
    ),
    (
        "Convolutions and windows",
        &[
            runs!(conv_channels),
            runs!(conv_rank),
            runs!(conv_groups),
            runs!(window_too_large),
            runs!(window_stride),
            runs!(window_axes),
            runs!(window_padding),
        ],
    ),
    (
        "Element types",
        &[
            runs!(select_condition),
            runs!(sum_of_bools),
            runs!(number_too_large),
            runs!(item_type),
            runs!(item_of_many),
            runs!(ndarray_type),
            runs!(scalar_rank),
            runs!(complex_order),
            runs!(complex_to_real),
            runs!(complex_function),
            does_not_compile!(number_on_the_left, "number_on_the_left"),
            does_not_compile!(compare_with_operators, "compare_with_operators"),
            does_not_compile!(if_on_an_array, "if_on_an_array"),
        ],
    ),
    (
        "Indexing",
        &[
            runs!(index_type),
            runs!(index_mask),
            runs!(index_shapes),
            runs!(index_along),
            runs!(index_empty),
            runs!(index_checked),
            runs!(update_shape),
            runs!(update_type),
            runs!(mask_shape),
            runs!(segment_ids),
        ],
    ),
    (
        "Values while tracing",
        &[
            runs!(value_in_jit),
            runs!(argument_in_jit),
            runs!(value_in_grad_in_jit),
            runs!(value_in_vmap),
            runs!(elements_in_jit),
            runs!(constant_in_jit),
            runs!(leaked_tracer),
            runs!(escaped_tracer),
            runs!(impure_function),
            runs!(impure_constant),
            runs!(recursion),
        ],
    ),
    (
        "Jitted functions",
        &[
            does_not_compile!(result_not_arrays, "jit_result_statistics"),
            does_not_compile!(no_result, "jit_no_result"),
            does_not_compile!(plain_number, "jit_plain_number"),
            does_not_compile!(static_scalar, "jit_static_scalar"),
            does_not_compile!(static_own_type, "jit_static_own_type"),
            does_not_compile!(plain_field, "tree_plain_field"),
            does_not_compile!(donated_reference, "jit_donate_reference"),
            does_not_compile!(used_after_donation, "jit_donate_used_after"),
            runs!(lower_nothing),
        ],
    ),
    (
        "Derivatives and trees",
        &[
            does_not_compile!(closure_without_type, "closure_without_type"),
            runs!(grad_of_vector),
            runs!(grad_of_count),
            runs!(grad_by_integer),
            runs!(grad_of_complex),
            runs!(jacobian_by_complex),
            runs!(hessian_of_vector),
            runs!(mistake_under_hessian),
            runs!(tangent_type),
            runs!(tangent_structure),
            runs!(cotangent_type),
            runs!(map2_structure),
        ],
    ),
    (
        "Batches",
        &[
            runs!(vmap_sizes),
            runs!(vmap_scalar),
            runs!(vmap_axis),
            runs!(vmap_result_axis),
            runs!(vmap_whole_result),
            runs!(vmap_nothing),
        ],
    ),
    (
        "Branches and loops",
        &[
            runs!(carry_dtype),
            runs!(carry_shape),
            runs!(carry_structure),
            runs!(branch_types),
            runs!(branch_structure),
            runs!(predicate_rank),
            runs!(predicate_type),
            runs!(switch_index),
            runs!(switch_nothing),
            runs!(scan_lengths),
            runs!(scan_scalar),
            runs!(scan_nothing),
            runs!(scan_length),
            runs!(associative_shape),
            runs!(value_in_loop),
        ],
    ),
    (
        "Sorting",
        &[
            runs!(top_k_size),
            runs!(sort_shapes),
            runs!(sort_keys),
            runs!(search_rank),
            runs!(quantile_range),
            runs!(unique_empty),
        ],
    ),
    (
        "Random numbers",
        &[
            runs!(key_twice),
            runs!(keys_at_once),
            runs!(key_words),
            runs!(fold_float),
            runs!(normal_integers),
            runs!(randint_range),
            runs!(bits_float),
            runs!(weights_rank),
        ],
    ),
    (
        "Callbacks and checks",
        &[
            runs!(check_fails),
            runs!(check_condition),
            runs!(callback_result),
            runs!(callback_gradient),
            runs!(callback_panics),
        ],
    ),
    ("Files", &[runs!(file_missing), runs!(file_not_npy), runs!(file_dtype)]),
    ("Tapes", &[runs!(tape_type), runs!(tape_branch), runs!(tape_in_loop), runs!(tape_fixed)]),
    ("Op traces", &[runs!(trace_full), runs!(trace_types), runs!(trace_file)]),
    (
        "Primitives of your own",
        &[
            runs!(mistake_in_expansion),
            runs!(primitive_captures),
            runs!(primitive_parameters),
            runs!(primitive_name),
            runs!(primitive_results),
        ],
    ),
];

/// The wrong programs that compile, by the names of their files.
#[allow(dead_code, reason = "for other tests than those of the page")]
pub(crate) fn wrong_programs() -> impl Iterator<Item = (&'static str, fn() -> Option<String>)> {
    MISTAKES.iter().flat_map(|(_, all)| *all).filter_map(|mistake| match mistake.wrong {
        Wrong::Runs(run) => Some((mistake.name, run)),
        Wrong::DoesNotCompile { .. } => None,
    })
}
