//! The reader of events: knows a patient's own columns and some facts about their events, and looks
//! through all patients of a release. What the certificate says of them is counted again: exactly,
//! where facts are counted in total; by draws of its own, where it is an estimate.

use crate::dice::Dice;
use crate::promise;
use crate::tables::Found;
use kohort::methods::Register;
use kohort::pipeline::{self, Options};
use kohort::released_shape::ReleasedShape;
use kohort_core::error::Kind;
use kohort_core::policy::{AnyPolicy, Policy, Power};
use kohort_core::privacy::ShareAtRisk;
use kohort_core::random::Randomness;
use kohort_core::release::{AnyCertificate, Certificate, EventsClaim, Staging};
use kohort_core::statistics::wilson;
use kohort_core::table::{Silent, Source};
use kohort_core::verify::{self, EventsFound};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The requirements, by the word under which they are counted.
pub const REQUIREMENTS: [&str; 4] = ["power", "power, whole events", "power, pairs", "power_total"];

/// Patients with events and a policy over them.
#[derive(Debug, Clone)]
pub struct Case {
    pub(crate) patients: String,
    pub(crate) claims: String,
    /// A second table of events, if there is one.
    pub(crate) drugs: Option<String>,
    pub(crate) policy: String,
}

impl Case {
    /// A random one.
    pub fn random(requirement: &str, dice: &mut Dice) -> Case {
        let people = 8 + dice.below(40);
        let (mut patients, mut claims) = ("id,sex,age\n".to_string(), "id,dx,place,cost\n".to_string());
        let (codes, places) = (2 + dice.below(4), 1 + dice.below(3));
        let mut drugs = (dice.below(2) == 0).then(|| "id,drug,route\n".to_string());
        for p in 0..people {
            patients += &format!("P{p},{},{}\n", dice.below(2), 10 * dice.below(3));
            for _ in 0..dice.below(4) {
                let code = dice.below(codes).min(dice.below(codes));
                claims += &format!("P{p},{code},{},{}\n", dice.below(places), dice.below(100));
            }
            if let Some(own) = &mut drugs {
                (0..dice.below(3)).for_each(|_| *own += &format!("P{p},{},{}\n", dice.below(3), dice.below(2)));
            }
        }
        // A file of claims without any is another matter.
        claims += "P0,0,0,0\n";
        let k = 2 + dice.below(3);
        let p = 1 + dice.below(3);
        let mut privacy = format!("[privacy]\nk = {k}\n");
        match requirement {
            "power" => write!(privacy, "power = {p}\npower_rule = \"fixed\"\n"),
            "power_total" => writeln!(privacy, "power_total = {p}"),
            "power, pairs" => write!(privacy, "power = {p}\nknowledge = \"pairs\"\n"),
            _ => write!(privacy, "power = {p}\nknowledge = \"events\"\n"),
        }
        .unwrap_or_default();
        // An estimate is never sure of 0.
        let shares = if requirement == "power_total" { ["0", "0.1", "0.3"] } else { ["0.05", "0.1", "0.3"] };
        privacy += &format!("max_high_risk = {}\n", dice.one_of(&shares));
        let mut method = "[method]\nname = \"claims\"\ndraws = 1000\n".to_string();
        method += dice.one_of(&["", "residual = 0.5\nmax_suppressed = 0.2\n"]);
        method += dice.one_of(&["", "without_events = \"drop\"\n"]);
        let (input, columns) = match &drugs {
            None => ("claims = \"c.csv\"\n", ""),
            Some(_) => (
                "[input.events]\nclaims = \"c.csv\"\ndrugs = \"d.csv\"\n",
                "[columns.drugs]\nid = { role = \"patient\" }\ndrug = { role = \"quasi\" }\nroute = { role = \"quasi\" }\n",
            ),
        };
        let policy = format!(
            "[input]\npatients = \"p.csv\"\n{input}[columns.patients]\nid = {{ role = \"patient\" }}\n\
             sex = {{ role = \"quasi\" }}\nage = {{ role = \"quasi\", hierarchy = {{ intervals = [20], from = 0, to = 100 }} }}\n\
             [columns.claims]\nid = {{ role = \"patient\" }}\ndx = {{ role = \"quasi\", hierarchy = {{ intervals = [2, 4], from = 0, to = 8 }} }}\n\
             place = {{ role = \"quasi\" }}\ncost = {{ role = \"other\", reason = \"a test\" }}\n{columns}{privacy}{method}"
        );
        Case { patients, claims, drugs, policy }
    }

