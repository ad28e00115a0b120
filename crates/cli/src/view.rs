//! `tracewell view`: every stage of a graph on one page.

use std::path::{Path, PathBuf};

use tracewell::{Array, Graph, Lowered, OpTrace};

use crate::args::Args;

/// Writes the page, and gives its path.
pub(crate) fn view(file: &Path, args: &Args) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
    let wrong = |why: &dyn std::fmt::Display| format!("`{}`: {why}", file.display());
    let html = if text.starts_with("tracewell trace") {
        let trace = OpTrace::from_text(&text).map_err(|why| wrong(&why))?;
        trace.to_html(args.has("profile")).map_err(|error| wrong(&error))?
    } else {
        let graph = tracewell::read_graph(&text).map_err(|error| wrong(&error))?;
        of_graph(&graph, args.has("profile")).map_err(|error| wrong(&error))?
    };
    let page = args.value("output").map_or_else(|| file.with_extension("html"), PathBuf::from);
    std::fs::write(&page, html).map_err(|error| format!("cannot write `{}`: {error}", page.display()))?;
    Ok(page)
}

fn of_graph(graph: &Graph, profiled: bool) -> tracewell::Result<String> {
    let lowered = Lowered::new(graph)?;
    let zeros: Vec<Array> =
        graph.input_types().iter().map(|ty| Array::zeros(ty.shape.clone(), ty.dtype)).collect();
    let profile = if profiled { Some(lowered.profile(&zeros)?) } else { None };
    Ok(lowered.to_html(profile.as_ref()))
}
