//! certificate.json: what is claimed of a release, and what the gate counted.
//!
//! Nothing else is in it: no input, no original or suppressed counts, no seeds, no paths.

use super::guarantee::Guarantee;
use crate::hierarchy::Known;
use crate::number::{Decimal, Fraction, K};
use crate::policy::{Power, PowerRule};
use crate::privacy::{LDiversity, Padding};
use crate::statistics::{Z95, wilson};
use crate::{Error, Result};
use serde_json::{Map, Value, json};

/// A certificate is small; a stranger's may not be.
const DEEPEST_LIST: usize = 2_000_000;

/// A file of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name in release/.
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its rows, if it is a table.
    pub rows: Option<u64>,
}

/// A column of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnClaim {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
    /// The columns a detail is finer than.
    pub of: Vec<String>,
    /// The hierarchy its labels are of, where every Kohort knows it.
    pub labels: Option<Known>,
}

/// What the adversary may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnowsClaim {
    /// All quasi-identifiers.
    All,
    /// Any so many of them, or fewer.
    Any(usize),
    /// One of these sets of columns.
    Sets(Vec<Vec<String>>),
}

/// t-closeness in the release's own values.
#[derive(Debug, Clone, PartialEq)]
pub struct TClaim {
    /// t.
    pub max: Fraction,
    /// The order of the values, for distance by order.
    pub order: Option<Vec<String>>,
    /// The path of each value up to the root, for distance by hierarchy.
    pub tree: Option<Vec<Vec<String>>>,
}

/// What is claimed of one sensitive column.
#[derive(Debug, Clone, PartialEq)]
pub struct SensitiveClaim {
    /// The column.
    pub column: String,
    /// The values that confidence is about; `None`: all.
    pub values: Option<Vec<String>>,
    /// C.
    pub confidence: Option<Fraction>,
    /// l.
    pub l_diversity: Option<LDiversity>,
    /// t.
    pub t_closeness: Option<TClaim>,
}

/// What the release is claimed to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The least number of people in a class.
    pub k: K,
    /// What the adversary may know.
    pub knows: KnowsClaim,
    /// Sensitive columns with requirements.
    pub sensitive: Vec<SensitiveClaim>,
    /// Where rows may stand for nobody: what is claimed of the others.
    pub invented: Option<InventedClaim>,
}

/// What is claimed where some rows stand for nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventedClaim {
    /// The least number of real people in a class.
    pub real_k: u64,
    /// How classes were filled.
    pub padding: Padding,
    /// The sensitive column of the catalog, if there is one.
    pub catalog: Option<String>,
}

/// What a release of codes is claimed to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodesClaim {
    /// The least number of patients who may have any m codes that a patient has.
    pub k: K,
    /// How many codes of a patient the adversary may know.
    pub m: usize,
    /// Whether every distinct subrecord, not only every m codes of it, stands k times (S7).
    pub aware: bool,
    /// Whether no code tells another.
    pub no_cover: bool,
    /// Codes that are in item chunks only.
    pub sensitive: Vec<String>,
}

/// What a release of events is claimed to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct EventsClaim {
    /// A patient is at high risk where fewer match.
    pub k: K,
    /// What the adversary knows of a patient's events.
    pub power: Power,
    /// The share of patients who may be at high risk.
    pub max_high_risk: Fraction,
    /// So many of the columns, the first, are of the patients' table.
    pub patient_columns: usize,
    /// What the gate found; nothing before it did.
    pub found: EventsFound,
}

/// What was found of patients with events: hits, and of how many draws or patients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventsFound {
    /// Fewer than k match, of draws; or patients with facts that fewer than k have, of all.
    pub hits: (u64, u64),
    /// The same where one whole event is known.
    pub one_event: (u64, u64),
    /// The same where as many whole events are known as values.
    pub p_events: (u64, u64),
}

impl EventsFound {
    /// As the certificate shows it.
    pub fn to_json(&self) -> Value {
        json!({ "at_high_risk": self.hits, "one_event_known": self.one_event, "events_known": self.p_events })
    }

    /// The least share that chance allows for, with 95 % confidence.
    pub fn low(&self) -> f64 {
        wilson(self.hits, Z95).0
    }
}

/// What is claimed, by the shape of the release.
#[derive(Debug, Clone, PartialEq)]
pub enum Claimed {
    /// Of a table.
    Table(Claim),
    /// Of clusters of codes.
    Codes(CodesClaim),
    /// Of patients and their events.
    Events(EventsClaim),
}

