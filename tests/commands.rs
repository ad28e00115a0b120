//! What file tests can ask of a text: one small function for each command, and the one table of them.

use tests::differential::{Compiled, WAYS};
use tests::recorded::{changes_no_bit, jitted};
use tracewell::pipeline::{Settings, lower};
use tracewell_array::{Literal, Tensor};
use tracewell_graph::text::{NoCustom, read, read_all, read_tensors, read_unchecked, write_tensor};
use tracewell_graph::text::{write, write_with_locations};
use tracewell_graph::{Graph, eval, verify};
use tracewell_kernel::{Program, verify_program};

/// From the arguments of the `test` line and the text to what should be expected. An error is a failure of the
/// test, whatever is expected.
type Command = fn(&str, &str) -> Result<String, String>;

/// To add a command, write its function and name it here.
const COMMANDS: &[(&str, Command)] = &[
    ("batch", run_batch),
    ("eval", run_eval),
    ("fuse", run_fuse),
    ("jvp", run_jvp),
    ("linearize", run_linearize),
    ("optimize", run_optimize),
    ("parse", run_parse),
    ("parse-error", run_parse_error),
    ("run", run_run),
    ("transpose", run_transpose),
    ("verify-error", run_verify_error),
];

/// Runs the command of that name.
pub(crate) fn run(name: &str, args: &str, body: &str) -> Result<String, String> {
    match COMMANDS.iter().find(|(command, _)| *command == name) {
        Some((_, command)) => command(args, body),
        None => Err(format!("there is no command `{name}`")),
    }
}

/// All functions of a text, which must be in order.
fn functions(body: &str) -> Result<Vec<Graph>, String> {
    let graphs = read_all(body, &NoCustom).map_err(|error| error.to_string())?;
    if graphs.is_empty() {
        return Err("there is no function".to_owned());
    }
    Ok(graphs)
}

/// Applies a function to each graph; their results, checked and written, are what is expected.
fn each_graph(
    body: &str,
    f: impl Fn(&Graph) -> Result<Vec<(Graph, String)>, String>,
) -> Result<String, String> {
    let mut texts = Vec::new();
    for graph in functions(body)? {
        match f(&graph) {
            Ok(results) => {
                for (graph, note) in results {
                    verify(&graph).map_err(|errors| errors.to_string())?;
                    texts.push(write(&graph) + &note);
                }
            }
            Err(error) => texts.push(format!("error: {error}\n")),
        }
    }
    Ok(texts.join("\n"))
}

/// `parse`: the same functions as they are written; they must read back.
fn run_parse(_: &str, body: &str) -> Result<String, String> {
    let mut texts = Vec::new();
    for graph in functions(body)? {
        let text = write_with_locations(&graph);
        let again = read(&text, &NoCustom).map_err(|error| format!("does not read back: {error}"))?;
        if again != graph || write_with_locations(&again) != text {
            return Err(format!("reads back as something else:\n{again}"));
        }
        verify(&graph).map_err(|errors| errors.to_string())?;
        texts.push(text);
    }
    Ok(texts.join("\n"))
}

/// `parse-error`: why the text cannot be read.
fn run_parse_error(_: &str, body: &str) -> Result<String, String> {
    match read_all(body, &NoCustom) {
        Ok(graphs) => Err(format!("{} functions were read without error", graphs.len())),
        Err(error) => Ok(error.to_string()),
    }
}

/// `verify-error`: what is wrong with a function that is read as it stands.
fn run_verify_error(_: &str, body: &str) -> Result<String, String> {
    let graph = read_unchecked(body, &NoCustom).map_err(|error| error.to_string())?;
    match verify(&graph) {
        Ok(()) => Err("nothing is wrong".to_owned()),
        Err(errors) => Ok(errors.to_string()),
    }
}

/// `eval`: the results of the calls that stand in the text as `// run @f(f32[2]{1.0,2.0})`.
fn run_eval(_: &str, body: &str) -> Result<String, String> {
    each_call(body, eval)
}

/// `run`: the same from machine code, which gives the same whether it is recorded or not.
fn run_run(_: &str, body: &str) -> Result<String, String> {
    each_call(body, |graph, inputs| {
        changes_no_bit(jitted(graph.clone(), inputs.to_vec()))?;
        Compiled::new(graph, WAYS[0])?.run(inputs)
    })
}

/// Runs the calls of a text in some way; each is written with its results.
fn each_call(
    body: &str,
    f: impl Fn(&Graph, &[Tensor]) -> Result<Vec<Tensor>, String>,
) -> Result<String, String> {
    let graphs = functions(body)?;
    let mut out = String::new();
    for call in body.lines().filter_map(|line| line.trim().strip_prefix("// run ")) {
        let shape = || format!("`{call}` is not a call such as `@f(f32[2]{{1.0,2.0}})`");
        let (name, rest) = call.strip_prefix('@').and_then(|call| call.split_once('(')).ok_or_else(shape)?;
        let inputs = rest.strip_suffix(')').ok_or_else(shape)?;
        let inputs = read_tensors(inputs).map_err(|error| format!("{call}\n{error}"))?;
        let graph = graphs.iter().find(|graph| graph.name == name);
        let graph = graph.ok_or_else(|| format!("there is no function `@{name}`"))?;
        let results = match f(graph, &inputs) {
            Ok(results) => results.iter().map(value_text).collect::<Vec<_>>().join(", "),
            Err(error) => format!("error: {error}"),
        };
        out.push_str(&format!("{call} = {results}\n"));
    }
    if out.is_empty() { Err("there is no `// run` line".to_owned()) } else { Ok(out) }
}

