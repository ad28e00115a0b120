//! What is stored beside this file: results of `f64` with more digits (`f64.txt`, made by `f64.py`), and the worst
//! arguments of `f32` (`worst.txt`, made by `cargo xtask exhaustive`).
//!
//! Both are lists under a line `# name` for each function. A line of the first is the bits of the arguments and
//! of the result towards zero, then two more hexadecimal digits of it; zeros at the end of a word are left out. For
//! a function marked `odd` or `even` the negative arguments are not in the file.

/// A result to more digits than `f64` has.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// Towards zero.
    pub value: f64,
    /// What is missing, in units in the last place.
    pub rest: f64,
}

/// Arguments and the result there.
#[derive(Clone, Debug)]
pub struct Point {
    /// One or two.
    pub arguments: Vec<f64>,
    /// The result.
    pub exact: Exact,
}

/// The stored results of a function; nothing if there is no such function.
pub fn points(function: &str) -> Vec<Point> {
    let Some((head, lines)) = section(include_str!("f64.txt"), function) else { return Vec::new() };
    let symmetry = head.split(' ').nth(1);
    let mut points = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let (result, arguments) = words.split_last().expect("a line has words");
        let arguments: Vec<f64> =
            arguments.iter().map(|word| f64::from_bits(digits(word, 16) as u64)).collect();
        let result = digits(result, 18);
        let exact =
            Exact { value: f64::from_bits((result >> 8) as u64), rest: (result & 0xff) as f64 / 256.0 };
        if let Some(symmetry) = symmetry {
            let value = if symmetry == "odd" { -exact.value } else { exact.value };
            points.push(Point { arguments: vec![-arguments[0]], exact: Exact { value, ..exact } });
        }
        points.push(Point { arguments, exact });
    }
    points
}

/// A hexadecimal number of which zeros at the end may be missing.
fn digits(word: &str, width: usize) -> u128 {
    u128::from_str_radix(&format!("{word:0<width$}"), 16).expect("hexadecimal digits")
}

/// The worst arguments of a function, under its name, the largest error, and `so far` if the walk is not over.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// The largest error, in units in the last place, as it was printed.
    pub error: String,
    /// Whether all arguments were walked.
    pub complete: bool,
    /// The bits of the arguments with the largest errors, the worst first.
    pub bits: Vec<u64>,
}

/// The worst arguments of a function as stored; nothing if the function was not walked.
pub fn worst(function: &str) -> Option<Worst> {
    let (head, lines) = section(include_str!("worst.txt"), function)?;
    let bits = lines.map(|line| u64::from_str_radix(line, 16).expect("hexadecimal bits")).collect();
    let mut words = head.split(' ').skip(1);
    Some(Worst { error: words.next()?.to_owned(), complete: words.next().is_none(), bits })
}

/// The words of the line that opens the part of a function, and the lines of that part.
fn section<'a>(text: &'a str, function: &str) -> Option<(&'a str, impl Iterator<Item = &'a str>)> {
    let heads = |head: &&str| head.split(' ').next() == Some(function);
    let mut lines = text.lines().skip_while(move |line| !line.strip_prefix("# ").as_ref().is_some_and(heads));
    let head = lines.next()?.strip_prefix("# ")?;
    Some((head, lines.take_while(|line| !line.starts_with('#'))))
}
