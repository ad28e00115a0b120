//! The types of a program: stand-ins for the user's structs and enums, found from the trees in a call tree.

use tracewell_array::DType;
use tracewell_trace::Form;

use super::names::{ident, idents, literal, type_ident};

/// A Rust type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ty {
    /// Nothing is known of it: an element of an empty list.
    Unknown,
    Array,
    Text,
    Tuple(Vec<Ty>),
    List(Box<Ty>),
    Optional(Box<Ty>),
    /// Whether keys are numbers.
    Map(bool, Box<Ty>),
    Record(usize),
}

/// The stand-ins.
#[derive(Default)]
pub(super) struct Types {
    all: Vec<Record>,
}

struct Record {
    /// As the user named it.
    wanted: String,
    name: String,
    is_enum: bool,
    /// By their names; a struct is one without.
    variants: Vec<(Option<String>, Fields)>,
}

/// Fields by their names.
type Fields = Vec<(String, Ty)>;

impl Types {
    /// The type of a tree; what it needs is defined.
    pub(super) fn of<T>(&mut self, form: &Form<T>) -> Ty {
        match form {
            Form::Leaf(_) => Ty::Array,
            Form::Static(_) => Ty::Text,
            Form::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| self.of(part)).collect()),
            Form::List(parts) => {
                let types: Vec<Ty> = parts.iter().map(|part| self.of(part)).collect();
                match self.common(&types) {
                    Some(ty) => Ty::List(Box::new(ty)),
                    // Elements of several types are not a list in a program without the user's own types.
                    None => Ty::Tuple(types),
                }
            }
            Form::Optional(None) => Ty::Optional(Box::new(Ty::Unknown)),
            Form::Optional(Some(part)) => Ty::Optional(Box::new(self.of(part))),
            Form::Map(parts) => {
                let types: Vec<Ty> = parts.iter().map(|(_, part)| self.of(part)).collect();
                let numbers = parts.iter().all(|(key, _)| is_number(key));
                match self.common(&types) {
                    Some(ty) => Ty::Map(numbers, Box::new(ty)),
                    None => Ty::Tuple(types),
                }
            }
            Form::Record { name, variant, fields } => {
                let fields: Vec<(String, Ty)> =
                    fields.iter().map(|(name, part)| (name.clone(), self.of(part))).collect();
                Ty::Record(self.record(name, variant.as_deref(), fields))
            }
        }
    }

    fn common(&mut self, types: &[Ty]) -> Option<Ty> {
        let mut found = Ty::Unknown;
        for ty in types {
            found = unify(&found, ty)?;
        }
        Some(found)
    }

    fn record(&mut self, name: &str, variant: Option<&str>, fields: Vec<(String, Ty)>) -> usize {
        for (at, record) in self.all.iter_mut().enumerate() {
            if record.wanted != name || record.is_enum != variant.is_some() {
                continue;
            }
            match record.variants.iter_mut().find(|(known, _)| known.as_deref() == variant) {
                Some((_, known)) => {
                    let same = known.len() == fields.len()
                        && known.iter().zip(&fields).all(|((a, _), (b, _))| a == b);
                    let merged: Option<Vec<Ty>> =
                        known.iter().zip(&fields).map(|((_, a), (_, b))| unify(a, b)).collect();
                    if let (true, Some(merged)) = (same, merged) {
                        known.iter_mut().zip(merged).for_each(|((_, ty), better)| *ty = better);
                        return at;
                    }
                }
                None => {
                    record.variants.push((variant.map(String::from), fields));
                    return at;
                }
            }
        }
        let plain = type_ident(name);
        // A tuple struct that is called as an element type would be taken for that.
        let taken = |name: &str| {
            let ours = RESERVED.contains(&name) || DType::parse(&name.to_lowercase()).is_some();
            ours || self.all.iter().any(|record| record.name == name)
        };
        let mut unique = plain.clone();
        for number in 2.. {
            if !taken(&unique) {
                break;
            }
            unique = format!("{plain}{number}");
        }
        let variants = vec![(variant.map(String::from), fields)];
        self.all.push(Record {
            wanted: name.to_string(),
            name: unique,
            is_enum: variant.is_some(),
            variants,
        });
        self.all.len() - 1
    }

    /// The type as a program writes it.
    pub(super) fn text(&self, ty: &Ty) -> String {
        match ty {
            Ty::Unknown | Ty::Array => "Array".to_string(),
            Ty::Text => "String".to_string(),
            Ty::Tuple(parts) => {
                let all: Vec<String> = parts.iter().map(|part| self.text(part)).collect();
                if all.len() == 1 { format!("({},)", all[0]) } else { format!("({})", all.join(", ")) }
            }
            Ty::List(part) => format!("Vec<{}>", self.text(part)),
            Ty::Optional(part) => format!("Option<{}>", self.text(part)),
            Ty::Map(true, part) => format!("BTreeMap<i64, {}>", self.text(part)),
            Ty::Map(false, part) => format!("BTreeMap<String, {}>", self.text(part)),
            Ty::Record(at) => self.all[*at].name.clone(),
        }
    }

    /// The definitions of all stand-ins.
    pub(super) fn definitions(&self) -> String {
        let mut out = String::new();
        for record in &self.all {
            out.push_str("#[derive(Clone, Tree)]\n");
            if record.is_enum {
                out.push_str(&format!("enum {} {{\n", record.name));
                for ((_, fields), variant) in record.variants.iter().zip(record.variant_names()) {
                    out.push_str(&format!("    {variant}{},\n", self.fields(fields, "        ", "    ")));
                }
                out.push_str("}\n\n");
            } else if let Some((_, fields)) = record.variants.first() {
                let body = self.fields(fields, "    ", "");
                let end = if body.starts_with('(') || body.is_empty() { ";" } else { "" };
                out.push_str(&format!("struct {}{body}{end}\n\n", record.name));
            }
        }
        out
    }

    fn fields(&self, fields: &[(String, Ty)], indent: &str, outer: &str) -> String {
        let mark = |ty: &Ty| if *ty == Ty::Text { "#[tree(static)] " } else { "" };
        if fields.is_empty() {
            return String::new();
        }
        if is_numbered(fields.iter().map(|(name, _)| name)) {
            let all: Vec<String> =
                fields.iter().map(|(_, ty)| format!("{}{}", mark(ty), self.text(ty))).collect();
            return format!("({})", all.join(", "));
        }
        let lines: Vec<String> = fields
            .iter()
            .zip(field_names(fields))
            .map(|((_, ty), name)| format!("{indent}{}{name}: {},\n", mark(ty), self.text(ty)))
            .collect();
        format!(" {{\n{}{outer}}}", lines.concat())
    }

    /// A tree as an expression, with an expression for each array.
    pub(super) fn value<T>(&mut self, form: &Form<T>, leaf: &mut dyn FnMut(&T) -> String) -> String {
        let ty = self.of(form);
        self.value_of(form, &ty, leaf)
    }

    fn value_of<T>(&mut self, form: &Form<T>, ty: &Ty, leaf: &mut dyn FnMut(&T) -> String) -> String {
        let mut list = |types: &mut Types, parts: Vec<&Form<T>>| -> Vec<String> {
            parts.into_iter().map(|part| types.value(part, leaf)).collect()
        };
        match form {
            Form::Leaf(value) => leaf(value),
            Form::Static(text) => format!("{}.to_string()", literal(text)),
            Form::Tuple(parts) => tuple(list(self, parts.iter().collect())),
            Form::List(parts) => {
                let all = list(self, parts.iter().collect());
                if matches!(ty, Ty::List(_)) { format!("vec![{}]", all.join(", ")) } else { tuple(all) }
            }
            Form::Optional(None) => "None".to_string(),
            Form::Optional(Some(part)) => format!("Some({})", self.value(part, leaf)),
            Form::Map(parts) => {
                let all = list(self, parts.iter().map(|(_, part)| part).collect());
                let Ty::Map(numbers, _) = ty else { return tuple(all) };
                let pairs = parts.iter().zip(all).map(|((key, _), value)| match numbers {
                    true => format!("({key}, {value})"),
                    false => format!("({}.to_string(), {value})", literal(key)),
                });
                format!("BTreeMap::from([{}])", pairs.collect::<Vec<_>>().join(", "))
            }
            Form::Record { variant, fields, .. } => {
                let all = list(self, fields.iter().map(|(_, part)| part).collect());
                let name = self.text(ty);
                let name = match (variant, ty) {
                    (Some(_), Ty::Record(at)) => {
                        format!("{name}::{}", self.all[*at].variant_name(variant.as_deref()))
                    }
                    _ => name,
                };
                if fields.is_empty() {
                    return name;
                }
                if is_numbered(fields.iter().map(|(name, _)| name)) {
                    return format!("{name}({})", all.join(", "));
                }
                let names = field_names(fields).into_iter();
                let pairs = names.zip(all).map(|(field, value)| format!("{field}: {value}"));
                format!("{name} {{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The expression of every array of a tree that is called `root`; nothing if there is no plain one.
    pub(super) fn paths<T>(&mut self, form: &Form<T>, root: &str) -> Option<Vec<String>> {
        let mut all = Vec::new();
        self.walk(form, root.to_string(), &mut all).then_some(all)
    }

    fn walk<T>(&mut self, form: &Form<T>, at: String, all: &mut Vec<String>) -> bool {
        let ty = self.of(form);
        match form {
            Form::Leaf(_) => {
                all.push(at);
                true
            }
            Form::Static(_) => true,
            Form::Tuple(parts) => {
                parts.iter().enumerate().all(|(i, part)| self.walk(part, format!("{at}.{i}"), all))
            }
            Form::List(parts) => {
                let is_list = matches!(ty, Ty::List(_));
                let step = |i: usize| if is_list { format!("{at}[{i}]") } else { format!("{at}.{i}") };
                parts.iter().enumerate().all(|(i, part)| self.walk(part, step(i), all))
            }
            Form::Map(parts) => {
                let Ty::Map(numbers, _) = ty else { return false };
                parts.iter().all(|(key, part)| {
                    let step = if numbers { format!("[&{key}]") } else { format!("[{}]", literal(key)) };
                    self.walk(part, format!("{at}{step}"), all)
                })
            }
            Form::Record { variant: None, fields, .. } => {
                let names = match is_numbered(fields.iter().map(|(name, _)| name)) {
                    true => fields.iter().map(|(name, _)| name.clone()).collect(),
                    false => field_names(fields),
                };
                let mut named = fields.iter().zip(names);
                named.all(|((_, part), name)| self.walk(part, format!("{at}.{name}"), all))
            }
            Form::Optional(None) => true,
            Form::Optional(Some(_)) | Form::Record { .. } => false,
        }
    }
}

impl Record {
    /// Its variants as a program names them, in order.
    fn variant_names(&self) -> Vec<String> {
        let names = self.variants.iter().map(|(variant, _)| variant.as_deref().unwrap_or("Variant"));
        idents(names, type_ident)
    }

    fn variant_name(&self, variant: Option<&str>) -> String {
        let at = self.variants.iter().position(|(known, _)| known.as_deref() == variant);
        at.and_then(|at| self.variant_names().into_iter().nth(at)).unwrap_or_else(|| "Variant".to_string())
    }
}

/// Names that the program has for other things.
const RESERVED: &[&str] = &[
    "Array",
    "BTreeMap",
    "Cancel",
    "Clone",
    "Complex32",
    "Complex64",
    "Err",
    "Error",
    "None",
    "Ok",
    "Option",
    "Policy",
    "Result",
    "Scalar",
    "Some",
    "String",
    "Tree",
    "Vec",
];

/// Fields as a program names them, in order.
fn field_names<T>(fields: &[(String, T)]) -> Vec<String> {
    idents(fields.iter().map(|(name, _)| name.as_str()), ident)
}

/// Whether this is a number as a program writes it.
fn is_number(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|number| number.to_string() == text)
}

fn tuple(parts: Vec<String>) -> String {
    if parts.len() == 1 { format!("({},)", parts[0]) } else { format!("({})", parts.join(", ")) }
}

fn is_numbered<'n>(mut names: impl Iterator<Item = &'n String>) -> bool {
    names.all(|name| name.parse::<u16>().is_ok_and(|number| number.to_string() == *name))
}

/// The type that both are, if there is one.
fn unify(a: &Ty, b: &Ty) -> Option<Ty> {
    match (a, b) {
        (Ty::Unknown, other) | (other, Ty::Unknown) => Some(other.clone()),
        (Ty::Tuple(a), Ty::Tuple(b)) if a.len() == b.len() => {
            Some(Ty::Tuple(a.iter().zip(b).map(|(a, b)| unify(a, b)).collect::<Option<_>>()?))
        }
        (Ty::List(a), Ty::List(b)) => Some(Ty::List(Box::new(unify(a, b)?))),
        (Ty::Optional(a), Ty::Optional(b)) => Some(Ty::Optional(Box::new(unify(a, b)?))),
        (Ty::Map(numbers, a), Ty::Map(other, b)) if numbers == other => {
            Some(Ty::Map(*numbers, Box::new(unify(a, b)?)))
        }
        (a, b) => (a == b).then(|| a.clone()),
    }
}
