//! Reads clusters that a stranger may have written: memory stays bounded by the longest line, and
//! nothing but the documented shape is taken.

use super::write::{self, first_line};
use super::{CLUSTERS_FORMAT, Cluster, ClusterNode, CodeChunk, DEEPEST, Joint};
use crate::parallel::in_order;
use crate::table::Texts;
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// No cluster takes a longer line.
const LONGEST_LINE: u64 = 64 << 20;
/// No header is longer.
const LONGEST_HEADER: usize = 1 << 20;
/// The number of bytes of lines that are parsed at a time.
const BATCH: usize = 1 << 18;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// k.
    pub k: u64,
    /// m.
    pub m: u64,
    /// The quasi-identifiers beside the codes, whose labels each cluster shows.
    pub columns: Vec<String>,
}

/// Reads a file of clusters on several threads. `header` sees the first line, `work` every further
/// one with its number, `fold` what `work` made of a batch of lines, in the order of the file.
///
/// Codes are numbered anew in each batch; their texts come with them.
pub fn read_clusters<R: Send>(
    path: &Path,
    threads: usize,
    header: impl FnOnce(Header) -> Result<()>,
    work: impl Fn(&Texts, &[(u64, ClusterNode)]) -> Result<R> + Sync,
    fold: impl FnMut(Texts, Vec<(u64, ClusterNode)>, R) -> Result<()>,
) -> Result<()> {
    let file = File::open(path).map_err(|e| Error::io(path, &e))?;
    read_clusters_from((file, path), threads, header, work, fold)
}

/// The same for a file that was opened already; its path is for errors.
pub(crate) fn read_clusters_from<R: Send>(
    (file, path): (impl Read + Send, &Path),
    threads: usize,
    header: impl FnOnce(Header) -> Result<()>,
    work: impl Fn(&Texts, &[(u64, ClusterNode)]) -> Result<R> + Sync,
    mut fold: impl FnMut(Texts, Vec<(u64, ClusterNode)>, R) -> Result<()>,
) -> Result<()> {
    let io = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::InvalidData => Error::refused("clusters.jsonl: not valid text."),
        _ => Error::io(path, &e),
    };
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut first = Vec::new();
    read_line(&mut reader, &mut first, 1).map_err(io)??;
    let parsed = parse_header(&first).ok_or_else(|| damaged(1, "the header is not that of a file of clusters"))?;
    let width = parsed.columns.len();
    header(parsed)?;
    let produce = |each: &mut dyn FnMut(Vec<(u64, Vec<u8>)>) -> Result<()>| {
        let (mut batch, mut held, mut number) = (Vec::new(), 0, 1);
        loop {
            let mut line = Vec::new();
            number += 1;
            if !read_line(&mut reader, &mut line, number).map_err(io)?? {
                return if batch.is_empty() { Ok(()) } else { each(batch) };
            }
            held += line.len();
            batch.push((number, line));
            if held > BATCH {
                each(std::mem::take(&mut batch))?;
                held = 0;
            }
        }
    };
    in_order(
        threads,
        produce,
        |_| (),
        |(), batch| {
            let mut texts = Texts::default();
            let mut nodes = Vec::with_capacity(batch.len());
            for (number, line) in batch {
                let mut parser = Parser { bytes: &line, at: 0, texts: &mut texts, width };
                let node = parser.node(0).filter(|_| parser.ends());
                nodes.push((
                    number,
                    node.ok_or_else(|| {
                        damaged(
                            number,
                            "this is not a cluster in the documented \
                     format",
                        )
                    })?,
                ));
            }
            let made = work(&texts, &nodes)?;
            Ok((texts, nodes, made))
        },
        |(texts, nodes, made)| fold(texts, nodes, made),
    )?;
    Ok(())
}

