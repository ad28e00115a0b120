//! The listings of docs/tour.md: made here, compared with the page; `TRACEWELL_BLESS=1` writes them into it.

use tracewell::prelude::*;

jit! {
    fn loss(slope: Scalar, x: &Array, y: &Array) -> Array {
        let error = &slope * x - y;
        error.maximum(0.0).square().sum()
    }
}

/// The listings by name, in the order of the page.
fn listings() -> Vec<(&'static str, String)> {
    let x = Array::arange(1000, F32);
    let y = 3.0 * &x + 1.0;
    let value = lower(|| loss(3.5, &x, &y)).unwrap();
    let over = jit(|(x, y): &(Array, Array)| (3.5 * x - y).maximum(0.0));
    let over = over.lower(&(x.clone(), y.clone())).unwrap();
    let derivative = jit(move |s: &Array| grad(|s: &Array| loss(s.clone(), &x, &y))(s));
    let derivative = derivative.lower(&Array::from(3.5f32)).unwrap();
    vec![
        ("graph", value.graph().to_string()),
        ("gradient", derivative.graph().to_string()),
        ("optimized", derivative.optimized().to_string()),
        ("program", value.program().to_string()),
        ("clif", shortest_vector_loop(&over.clif())),
        ("asm", over.asm()),
    ]
}

/// The block that works on one vector: the others work on several, or on one element.
fn shortest_vector_loop(clif: &str) -> String {
    let loops = clif.split("\n\n").filter(|block| block.contains("load.f32x4") && block.contains("store"));
    loops.min_by_key(|block| block.len()).unwrap_or_default().to_owned()
}

/// The page with its listings replaced; those that depend on the machine only on machines like the one shown.
fn with_listings(page: &str) -> String {
    let mut page = page.to_owned();
    for (name, listing) in listings() {
        if matches!(name, "clif" | "asm") && !is_usual_machine() {
            continue;
        }
        let (start, end) = (format!("<!-- {name} -->"), format!("<!-- end of {name} -->"));
        let from = page.find(&start).unwrap_or_else(|| panic!("the page has no place for `{name}`"));
        let to = page[from..].find(&end).map_or(from + start.len(), |at| from + at + end.len());
        let block = format!("{start}\n```text\n{}\n```\n{end}", listing.trim_end());
        page.replace_range(from..to, &block);
    }
    page
}

fn is_usual_machine() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The page shows vectors of 128 bits, which every machine has. The width is read once in a process, so one of
/// its own runs this same test.
#[test]
fn listings_are_what_the_program_prints() {
    if std::env::var_os("TRACEWELL_WIDTH").is_none_or(|width| width != "128") {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tour::listings_are_what_the_program_prints"])
            .env("TRACEWELL_WIDTH", "128")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("1 passed") && output.status.success(), "{text}");
        return;
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tour.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let expected = with_listings(&page);
    if std::env::var_os("TRACEWELL_BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/tour.md is out of date: `cargo xtask bless` writes it");
}

/// The program in the page is the one that runs here.
#[test]
fn the_page_shows_this_program() {
    let own = include_str!("tour.rs");
    let from = own.find("jit! {").unwrap();
    let to = own[from..].find("\n}\n").unwrap() + from + 3;
    let page = include_str!("../../docs/tour.md");
    assert!(page.contains(&own[from..to]), "{}", &own[from..to]);
}