/// An array with every NaN as `nan`: which one it is depends on the machine.
fn value_text(tensor: &Tensor) -> String {
    let plain = |x: Literal| if x.as_f64().is_nan() { Literal::from_f64(x.dtype(), f64::NAN) } else { x };
    let literals: Vec<Literal> = tensor.literals().map(plain).collect();
    let plain = Tensor::from_literals(tensor.dtype(), tensor.shape().clone(), &literals);
    write_tensor(&plain.expect("as many as before"))
}

/// `optimize`: the function after all passes; `optimize 2`: after the first two.
fn run_optimize(args: &str, body: &str) -> Result<String, String> {
    let mut settings = Settings::default();
    if !args.is_empty() {
        settings.passes = args.parse().map_err(|_| format!("`{args}` is not a number of passes"))?;
    }
    each_graph(body, |graph| {
        let stages = lower(graph, &settings).map_err(|error| error.to_string())?;
        Ok(vec![(stages.optimized, String::new())])
    })
}

/// `fuse`: the program that is compiled. `fuse 0 2`: where those inputs are given away; `fuse apart`: where every
/// equation has a kernel of its own.
fn run_fuse(args: &str, body: &str) -> Result<String, String> {
    let mut texts = Vec::new();
    for graph in functions(body)? {
        let fusion = args != "apart";
        let donated = flags(if fusion { args } else { "" }, graph.inputs.len())?;
        let settings = Settings { donated, fusion, ..Settings::default() };
        let program = lower(&graph, &settings).map_err(|error| error.to_string())?.program;
        verify_program(&program).map_err(|errors| errors.to_string())?;
        let text = program.to_string();
        match text.parse::<Program>() {
            Ok(again) if again == program => texts.push(text),
            Ok(_) => return Err(format!("reads back as something else:\n{text}")),
            Err(error) => return Err(format!("does not read back: {error}\n{text}")),
        }
    }
    Ok(texts.join("\n"))
}

/// `jvp 0 2`: the function and its derivative by those inputs.
fn run_jvp(args: &str, body: &str) -> Result<String, String> {
    each_graph(body, |graph| {
        let active = flags(args, graph.inputs.len())?;
        let (derived, tangents) =
            tracewell_transform::jvp(graph, &active).map_err(|error| error.to_string())?;
        Ok(vec![(derived, format!("// tangents of results {}\n", which(&tangents)))])
    })
}

/// `linearize 0 2`: what is known before the tangents, and what is linear in them.
fn run_linearize(args: &str, body: &str) -> Result<String, String> {
    each_graph(body, |graph| {
        let active = flags(args, graph.inputs.len())?;
        let split = tracewell_transform::linearize(graph, &active).map_err(|error| error.to_string())?;
        let note = format!("// tangents of results {}\n", which(&split.tangents));
        Ok(vec![(split.primal, String::new()), (split.linear, note)])
    })
}

/// `transpose 0 2`: the adjoint in those inputs, from cotangents of all results.
fn run_transpose(args: &str, body: &str) -> Result<String, String> {
    each_graph(body, |graph| {
        let linear = flags(args, graph.inputs.len())?;
        let given = vec![true; graph.outputs.len()];
        let (adjoint, nonzero) =
            tracewell_transform::transpose(graph, &linear, &given).map_err(|error| error.to_string())?;
        let numbers = linear.iter().enumerate().filter(|(_, linear)| **linear).zip(nonzero);
        let inputs: Vec<String> =
            numbers.filter(|(_, nonzero)| *nonzero).map(|((i, _), _)| i.to_string()).collect();
        Ok(vec![(adjoint, format!("// cotangents of inputs [{}]\n", inputs.join(",")))])
    })
}

/// `batch 4: 0 2`: the function over a leading axis of size 4 on those inputs.
fn run_batch(args: &str, body: &str) -> Result<String, String> {
    let usage = || "expected `batch size: inputs`".to_owned();
    let (size, args) = args.split_once(':').ok_or_else(usage)?;
    let size: usize = size.trim().parse().map_err(|_| usage())?;
    each_graph(body, |graph| {
        let flags = flags(args, graph.inputs.len())?;
        let (batched, results) =
            tracewell_transform::batch(graph, size, &flags).map_err(|error| error.to_string())?;
        Ok(vec![(batched, format!("// batched results {}\n", which(&results)))])
    })
}

/// The inputs that a `test` line names by number.
fn flags(args: &str, count: usize) -> Result<Vec<bool>, String> {
    let mut flags = vec![false; count];
    for word in args.split_whitespace() {
        let flag = word.parse().ok().and_then(|number: usize| flags.get_mut(number));
        *flag.ok_or_else(|| format!("there is no input `{word}`"))? = true;
    }
    Ok(flags)
}

/// The numbers of those for which a flag holds: `[0,2]`.
fn which(flags: &[bool]) -> String {
    let numbers: Vec<String> =
        flags.iter().enumerate().filter(|(_, flag)| **flag).map(|(i, _)| i.to_string()).collect();
    format!("[{}]", numbers.join(","))
}