    /// The files of the custodian.
    pub(crate) fn files(&self) -> Vec<(&'static str, &str)> {
        let mut files = vec![("policy.toml", &*self.policy), ("p.csv", &self.patients), ("c.csv", &self.claims)];
        files.extend(self.drugs.iter().map(|own| ("d.csv", &**own)));
        files
    }
}

/// Releases it, reads the release, and counts.
pub fn falsify(case: &Case, dice: &mut Dice) -> Result<Found, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let at = |name: &str| folder.path().join(name);
    for (name, text) in case.files() {
        fs::write(at(name), text).map_err(|e| e.to_string())?;
    }
    let options =
        Options { force: false, keep_rows: false, seed: Some(dice.number()), threads: 1, progress: Arc::new(Silent) };
    let mut found = Found { originals: 1, ..Found::default() };
    let certificate = match release(&at("policy.toml"), &at("out"), &options) {
        Ok(certificate) => certificate,
        Err(e) if e.kind == Kind::Infeasible => return Ok(found),
        Err(e) => return Err(format!("{e}\n{case:?}")),
    };
    (found.released, found.releases, found.by_path) = (1, 1, 1);
    if let Some(n) = promise::to_the_aware(certificate.guarantee())? {
        return Err(format!("1/{n} is promised to an attacker who knows the algorithm"));
    }
    let AnyCertificate::Events(certificate) = certificate else { return Err("no release of events".into()) };
    let claim = &certificate.promise.claim;
    let reader = Reader::read(&at("out/release")).map_err(|e| e.to_string())?;
    found.unbounded_link = reader.highest_with_everything();
    if let Some(what) = reader.broken(claim, &certificate.recount.found, dice) {
        let files = case.files().iter().map(|(name, text)| format!("--- {name}\n{text}")).collect::<String>();
        found.broken = Some(format!("to an attacker who does not know the algorithm: {what}\n{files}"));
    }
    Ok(found)
}

/// The straight path but for its evidence, which takes most of its time and is no part of a release.
pub(crate) fn release(policy: &Path, out: &Path, options: &Options) -> kohort_core::Result<AnyCertificate> {
    let staging = Staging::create(out, options.force, &*options.progress)?;
    let (source, policy) = pipeline::open(policy, options)?;
    Ok(match &policy {
        AnyPolicy::Table(policy) => AnyCertificate::Table(released(&source, policy, staging, options)?),
        AnyPolicy::Codes(policy) => AnyCertificate::Codes(released(&source, policy, staging, options)?),
        AnyPolicy::Events(policy) => AnyCertificate::Events(released(&source, policy, staging, options)?),
    })
}

fn released<S: ReleasedShape>(
    source: &Source,
    policy: &Policy<S>,
    staging: Staging,
    options: &Options,
) -> kohort_core::Result<Certificate<S>> {
    let mut random = Randomness::new(options.seed)?;
    let method = S::method(&Register::built_in(), policy)?;
    let input = S::survey(source, policy)?;
    let plan = S::plan(&method, &input, policy, source, &mut random)?;
    let staged = S::write(source, policy, (&input, &plan), staging, &mut random)?;
    staged.describe(&S::dictionary(source, policy, (&input, &plan), &staged))?;
    let verified = verify::verify(staged, source, policy, method.name(), random.test)?;
    let certificate = verified.findings().certificate.clone();
    verified.publish(false)?;
    Ok(certificate)
}

