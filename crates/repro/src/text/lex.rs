//! Tokens of the text form: words, numbers, text in quotes, and signs of one character.

use std::fmt;

use tracewell_graph::text::{quoted_len, word_len};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    /// Not yet unescaped, without the quotes.
    Quoted(&'a str),
    Sign(char),
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) => write!(f, "`{text}`"),
            Token::Quoted(text) => {
                let short: String = text.chars().take(40).collect();
                write!(f, "`\"{short}\"`")
            }
            Token::Sign(sign) => write!(f, "`{}`", sign.escape_debug()),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// A place in a text, and the tokens from there on.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// The line of the next token, counted from 1.
    pub(super) fn line(&self) -> usize {
        let rest = self.text[self.at..].trim_start();
        self.text[..self.text.len() - rest.len()].matches('\n').count() + 1
    }

    pub(super) fn peek(&self) -> Result<Token<'a>, String> {
        self.clone().next()
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, String> {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.at = start;
            return Ok(Token::End);
        };
        let (len, token): (usize, fn(&'a str) -> Token<'a>) = match first {
            'a'..='z' | 'A'..='Z' | '_' => (word_len(rest), Token::Word),
            '0'..='9' => (word_len(rest), Token::Number),
            '"' => {
                let len = quoted_len(rest).ok_or("a quote is not closed")?;
                (len, |text| Token::Quoted(&text[1..text.len() - 1]))
            }
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '~' | '-' | '>' | '%' | '$' => {
                (1, |text| Token::Sign(text.chars().next().unwrap_or(' ')))
            }
            other => return Err(format!("`{}` means nothing here", other.escape_debug())),
        };
        self.at = start + len;
        Ok(token(&rest[..len]))
    }
}
