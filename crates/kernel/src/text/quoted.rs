//! Words, numbers and text in quotes: what the lexers of all text forms share.

/// The length of the word of letters, digits and `_` that a text begins with.
pub fn word_len(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// The length of a number: digits, letters and a point; a sign too where it belongs to a decimal exponent.
pub fn number_len(text: &str) -> usize {
    let hex = text.starts_with("0x");
    let mut before = ' ';
    text.find(|c: char| {
        let exponent = !hex && matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        before = c;
        !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.') || exponent)
    })
    .unwrap_or(text.len())
}

/// The length of a quoted text with its quotes, if it ends before its line does.
pub fn quoted_len(text: &str) -> Option<usize> {
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
pub fn quote(text: &str) -> String {
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
pub fn unquote(text: &str) -> Option<String> {
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
        for text in ["", "plain", "a \"b\" \\ \n\t\0 é \u{7f}", "\\n", "\\u{41}", "*/ // \u{2028}", "return"]
        {
            let quoted = quote(text);
            assert_eq!(quoted_len(&format!("{quoted} \"")), Some(quoted.len()));
            assert_eq!(unquote(&quoted[1..quoted.len() - 1]).as_deref(), Some(text));
        }
        for wrong in ["\\", "\\t", "\\u41", "\\u{110000}", "\\u{4"] {
            assert_eq!(unquote(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_end_where_they_should() {
        for (text, len) in [("1e-5,", 4), ("0x1e-5", 4), ("2.5:f32", 3), ("nan)", 3)] {
            assert_eq!(number_len(text), len, "{text}");
        }
    }
}
