//! The settings of a comparison: a policy with some of its keys replaced.

use crate::methods::{DataShape, Register};
use kohort_core::number::K;
use kohort_core::policy::{Item, Section, Value, nearest};
use kohort_core::{Error, Result};

/// A key and the values it takes, one after the other: `k=3,5,10`.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// The key; `method` is the method's name.
    pub key: String,
    /// Its values, as written.
    pub values: Vec<String>,
}

impl std::str::FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Vary, String> {
        let wrong = || format!("`{text}` is not KEY=VALUE,VALUE, for example k=3,5,10");
        let (key, values) = text.split_once('=').ok_or_else(wrong)?;
        let values: Vec<String> = values.split(',').map(|v| v.trim().to_string()).collect();
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(wrong());
        }
        Ok(Vary { key: key.trim().into(), values })
    }
}

/// Another way to recode sets of codes, to compare `disassociate` with. It is never published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecodingBaseline {
    /// Constraint-based pooling.
    Cba,
    /// Generalization along the hierarchy of codes.
    Apriori,
}

impl RecodingBaseline {
    const ALL: [RecodingBaseline; 2] = [RecodingBaseline::Cba, RecodingBaseline::Apriori];

    /// Its name as a method.
    pub(super) fn name(self) -> &'static str {
        match self {
            RecodingBaseline::Cba => "cba",
            RecodingBaseline::Apriori => "apriori",
        }
    }

    fn named(name: &str) -> Option<RecodingBaseline> {
        RecodingBaseline::ALL.into_iter().find(|b| b.name() == name)
    }
}

/// A policy with some of its keys replaced.
#[derive(Clone)]
pub(super) struct VariedPolicy {
    /// The keys that were varied, as written.
    pub name: String,
    /// The baseline that replaces the method, if it is only compared and never released.
    pub baseline: Option<RecodingBaseline>,
    policy: Section,
}

