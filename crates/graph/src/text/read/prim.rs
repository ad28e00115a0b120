//! Reading primitives and their parameters.

use std::sync::Arc;

use tracewell_array::DType;
use tracewell_kernel::Comparison;

use super::super::lex::Token;
use super::{Read, Reader};
use crate::params::ParamValue;
use crate::prim::Prim;

/// Primitives.
impl Reader<'_> {
    /// `broadcast[shape=[2,3], axes=[]]`
    pub(super) fn prim(&mut self, depth: usize) -> Read<Prim> {
        let at = self.lexer.start();
        let name = self.name("a primitive")?;
        let params = if self.accept("[")? {
            self.list_until("]", |r| {
                let name = r.name("a parameter")?;
                r.expect("=")?;
                Ok((name, r.param(depth)?))
            })?
        } else {
            Vec::new()
        };
        let built_in = Prim::NAMES.contains(&name.as_str());
        let prim =
            if built_in { Prim::from_params(&name, &params) } else { self.resolve.resolve(&name, &params) };
        match prim {
            Some(prim) => Ok(prim),
            None if built_in => self.error(at, wrong_params(&name, &params)),
            None if params.is_empty() => self.error(at, format!("there is no primitive `{name}`")),
            None => self.error(at, format!("there is no primitive `{name}` with these parameters")),
        }
    }

    fn param(&mut self, depth: usize) -> Read<ParamValue> {
        match self.lexer.peek()? {
            Token::Number(_) | Token::Sign("-") => Ok(ParamValue::Int(self.signed()?)),
            Token::Sign("[") => {
                self.lexer.next()?;
                if self.lexer.peek()? == Token::Word("func") {
                    let graphs = self.list_until("]", |r| Ok(Arc::new(r.graph(depth + 1)?)))?;
                    return Ok(ParamValue::Graphs(graphs));
                }
                Ok(ParamValue::Ints(self.list_until("]", Self::signed)?))
            }
            Token::Sign("(") => {
                self.lexer.next()?;
                Ok(ParamValue::Types(self.list_until(")", Self::ty)?))
            }
            Token::Quoted(_) => Ok(ParamValue::Text(self.quoted()?)),
            Token::Word("func") => Ok(ParamValue::Graph(Arc::new(self.graph(depth + 1)?))),
            Token::Word(word) => {
                if self.lexer.peek_second()? == Token::Sign("[") {
                    return Ok(ParamValue::Tensor(self.tensor()?));
                }
                let at = self.lexer.start();
                self.lexer.next()?;
                if let Some(dtype) = DType::parse(word) {
                    Ok(ParamValue::DType(dtype))
                } else if let Some(comparison) = Comparison::parse(word) {
                    Ok(ParamValue::Comparison(comparison))
                } else if let Ok(bool) = word.parse() {
                    Ok(ParamValue::Bool(bool))
                } else {
                    self.error(at, format!("`{word}` is not something that a parameter can be"))
                }
            }
            _ => self.expected("the value of a parameter"),
        }
    }
}

/// What is wrong with the parameters of a built-in primitive. Its examples know what they should be.
fn wrong_params(name: &str, found: &[(String, ParamValue)]) -> String {
    let mut wanted = Vec::new();
    if let Some(example) = Prim::examples().into_iter().find(|example| example.prim.name() == name) {
        example.prim.rules().each_param(&mut |name, value| wanted.push((name, kind(&value))));
    }
    for (i, (param, value)) in found.iter().enumerate() {
        if found[..i].iter().any(|(earlier, _)| earlier == param) {
            return format!("parameter `{param}` of `{name}` is given twice");
        }
        match wanted.iter().find(|(wanted, _)| wanted == param) {
            None => return format!("`{name}` has no parameter `{param}`"),
            Some((_, wanted)) if *wanted != kind(value) => {
                return format!("parameter `{param}` of `{name}` is {wanted}, found {}", kind(value));
            }
            Some(_) => {}
        }
    }
    match wanted.iter().find(|(wanted, _)| !found.iter().any(|(found, _)| found == wanted)) {
        Some((missing, kind)) => format!("`{name}` needs a parameter `{missing}`, {kind}"),
        None => format!("a number in the parameters of `{name}` does not fit"),
    }
}

fn kind(value: &ParamValue) -> &'static str {
    match value {
        ParamValue::Int(_) => "an integer",
        ParamValue::Bool(_) => "`true` or `false`",
        ParamValue::Ints(_) => "a list of integers",
        ParamValue::DType(_) => "an element type",
        ParamValue::Comparison(_) => "a comparison such as `lt`",
        ParamValue::Text(_) => "text in quotes",
        ParamValue::Tensor(_) => "a constant",
        ParamValue::Graph(_) => "a graph",
        ParamValue::Graphs(_) => "a list of graphs",
        ParamValue::Types(_) => "a list of types",
    }
}