impl Claimed {
    /// k.
    pub fn k(&self) -> K {
        match self {
            Claimed::Table(claim) => claim.k,
            Claimed::Codes(claim) => claim.k,
            Claimed::Events(claim) => claim.k,
        }
    }
}

/// The whole certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The version of Kohort that wrote it.
    pub kohort: String,
    /// The method.
    pub method: String,
    /// Whether people are patients (else rows).
    pub patients: bool,
    /// True if randomness came from a seed: then this is a test, not a release.
    pub test: bool,
    /// The share of the whole file, if this is a random sample of it: then the claim is about that file.
    pub sample: Option<Fraction>,
    /// The files.
    pub files: Vec<FileEntry>,
    /// What separates the cells.
    pub delimiter: u8,
    /// The columns in order.
    pub columns: Vec<ColumnClaim>,
    /// What is claimed.
    pub claim: Claimed,
    /// What the gate counted, by name.
    pub recount: Value,
    /// What the claim rests on.
    pub assumed: Vec<String>,
    /// What the recipient cannot count again.
    pub not_recountable: Vec<String>,
    /// The guarantee in words.
    pub guarantee: Guarantee,
}

impl Certificate {
    /// As JSON, readable.
    pub fn to_text(&self) -> String {
        let mut root = Map::new();
        let mut put = |key: &str, value: Value| root.insert(key.into(), value);
        put("format", json!("kohort-certificate"));
        put("version", json!(1));
        put("kohort", json!(self.kohort));
        put("method", json!(self.method));
        put("unit", json!(if self.patients { "patient" } else { "row" }));
        if self.test {
            put("test", json!(true));
        }
        if let Some(share) = self.sample {
            put("sample", json!({ "share": share.to_string() }));
        }
        let files = self.files.iter().map(|f| {
            let mut file = Map::from_iter([("name".into(), json!(f.name)), ("sha256".into(), json!(f.sha256))]);
            f.rows.map(|rows| file.insert("rows".into(), json!(rows)));
            Value::Object(file)
        });
        put("files", files.collect());
        match &self.claim {
            Claimed::Table(_) | Claimed::Events(_) => {
                let delimiter = char::from(self.delimiter).to_string();
                put("text", json!({ "delimiter": delimiter, "suppressed": "*", "missing": "" }));
            }
            // Lines of JSON have no cells.
            Claimed::Codes(_) => {}
        }
        let columns = self.columns.iter().map(|c| {
            let mut column = json!({ "name": c.name, "role": c.role });
            if !c.of.is_empty() {
                column["of"] = json!(c.of);
            }
            if let Some(known) = &c.labels {
                column["labels"] = json!(known.name());
            }
            column
        });
        put("columns", columns.collect());
        put(
            "claim",
            match &self.claim {
                Claimed::Table(claim) => claim.to_json(),
                Claimed::Codes(claim) => claim.to_json(),
                Claimed::Events(claim) => claim.to_json(),
            },
        );
        put("recount", self.recount.clone());
        put("assumed", json!(self.assumed));
        put("not_recountable", json!(self.not_recountable));
        put("guarantee", json!({ "plain": self.guarantee.plain, "aware": self.guarantee.aware }));
        let mut text = serde_json::to_string_pretty(&Value::Object(root)).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a certificate that a stranger may have written.
    pub fn parse(text: &str) -> Result<Certificate> {
        let root: Value = serde_json::from_str(text)
            .map_err(|e| wrong(&format!("not valid JSON (line {}, column {})", e.line(), e.column())))?;
        let root = Reader { value: &root, path: "" };
        if root.text("format")? != "kohort-certificate" {
            return Err(wrong("`format` is not \"kohort-certificate\""));
        }
        if root.number("version")? != 1 {
            return Err(wrong("`version` is not 1: it was written by a newer Kohort"));
        }
        let unit = root.text("unit")?;
        if unit != "patient" && unit != "row" {
            return Err(wrong("`unit` is neither \"patient\" nor \"row\""));
        }
        let claim = root.at("claim")?;
        let claim = match claim.optional("shape") {
            None => Claimed::Table(Claim::from_json(&claim)?),
            Some(shape) if shape.value == "codes" => Claimed::Codes(CodesClaim::from_json(&claim)?),
            Some(shape) if shape.value == "events" => Claimed::Events(EventsClaim::from_json(&claim)?),
            Some(_) => return Err(wrong("`claim.shape` is not known: it was written by a newer Kohort")),
        };
        let delimiter = match &claim {
            Claimed::Table(_) | Claimed::Events(_) => read_text_marks(&root)?,
            Claimed::Codes(_) => b',',
        };
        let files = root.list("files")?.into_iter().map(|f| {
            Ok(FileEntry {
                name: f.text("name")?,
                sha256: f.text("sha256")?,
                rows: f.optional("rows").map(|r| r.whole()).transpose()?,
            })
        });
        let columns = root.list("columns")?.into_iter().map(|c| {
            Ok(ColumnClaim {
                name: c.text("name")?,
                role: c.text("role")?,
                of: c.optional("of").map(|of| of.texts()).transpose()?.unwrap_or_default(),
                labels: match c.optional("labels") {
                    None => None,
                    Some(_) => Some(
                        Known::named(&c.text("labels")?)
                            .ok_or_else(|| wrong("`labels` of a column names no hierarchy that is known"))?,
                    ),
                },
            })
        });
        let guarantee = root.at("guarantee")?;
        Ok(Certificate {
            kohort: root.text("kohort")?,
            method: root.text("method")?,
            patients: unit == "patient",
            test: root.optional("test").is_some_and(|t| *t.value == Value::Bool(true)),
            sample: root.optional("sample").map(|s| s.share("share")).transpose()?,
            files: files.collect::<Result<_>>()?,
            delimiter,
            columns: columns.collect::<Result<_>>()?,
            claim,
            recount: root.at("recount")?.value.clone(),
            assumed: root.at("assumed")?.texts()?,
            not_recountable: root.at("not_recountable")?.texts()?,
            guarantee: Guarantee { plain: guarantee.text("plain")?, aware: guarantee.text("aware")? },
        })
    }
}

/// How a table is written: its delimiter, and the marks every release has.
fn read_text_marks(root: &Reader) -> Result<u8> {
    let text = root.at("text")?;
    let delimiter = text.text("delimiter")?;
    let [delimiter] = delimiter.as_bytes()[..] else { return Err(wrong("`text.delimiter` is not one character")) };
    if text.text("suppressed")? != "*" || !text.text("missing")?.is_empty() {
        return Err(wrong("`text` names other marks than * for suppressed and an empty cell for missing"));
    }
    Ok(delimiter)
}

impl CodesClaim {
    fn to_json(&self) -> Value {
        json!({
            "shape": "codes", "k": self.k.get(), "m": self.m, "aware": self.aware, "no_cover": self.no_cover,
            "sensitive": self.sensitive,
        })
    }

