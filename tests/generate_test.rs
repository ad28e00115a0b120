//! Random graphs are what they promise: well-typed, varied, well-conditioned; and the text form keeps them.

#[path = "repro/random.rs"]
mod repro;

use std::collections::{BTreeMap, BTreeSet};

use tests::generate::{self, Options};
use tracewell_array::{DType, Tensor};
use tracewell_graph::text::{NoCustom, read, read_unchecked, write, write_with_locations};
use tracewell_graph::{Graph, Prim, Var, eval, verify};
use tracewell_optimize::narrow_from;

const GRAPHS: u64 = 500;

fn options(seed: u64) -> Options {
    Options { size: 8 + (seed % 24) as usize, extreme: seed.is_multiple_of(3) }
}

#[test]
fn random_graphs_verify_and_read_back() {
    for seed in 0..GRAPHS {
        let (graph, _) = generate::graph_with(seed, options(seed));
        verify(&graph).unwrap_or_else(|errors| panic!("seed {seed}\n{errors}"));
        let text = write_with_locations(&graph);
        let again = read(&text, &NoCustom).unwrap_or_else(|error| panic!("seed {seed}\n{error}\n{text}"));
        assert_eq!(again, graph, "seed {seed}");
        // Names and locations are in the text, but do not count when graphs are compared.
        assert_eq!(write_with_locations(&again), text, "seed {seed}");
        assert_eq!(read(&write(&graph), &NoCustom).unwrap(), graph, "seed {seed}");
    }
}

#[test]
fn a_seed_is_a_graph() {
    for seed in 0..20 {
        let (graph, inputs) = generate::graph(seed, 20);
        assert_eq!((graph, inputs), generate::graph(seed, 20));
    }
    assert_ne!(generate::graph(0, 20).0, generate::graph(1, 20).0);
}

/// Random arrays are short: taken apart as if they were long, they try the rules of narrow axes. One graph in sixty or
/// so has some, and which ones changes with every new primitive: so many are looked at that chance decides nothing.
#[test]
fn random_graphs_have_narrow_axes() {
    const GRAPHS: u64 = 1500;
    let mut narrowed = 0;
    for seed in 0..GRAPHS {
        let (graph, _) = generate::graph_with(seed, options(seed));
        let apart = narrow_from(&graph, 1);
        verify(&apart).unwrap_or_else(|errors| panic!("seed {seed}\n{errors}"));
        narrowed += usize::from(apart != graph);
    }
    assert!(narrowed >= 10, "only {narrowed} of {GRAPHS} graphs have arrays that are taken apart");
}

/// What the equations of a graph use, nested ones included.
fn count(graph: &Graph, prims: &mut BTreeMap<String, usize>) -> usize {
    let mut equations = 0;
    for equation in &graph.equations {
        equations += 1;
        *prims.entry(equation.prim.name().to_owned()).or_default() += 1;
        equation.prim.rules().each_param(&mut |_, value| {
            equations += value.graphs().iter().map(|inner| count(inner, prims)).sum::<usize>();
        });
    }
    equations
}

#[test]
fn random_graphs_are_varied() {
    let mut prims = BTreeMap::new();
    let mut sizes = Vec::new();
    let (mut dtypes, mut ranks, mut axes) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for seed in 0..GRAPHS {
        let (graph, inputs) = generate::graph(seed, 14);
        assert_eq!(graph.inputs.len(), inputs.len());
        count(&graph, &mut prims);
        sizes.push(graph.equations.len());
        for ty in &graph.types {
            dtypes.insert(ty.dtype);
            ranks.insert(ty.rank());
            axes.extend(ty.shape.iter());
        }
    }
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!(median >= 12, "the median graph has {median} equations");
    for name in Prim::NAMES {
        let uses = prims.get(*name).copied().unwrap_or(0);
        assert!(uses >= 10, "`{name}` is used {uses} times: {prims:?}");
    }
    assert_eq!(dtypes, DType::ALL.iter().copied().collect());
    assert_eq!(ranks, (0..=5).collect());
    assert!(axes.contains(&0) && axes.contains(&1), "{axes:?}");
}

/// The pairs of control flow of which one is directly in the other, counted where both have grown bodies, and how deep
/// it goes.
fn nesting(graph: &Graph, around: Option<&str>, pairs: &mut BTreeMap<(String, String), usize>) -> usize {
    let mut deepest = 0;
    for equation in &graph.equations {
        let name = equation.prim.name();
        equation.prim.rules().each_param(&mut |_, value| {
            for (i, body) in value.graphs().iter().enumerate() {
                if !generate::BODIES.contains(&body.name.as_str()) {
                    continue;
                }
                if let Some(around) = around.filter(|_| i == 0) {
                    *pairs.entry((around.to_owned(), name.to_owned())).or_default() += 1;
                }
                deepest = deepest.max(1 + nesting(body, Some(name), pairs));
            }
        });
    }
    deepest
}