/// A fact: the table and the column of an event, and the value.
type Fact = (usize, usize, String);

/// The events of a patient: by table, the cells of each.
type Events = Vec<Vec<Vec<String>>>;

/// A patient: their own columns, and their events.
type Patient = (Vec<String>, Events);

/// Someone who has read the files.
pub(crate) struct Reader {
    people: Vec<Patient>,
}

/// How many columns after the id an adversary may know: of patients, and of events.
const KNOWN: (usize, usize) = (2, 2);

impl Reader {
    pub(crate) fn read(release: &Path) -> std::io::Result<Reader> {
        let rows = |name: &str| -> std::io::Result<Vec<Vec<String>>> {
            let text = fs::read_to_string(release.join(name))?;
            // No label of these tables holds the delimiter but an interval, which is quoted.
            Ok(text.lines().skip(1).map(cells).collect())
        };
        // A table of events that is not there has no file.
        let tables: Vec<&str> = ["claims.csv", "drugs.csv"].into_iter().filter(|f| release.join(f).exists()).collect();
        let mut people: BTreeMap<String, Patient> = BTreeMap::new();
        for row in rows("patients.csv")? {
            people.insert(row[0].clone(), (row[1..=KNOWN.0].to_vec(), vec![Vec::new(); tables.len()]));
        }
        for (at, table) in tables.iter().enumerate() {
            for row in rows(table)? {
                if let Some(person) = people.get_mut(&row[0]) {
                    person.1[at].push(row[1..=KNOWN.1].to_vec());
                }
            }
        }
        Ok(Reader { people: people.into_values().collect() })
    }

    pub(crate) fn broken(&self, claim: &EventsClaim, said: &EventsFound, dice: &mut Dice) -> Option<String> {
        let (k, p) = (claim.k.get() as usize, claim.power.p());
        let has_events = |own: &&Patient| own.1.iter().any(|table| !table.is_empty());
        let (with, without): (Vec<&Patient>, Vec<&Patient>) = self.people.iter().partition(has_events);
        // Of those without events their own columns are known, and nothing else can be.
        let alone = without.iter().filter(|(own, _)| !self.enough(own, k, |_| true)).count() as u64;
        if !claim.max_high_risk.allows(alone, without.len() as u64) {
            return Some(format!("{alone} of {} patients without events have fewer than {k} alike", without.len()));
        }
        if let Power::Total { .. } = claim.power {
            let found = with.iter().filter(|(own, events)| {
                let few = |set: &Vec<Fact>| !self.enough(own, k, |theirs| contains(&facts(theirs), set));
                sets(&facts(events), p).iter().any(few)
            });
            let found = ShareAtRisk::counted(found.count() as u64, with.len() as u64);
            let said = said.at_high_risk;
            return (found != said)
                .then(|| format!("{found:?} patients have facts that fewer than {k} share; {said:?} is said"));
        }
        // Two columns of one table are known, and these tables have two; otherwise all tables at once.
        let tables: Vec<usize> = (0..self.people.first().map_or(0, |own| own.1.len())).collect();
        let known: Vec<Vec<usize>> = match claim.power {
            Power::Pairs { .. } => tables.iter().map(|&table| vec![table]).collect(),
            _ => vec![tables],
        };
        known.iter().find_map(|tables| self.more_than_said(claim, said, &with, tables, dice))
    }

