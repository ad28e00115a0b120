mod compositions;
#[test]
fn print() {
    let want = std::env::var("WANT").unwrap_or_default();
    for (name, graph) in compositions::all() {
        if name.contains(&want) {
            let o = tracewell_fuse::Options { donated: vec![true; graph.inputs.len()], fusion: true };
            println!("---- {name}\n{}", tracewell_fuse::fuse(&graph, &o).unwrap());
        }
    }
}