/// Loops in loops, branches in loops, and so on, three deep.
#[test]
fn control_flow_nests_in_every_way() {
    let (mut pairs, mut deepest) = (BTreeMap::new(), 0);
    let mut scans = BTreeSet::new();
    for seed in 0..GRAPHS {
        let (graph, _) = generate::graph(seed, 20);
        deepest = deepest.max(nesting(&graph, None, &mut pairs));
        for equation in &graph.equations {
            if let Prim::Scan(scan) = &equation.prim {
                scans.insert((scan.length, scan.reverse, scan.unroll > 1));
            }
        }
    }
    let kinds = ["scan", "while", "switch", "each"];
    for around in kinds {
        for inside in kinds {
            let count = pairs.get(&(around.to_owned(), inside.to_owned())).copied().unwrap_or(0);
            assert!(count >= 3, "`{inside}` in `{around}` {count} times: {pairs:?}");
        }
    }
    assert_eq!(deepest, 3);
    let lengths: BTreeSet<usize> = scans.iter().map(|(length, _, _)| *length).collect();
    assert!((0..6).all(|length| lengths.contains(&length)), "{lengths:?}");
    let ways: BTreeSet<(bool, bool)> =
        scans.iter().map(|(_, reverse, unrolled)| (*reverse, *unrolled)).collect();
    assert_eq!(ways.len(), 4);
}

/// Graphs are grown around their inputs: there, most results are numbers.
#[test]
fn random_graphs_compute_numbers() {
    let (mut finite, mut all) = (0, 0);
    for seed in 0..100 {
        let (graph, inputs) = generate::graph(seed, 14);
        let outputs = eval(&graph, &inputs).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{graph}"));
        generate::agree(&graph, &outputs, &outputs).unwrap();
        for output in outputs.iter().filter(|output| output.dtype().is_float()) {
            finite += output.literals().filter(|x| x.as_f64().is_finite()).count();
            all += output.len();
        }
    }
    assert!(finite * 10 > all * 9, "{finite} of {all} are finite");
}

/// What makes random graphs fit for differential tests: other roundings give results that agree.
#[test]
fn random_graphs_are_well_conditioned() {
    for rough in [generate::eval_roughly, generate::eval_coarsely] {
        let mut disagree = Vec::new();
        for seed in 0..GRAPHS {
            let (graph, inputs) = generate::graph_with(seed, options(seed));
            let expected = eval(&graph, &inputs).unwrap();
            for noise in 1..4 {
                let found = rough(&graph, &inputs, noise);
                if let Err(error) = generate::agree(&graph, &found, &expected) {
                    disagree.push(format!("seed {seed}: {error}"));
                    break;
                }
            }
        }
        // Shadows are samples: one in some hundreds slips through.
        assert!(disagree.len() <= 3, "{}", disagree.join("\n"));
    }
}

/// Shaking makes equal numbers differ, but never different ones equal: fewer digits do.
#[test]
fn numbers_with_fewer_digits_meet() {
    let text = "func @root_squared(%0: f32[]) -> (bool[]) {
  %1: f32[] = sqrt %0
  %2: f32[] = mul %1, %1
  %3: bool[] = compare[comparison=eq] %2, %0
  return %3
}
";
    let graph = read(text, &NoCustom).unwrap();
    let inputs = [Tensor::scalar(2f32)];
    let is_equal = |outputs: Vec<Tensor>| outputs[0].literal(0).as_i64() == 1;
    assert!(!is_equal(eval(&graph, &inputs).unwrap()));
    let met = |rough: fn(&Graph, &[Tensor], u64) -> Vec<Tensor>| {
        (1..=32).filter(|&noise| is_equal(rough(&graph, &inputs, noise))).count()
    };
    assert!(met(generate::eval_coarsely) >= 8);
    assert!(met(generate::eval_roughly) < 8);
}

