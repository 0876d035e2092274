//! The independent definition: counts what a certificate claims, from the bytes of the release, by the words of
//! docs/format.md. Nothing here calls Kohort's counting, and everything is as slow as the definition.

use super::form::table;
use super::release::Release;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// A promise that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Files, hashes, columns or roles are not as they are listed.
    Listed(&'static str),
    /// The claim cannot be read.
    Claim(&'static str),
    /// A class has fewer people than k.
    Small { people: usize, k: u64 },
    /// A limit on a sensitive column.
    Sensitive(String),
    /// A detail is shown where its column is suppressed.
    Detail,
}

/// The counts of a release.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    pub problems: Vec<Problem>,
    pub rows: usize,
    pub classes: usize,
    pub sets: usize,
    pub smallest: usize,
    /// A limited column has values that differ only in case, white space or characters that nobody sees.
    pub alike: bool,
    /// Highest confidence, least diversity and largest distance of each sensitive column of the claim.
    pub extremes: Vec<(String, [Option<f64>; 3])>,
}

impl Counted {
    /// The numbers as a certificate shows them.
    pub fn shown(&self, sets: Option<u64>, counts_sensitive: bool) -> Value {
        let up = |x: f64| json!(format!("{:.4}", (x * 1e4 - 1e-8).ceil().max(0.0) / 1e4));
        let down = |x: f64| json!(format!("{:.4}", (x * 1e4 + 1e-8).floor() / 1e4));
        let mut shown = json!({ "rows": self.rows, "sets": sets.unwrap_or(self.sets as u64), "classes": self.classes,
            "smallest_class": self.smallest });
        if counts_sensitive && !self.extremes.is_empty() {
            let one = |(name, [confidence, diversity, distance]): &(String, [Option<f64>; 3])| {
                let mut own = json!({ "column": name });
                confidence.iter().for_each(|x| own["highest_confidence"] = up(*x));
                diversity.iter().for_each(|x| own["least_diversity"] = down(*x));
                distance.iter().for_each(|x| own["largest_distance"] = up(*x));
                own
            };
            shown["sensitive"] = self.extremes.iter().map(one).collect();
        }
        shown
    }
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Counts a release, with a person for each row where they are known; otherwise each row is a person.
pub fn count(release: &Release, people: Option<&[usize]>) -> Counted {
    let mut found = Counted { smallest: usize::MAX, ..Counted::default() };
    listing(release, &mut found.problems);
    let Some((header, rows)) = table(release) else {
        found.problems.push(Problem::Listed("the data cannot be read"));
        return found;
    };
    found.rows = rows.len();
    let counted = &release.certificate["counted"];
    let columns = counted["columns"].as_array().cloned().unwrap_or_default();
    if !columns.iter().map(|c| c["name"].as_str().unwrap_or_default()).eq(header.iter().map(String::as_str)) {
        found.problems.push(Problem::Listed("columns"));
        return found;
    }
    let of_role = |role: &str| -> Vec<usize> { (0..columns.len()).filter(|&c| columns[c]["role"] == role).collect() };
    let quasi = of_role("quasi");
    let people: Vec<usize> = people.map_or_else(|| (0..rows.len()).collect(), <[usize]>::to_vec);
    details(&columns, &header, &rows, &mut found.problems);
    let claim = &counted["claim"];
    let Some(k) = claim["k"].as_u64().filter(|k| *k >= 2) else {
        found.problems.push(Problem::Claim("k"));
        return found;
    };
    let Some(sets) = sets(&claim["knows"], &quasi, &header) else {
        found.problems.push(Problem::Claim("knows"));
        return found;
    };
    found.sets = sets.len();
    found.classes = classes(&rows, &quasi).len();
    let none = Vec::new();
    let sensitive = claim["sensitive"].as_array().unwrap_or(&none);
    let all: Vec<usize> = (0..rows.len()).collect();
    for own in sensitive {
        let Some(at) = header.iter().position(|name| own["column"] == name.as_str()) else {
            found.problems.push(Problem::Claim("a sensitive column that is not there"));
            return found;
        };
        if columns[at]["role"] != "sensitive" {
            found.problems.push(Problem::Claim("a sensitive column of another role"));
        }
        let whole = values(&rows, &people, &all, at);
        let listed = own["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let spellings: BTreeSet<&str> = whole.of.keys().map(String::as_str).chain(listed).collect();
        let looks: BTreeSet<String> = spellings.iter().map(|value| look(value)).collect();
        found.alike |= looks.len() < spellings.len() || looks.contains("");
        let mut extremes = [None; 3];
        for set in &sets {
            for class in classes(&rows, set).values() {
                let class = values(&rows, &people, class, at);
                if let Some(problem) = limits(own, &class, &whole, &mut extremes) {
                    found.problems.push(Problem::Sensitive(problem));
                }
            }
        }
        found.extremes.push((own["column"].as_str().unwrap_or_default().into(), extremes));
    }
    for set in &sets {
        for class in classes(&rows, set).values() {
            let size = class.iter().map(|&row| people[row]).collect::<BTreeSet<_>>().len();
            found.smallest = found.smallest.min(size);
            if (size as u64) < k {
                found.problems.push(Problem::Small { people: size, k });
            }
        }
    }
    if rows.is_empty() {
        found.problems.push(Problem::Claim("no rows"));
        found.smallest = 0;
    }
    found
}

/// A value without what a reader overlooks: case, white space, characters of no width, and how é is written.
fn look(value: &str) -> String {
    let is_seen = |c: &char| !c.is_whitespace() && !c.is_control() && !"\u{200b}\u{ad}\u{202e}".contains(*c);
    value.to_lowercase().replace('\u{e9}', "e\u{301}").chars().filter(is_seen).collect()
}

/// Files are those listed, with their hashes and rows.
fn listing(release: &Release, problems: &mut Vec<Problem>) {
    let none = Vec::new();
    let files = release.certificate["counted"]["files"].as_array().unwrap_or(&none);
    let mut names = BTreeSet::new();
    // A folder of parts has no hash of its own.
    let parts = |file: &Value| file["parts"].as_array().cloned().unwrap_or_else(|| vec![file.clone()]);
    let files: Vec<Value> = files.iter().flat_map(parts).collect();
    for file in &files {
        let name = file["name"].as_str().unwrap_or_default();
        match release.files.get(name) {
            _ if !names.insert(name) => problems.push(Problem::Listed("a file twice")),
            None => problems.push(Problem::Listed("a file that is not there")),
            Some(bytes) if file["sha256"] != sha256(bytes).as_str() => problems.push(Problem::Listed("a hash")),
            Some(_) => {}
        }
    }
    let unlisted = |name: &&String| !names.contains(name.as_str()) && *name != "certificate.json.sig";
    if release.files.keys().any(|name| unlisted(&name)) {
        problems.push(Problem::Listed("a file that is not listed"));
    }
    if !release.links.is_empty() || !release.pipes.is_empty() {
        problems.push(Problem::Listed("a symbolic link or a pipe"));
    }
}

fn details(columns: &[Value], header: &[String], rows: &[Vec<String>], problems: &mut Vec<Problem>) {
    for (at, column) in columns.iter().enumerate().filter(|(_, c)| c["role"] == "detail") {
        let of = column["of"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let of: Vec<usize> = of.filter_map(|name| header.iter().position(|own| own == name)).collect();
        if of.is_empty() || rows.iter().any(|row| row[at] != "*" && of.iter().any(|&q| row[q] == "*")) {
            problems.push(Problem::Detail);
        }
    }
}

/// The sets of columns that an attacker may know.
fn sets(knows: &Value, quasi: &[usize], header: &[String]) -> Option<Vec<Vec<usize>>> {
    if quasi.is_empty() {
        return None;
    }
    if knows == "all" {
        return Some(vec![quasi.to_vec()]);
    }
    if let Some(n) = knows.as_u64() {
        let size = |mask: &u32| (1..=n).contains(&u64::from(mask.count_ones()));
        let masks = (1..1u32 << quasi.len()).filter(size);
        let set = |mask: u32| (0..quasi.len()).filter(|c| mask >> c & 1 == 1).map(|c| quasi[c]).collect();
        return Some(masks.map(set).collect()).filter(|sets: &Vec<_>| !sets.is_empty());
    }
    let place = |name: &Value| header.iter().position(|own| name == own.as_str()).filter(|c| quasi.contains(c));
    let set = |set: &Value| set.as_array()?.iter().map(place).collect::<Option<Vec<usize>>>();
    let sets: Vec<Vec<usize>> = knows.as_array()?.iter().map(set).collect::<Option<_>>()?;
    let all = quasi.iter().all(|c| sets.iter().any(|set| set.contains(c)));
    (all && sets.iter().all(|set| !set.is_empty())).then_some(sets)
}

/// Rows that show the same in these columns.
fn classes(rows: &[Vec<String>], set: &[usize]) -> BTreeMap<Vec<String>, Vec<usize>> {
    let mut classes: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        classes.entry(set.iter().map(|&c| row[c].clone()).collect()).or_default().push(at);
    }
    classes
}

/// The people with each value of a column, and those with any.
struct ColumnValues {
    of: BTreeMap<String, usize>,
    people: usize,
}

fn values(rows: &[Vec<String>], people: &[usize], class: &[usize], column: usize) -> ColumnValues {
    let has = class.iter().filter(|&&row| !rows[row][column].is_empty());
    let pairs: BTreeSet<(String, usize)> = has.clone().map(|&row| (rows[row][column].clone(), people[row])).collect();
    let mut of = BTreeMap::new();
    pairs.into_iter().for_each(|(value, _)| *of.entry(value).or_insert(0) += 1);
    ColumnValues { of, people: has.map(|&row| people[row]).collect::<BTreeSet<_>>().len() }
}

/// A decimal as text.
fn decimal(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok()
}

/// The first limit that a class does not keep. `extremes` follow.
fn limits(
    claim: &Value,
    class: &ColumnValues,
    whole: &ColumnValues,
    extremes: &mut [Option<f64>; 3],
) -> Option<String> {
    if class.people == 0 {
        return None;
    }
    let mut problem = None;
    let mut worse = |at: usize, x: f64, low: bool| {
        let new = extremes[at].is_none_or(|own| if low { x < own } else { x > own });
        if new {
            extremes[at] = Some(x);
        }
    };
    if let Some(most) = decimal(&claim["confidence"]) {
        let listed = claim["values"].as_array();
        let counts = |value: &&String| listed.is_none_or(|all| all.iter().any(|own| own == value.as_str()));
        let hits = class.of.keys().filter(counts).map(|value| class.of[value]).max().unwrap_or(0);
        if hits > 0 {
            worse(0, hits as f64 / class.people as f64, false);
        }
        if hits as f64 > most * class.people as f64 + 1e-9 {
            problem = Some(format!("{hits} of {} have one value, above {most}", class.people));
        }
    }
    let total: usize = class.of.values().sum();
    let mut sorted: Vec<f64> = class.of.values().map(|&n| n as f64).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let l = &claim["l_diversity"];
    if let Some(l) = l["distinct"].as_u64() {
        worse(1, sorted.len() as f64, true);
        if (sorted.len() as u64) < l {
            problem = Some(format!("{} values, below {l}", sorted.len()));
        }
    } else if let Some(l) = l["entropy"].as_u64() {
        let entropy: f64 = sorted.iter().map(|n| n / total as f64).map(|p| -p * p.ln()).sum();
        worse(1, entropy.exp(), true);
        if entropy < (l as f64).ln() - 1e-9 {
            problem = Some(format!("entropy {entropy}, below log {l}"));
        }
    } else if !l["recursive"].is_null() {
        let Some((c, l)) = recursive(&l["recursive"]) else { return Some("no recursive diversity".into()) };
        let tail: f64 = sorted.iter().skip(l.max(1) as usize - 1).sum();
        worse(1, sorted[0] / tail, false);
        if sorted[0] >= c * tail {
            problem = Some(format!("{} is not below {c} times {tail}", sorted[0]));
        }
    }
    let t = &claim["t_closeness"];
    if let Some(most) = decimal(&t["max"]) {
        let Some(distance) = distance(t, class, whole) else { return Some("a distance without its values".into()) };
        worse(2, distance, false);
        if distance > most + 1e-9 {
            problem = Some(format!("distance {distance}, above {most}"));
        }
    }
    problem
}

/// c and l, as a list or by name.
fn recursive(value: &Value) -> Option<(f64, u64)> {
    let ratio = |c: &Value| match c.as_array().map(Vec::as_slice) {
        Some([num, den]) => Some(num.as_f64()? / den.as_f64()?),
        _ => c.as_f64().or_else(|| decimal(c)),
    };
    match value.as_array().map(Vec::as_slice) {
        Some([c, l]) => Some((ratio(c)?, l.as_u64()?)),
        _ => Some((ratio(&value["c"])?, value["l"].as_u64()?)),
    }
}

/// The distance between the values of a class and those of the file.
fn distance(t: &Value, class: &ColumnValues, whole: &ColumnValues) -> Option<f64> {
    let share = |own: &ColumnValues, value: &str| {
        *own.of.get(value).unwrap_or(&0) as f64 / own.of.values().sum::<usize>() as f64
    };
    let extra = |value: &str| share(class, value) - share(whole, value);
    match t["distance"].as_str()? {
        "equal" => Some(whole.of.keys().map(|value| extra(value).abs()).sum::<f64>() / 2.0),
        "ordered" => {
            let order: Vec<&str> = t["order"].as_array()?.iter().filter_map(Value::as_str).collect();
            let order: Vec<&str> = order.into_iter().filter(|value| whole.of.contains_key(*value)).collect();
            if order.iter().collect::<BTreeSet<_>>().len() != whole.of.len() || order.len() != whole.of.len() {
                return None;
            }
            let (mut carried, mut work) = (0.0, 0.0);
            for value in &order {
                carried += extra(value);
                work += f64::abs(carried);
            }
            Some(work / (order.len() - 1).max(1) as f64)
        }
        "hierarchical" => {
            let paths: Option<Vec<Vec<&str>>> = t["tree"].as_array()?.iter().map(path).collect();
            let paths: Vec<Vec<&str>> =
                paths?.into_iter().filter(|path| path.first().is_some_and(|v| whole.of.contains_key(*v))).collect();
            if paths.iter().map(|path| path[0]).collect::<BTreeSet<_>>().len() != whole.of.len() {
                return None;
            }
            let depth = paths.first()?.len();
            if paths.iter().any(|path| path.len() != depth) || paths.len() != whole.of.len() {
                return None;
            }
            let mut work = 0.0;
            let (_, height) = node(&paths, depth, &extra, &mut work);
            Some(work / f64::from(height.max(1)))
        }
        _ => None,
    }
}

fn path(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

/// The mass left over under the values with these paths, which agree above `depth`, and the height of their tree. A
/// node with one child is that child.
fn node(paths: &[Vec<&str>], depth: usize, extra: &dyn Fn(&str) -> f64, work: &mut f64) -> (f64, u32) {
    if depth == 0 {
        return (paths.first().map_or(0.0, |path| extra(path[0])), 0);
    }
    let mut children: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    paths.iter().for_each(|path| children.entry(path[depth - 1]).or_default().push(path.clone()));
    let below: Vec<(f64, u32)> = children.values().map(|own| node(own, depth - 1, extra, work)).collect();
    let height = below.iter().map(|own| own.1).max().unwrap_or(0) + u32::from(below.len() > 1);
    let positive: f64 = below.iter().map(|own| own.0.max(0.0)).sum();
    let negative: f64 = below.iter().map(|own| (-own.0).max(0.0)).sum();
    if below.len() > 1 {
        *work += f64::from(height) * positive.min(negative);
    }
    (below.iter().map(|own| own.0).sum(), height)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(data: &str, claim: Value) -> Release {
        let mut release = Release::default();
        release.files.insert("data.csv".into(), data.as_bytes().to_vec());
        let (header, _) = table(&release).unwrap();
        let role = |name: &String| if name == "s" { "sensitive" } else { "quasi" };
        let columns: Vec<Value> = header.iter().map(|name| json!({ "name": name, "role": role(name) })).collect();
        let files = json!([{ "name": "data.csv", "sha256": sha256(data.as_bytes()) }]);
        release.certificate = json!({ "counted": { "files": files, "columns": columns, "claim": claim } });
        release
    }

    #[test]
    fn classes_below_k_are_found_in_every_set() {
        let data = "a,b\n1,x\n1,y\n2,x\n2,y\n";
        let found = |k: u64, knows: Value| count(&release(data, json!({ "k": k, "knows": knows })), None).problems;
        assert_eq!(found(2, json!("all")).len(), 4);
        assert_eq!(found(2, json!(1)), []);
        assert_eq!(found(2, json!([["a"], ["b"]])), []);
        assert_eq!(found(2, json!([["a"]])), [Problem::Claim("knows")]);
        assert_eq!(found(1, json!("all")), [Problem::Claim("k")]);
    }

    #[test]
    fn patients_are_counted_once() {
        let release = release("a\n1\n1\n1\n", json!({ "k": 2, "knows": "all" }));
        assert_eq!(count(&release, Some(&[7, 7, 8])).problems, []);
        assert_eq!(count(&release, Some(&[7, 7, 7])).problems, [Problem::Small { people: 1, k: 2 }]);
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        let tree = json!([["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"]]);
        let check = |t: Value, expected: f64| {
            let claim = json!({ "k": 2, "knows": "all", "sensitive": [{ "column": "s", "t_closeness": t }] });
            let found = count(&release("a,s\nx,1\nx,2\ny,3\ny,3\n", claim), None);
            assert!((found.extremes[0].1[2].unwrap() - expected).abs() < 1e-12, "{found:?}");
        };
        check(json!({ "max": "1", "distance": "equal" }), 0.5);
        check(json!({ "max": "1", "distance": "ordered", "order": ["1", "2", "3"] }), 0.375);
        check(json!({ "max": "1", "distance": "hierarchical", "tree": tree }), 0.5);
    }
}
