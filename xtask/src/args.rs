//! A verb's arguments: what it knows is taken out piece by piece, what is left over is a mistake.

use crate::Result;

/// Words after the verb.
pub(crate) struct Args {
    words: Vec<String>,
}

impl Args {
    pub(crate) fn new(words: Vec<String>) -> Args {
        Args { words }
    }

    /// Whether `--name` is there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() < before
    }

    /// The value of `--name value` or `--name=value`.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>> {
        for at in 0..self.words.len() {
            let word = &self.words[at];
            if word == name {
                if at + 1 == self.words.len() {
                    return Err(format!("`{name}` needs a value"));
                }
                self.words.remove(at);
                return Ok(Some(self.words.remove(at)));
            }
            if let Some(value) = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                let value = value.to_string();
                self.words.remove(at);
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The next word that is not an option.
    pub(crate) fn word(&mut self) -> Option<String> {
        let at = self.words.iter().position(|word| !word.starts_with('-'))?;
        Some(self.words.remove(at))
    }

    /// Everything left, to be handed on as it is.
    pub(crate) fn rest(self) -> Vec<String> {
        self.words
    }

    /// Nothing must be left.
    pub(crate) fn finish(self) -> Result {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` means nothing here; `--help` shows what does")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Args {
        Args::new(text.split_whitespace().map(String::from).collect())
    }

    #[test]
    fn takes_flags_values_and_words() {
        let mut args = args("--list one --only 3 --seed=4 two");
        assert!(args.flag("--list") && !args.flag("--list"));
        assert_eq!(args.value("--only"), Ok(Some("3".to_string())));
        assert_eq!(args.value("--seed"), Ok(Some("4".to_string())));
        assert_eq!(args.value("--seed"), Ok(None));
        assert_eq!(args.word(), Some("one".to_string()));
        assert_eq!(args.rest(), ["two"]);
    }

    #[test]
    fn a_word_left_over_is_an_error() {
        assert!(args("--lsit").finish().is_err_and(|e| e.contains("`--lsit`")));
        assert!(args("--only").value("--only").is_err());
        assert_eq!(args("").finish(), Ok(()));
    }
}