/// The smallest graph that uses a primitive is that primitive.
#[test]
fn shrinking_leaves_what_matters() {
    let uses = |graph: &Graph, name: &str| {
        let mut prims = BTreeMap::new();
        count(graph, &mut prims);
        prims.contains_key(name)
    };
    let mut shrunk = 0;
    for seed in 0..10 {
        for name in ["dot_general", "reduce_max", "compare", "call", "scan", "while", "switch", "each"] {
            let (graph, _) = generate::graph(seed, 20);
            if !uses(&graph, name) {
                continue;
            }
            let small = generate::shrink(graph, &mut |graph| {
                verify(graph).unwrap_or_else(|errors| panic!("seed {seed}\n{errors}"));
                let inputs = generate::inputs(graph, seed, false);
                eval(graph, &inputs).is_ok() && uses(graph, name)
            });
            shrunk += 1;
            assert_eq!(small.equations.len(), 1, "seed {seed}\n{small}");
            assert_eq!(small.equations[0].prim.name(), name);
            assert!(small.inputs.is_empty(), "seed {seed}\n{small}");
        }
    }
    assert!(shrunk > 10, "{shrunk}");
}

/// A graph that fails only inside of a call, and only there.
#[test]
fn shrinking_goes_into_calls() {
    let inside = |graph: &Graph| {
        let mut found = false;
        for equation in graph.equations.iter().filter(|equation| equation.prim.name() == "call") {
            equation.prim.rules().each_param(&mut |_, value| {
                for inner in value.graphs() {
                    let is_read = |var: &Var| {
                        let readers = inner.equations.iter().flat_map(|equation| &equation.inputs);
                        readers.chain(&inner.outputs).any(|atom| atom.var() == Some(*var))
                    };
                    found |= inner.equations.iter().any(|equation| {
                        equation.prim.name() == "broadcast" && equation.outputs.iter().any(is_read)
                    });
                }
            });
        }
        found
    };
    let seed = (0..).find(|seed| inside(&generate::graph(*seed, 30).0)).unwrap();
    let small = generate::shrink(generate::graph(seed, 30).0, &mut |graph| inside(graph));
    // The call keeps its types, for which something may have to follow.
    assert!(count(&small, &mut BTreeMap::new()) <= 4, "{small}");
}

/// Whatever is right agrees with itself; whatever is not does not.
#[test]
fn agreement_has_limits() {
    let graph: Graph = "func @f(%0: f64[2]) -> (f64[2], f32[2]) {
        %1: f32[2] = convert[dtype=f32, weak=false] %0
        return %0, %1
    }"
    .parse()
    .unwrap();
    let tensors = |text: &str| tracewell_graph::text::read_tensors(text).unwrap();
    let expected = tensors("f64[2]{1.0,nan}, f32[2]{1.0,-0.0}");
    for (found, same) in [
        ("f64[2]{1.0000000000001,nan:0x7ff8000000000001}, f32[2]{1.00001,0.0}", true),
        ("f64[2]{1.0001,nan}, f32[2]{1.0,0.0}", false),
        ("f64[2]{1.0,nan}, f32[2]{1.1,0.0}", false),
        ("f64[2]{1.0,1.0}, f32[2]{1.0,0.0}", false),
        ("f64[2]{1.0,nan}, f64[2]{1.0,0.0}", false),
        ("f64[2]{1.0,nan}", false),
    ] {
        assert_eq!(generate::agree(&graph, &tensors(found), &expected).is_ok(), same, "{found}");
    }
}

/// Texts of all primitives with numbers, words and pieces changed: reading ends with a graph that verifies or
/// with an error, and whatever is read without checks can be verified.
#[test]
fn damaged_texts_are_read_or_refused() {
    let pieces =
        ["0", "1", "7", "9223372036854775807", "-1", "[]", "[0]", "[0,0]", "f32", "bool", "~", "%0", ""];
    let mut read_well = 0;
    for seed in 0..GRAPHS {
        let text = write_with_locations(&generate::graph(seed, 6).0);
        let starts: Vec<usize> = text
            .char_indices()
            .filter(|(_, c)| c.is_ascii_alphanumeric() || "[%,".contains(*c))
            .map(|c| c.0)
            .collect();
        for (i, piece) in pieces.iter().enumerate() {
            let at = starts[(seed as usize * 7919 + i * 104_729) % starts.len()];
            let rest = &text[at..];
            let len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()).max(1);
            let damaged = format!("{}{piece}{}", &text[..at], &rest[len..]);
            if let Ok(graph) = read(&damaged, &NoCustom) {
                verify(&graph).unwrap_or_else(|errors| panic!("seed {seed}\n{errors}"));
                read_well += 1;
            }
            if let Ok(graph) = read_unchecked(&damaged, &NoCustom) {
                let _ = verify(&graph).map_err(|errors| errors.to_string());
            }
        }
    }
    assert!(read_well > 100, "{read_well}");
}
