//! Names, texts and comments of a program that must parse whatever they came from.

/// Words that cannot be names.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match",
    "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while",
    "yield", "abstract", "become", "union", "Self", "_",
];

/// A name of a value, function or field.
pub(super) fn ident(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    if KEYWORDS.contains(&out.as_str()) {
        out.push('_');
    }
    out
}

/// Names of one place, of which no two may be the same: those of fields, those of variants.
pub(super) fn idents<'n>(names: impl Iterator<Item = &'n str>, ident: fn(&str) -> String) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let mut ident = ident(name);
        while all.contains(&ident) {
            ident.push('_');
        }
        all.push(ident);
    }
    all
}

/// A name of a type or a variant.
pub(super) fn type_ident(name: &str) -> String {
    let name = ident(name);
    match name.chars().next() {
        Some(first) if first.is_ascii_uppercase() => name,
        Some(first) if first.is_ascii_lowercase() => {
            let rest = &name[first.len_utf8()..];
            format!("{}{rest}", first.to_ascii_uppercase())
        }
        _ => format!("T{name}"),
    }
}

/// Text as a literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// Text as comments, each line one; control characters are written out.
pub(super) fn comments(text: &str, indent: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let plain: String =
            line.chars()
                .map(|c| {
                    if c.is_control() || is_hidden(c) {
                        c.escape_unicode().to_string()
                    } else {
                        c.to_string()
                    }
                })
                .collect();
        out.push_str(&format!("{indent}// {plain}\n"));
    }
    out
}

/// Whether a character would change how others are shown.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_show_what_they_say() {
        let text = "red \u{1b}[31m\rover\nback\u{202e}wards";
        let shown = "  // red \\u{1b}[31m\\u{d}over\n  // back\\u{202e}wards\n";
        assert_eq!(comments(text, "  "), shown);
    }
}
