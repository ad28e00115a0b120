//! Tokens of the text form.
//!
//! A token is a slice of the text and is made when it is asked for: nothing is stored, so reading takes no
//! memory of its own. White space, line ends and `//` comments separate tokens and mean nothing else.

use std::fmt;

use tracewell_kernel::text::{number_len, quote, quoted_len, word_len};

use super::error::ReadError;

/// Words that begin something else than an equation.
const KEYWORDS: [&str; 3] = ["at", "func", "return"];

/// The smallest pieces that mean something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// A keyword, primitive, type, parameter or name; `::` may join several words to one.
    Word(&'a str),
    /// What starts with a digit: an integer, or the magnitude of a float.
    Number(&'a str),
    /// `%name`, without the sign.
    Value(&'a str),
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

    /// The size of the whole text: what numbers in it are measured by.
    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Where the next token starts.
    pub(super) fn start(&mut self) -> usize {
        loop {
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            match rest.strip_prefix("//") {
                Some(comment) => self.at += 2 + comment.find('\n').unwrap_or(comment.len()),
                None => return self.at,
            }
        }
    }

    /// The text from a place to the end of the last token.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// The next token, which stays the next.
    pub(super) fn peek(&mut self) -> Result<Token<'a>, ReadError> {
        self.clone().next()
    }

    /// The token after the next.
    pub(super) fn peek_second(&mut self) -> Result<Token<'a>, ReadError> {
        let mut ahead = self.clone();
        ahead.next()?;
        ahead.next()
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Result<Token<'a>, ReadError> {
        let start = self.start();
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        let (len, token): (usize, fn(&'a str) -> Token<'a>) = match first {
            'a'..='z' | 'A'..='Z' | '_' => (path_len(rest), Token::Word),
            '0'..='9' => (number_len(rest), Token::Number),
            '%' => {
                let len = 1 + word_len(&rest[1..]);
                if len == 1 {
                    return Err(self.error_at(start, "`%` without a name"));
                }
                (len, |t| Token::Value(&t[1..]))
            }
            '"' => {
                let Some(len) = quoted_len(rest) else {
                    return Err(self.error_at(start, "a quote is not closed"));
                };
                (len, |t| Token::Quoted(&t[1..t.len() - 1]))
            }
            '-' if rest.starts_with("->") => (2, Token::Sign),
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '~' | '-' | '+' | '@' => (1, Token::Sign),
            '…' => return Err(self.error_at(start, "the elements were left out when this was written")),
            other => {
                return Err(self.error_at(start, format!("`{}` means nothing here", other.escape_debug())));
            }
        };
        self.at = start + len;
        Ok(token(&rest[..len]))
    }

    /// Whether text in quotes is next.
    pub(super) fn at_quote(&mut self) -> bool {
        let start = self.start();
        self.text[start..].starts_with('"')
    }

    /// Takes everything up to white space: a source location, which follows no other rule.
    pub(super) fn unspaced(&mut self) -> &'a str {
        let start = self.start();
        let rest = &self.text[start..];
        let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at = start + len;
        &rest[..len]
    }

    /// An error at a place.
    pub(super) fn error_at(&self, at: usize, message: impl Into<String>) -> ReadError {
        ReadError::new(self.text, at, message)
    }
}

/// Words joined by `::`, as the names of users' primitives are.
fn path_len(text: &str) -> usize {
    let mut len = word_len(text);
    while let Some(rest) = text[len..].strip_prefix("::") {
        match word_len(rest) {
            0 => break,
            word => len += 2 + word,
        }
    }
    len
}

/// A name as it stands in a text: in quotes if it would not read as one word.
pub(super) fn name(text: &str) -> String {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let word = starts && path_len(text) == text.len() && !KEYWORDS.contains(&text);
    if word { text.to_owned() } else { quote(text) }
}

/// A file as it stands in a location: in quotes if it would not read as one piece.
pub(super) fn file(text: &str) -> String {
    let plain = |c: char| c.is_ascii_graphic() && c != '"';
    let strange = text.is_empty() || text.starts_with(':') || text.starts_with("//");
    if !strange && text.chars().all(plain) { text.to_owned() } else { quote(text) }
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
                Err(error) => return Err(format!("{}:{}: {}", error.line, error.column, error.message)),
            }
        }
    }

    #[test]
    fn pieces() {
        let cases = [
            ("%0: ~f32[2,3] = x -> y", "`%0` `:` `~` `f32` `[` `2` `,` `3` `]` `=` `x` `->` `y`"),
            ("-1e-38:f32[] 1e+5 0xe nan:0x7f", "`-` `1e-38` `:` `f32` `[` `]` `1e+5` `0xe` `nan` `:` `0x7f`"),
            ("my::own_op[a=b] a::", "`my::own_op` `[` `a` `=` `b` `]` `a` `:` `:`"),
            ("1.5-2e-3i nan:0x7e+1.0i", "`1.5` `-` `2e-3i` `nan` `:` `0x7e` `+` `1.0i`"),
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
            ("f32[9]{…}", "1:8: the elements were left out when this was written"),
        ];
        for (text, expected) in cases {
            assert_eq!(tokens(text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn only_what_needs_quotes_has_them() {
        for (text, expected) in [
            ("loss", "loss"),
            ("my::own", "my::own"),
            ("at", "\"at\""),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a::", "\"a::\""),
            ("2d", "\"2d\""),
        ] {
            assert_eq!(name(text), expected);
        }
        for (text, expected) in [
            ("src/main.rs", "src/main.rs"),
            (r"C:\my\main.rs", r"C:\my\main.rs"),
            ("my src/main.rs", "\"my src/main.rs\""),
            ("//host/main.rs", "\"//host/main.rs\""),
            ("", "\"\""),
        ] {
            assert_eq!(file(text), expected);
        }
    }
}
