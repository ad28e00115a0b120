//! Tokens of the text form.
//!
//! A token is a slice of the text and is made when it is asked for: nothing is stored, so reading takes no
//! memory of its own. White space, line ends and `//` comments separate tokens and mean nothing else.

use std::fmt;

use super::quoted::{number_len, quoted_len, word_len};

/// Why a text could not be read, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}

/// The smallest pieces that mean something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// A keyword, operation, type, buffer or size.
    Word(&'a str),
    /// What starts with a digit: an integer, or the magnitude of a float.
    Number(&'a str),
    /// `%name`, without the sign.
    Value(&'a str),
    /// `$name`, without the sign.
    Slot(&'a str),
    /// Text in quotes, not yet unescaped, without the quotes.
    Quoted(&'a str),
    /// Punctuation.
    Sign(&'a str),
    /// Nothing is left.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) | Token::Sign(text) => write!(f, "`{text}`"),
            Token::Value(text) => write!(f, "`%{text}`"),
            Token::Slot(text) => write!(f, "`${text}`"),
            Token::Quoted(text) => write!(f, "`\"{text}\"`"),
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

    /// Where the next token starts.
    pub(super) fn start(&mut self) -> usize {
        loop {
            let rest = &self.text[self.at..];
            let rest = rest.trim_start();
            self.at = self.text.len() - rest.len();
            match rest.strip_prefix("//") {
                Some(comment) => self.at += 2 + comment.find('\n').unwrap_or(comment.len()),
                None => return self.at,
            }
        }
    }

    /// Where the last token ended.
    pub(super) fn end(&self) -> usize {
        self.at
    }

    /// The text between two places.
    pub(super) fn between(&self, start: usize, end: usize) -> &'a str {
        &self.text[start..end]
    }

    /// The next token, which stays the next.
    pub(super) fn peek(&mut self) -> Result<Token<'a>, ReadError> {
        self.clone().next()
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Result<Token<'a>, ReadError> {
        let start = self.start();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        let (len, token): (usize, fn(&'a str) -> Token<'a>) = match first {
            'a'..='z' | 'A'..='Z' | '_' => (word_len(rest), Token::Word),
            '0'..='9' => (number_len(rest), Token::Number),
            '%' | '$' => {
                let len = 1 + word_len(&rest[1..]);
                if len == 1 {
                    return Err(self.error_at(start, format!("`{first}` without a name")));
                }
                (len, if first == '%' { |t| Token::Value(&t[1..]) } else { |t| Token::Slot(&t[1..]) })
            }
            '"' => {
                let Some(len) = quoted_len(rest) else {
                    return Err(self.error_at(start, "a quote is not closed"));
                };
                (len, |t| Token::Quoted(&t[1..t.len() - 1]))
            }
            '-' if rest.starts_with("->") => (2, Token::Sign),
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '<' | '+' | '-' | '*' | '@' | '#' => {
                (1, Token::Sign)
            }
            other => {
                return Err(self.error_at(start, format!("`{}` means nothing here", other.escape_debug())));
            }
        };
        self.at = start + len;
        Ok(token(&rest[..len]))
    }

    /// An error at a place.
    pub(super) fn error_at(&self, at: usize, message: impl Into<String>) -> ReadError {
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        ReadError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }
}

/// Whether a text is one word, so that it needs no quotes.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word_len(text) == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<String>, String> {
        let mut lexer = Lexer::new(text);
        let mut all = Vec::new();
        loop {
            match lexer.next() {
                Ok(Token::End) => return Ok(all),
                Ok(token) => all.push(token.to_string()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    #[test]
    fn pieces() {
        let cases = [
            ("b0[%0*-3 + 4]", "`b0` `[` `%0` `*` `-` `3` `+` `4` `]`"),
            ("$1: f32[2,3] = x -> y", "`$1` `:` `f32` `[` `2` `,` `3` `]` `=` `x` `->` `y`"),
            ("1e-38 1e+5 1.5 0xe-1 nan:0x7f", "`1e-38` `1e+5` `1.5` `0xe` `-` `1` `nan` `:` `0x7f`"),
            ("a // b\n // c\nd //", "`a` `d`"),
            (r#"@"a \" b" c"#, r#"`@` `"a \" b"` `c`"#),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text).unwrap().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn errors_know_their_place() {
        let cases = [
            ("a\n  é %", "2:3: `é` means nothing here"),
            ("a\n  % b", "2:3: `%` without a name"),
            ("\"a\n\"", "1:1: a quote is not closed"),
            ("\"\\\"", "1:1: a quote is not closed"),
            ("\0", "1:1: `\\0` means nothing here"),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text).unwrap_err(), expected, "{text}");
        }
    }
}
