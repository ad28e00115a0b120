//! The JSON that `bench` writes: a list of objects whose values are numbers, texts, booleans or null.

use std::iter::Peekable;
use std::str::Chars;

use crate::Result;

/// A value of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Text(String),
    Bool(bool),
    Null,
}

/// An object, its fields in the order of the file.
pub(super) type Object = Vec<(String, Value)>;

/// Reads a list of objects.
pub(super) fn read(text: &str) -> Result<Vec<Object>> {
    let mut reader = Reader { chars: text.chars().peekable() };
    let objects = reader.list('[', ']', Reader::object)?;
    match reader.next() {
        None => Ok(objects),
        Some(found) => Err(format!("`{found}` follows the list")),
    }
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
        self.chars.peek().copied()
    }

    fn next(&mut self) -> Option<char> {
        self.peek()?;
        self.chars.next()
    }

    fn expect(&mut self, wanted: char) -> Result {
        match self.next() {
            Some(found) if found == wanted => Ok(()),
            Some(found) => Err(format!("expected `{wanted}`, found `{found}`")),
            None => Err(format!("expected `{wanted}`, the text ends")),
        }
    }

    /// What `item` reads, between brackets, with commas.
    fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while self.peek() != Some(close) {
            if !items.is_empty() {
                self.expect(',')?;
            }
            items.push(item(self)?);
        }
        self.expect(close)?;
        Ok(items)
    }

    fn object(&mut self) -> Result<Object> {
        self.list('{', '}', |reader| {
            let key = reader.text()?;
            reader.expect(':')?;
            Ok((key, reader.value()?))
        })
    }

    fn value(&mut self) -> Result<Value> {
        if self.peek() == Some('"') {
            return Ok(Value::Text(self.text()?));
        }
        let mut word = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_alphanumeric() || "+-.".contains(*c)) {
            word.push(c);
        }
        match word.as_str() {
            "null" => Ok(Value::Null),
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => word.parse().map(Value::Number).map_err(|_| format!("`{word}` is no value")),
        }
    }

    /// Names are plain words: nothing is escaped in them.
    fn text(&mut self) -> Result<String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.chars.next() {
                Some('"') => return Ok(text),
                Some('\\') => return Err(format!("`{text}\\` is no plain word")),
                Some(c) => text.push(c),
                None => return Err("a text does not end".to_string()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_read() {
        let objects = read(" [ {\"name\": \"exp\", \"s\": 1.5e-3, \"peer\": null, \"agrees\": true}, {} ]\n");
        let expected = vec![
            ("name".to_string(), Value::Text("exp".to_string())),
            ("s".to_string(), Value::Number(1.5e-3)),
            ("peer".to_string(), Value::Null),
            ("agrees".to_string(), Value::Bool(true)),
        ];
        assert_eq!(objects, Ok(vec![expected, vec![]]));
    }

    #[test]
    fn what_is_no_list_of_objects_is_an_error() {
        for text in ["", "{}", "[{]", "[{\"a\" 1}]", "[{\"a\": x}]", "[{\"a", "[] 1", "[{} {}]"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
