//! Writing JSON: the little of it that exports need.

use std::fmt::Write;

/// Text in quotation marks.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 || matches!(c, '\u{2028}' | '\u{2029}') => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `[a,b]`
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// `{"name":value}`, for those that have a value.
pub(crate) fn object(fields: impl IntoIterator<Item = (&'static str, Option<String>)>) -> String {
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("{}:{}", string(name), value?)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::{object, string};

    #[test]
    fn text_means_itself() {
        assert_eq!(string("a\"\\\n\u{1}ü"), "\"a\\\"\\\\\\n\\u0001ü\"");
        assert_eq!(object([("a", Some("1".to_string())), ("b", None)]), "{\"a\":1}");
    }
}