impl Vary {
    /// The keys of `[privacy]` that can be varied; the first three set the same thing.
    pub const PRIVACY: [&'static str; 10] = [
        "k",
        "max_risk",
        "preset",
        "knows",
        "confidence",
        "power",
        "power_total",
        "power_rule",
        "knowledge",
        "max_high_risk",
    ];
    /// Keys of `[privacy]` that a key replaces, because the two cannot be combined.
    const REPLACES: [(&'static str, &'static [&'static str]); 4] = [
        ("power", &["power_total"]),
        ("power_rule", &["power_total"]),
        ("knowledge", &["power_total"]),
        ("power_total", &["power", "power_rule", "knowledge"]),
    ];
}

/// Every combination of the values, each once: a key that a method does not know changes nothing there.
pub(super) fn settings(policy: &Section, vary: &[Vary]) -> Result<Vec<VariedPolicy>> {
    let register = Register::built_in();
    for (i, one) in vary.iter().enumerate() {
        check(one, &register)?;
        if vary[..i].iter().any(|other| other.key == one.key) {
            return Err(Error::policy(format!("`{}` is varied twice. List all its values at once.", one.key)));
        }
    }
    let mut all = vec![VariedPolicy { name: String::new(), baseline: None, policy: policy.clone() }];
    // The method first: it decides which keys are known.
    let mut order: Vec<&Vary> = vary.iter().collect();
    order.sort_by_key(|one| one.key != "method");
    for one in order {
        all = all
            .iter()
            .flat_map(|setting| one.values.iter().map(|value| setting.with(&register, &one.key, value)))
            .collect();
    }
    let mut settings: Vec<VariedPolicy> = Vec::new();
    for mut setting in all {
        setting.fill_in(&register);
        if settings.iter().all(|s| s.baseline != setting.baseline || s.text() != setting.text()) {
            settings.push(setting);
        }
    }
    Ok(settings)
}

/// Returns whether there is such a key.
fn check(vary: &Vary, register: &Register) -> Result<()> {
    if vary.key == "method" {
        let known = |v: &&String| register.find(v).is_some() || RecodingBaseline::named(v).is_some();
        let names: Vec<&str> = register.entries().iter().map(|entry| entry.name).collect();
        let baselines = RecodingBaseline::ALL.map(RecodingBaseline::name).join(", ");
        return match vary.values.iter().find(|v| !known(v)) {
            None => Ok(()),
            Some(unknown) => Err(Error::policy(format!(
                "settings to compare: unknown method. Available: {}; for sets of codes also {baselines}, which are only compared and never released.{}",
                names.join(", "),
                nearest(unknown, names.iter().copied()).map_or(String::new(), |own| format!(" Did you mean `{own}`?"))
            ))),
        };
    }
    let params = register.entries().iter().flat_map(|entry| entry.params).map(|param| param.key);
    let known: Vec<&str> = Vary::PRIVACY.into_iter().chain(params).collect();
    if known.contains(&vary.key.as_str()) {
        return Ok(());
    }
    let hint = nearest(&vary.key, known).map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
    Err(Error::policy(format!("settings to compare: `{}` is not a key of [privacy] or [method].{hint}", vary.key)))
}

impl VariedPolicy {
    fn with(&self, register: &Register, key: &str, value: &str) -> VariedPolicy {
        let is_key = |method: &str, key: &str| register.find(method).is_some_and(|entry| entry.keys().contains(&key));
        let mut setting = self.clone();
        let method = setting.method().to_string();
        let known = match key {
            "method" => {
                setting.baseline = RecodingBaseline::named(value);
                // A baseline is measured on what a method for codes reads.
                let stands_for = register.for_shape(DataShape::Codes).next().filter(|_| setting.baseline.is_some());
                let value = stands_for.map_or(value, |entry| entry.name);
                setting.set("method", "name", value);
                if let Some(own) = setting.section("method") {
                    own.entries.retain(|(key, _)| is_key(value, key));
                }
                true
            }
            key if Vary::PRIVACY.contains(&key) => {
                if let Some(own) = setting.section("privacy")
                    && Vary::PRIVACY[..3].contains(&key)
                {
                    own.entries.retain(|(own, _)| !Vary::PRIVACY[..3].contains(&own.as_str()));
                }
                let replaced = Vary::REPLACES.iter().filter(|own| own.0 == key).flat_map(|own| own.1);
                let replaced: Vec<&str> = replaced.copied().collect();
                if let Some(own) = setting.section("privacy") {
                    own.entries.retain(|(own, _)| !replaced.contains(&own.as_str()));
                }
                setting.set("privacy", key, value);
                true
            }
            key if is_key(&method, key) => {
                setting.set("method", key, value);
                true
            }
            _ => false,
        };
        if known {
            let space = if setting.name.is_empty() { "" } else { " " };
            setting.name += &format!("{space}{key}={value}");
        }
        setting
    }

    /// Sets the parameters that the method has no default for to their usual values, so that it can be
    /// compared at all. The setting's name and policy show them.
    fn fill_in(&mut self, register: &Register) {
        let Some(entry) = register.find(self.method()) else { return };
        let k = match self.policy.get("privacy").map(|i| &i.value) {
            Some(Value::Section(own)) => own.whole("k").ok().flatten().and_then(K::new),
            _ => None,
        };
        for param in entry.params {
            let Some(value) = param.usual().and_then(|usual| usual.value(k)) else { continue };
            if self.section("method").is_none_or(|own| own.get(param.key).is_none()) {
                let value = value.trim_matches('"');
                self.set("method", param.key, value);
                let space = if self.name.is_empty() { "" } else { " " };
                self.name += &format!("{space}{}={value}", param.key);
            }
        }
    }

    fn method(&self) -> &str {
        let Some(Value::Section(method)) = self.policy.get("method").map(|i| &i.value) else { return "" };
        method.text("name").ok().flatten().unwrap_or("")
    }

    fn section(&mut self, name: &str) -> Option<&mut Section> {
        self.policy.entries.iter_mut().find(|(key, _)| key == name).and_then(|(_, item)| match &mut item.value {
            Value::Section(section) => Some(section),
            _ => None,
        })
    }

    fn set(&mut self, section: &str, key: &str, value: &str) {
        let file = self.policy.file.clone();
        if self.policy.get(section).is_none() {
            let empty = Section::empty(&file, &format!("[{section}]"));
            self.policy.entries.push((section.into(), Item { value: Value::Section(empty), line: 0 }));
        }
        let Some(own) = self.section(section) else { return };
        let value = match value {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            number if number.parse::<f64>().is_ok_and(f64::is_finite) => Value::Number(number.into()),
            text => Value::Text(text.into()),
        };
        match own.entries.iter_mut().find(|(own, _)| own == key) {
            Some((_, item)) => item.value = value,
            None => own.entries.push((key.into(), Item { value, line: 0 })),
        }
    }

    /// The policy's text; paths in it are those of the policy that was varied.
    pub(super) fn text(&self) -> String {
        self.policy.to_toml()
    }

    /// The policy's text; paths in it are relative to `folder`.
    pub(super) fn policy(&self, folder: &str) -> String {
        let mut own = self.clone();
        if own.section("input").is_some_and(|input| input.get("folder").is_none()) {
            own.set("input", "folder", folder);
        }
        format!("# One setting of a comparison: {}.\n{}", self.name, own.text())
    }
}
