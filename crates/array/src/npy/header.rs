//! The header of a `.npy` file: a Python dictionary with three keys.
//!
//! Invariant: the text is hostile. It is scanned once from front to back, without recursion, and no part of it is
//! repeated in a message at full length or unescaped.

use super::NpyError;
use crate::{DType, Shape};

/// What a header says.
pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) fortran_order: bool,
    pub(super) shape: Shape,
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }`, the keys in any order.
pub(super) fn parse_header(text: &str) -> Result<Header, NpyError> {
    let mut scanner = Scanner(text);
    let (mut dtype, mut fortran_order, mut shape) = (None, None, None);
    scanner.expect("{")?;
    while !scanner.take("}") {
        let key = scanner.string()?;
        scanner.expect(":")?;
        let again = match key {
            "descr" => dtype.replace(scanner.descr()?).is_some(),
            "fortran_order" => fortran_order.replace(scanner.truth()?).is_some(),
            "shape" => shape.replace(scanner.shape()?).is_some(),
            _ => return Err(malformed(format!("unknown key `{}`", excerpt(key)))),
        };
        if again {
            return Err(malformed(format!("`{key}` is given twice")));
        }
        if !scanner.take(",") {
            scanner.expect("}")?;
            break;
        }
    }
    scanner.end()?;
    let missing = |key| malformed(format!("`{key}` is missing"));
    Ok(Header {
        dtype: dtype.ok_or_else(|| missing("descr"))?,
        fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// What remains of a header. No value that we accept nests, so the scanner needs no stack.
struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    /// Takes this text, if it comes next.
    fn take(&mut self, text: &str) -> bool {
        self.0 = self.0.trim_ascii_start();
        match self.0.strip_prefix(text) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), NpyError> {
        if self.take(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    fn unexpected(&self, expected: &str) -> NpyError {
        match excerpt(self.0) {
            found if found.is_empty() => malformed(format!("expected {expected}, found the end")),
            found => malformed(format!("expected {expected}, found `{found}`")),
        }
    }

    fn end(&mut self) -> Result<(), NpyError> {
        self.0 = self.0.trim_ascii_start();
        if self.0.is_empty() { Ok(()) } else { Err(self.unexpected("the end")) }
    }

    /// A string in either kind of quotes. Escapes have no place in what we read.
    fn string(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.take("'") {
            '\''
        } else if self.take("\"") {
            '"'
        } else {
            return Err(self.unexpected("a string"));
        };
        let (text, rest) = self.0.split_once(quote).ok_or_else(|| malformed("a string does not end"))?;
        self.0 = rest;
        Ok(text)
    }

    fn descr(&mut self) -> Result<DType, NpyError> {
        if self.take("[") {
            // A structured type; there is no need to understand it to name it.
            return Err(NpyError::DType(format!("[{}", excerpt(self.0))));
        }
        let descr = self.string()?;
        let dtype = DType::ALL.iter().copied().find(|dtype| descr_of(*dtype) == descr);
        dtype.ok_or_else(|| NpyError::DType(excerpt(descr)))
    }

    fn truth(&mut self) -> Result<bool, NpyError> {
        if self.take("True") {
            Ok(true)
        } else if self.take("False") {
            Ok(false)
        } else {
            Err(self.unexpected("`True` or `False`"))
        }
    }

    fn shape(&mut self) -> Result<Shape, NpyError> {
        let mut sizes = Vec::new();
        self.expect("(")?;
        while !self.take(")") {
            sizes.push(self.size()?);
            if !self.take(",") {
                self.expect(")")?;
                // `(3)` is a number in parentheses.
                if sizes.len() == 1 {
                    return Err(malformed("the shape is not a tuple"));
                }
                break;
            }
        }
        Ok(Shape::from(sizes))
    }

    fn size(&mut self) -> Result<usize, NpyError> {
        self.0 = self.0.trim_ascii_start();
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        let size = digits.parse().map_err(|_| self.unexpected("a size"))?;
        // Python 2 marked its long integers.
        self.0 = rest.strip_prefix('L').unwrap_or(rest);
        Ok(size)
    }
}

/// The dictionary for a tensor in C order.
pub(super) fn header_text(dtype: DType, shape: &Shape) -> String {
    let sizes = match shape.sizes().as_slice() {
        [size] => format!("{size},"),
        sizes => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({sizes}), }}", descr_of(dtype))
}

/// The dtype as NumPy writes it: byte order, kind, size.
pub(super) fn descr_of(dtype: DType) -> String {
    let kind = match dtype {
        _ if dtype.is_bool() => 'b',
        _ if dtype.is_float() => 'f',
        _ if dtype.is_complex() => 'c',
        _ if dtype.is_signed() => 'i',
        _ => 'u',
    };
    let order = if dtype.size() == 1 { '|' } else { '<' };
    format!("{order}{kind}{}", dtype.size())
}

/// The error for a header that is not what it should be.
pub(super) fn malformed(reason: impl Into<String>) -> NpyError {
    NpyError::Header(reason.into())
}

/// The beginning of hostile text, fit for a message.
fn excerpt(text: &str) -> String {
    const LIMIT: usize = 40;
    let mut excerpt = String::new();
    for (position, c) in text.trim_ascii().chars().enumerate() {
        match c {
            _ if position == LIMIT => {
                excerpt.push_str("...");
                break;
            }
            '\'' | '"' => excerpt.push(c),
            _ => excerpt.extend(c.escape_debug()),
        }
    }
    excerpt
}