    fn from_json(claim: &Reader) -> Result<CodesClaim> {
        let m = claim.number("m")?;
        Ok(CodesClaim {
            k: K::new(claim.number("k")?).ok_or_else(|| wrong("`claim.k` protects nobody"))?,
            m: usize::try_from(m)
                .ok()
                .filter(|m| (1..=20).contains(m))
                .ok_or_else(|| wrong("`claim.m` is no number of codes"))?,
            aware: claim.flag("aware")?,
            no_cover: claim.flag("no_cover")?,
            sensitive: claim.at("sensitive")?.texts()?,
        })
    }
}

impl EventsClaim {
    fn to_json(&self) -> Value {
        let mut map = Map::from_iter([("shape".into(), json!("events")), ("k".into(), json!(self.k.get()))]);
        let mut put = |key: &str, value: Value| map.insert(key.into(), value);
        match self.power {
            Power::Values { p, rule } => {
                put("power", json!(p));
                put("power_rule", json!(if rule == PowerRule::Variable { "variable" } else { "fixed" }));
                put("knowledge", json!("values"));
            }
            Power::Events { p } => {
                put("power", json!(p));
                put("power_rule", json!("fixed"));
                put("knowledge", json!("events"));
            }
            Power::Total { p } => _ = put("power_total", json!(p)),
        }
        put("max_high_risk", json!(self.max_high_risk.to_string()));
        put("patient_columns", json!(self.patient_columns));
        put("found", self.found.to_json());
        Value::Object(map)
    }