/// Returns whether the bytes of a file of clusters are those that Kohort writes for its clusters, in their order:
/// white space, escapes and a key twice may hide something that nobody counts.
pub(crate) fn is_as_written((file, path): (impl Read, &Path)) -> Result<bool> {
    let io = |e: std::io::Error| Error::io(path, &e);
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut read = |line: &mut Vec<u8>| -> Result<usize> {
        line.clear();
        reader.by_ref().take(LONGEST_LINE + 2).read_until(b'\n', line).map_err(io)
    };
    let mut line = Vec::new();
    read(&mut line)?;
    let Some(header) = parse_header(&line) else { return Ok(false) };
    if line != (first_line(&header) + "\n").as_bytes() {
        return Ok(false);
    }
    while read(&mut line)? > 0 {
        let mut texts = Texts::default();
        let mut parser = Parser { bytes: line.trim_ascii_end(), at: 0, texts: &mut texts, width: header.columns.len() };
        let Some(mut node) = parser.node(0).filter(|_| parser.ends()) else { return Ok(false) };
        let text = |code: u32| std::str::from_utf8(texts.get(code)).unwrap_or_default();
        let own: Vec<&str> = (0..texts.len() as u32).map(text).collect();
        let mut order: Vec<u32> = (0..own.len() as u32).collect();
        order.sort_unstable_by_key(|&code| own[code as usize]);
        let mut number = vec![0; own.len()];
        order.iter().zip(0..).for_each(|(&code, place)| number[code as usize] = place);
        node.renumber(&number);
        let sorted: Vec<&str> = order.iter().map(|&code| own[code as usize]).collect();
        if write::line(&node, &sorted) != line {
            return Ok(false);
        }
    }
    Ok(true)
}

fn damaged(line: u64, what: &str) -> Error {
    Error::refused(format!("clusters.jsonl, line {line}: {what}."))
}

/// Returns whether there was a further line.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>, number: u64) -> std::io::Result<Result<bool>> {
    let got = reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if got as u64 > LONGEST_LINE {
        return Ok(Err(damaged(number, "the line is longer than any cluster")));
    }
    Ok(Ok(got > 0))
}

fn parse_header(line: &[u8]) -> Option<Header> {
    let header: serde_json::Value = serde_json::from_slice(line.get(..line.len().min(LONGEST_HEADER))?).ok()?;
    let (k, m) = (header["k"].as_u64()?, header["m"].as_u64()?);
    let columns = match (header["version"].as_u64()?, header.as_object()?.len()) {
        (1, 4) => Vec::new(),
        (2, 5) => names(&header["columns"])?,
        _ => return None,
    };
    (header["format"] == CLUSTERS_FORMAT).then_some(Header { k, m, columns })
}

/// The names of columns: there is one at least, and none twice.
fn names(columns: &serde_json::Value) -> Option<Vec<String>> {
    let name = |name: &serde_json::Value| name.as_str().filter(|text| !text.is_empty()).map(str::to_string);
    let names: Vec<String> = columns.as_array()?.iter().map(name).collect::<Option<_>>()?;
    let different: BTreeSet<&String> = names.iter().collect();
    (!names.is_empty() && different.len() == names.len()).then_some(names)
}

/// A line of JSON and how far it was read. `None`: it is not of the documented shape.
struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    texts: &'a mut Texts,
    /// The number of labels that a cluster shows.
    width: usize,
}

