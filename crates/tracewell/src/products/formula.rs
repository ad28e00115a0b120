//! The formula of `einsum`: letters for axes, one list for each operand and one for the result.

use std::collections::BTreeMap;

use tracewell_array::Shape;
use tracewell_trace::{Error, ErrorKind};

/// An axis by its name. Those of `...` are counted from the last, so that operands align there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Label {
    /// One under `...`.
    Rest(usize),
    /// One with a letter.
    Letter(char),
}

/// The axes of operands and result, and how large each is.
#[derive(Debug)]
pub(super) struct Formula {
    pub(super) operands: Vec<Vec<Label>>,
    pub(super) result: Vec<Label>,
    pub(super) sizes: BTreeMap<Label, usize>,
}

/// A part of the text: where it starts, its letters with their places, and where `...` stands among them.
struct Part {
    start: usize,
    letters: Vec<(usize, char)>,
    rest: Option<usize>,
}

/// A mistake at one place of the text, shown below it.
fn mistake(text: &str, at: usize, why: &str, help: &str) -> Error {
    let before = text.chars().take_while({
        let mut seen = 0;
        move |c| {
            seen += c.len_utf8();
            seen <= at
        }
    });
    let marker: String = before.map(|_| ' ').chain(['^']).collect();
    Error::new(ErrorKind::Type, format!("`einsum`: {why}\n    {text}\n    {marker}")).help(help)
}

impl Formula {
    /// Reads a formula for operands of these shapes.
    pub(super) fn read(text: &str, shapes: &[&Shape]) -> Result<Formula, Error> {
        let (left, right) = match text.find("->") {
            Some(at) => (&text[..at], Some((at + 2, &text[at + 2..]))),
            None => (text, None),
        };
        let mut parts = Vec::new();
        let mut start = 0;
        for part in left.split(',') {
            parts.push(part_of(text, start, part)?);
            start += part.len() + 1;
        }
        if parts.len() != shapes.len() {
            let why = format!("the formula has {} operands, {} arrays are given", parts.len(), shapes.len());
            return Err(mistake(text, 0, &why, "operands are separated by commas: \"ij,jk->ik\""));
        }
        let mut sizes: BTreeMap<Label, usize> = BTreeMap::new();
        let mut operands = Vec::new();
        for (part, shape) in parts.iter().zip(shapes) {
            operands.push(labels(text, part, shape, &mut sizes)?);
        }
        let result = match right {
            Some((start, right)) => explicit(text, &part_of(text, start, right)?, &sizes)?,
            None => implicit(&operands),
        };
        Ok(Formula { operands, result, sizes })
    }
}

fn part_of(text: &str, start: usize, part: &str) -> Result<Part, Error> {
    let mut read = Part { start, letters: Vec::new(), rest: None };
    let mut at = 0;
    while let Some(c) = part[at..].chars().next() {
        let place = start + at;
        if part[at..].starts_with("...") {
            if read.rest.is_some() {
                return Err(mistake(
                    text,
                    place,
                    "`...` stands twice in one operand",
                    "once is all other axes",
                ));
            }
            read.rest = Some(read.letters.len());
            at += 3;
            continue;
        }
        if c.is_ascii_alphabetic() {
            read.letters.push((place, c));
        } else if !c.is_whitespace() {
            let why = format!("`{c}` is no name of an axis");
            return Err(mistake(text, place, &why, "axes are letters, `...` stands for all others"));
        }
        at += c.len_utf8();
    }
    Ok(read)
}

/// The labels of an operand, with the sizes they have.
fn labels(
    text: &str,
    part: &Part,
    shape: &Shape,
    sizes: &mut BTreeMap<Label, usize>,
) -> Result<Vec<Label>, Error> {
    let named = part.letters.len();
    let fits = if part.rest.is_some() { named <= shape.rank() } else { named == shape.rank() };
    if !fits {
        let why = format!("{named} axes are named of an array of shape {shape}");
        return Err(mistake(text, part.start, &why, "one letter for each axis; `...` stands for all others"));
    }
    let mut all: Vec<Label> = part.letters.iter().map(|&(_, c)| Label::Letter(c)).collect();
    if let Some(at) = part.rest {
        let rest = (0..shape.rank() - named).rev().map(Label::Rest);
        all.splice(at..at, rest);
    }
    for (axis, label) in all.iter().enumerate() {
        let (n, known) = (shape.size(axis), sizes.get(label).copied());
        match known {
            Some(m) if m == n => {}
            // Only what `...` stands for is broadcast.
            Some(m) if matches!(label, Label::Rest(_)) && (m == 1 || n == 1) => {
                sizes.insert(*label, m.max(n).min(if m == 0 || n == 0 { 0 } else { usize::MAX }));
            }
            Some(m) => {
                let (name, place) = match label {
                    Label::Letter(c) => {
                        let mut place = part.letters.iter().filter(|(_, l)| l == c).map(|(place, _)| *place);
                        (format!("`{c}`"), place.next_back().unwrap_or(part.start))
                    }
                    Label::Rest(_) => ("an axis of `...`".to_owned(), part.start),
                };
                let why = format!("{name} is {m} and {n}");
                return Err(mistake(text, place, &why, "axes of one name have one size"));
            }
            None => {
                sizes.insert(*label, n);
            }
        }
    }
    Ok(all)
}