    fn from_json(claim: &Reader) -> Result<EventsClaim> {
        let most = |key, most: u64| {
            let p = claim.number(key)?;
            if (1..=most).contains(&p) { Ok(p as usize) } else { Err(wrong("`claim.power` is no number of values")) }
        };
        let power = match claim.optional("power_total") {
            Some(_) => Power::Total { p: most("power_total", 3)? },
            None => match (&*claim.text("knowledge")?, &*claim.text("power_rule")?) {
                ("values", "variable") => Power::Values { p: most("power", 20)?, rule: PowerRule::Variable },
                ("values", "fixed") => Power::Values { p: most("power", 20)?, rule: PowerRule::Fixed },
                ("events", "fixed") => Power::Events { p: most("power", 20)? },
                _ => return Err(wrong("`claim.knowledge` or `claim.power_rule` is not known")),
            },
        };
        let found = claim.at("found")?;
        let pair = |key| match found.list(key)?.iter().map(Reader::whole).collect::<Result<Vec<u64>>>()?[..] {
            [hits, of] if hits <= of => Ok((hits, of)),
            _ => Err(wrong("`claim.found` is damaged")),
        };
        Ok(EventsClaim {
            k: K::new(claim.number("k")?).ok_or_else(|| wrong("`claim.k` protects nobody"))?,
            power,
            max_high_risk: claim.share("max_high_risk")?,
            patient_columns: claim.number("patient_columns")? as usize,
            found: EventsFound {
                hits: pair("at_high_risk")?,
                one_event: pair("one_event_known")?,
                p_events: pair("events_known")?,
            },
        })
    }
}

impl Claim {
    fn to_json(&self) -> Value {
        let knows = match &self.knows {
            KnowsClaim::All => json!("all"),
            KnowsClaim::Any(n) => json!(n),
            KnowsClaim::Sets(sets) => json!(sets),
        };
        let sensitive = self.sensitive.iter().map(SensitiveClaim::to_json).collect::<Value>();
        let mut claim = json!({ "k": self.k.get(), "knows": knows, "sensitive": sensitive });
        if let Some(invented) = &self.invented {
            claim["invented"] = json!({ "real_k": invented.real_k, "padding": invented.padding.name() });
            if let Some(column) = &invented.catalog {
                claim["invented"]["catalog"] = json!(column);
            }
        }
        claim
    }

    fn from_json(claim: &Reader) -> Result<Claim> {
        let k = K::new(claim.number("k")?).ok_or_else(|| wrong("`claim.k` protects nobody"))?;
        let knows = claim.at("knows")?;
        let knows = match knows.value {
            Value::String(word) if word == "all" => KnowsClaim::All,
            Value::Number(_) => KnowsClaim::Any(knows.whole()? as usize),
            _ => KnowsClaim::Sets(knows.items()?.iter().map(Reader::texts).collect::<Result<_>>()?),
        };
        let sensitive = claim.list("sensitive")?.iter().map(SensitiveClaim::from_json).collect::<Result<_>>()?;
        let invented = claim.optional("invented").map(|own| {
            let real_k = own.number("real_k")?;
            if real_k == 0 || real_k > k.get() {
                return Err(wrong("`claim.invented.real_k` is not from 1 to k"));
            }
            let padding = Padding::named(&own.text("padding")?).ok_or_else(|| wrong("`padding` is not known"))?;
            let catalog = own.optional("catalog").map(|_| own.text("catalog")).transpose()?;
            Ok(InventedClaim { real_k, padding, catalog })
        });
        Ok(Claim { k, knows, sensitive, invented: invented.transpose()? })
    }
}

impl SensitiveClaim {
    fn to_json(&self) -> Value {
        let mut map = Map::from_iter([("column".into(), json!(self.column))]);
        if let Some(values) = &self.values {
            map.insert("values".into(), json!(values));
        }
        if let Some(c) = &self.confidence {
            map.insert("confidence".into(), json!(c.to_string()));
        }
        if let Some(l) = &self.l_diversity {
            let l = match l {
                LDiversity::Distinct(l) => json!({ "distinct": l }),
                LDiversity::Entropy(l) => json!({ "entropy": l }),
                LDiversity::Recursive { c, l } => json!({ "recursive": { "c": [c.0, c.1], "l": l } }),
            };
            map.insert("l_diversity".into(), l);
        }
        if let Some(t) = &self.t_closeness {
            let distance = match (&t.order, &t.tree) {
                (Some(order), _) => ("ordered", "order", json!(order)),
                (_, Some(tree)) => ("hierarchical", "tree", json!(tree)),
                _ => ("equal", "", Value::Null),
            };
            let mut value =
                Map::from_iter([("max".into(), json!(t.max.to_string())), ("distance".into(), json!(distance.0))]);
            if !distance.1.is_empty() {
                value.insert(distance.1.into(), distance.2);
            }
            map.insert("t_closeness".into(), Value::Object(value));
        }
        Value::Object(map)
    }

