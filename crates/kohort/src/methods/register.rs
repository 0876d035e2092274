//! The register of methods: all that the rest of Kohort knows about the methods.
//!
//! A method describes itself in an [`Entry`]. The manual, `--help`, error messages, the report's
//! captions, `init` and `compare` read the entry; nothing outside a method's folder asks for its name.

use super::entry::{DataShape, Entry, Knowledge, Read, Requirement};
use super::param::{LOCAL, Param, ValueKind};
use super::{CodesMethod, EventsMethod, Method};
use kohort_core::policy::{AnyPolicy, Effects, Methods, Policy, Section, Value, nearest};
use kohort_core::shape::{Codes, Events, Shape};
use kohort_core::table::Source;
use kohort_core::{Error, Result};

/// The methods that a policy may name.
#[derive(Debug, Clone)]
pub struct Register {
    entries: Vec<&'static Entry>,
}

impl Register {
    /// The methods that Kohort comes with.
    pub fn built_in() -> Register {
        Register { entries: super::BUILT_IN.to_vec() }
    }

    /// The same methods and one more. It replaces a method of the same name.
    pub fn with(mut self, entry: &'static Entry) -> Register {
        self.entries.retain(|own| own.name != entry.name);
        self.entries.push(entry);
        self
    }

    /// All entries, in the order of the manual.
    pub fn entries(&self) -> &[&'static Entry] {
        &self.entries
    }

    /// The names of all methods, for [`verify_release_by`](kohort_core::verify::verify_release_by).
    pub fn all_names(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.name).collect()
    }

    /// The entry of this name.
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        self.entries.iter().copied().find(|entry| entry.name == name)
    }

    /// Gives intervals to numbers without a hierarchy, where the method of a policy works with them.
    pub fn group_numbers(&self, policy: &mut AnyPolicy, source: &Source) -> Result<()> {
        let AnyPolicy::Table(policy) = policy else { return Ok(()) };
        let entry = policy.method.text("name")?.and_then(|name| self.find(name));
        match entry.is_some_and(|entry| entry.groups_numbers) {
            true => policy.group_numbers(source),
            false => Ok(()),
        }
    }

    /// The entries for one shape of data.
    pub fn for_shape(&self, shape: DataShape) -> impl Iterator<Item = &'static Entry> {
        self.entries.iter().copied().filter(move |entry| entry.shape() == shape)
    }

    /// The names of the methods for one shape of data.
    pub fn names(&self, shape: DataShape) -> Vec<&'static str> {
        self.for_shape(shape).map(|entry| entry.name).collect()
    }

    /// The entry that a policy names. It takes the policy's data, attacker and requirements, and it
    /// knows every key of `[method]`.
    pub fn entry<S: Shape>(&self, policy: &Policy<S>) -> Result<&'static Entry> {
        let section = &policy.method;
        let shape = DataShape::of::<S>();
        let Some(name) = section.text("name")? else {
            return Err(section.error(
                section.line,
                format!("[method] has no `name`. For {}, use {}.", shape.name(), either(&self.names(shape))),
            ));
        };
        let Some(entry) = self.find(name) else {
            let hint = nearest(name, self.entries.iter().map(|entry| entry.name));
            let hint = hint.map_or(String::new(), |near| format!(" Did you mean \"{near}\"?"));
            let names = self.names(shape).join(", ");
            return Err(section.wrong("name", format!("unknown method. Available: {names}.{hint}")));
        };
        if entry.shape() != shape {
            return Err(self.is_for_other_data(entry, policy));
        }
        section.only(&entry.keys())?;
        if shape == DataShape::Table {
            self.takes(entry, policy)?;
        }
        Ok(entry)
    }

    /// Refuses an attacker or a requirement that the method does not take, and names methods that do.
    /// The other shapes have one kind of each, which the policy's reader checks.
    fn takes<S: Shape>(&self, entry: &Entry, policy: &Policy<S>) -> Result<()> {
        let refuse = |what: &str, takes: &dyn Fn(&Entry) -> bool, otherwise: String| {
            let others: Vec<&str> = self.for_shape(entry.shape()).filter(|e| takes(e)).map(|e| e.name).collect();
            let advice = match &others[..] {
                [] => format!("You can {otherwise}"),
                others => format!("Use {}, or {otherwise}", either(others)),
            };
            Err(policy.method.wrong("name", format!("\"{}\" does not support {what}. {advice}.", entry.name)))
        };
        let knowledge = Knowledge::of(&policy.privacy.knows);
        if !entry.knows.contains(&knowledge) {
            let own: Vec<&str> = entry.knows.iter().map(|own| own.written()).collect();
            let otherwise = format!("set {}", own.join(" or "));
            return refuse(knowledge.written(), &|other| other.knows.contains(&knowledge), otherwise);
        }
        let unmet = Requirement::of(policy).into_iter().find(|asked| !entry.requirements.contains(asked));
        match unmet {
            None => Ok(()),
            Some(asked) => {
                let key = format!("`{}`", asked.key());
                refuse(&key, &|other| other.requirements.contains(&asked), format!("remove {key} from [privacy]"))
            }
        }
    }

    /// The method of a policy about a table, with its parameters checked.
    pub fn for_table(&self, policy: &Policy) -> Result<Method> {
        let entry = self.entry(policy)?;
        match entry.read {
            Read::Table(read) => Ok(Method::new(entry, read(policy)?)),
            Read::Codes(_) | Read::Events(_) => Err(self.is_for_other_data(entry, policy)),
        }
    }

    /// The method of a policy about sets of codes, with its parameters checked.
    pub fn for_codes(&self, policy: &Policy<Codes>) -> Result<Method<dyn CodesMethod>> {
        let entry = self.entry(policy)?;
        match entry.read {
            Read::Codes(read) => Ok(Method::new(entry, read(policy)?)),
            Read::Table(_) | Read::Events(_) => Err(self.is_for_other_data(entry, policy)),
        }
    }

    /// The method of a policy about patient histories, with its parameters checked.
    pub fn for_events(&self, policy: &Policy<Events>) -> Result<Method<dyn EventsMethod>> {
        let entry = self.entry(policy)?;
        match entry.read {
            Read::Events(read) => Ok(Method::new(entry, read(policy)?)),
            Read::Table(_) | Read::Codes(_) => Err(self.is_for_other_data(entry, policy)),
        }
    }

    /// The error for a method that takes data of another shape.
    fn is_for_other_data<S: Shape>(&self, entry: &Entry, policy: &Policy<S>) -> Error {
        let (name, shape) = (entry.name, DataShape::of::<S>());
        policy.method.wrong(
            "name",
            format!(
                "\"{name}\" is not a method for {}. Use {}; to use \"{name}\", {}.",
                shape.name(),
                either(&self.names(shape)),
                entry.shape().input()
            ),
        )
    }
}

impl Methods for Register {
    fn effects(&self, method: &Section) -> Option<Effects> {
        let word = |key: &str| match &method.get(key)?.value {
            Value::Text(word) => Some(word.as_str()),
            _ => None,
        };
        let entry = self.find(word("name")?)?;
        let is_local = |param: &Param| param.kind == ValueKind::Recoding && word(param.key) == Some(LOCAL);
        let single_cells = entry.effects.single_cells || entry.params.iter().any(is_local);
        Some(Effects { single_cells, ..entry.effects })
    }
}

/// Names in quotes, as alternatives.
fn either(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match &quoted[..] {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}