fn explicit(text: &str, part: &Part, sizes: &BTreeMap<Label, usize>) -> Result<Vec<Label>, Error> {
    for (k, (place, c)) in part.letters.iter().enumerate() {
        if !sizes.contains_key(&Label::Letter(*c)) {
            let why = format!("`{c}` is in the result but in no operand");
            return Err(mistake(text, *place, &why, "every axis of the result is one of an operand"));
        }
        if part.letters[..k].iter().any(|(_, earlier)| earlier == c) {
            let why = format!("`{c}` stands twice in the result");
            return Err(mistake(text, *place, &why, "an axis of the result has a name of its own"));
        }
    }
    let mut rest: Vec<Label> = sizes.keys().copied().filter(|l| matches!(l, Label::Rest(_))).collect();
    rest.reverse();
    let mut all: Vec<Label> = part.letters.iter().map(|&(_, c)| Label::Letter(c)).collect();
    match part.rest {
        Some(at) => {
            all.splice(at..at, rest);
        }
        None if !rest.is_empty() => {
            let why = "operands have `...`, the result has not";
            return Err(mistake(text, part.start, why, "write `...` where its axes go, or sum them after"));
        }
        None => {}
    }
    Ok(all)
}

/// Without `->`: what `...` stands for, then every letter that occurs once, in the order of the alphabet.
fn implicit(operands: &[Vec<Label>]) -> Vec<Label> {
    let mut counts: BTreeMap<Label, usize> = BTreeMap::new();
    operands.iter().flatten().for_each(|label| *counts.entry(*label).or_default() += 1);
    let mut rest: Vec<Label> = counts.keys().copied().filter(|l| matches!(l, Label::Rest(_))).collect();
    rest.reverse();
    let once = counts.iter().filter(|(label, count)| **count == 1 && matches!(label, Label::Letter(_)));
    rest.into_iter().chain(once.map(|(label, _)| *label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, shapes: &[&[usize]]) -> Result<String, String> {
        let shapes: Vec<Shape> = shapes.iter().map(|&shape| Shape::from(shape)).collect();
        let formula = Formula::read(text, &shapes.iter().collect::<Vec<_>>()).map_err(|e| e.to_string())?;
        let name = |label: &Label| match label {
            Label::Rest(i) => format!("{i}"),
            Label::Letter(c) => c.to_string(),
        };
        Ok(formula.result.iter().map(name).collect())
    }

    #[test]
    fn results() {
        assert_eq!(read("ij,jk", &[&[2, 3], &[3, 4]]), Ok("ik".into()));
        assert_eq!(read("ba", &[&[2, 3]]), Ok("ab".into()));
        assert_eq!(read("ii", &[&[2, 2]]), Ok("".into()));
        assert_eq!(read("...j,...k", &[&[5, 6, 2], &[6, 3]]), Ok("10jk".into()));
        assert_eq!(read(" i j -> j i ", &[&[2, 3]]), Ok("ji".into()));
    }

    #[test]
    fn mistakes_show_their_place() {
        for (text, shapes, place) in [
            ("ij,jk->iz", vec![&[2, 3][..], &[3, 4]], 8),
            ("ij,jk->ii", vec![&[2, 3], &[3, 4]], 8),
            ("ij,jk->ik", vec![&[2, 3], &[4, 4]], 3),
            ("i1", vec![&[2, 3]], 1),
            ("......", vec![&[2, 3]], 3),
            ("ij,k->ik", vec![&[2, 3], &[4, 4]], 3),
        ] {
            let error = read(text, &shapes).expect_err(text);
            let marker = error.lines().find(|line| line.trim() == "^").expect("a marker");
            assert_eq!(marker.len() - 5, place, "{error}");
        }
    }
}