    fn from_json(claim: &Reader) -> Result<SensitiveClaim> {
        let l_diversity = claim.optional("l_diversity").map(|l| {
            if let Some(n) = l.optional("distinct") {
                return Ok(LDiversity::Distinct(n.whole()?));
            }
            if let Some(n) = l.optional("entropy") {
                return Ok(LDiversity::Entropy(n.whole()?));
            }
            let recursive = l.at("recursive")?;
            let c = recursive.at("c")?.items()?.iter().map(Reader::whole).collect::<Result<Vec<u64>>>()?;
            match (&c[..], recursive.number("l")?) {
                (&[num, den], l) if den > 0 && l > 0 => Ok(LDiversity::Recursive { c: (num, den), l }),
                _ => Err(wrong("`l_diversity.recursive` is damaged")),
            }
        });
        let t_closeness = claim.optional("t_closeness").map(|t| {
            Ok(TClaim {
                max: t.share("max")?,
                order: t.optional("order").map(|o| o.texts()).transpose()?,
                tree: t
                    .optional("tree")
                    .map(|tree| tree.items()?.iter().map(Reader::texts).collect::<Result<_>>())
                    .transpose()?,
            })
        });
        Ok(SensitiveClaim {
            column: claim.text("column")?,
            values: claim.optional("values").map(|v| v.texts()).transpose()?,
            confidence: claim.optional("confidence").map(|_| claim.share("confidence")).transpose()?,
            l_diversity: l_diversity.transpose()?,
            t_closeness: t_closeness.transpose()?,
        })
    }
}

fn wrong(what: &str) -> Error {
    Error::yours(format!("certificate.json: {what}. This folder is no release of Kohort's, or it was damaged."))
}

/// A value of a certificate and where it stands.
struct Reader<'a> {
    value: &'a Value,
    path: &'a str,
}

impl<'a> Reader<'a> {
    fn optional(&self, key: &'a str) -> Option<Reader<'a>> {
        self.value.get(key).map(|value| Reader { value, path: key })
    }

    fn at(&self, key: &'a str) -> Result<Reader<'a>> {
        self.optional(key).ok_or_else(|| wrong(&format!("`{key}` is not there")))
    }

    fn whole(&self) -> Result<u64> {
        self.value.as_u64().ok_or_else(|| wrong(&format!("`{}` is no whole number", self.path)))
    }

    fn number(&self, key: &'a str) -> Result<u64> {
        self.at(key)?.whole()
    }

    fn text(&self, key: &'a str) -> Result<String> {
        let text = self.at(key)?.value.as_str().map(str::to_string);
        text.ok_or_else(|| wrong(&format!("`{key}` is no text")))
    }

    fn flag(&self, key: &'a str) -> Result<bool> {
        self.at(key)?.value.as_bool().ok_or_else(|| wrong(&format!("`{key}` is neither true nor false")))
    }

    fn share(&self, key: &'a str) -> Result<Fraction> {
        let decimal = Decimal::parse(&self.text(key)?, b'.');
        decimal.and_then(Fraction::from_decimal).ok_or_else(|| wrong(&format!("`{key}` is no share from 0 to 1")))
    }

    fn items(&self) -> Result<Vec<Reader<'a>>> {
        match self.value.as_array() {
            Some(list) if list.len() <= DEEPEST_LIST => {
                Ok(list.iter().map(|value| Reader { value, path: self.path }).collect())
            }
            _ => Err(wrong(&format!("`{}` is no list", self.path))),
        }
    }

    fn list(&self, key: &'a str) -> Result<Vec<Reader<'a>>> {
        self.at(key)?.items()
    }

    fn texts(&self) -> Result<Vec<String>> {
        let texts = self.items()?.into_iter().map(|i| i.value.as_str().map(str::to_string));
        texts.collect::<Option<_>>().ok_or_else(|| wrong(&format!("`{}` is no list of texts", self.path)))
    }
}
