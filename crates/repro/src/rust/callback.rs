//! Functions that a program calls back: checks are written as such, others are stood in for.

use tracewell_graph::{ArrayType, ParamValue};

use super::names::literal;
use super::{Lines, Program};
use crate::failure::Stage;
use crate::tree::{Answer, Bind, IN_REPRO, Operand};

impl Program {
    pub(super) fn callback(&mut self, lines: &mut Lines, bind: &Bind) {
        let (mut name, mut types) = (String::new(), Vec::new());
        bind.prim.rules().each_param(&mut |_, value| match value {
            ParamValue::Text(text) => name = text,
            ParamValue::Types(all) => types = all,
            _ => {}
        });
        let operands: Vec<String> = bind.operands.iter().map(|operand| self.owned(operand)).collect();
        if let Some(format) = format_of(&name, "check ") {
            // A check of the library's own says something else than its format.
            let own = placeholders(&format) + 1 != operands.len();
            let message = self.failure.as_ref().filter(|_| own).map(|failure| &failure.message);
            match (message, operands.first()) {
                (Some(message), Some(condition)) => {
                    let message = literal(&message.replace('{', "{{").replace('}', "}}"));
                    lines.push(&format!("check!({condition}, {message});"));
                }
                _ => lines.push(&format!("check!({});", with_format(&operands, &format))),
            }
        } else if let Some(format) = format_of(&name, "debug_print ") {
            let all: Vec<String> = std::iter::once(format).chain(operands).collect();
            lines.push(&format!("debug_print!({});", all.join(", ")));
        } else {
            self.stand_in(lines, bind, &name, &types, &operands);
        }
    }

    /// A function that gives what it gave, where that is known, or else zeros, or fails as it did.
    fn stand_in(
        &mut self,
        lines: &mut Lines,
        bind: &Bind,
        name: &str,
        types: &[ArrayType],
        operands: &[String],
    ) {
        let zeros: Vec<String> = types.iter().map(|ty| self.operand(&Operand::Lost(ty.clone()))).collect();
        let zeros = format!("vec![{}]", zeros.join(", "));
        let made = self.fresh("called");
        let (given, like) = (format!("vec![{}]", operands.join(", ")), format!("{zeros} as Vec<Array>"));
        let answers: Vec<Answer> =
            self.answers.iter().filter(|answer| answer.function == name).cloned().collect();
        let fails = self.failure.as_ref().map(|failure| {
            let (kind, message) = (literal(&failure.kind), literal(&failure.message));
            (failure.stage == Stage::Running && failure.kind != "Check", kind, message)
        });
        let function = match (answers.as_slice(), fails) {
            ([], Some((true, kind, message))) if !name.contains(IN_REPRO) => {
                format!("|_: &Vec<Array>| -> Vec<Array> {{ repro::fail({kind}, {message}); {zeros} }}")
            }
            ([], _) => format!("|_: &Vec<Array>| -> Vec<Array> {{ {zeros} }}"),
            (known, fails) => {
                let known: Vec<String> = known.iter().map(|answer| self.answer(answer)).collect();
                let (kind, message) =
                    fails.map_or_else(Default::default, |(_, kind, message)| (kind, message));
                let fails =
                    if kind.is_empty() { "None".into() } else { format!("Some(({kind}, {message}))") };
                let answers = self.fresh("answers");
                lines.push(&format!("let {answers} = vec![{}];", known.join(", ")));
                format!("repro::answering({answers}, {fails}, {zeros})")
            }
        };
        lines.push(&format!("let {made} = callback(&({like}), {function}, &{given});"));
        for (i, typed) in bind.results.iter().enumerate() {
            lines.push(&format!("let v{} = {made}[{i}].clone();", typed.name.var));
        }
    }
}

impl Program {
    /// A call: what the function was given, as a number, and what it gave.
    fn answer(&mut self, answer: &Answer) -> String {
        let results = answer.results.as_ref().map_or("None".to_string(), |all| {
            let arrays = all.iter().map(|tensor| self.owned(&Operand::Data(tensor.clone(), false)));
            format!("Some(vec![{}])", arrays.collect::<Vec<_>>().join(", "))
        });
        format!("({}, {results})", answer.given)
    }
}

/// The format in the name of a check or a print, as a literal of a program.
fn format_of(name: &str, verb: &str) -> Option<String> {
    let rest = name.strip_prefix(verb)?;
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find_map(|(at, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })?;
    rest.starts_with('"').then(|| rest[..=end].to_string())
}

/// How many values a format shows.
fn placeholders(format: &str) -> usize {
    format.replace("{{", "").matches('{').count()
}

/// The operands of a check: the condition, the format, what is shown.
fn with_format(operands: &[String], format: &str) -> String {
    let (condition, shown) =
        operands.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let all: Vec<&str> = [condition, format]
        .into_iter()
        .chain(shown.iter().map(String::as_str))
        .filter(|text| !text.is_empty())
        .collect();
    all.join(", ")
}
