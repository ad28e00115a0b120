//! Rust text taken apart: what is code and what is comment, and which code is only for tests.
//!
//! Parts are the whole text with everything else blanked, so that a line number in a part is one of the file.

/// A Rust file in parts.
pub(super) struct Source {
    /// Without comments, and without what is between quotes.
    pub(super) code: String,
    /// The same without what `#[cfg(test)]` marks.
    pub(super) product: String,
    /// Only comments.
    pub(super) comments: String,
    /// Names of the modules that `#[cfg(test)] mod name;` declares.
    pub(super) test_modules: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Quoted,
}

pub(super) fn split(text: &str) -> Source {
    let chars: Vec<char> = text.chars().collect();
    let kinds = classify(&chars);
    let only = |kind: Kind| -> String {
        let keep = |(&c, &k): (&char, &Kind)| if k == kind || c == '\n' { c } else { ' ' };
        chars.iter().zip(&kinds).map(keep).collect()
    };
    let code = only(Kind::Code);
    let (product, test_modules) = without_tests(&code);
    Source { code, product, comments: only(Kind::Comment), test_modules }
}

fn classify(chars: &[char]) -> Vec<Kind> {
    let mut kinds = vec![Kind::Code; chars.len()];
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let (kind, len) = match rest {
            ['/', '/', ..] => (Kind::Comment, rest.iter().position(|&c| c == '\n').unwrap_or(rest.len())),
            ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
            ['"', ..] => (Kind::Quoted, string(rest)),
            ['r', '"' | '#', ..] if starts_word(chars, at) => (Kind::Quoted, raw_string(rest)),
            ['\'', '\\', ..] => {
                (Kind::Quoted, 3 + rest[3..].iter().position(|&c| c == '\'').unwrap_or(0) + 1)
            }
            ['\'', _, '\'', ..] => (Kind::Quoted, 3),
            _ => (Kind::Code, 1),
        };
        // A raw identifier such as `r#type` is not a string: its length is 0.
        let end = (at + len.max(1)).min(chars.len());
        if len > 0 {
            kinds[at..end].fill(kind);
        }
        at = end;
    }
    kinds
}

/// Whether the character is the first of its word, a prefix `b` or `c` apart.
fn starts_word(chars: &[char], at: usize) -> bool {
    let word = |at: usize| is_word(chars[at]);
    match at {
        0 => true,
        1 => !word(0) || matches!(chars[0], 'b' | 'c'),
        _ => !word(at - 1) || (matches!(chars[at - 1], 'b' | 'c') && !word(at - 2)),
    }
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a raw string; 0 if it is none.
fn raw_string(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = 2 + hashes;
    let end = rest[body..].windows(close.len()).position(|window| window == close);
    end.map_or(rest.len(), |end| body + end + close.len())
}

/// Blanks every item after `#[cfg(test)]`; says which modules in files of their own are among them.
fn without_tests(code: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let mut product = String::with_capacity(code.len());
    let mut modules = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        product.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = match item.find(['{', ';']) {
            Some(open) if item[open..].starts_with('{') => open + braces(&item[open..]),
            Some(semicolon) => {
                let declared = item[MARK.len()..semicolon].trim().rsplit_once("mod ");
                modules.extend(declared.map(|(_, name)| name.trim().to_string()));
                semicolon + 1
            }
            None => item.len(),
        };
        product.extend(item[..end].chars().map(|c| if c == '\n' { c } else { ' ' }));
        rest = &item[end..];
    }
    product.push_str(rest);
    (product, modules)
}

/// The length of a text from its first character, an opening bracket, to the one that closes it.
pub(super) fn braces(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// Whether a character can be part of a name.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a piece of text occurs as a whole: where it begins or ends with a word, that word is not longer.
pub(super) fn occurrences<'t>(text: &'t str, piece: &'t str) -> impl Iterator<Item = usize> + 't {
    let begins = piece.starts_with(is_word);
    let ends = piece.ends_with(is_word);
    text.match_indices(piece).map(|(at, _)| at).filter(move |&at| {
        let before = text[..at].ends_with(is_word);
        let after = text[at + piece.len()..].starts_with(is_word);
        !(begins && before || ends && after)
    })
}

/// The line of a position, counted from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The name at the start of a text.
pub(super) fn name(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        let text = r####"let a = "x // y"; // z "q"
let b = r#"say "hi" there"#; let c = b"\"d";
/* e /* f */ g */ let h = 'i'; let j: &'k str = m('\'', '\\'); r#type"####;
        let source = split(text);
        let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words(&source.code),
            "let a = ; let b = ; let c = b ; let h = ; let j: &'k str = m( , ); r#type"
        );
        assert_eq!(words(&source.comments), r#"// z "q" /* e /* f */ g */"#);
        assert_eq!(source.code.lines().count(), text.lines().count());
    }

    #[test]
    fn what_is_only_for_tests_is_left_out() {
        let source =
            split("fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\n#[cfg(test)] mod c;\nfn d() {}");
        assert_eq!(
            source.product.split_whitespace().collect::<Vec<_>>(),
            ["fn", "a()", "{}", "fn", "d()", "{}"]
        );
        assert_eq!(source.product.find("fn d").map(|at| line(&source.product, at)), Some(7));
        assert_eq!(source.test_modules, ["c"]);
    }

    #[test]
    fn words_are_found_as_wholes() {
        let found: Vec<usize> = occurrences("unsafe unsafe_code not_unsafe (unsafe)", "unsafe").collect();
        assert_eq!(found, [0, 31]);
        assert_eq!(occurrences("my_enter( enter(", "enter(").count(), 1);
    }
}
