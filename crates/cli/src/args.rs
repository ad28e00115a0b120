//! Options of a command: `--name value` and `--name`.

/// Options by their names.
#[derive(Debug, Default)]
pub(crate) struct Args {
    options: Vec<(String, Option<String>)>,
}

/// Options that take nothing.
const FLAGS: &[&str] = &["build", "profile"];

/// Options that take a value.
const VALUES: &[&str] = &["timeout", "memory", "tracewell", "levels", "jobs", "output"];

impl Args {
    /// Reads all that comes after the folder.
    pub(crate) fn parse(rest: &[&str]) -> Result<Args, String> {
        let mut args = Args::default();
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            let Some(name) = word.strip_prefix("--") else {
                return Err(format!("`{word}` is not an option"));
            };
            let value = match name {
                name if FLAGS.contains(&name) => None,
                name if VALUES.contains(&name) => {
                    Some(rest.next().ok_or_else(|| format!("`--{name}` takes a value"))?.to_string())
                }
                name => return Err(format!("there is no option `--{name}`")),
            };
            args.options.push((name.to_string(), value));
        }
        Ok(args)
    }

    /// Whether an option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(known, _)| known == name)
    }

    /// The value of an option.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| known == name).and_then(|(_, value)| value.as_deref())
    }

    /// The value of an option as a number.
    pub(crate) fn number(&self, name: &str, unless: usize) -> Result<usize, String> {
        match self.value(name) {
            None => Ok(unless),
            Some(text) => text.parse().map_err(|_| format!("`--{name} {text}`: expected a number")),
        }
    }
}