    /// Draws what is known of some tables, and compares the share at risk with what is said.
    fn more_than_said(
        &self,
        claim: &EventsClaim,
        said: &EventsFound,
        with: &[&Patient],
        tables: &[usize],
        dice: &mut Dice,
    ) -> Option<String> {
        let (k, p) = (claim.k.get() as usize, claim.power.p());
        let draws = 800;
        let column = |events: &[Vec<String>], c: usize| events.iter().map(|e| e[c].clone()).collect::<Vec<_>>();
        let hits = (0..draws).filter(|_| {
            let (own, events) = with[dice.below(with.len())];
            match claim.power {
                // These events have two columns.
                Power::Events { .. } | Power::Pairs { .. } => {
                    let known: Vec<_> = tables.iter().map(|&t| (t, take(&events[t], p, dice))).collect();
                    !self.enough(own, k, |theirs| known.iter().all(|(t, known)| contains(&theirs[*t], known)))
                }
                _ => {
                    // In each column by itself so many values.
                    let columns = tables.iter().flat_map(|&t| (0..KNOWN.1).map(move |c| (t, c)));
                    let known: Vec<_> = columns.map(|(t, c)| (t, c, take(&column(&events[t], c), p, dice))).collect();
                    let fits =
                        |theirs: &Events| known.iter().all(|(t, c, known)| contains(&column(&theirs[*t], *c), known));
                    !self.enough(own, k, fits)
                }
            }
        });
        let hits = hits.count() as u64;
        // Both are estimates: at five standard deviations each, one in millions would be wrong.
        let said = said.at_high_risk;
        let (low, high) = (wilson((hits, draws), 5.0).0, said.interval(5.0).map_or(said.share(), |own| own.1));
        (low > high).then(|| format!("{hits} of {draws} draws match fewer than {k}; {said:?} is said"))
    }

    /// Returns whether k patients look like this and fit.
    fn enough(&self, own: &[String], k: usize, fits: impl Fn(&Events) -> bool) -> bool {
        self.people.iter().filter(|(other, theirs)| other == own && fits(theirs)).take(k).count() == k
    }

    /// The chance of the best link to someone who knows all events of a patient: nothing is promised.
    fn highest_with_everything(&self) -> f64 {
        let like = |(own, events): &Patient| {
            let has = |other: &Patient| other.1.iter().zip(events).all(|(theirs, own)| contains(theirs, own));
            let alike = |other: &&Patient| other.0 == *own && has(other);
            1.0 / self.people.iter().filter(alike).count().max(1) as f64
        };
        self.people.iter().map(like).fold(0.0, f64::max)
    }
}

/// The cells of a line; a quoted one may hold the delimiter.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().map(|cell| cell.push(c)).unwrap_or_default(),
        }
    }
    cells
}

fn facts(events: &Events) -> Vec<Fact> {
    let of = |(table, events): (usize, &Vec<Vec<String>>)| -> Vec<Fact> {
        events.iter().flat_map(|e| e.iter().cloned().enumerate()).map(|(c, value)| (table, c, value)).collect()
    };
    events.iter().enumerate().flat_map(of).collect()
}

/// Returns whether all of `some` are in `all`, each as often.
fn contains<T: PartialEq + Clone>(all: &[T], some: &[T]) -> bool {
    let mut left = all.to_vec();
    some.iter().all(|one| left.iter().position(|l| l == one).map(|at| left.swap_remove(at)).is_some())
}

/// Every set of up to p facts, none included: who knows nothing of the events knows the patient's own columns.
fn sets(facts: &[Fact], p: usize) -> Vec<Vec<Fact>> {
    let mut sets: Vec<Vec<Fact>> = vec![Vec::new()];
    for fact in facts {
        let more: Vec<Vec<Fact>> =
            sets.iter().filter(|s| s.len() < p).map(|s| [&s[..], std::slice::from_ref(fact)].concat()).collect();
        sets.extend(more);
    }
    sets.sort();
    sets.dedup();
    sets
}

/// So many of these, drawn without replacement.
fn take<T: Clone>(all: &[T], n: usize, dice: &mut Dice) -> Vec<T> {
    let mut left = all.to_vec();
    (0..n.min(left.len())).map(|_| left.swap_remove(dice.below(left.len()))).collect()
}
