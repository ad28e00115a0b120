//! Tokens of the text form: words, numbers, text in quotes, and signs of one character.

use std::fmt;

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

fn word_len(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// The length of a quoted text with its quotes, if it ends before its line does.
fn quoted_len(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            '"' if !escaped => return Some(at + 1),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}

/// Writes text in quotes.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}') => {
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Reads what `quote` wrote, without the quotes; `None` for an unknown escape.
pub(super) fn unquote(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next()? {
            c @ ('"' | '\\') => out.push(c),
            'n' => out.push('\n'),
            'u' => {
                let (hex, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                out.push(char::from_u32(u32::from_str_radix(hex, 16).ok()?)?);
                rest = after.chars();
            }
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_read_back() {
        for text in ["", "plain", "a \"b\" \\ \n\t\0 é \u{7f}", "\\n", "*/ // \u{2028}"] {
            let quoted = quote(text);
            let Ok(Token::Quoted(inside)) = Lexer::new(&quoted).next() else { panic!("{quoted}") };
            assert_eq!(unquote(inside).as_deref(), Some(text));
        }
        for wrong in ["\\", "\\t", "\\u41", "\\u{110000}", "\\u{4"] {
            assert_eq!(unquote(wrong), None, "{wrong}");
        }
    }
}