impl Parser<'_> {
    fn skip(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.skip();
        let is = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is);
        is.then_some(())
    }

    fn ends(&mut self) -> bool {
        self.skip();
        self.at == self.bytes.len()
    }

    /// `[item, …]`.
    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// `{"key": value, …}`: `value` is called behind each colon.
    fn object(&mut self, mut value: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        loop {
            let key = self.string()?;
            self.take(b':')?;
            value(self, std::str::from_utf8(&key).ok()?)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    fn node(&mut self, depth: usize) -> Option<ClusterNode> {
        if depth > DEEPEST {
            return None;
        }
        let (mut size, mut cells, mut record_chunks, mut item_chunk) = (None, None, None, None);
        let (mut members, mut shared_chunks) = (None, None);
        self.object(|p, key| match key {
            "size" if size.is_none() => {
                size = Some(p.number()?);
                Some(())
            }
            "cells" if cells.is_none() && p.width > 0 => {
                cells = Some(p.cells()?);
                Some(())
            }
            "record_chunks" if record_chunks.is_none() => {
                record_chunks = Some(p.chunks()?);
                Some(())
            }
            "item_chunk" if item_chunk.is_none() => {
                item_chunk = Some(p.set()?);
                Some(())
            }
            "members" if members.is_none() => {
                let mut all = Vec::new();
                p.list(|p| {
                    all.push(p.node(depth + 1)?);
                    Some(())
                })?;
                members = Some(all);
                Some(())
            }
            "shared_chunks" if shared_chunks.is_none() => {
                shared_chunks = Some(p.chunks()?);
                Some(())
            }
            _ => None,
        })?;
        // Every cluster shows its labels, if there are any.
        let cells = if self.width == 0 || members.is_some() { cells.or(Some(Vec::new())) } else { cells };
        match (size, cells, record_chunks, item_chunk, members, shared_chunks) {
            (Some(size), Some(cells), Some(record_chunks), Some(item_chunk), None, None) => {
                Some(ClusterNode::Cluster(Cluster { size, records: Vec::new(), cells, record_chunks, item_chunk }))
            }
            (None, Some(cells), None, None, Some(members), Some(shared_chunks)) if cells.is_empty() => {
                Some(ClusterNode::Joint(Joint { members, shared_chunks }))
            }
            _ => None,
        }
    }

    fn chunks(&mut self) -> Option<Vec<CodeChunk>> {
        let mut all = Vec::new();
        self.list(|p| {
            let mut domain = None;
            let mut subrecords: Option<CodeChunk> = None;
            p.object(|p, key| match key {
                "domain" if domain.is_none() => {
                    domain = Some(p.set()?);
                    Some(())
                }
                "subrecords" if subrecords.is_none() => {
                    let mut chunk = CodeChunk::default();
                    p.list(|p| {
                        let subrecord = p.set()?;
                        // Empty ones are left out: `size` tells how many there are.
                        (!subrecord.is_empty()).then(|| chunk.push(subrecord))
                    })?;
                    subrecords = Some(chunk);
                    Some(())
                }
                _ => None,
            })?;
            all.push(CodeChunk { domain: domain?, ..subrecords? });
            Some(())
        })?;
        Some(all)
    }

    /// The labels of a cluster: one for each column, empty where it is missing.
    fn cells(&mut self) -> Option<Vec<Box<str>>> {
        let mut cells: Vec<Box<str>> = Vec::new();
        self.list(|p| {
            cells.push(String::from_utf8(p.string()?).ok()?.into());
            Some(())
        })?;
        (cells.len() == self.width).then_some(cells)
    }

    /// A list of different codes; ascending as they are numbered here.
    fn set(&mut self) -> Option<Vec<u32>> {
        let mut codes = Vec::new();
        self.list(|p| {
            let text = p.string()?;
            if text.is_empty() {
                return None;
            }
            codes.push(p.texts.intern(&text));
            Some(())
        })?;
        codes.sort_unstable();
        codes.windows(2).all(|w| w[0] < w[1]).then_some(codes)
    }

    fn number(&mut self) -> Option<u32> {
        self.skip();
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.bytes[start..self.at]).ok()?;
        (digits.len() == 1 || !digits.starts_with('0')).then(|| digits.parse().ok())?
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        self.take(b'"')?;
        let mut text = Vec::new();
        loop {
            let start = self.at;
            while !matches!(self.bytes.get(self.at)?, b'"' | b'\\' | 0..0x20) {
                self.at += 1;
            }
            text.extend_from_slice(&self.bytes[start..self.at]);
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return std::str::from_utf8(&text).is_ok().then_some(text);
                }
                b'\\' => {
                    let c = self.escape()?;
                    text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return None,
            }
        }
    }

    /// The character behind a backslash.
    fn escape(&mut self) -> Option<char> {
        let letter = *self.bytes.get(self.at + 1)?;
        self.at += 2;
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.four()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first);
                }
                if self.bytes.get(self.at..self.at + 2)? != b"\\u" {
                    return None;
                }
                self.at += 2;
                let second = self.four()?;
                if !(0xdc00..0xe000).contains(&second) {
                    return None;
                }
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
            _ => return None,
        })
    }

    fn four(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |n, &d| Some(n * 16 + char::from(d).to_digit(16)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<ClusterNode> {
        parse_with(line, 0)
    }

    fn parse_with(line: &str, width: usize) -> Option<ClusterNode> {
        let mut texts = Texts::default();
        let mut parser = Parser { bytes: line.as_bytes(), at: 0, texts: &mut texts, width };
        parser.node(0).filter(|_| parser.ends())
    }

    #[test]
    fn clusters_with_demographics_show_a_label_for_each_column() {
        let with = |cells: &str| format!(r#"{{"size":5,{cells}"record_chunks":[],"item_chunk":["a"]}}"#);
        let Some(ClusterNode::Cluster(cluster)) = parse_with(&with(r#""cells":["[30,40)",""],"#), 2) else { panic!() };
        assert_eq!(cluster.cells, ["[30,40)".into(), "".into()]);
        for bad in ["", r#""cells":["*"],"#, r#""cells":["*","*","*"],"#, r#""cells":["*",1],"#] {
            assert!(parse_with(&with(bad), 2).is_none(), "{bad}");
        }
        assert!(parse_with(&with(r#""cells":["*"],"#), 0).is_none(), "labels without columns");
        let good = with(r#""cells":["*"],"#);
        let joint = |cells: &str| format!(r#"{{"members":[{good},{good}],{cells}"shared_chunks":[]}}"#);
        assert!(parse_with(&joint(""), 1).is_some());
        assert!(parse_with(&joint(r#""cells":["*"],"#), 1).is_none(), "a joint cluster has no labels of its own");
        let header =
            |own: &str| parse_header(format!(r#"{{"format":"kohort-clusters",{own},"k":5,"m":2}}"#).as_bytes());
        assert!(header(r#""version":2,"columns":["age","sex"]"#).is_some_and(|own| own.columns.len() == 2));
        for bad in [
            r#""version":2"#,
            r#""version":1,"columns":["age"]"#,
            r#""version":2,"columns":[]"#,
            r#""version":2,"columns":["age","age"]"#,
            r#""version":2,"columns":[""]"#,
            r#""version":3,"columns":["age"]"#,
        ] {
            assert!(header(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn only_the_documented_shape_is_read() {
        let good = r#"{"size":5,"record_chunks":[{"domain":["a","\u00e4\n"],"subrecords":[["a"],["\u00e4\n","a"]]}],"item_chunk":["z"]}"#;
        let Some(ClusterNode::Cluster(cluster)) = parse(good) else { panic!() };
        assert_eq!((cluster.size, cluster.record_chunks[0].len(), cluster.item_chunk.len()), (5, 2, 1));
        let joint = format!("{{\"members\": [{good}, {good}], \"shared_chunks\": []}}");
        assert!(matches!(parse(&joint), Some(ClusterNode::Joint(j)) if j.members.len() == 2));
        for bad in [
            "",
            "{}",
            "[]",
            r#"{"size":5,"record_chunks":[],"item_chunk":["a","a"]}"#,
            r#"{"size":5,"record_chunks":[],"item_chunk":[""]}"#,
            r#"{"size":-5,"record_chunks":[],"item_chunk":["a"]}"#,
            r#"{"size":05,"record_chunks":[],"item_chunk":["a"]}"#,
            r#"{"size":5.0,"record_chunks":[],"item_chunk":["a"]}"#,
            r#"{"size":99999999999,"record_chunks":[],"item_chunk":["a"]}"#,
            r#"{"size":5,"size":5,"record_chunks":[],"item_chunk":["a"]}"#,
            r#"{"size":5,"record_chunks":[],"item_chunk":["a"],"patients":["x"]}"#,
            r#"{"size":5,"record_chunks":[],"item_chunk":["a"]} "#,
            r#"{"size":5,"record_chunks":[{"domain":["a"],"subrecords":[[]]}],"item_chunk":[]}"#,
            r#"{"size":5,"record_chunks":[{"domain":["a"]}],"item_chunk":[]}"#,
            r#"{"size":5,"members":[],"shared_chunks":[]}"#,
            r#"{"size":5,"record_chunks":[],"item_chunk":["\ud800"]}"#,
            r#"{"size":5,"record_chunks":[],"item_chunk":["a}"#,
        ] {
            let parsed = parse(bad);
            assert!(parsed.is_none() || bad.ends_with("} "), "{bad}");
        }
        let deep = format!("{}{good}{}", "{\"members\":[".repeat(10_000), "],\"shared_chunks\":[]}".repeat(10_000));
        assert!(parse(&deep).is_none());
    }

    #[test]
    fn what_hides_between_clusters_is_seen() {
        let header = "{\"format\":\"kohort-clusters\",\"version\":1,\"k\":2,\"m\":1}\n";
        let cluster = "{\"size\":2,\"record_chunks\":[{\"domain\":[\"a\",\"b\"],\"subrecords\":[[\"b\"],[\"a\",\"b\"]]}],\"item_chunk\":[\"d\"]}\n";
        let is = |text: &str| is_as_written((text.as_bytes(), Path::new("clusters.jsonl"))).unwrap();
        let own = format!("{header}{cluster}{cluster}");
        assert!(is(&own));
        for (from, to) in [
            (",\"item", ", \"item"),
            ("[\"d\"]", "[\"\\u0064\"]"),
            ("\"k\":2", "\"k\":9,\"k\":2"),
            ("\"k\":2,\"m\":1", "\"m\":1,\"k\":2"),
            ("[\"a\",\"b\"]]", "[\"b\",\"a\"]]"),
            ("]}\n", "]}\t\n"),
            ("]}\n", "]}\r\n"),
        ] {
            let changed = own.replacen(from, to, 1);
            assert!(changed != own && !is(&changed), "{to}");
        }
        assert!(!is(own.trim_end()));
    }
}
