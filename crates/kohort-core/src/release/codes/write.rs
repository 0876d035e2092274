//! Writes clusters as lines of JSON, everything in them in random order.

use super::{CLUSTERS_FILE, CLUSTERS_FORMAT, Cluster, ClusterNode, Clusters, CodeChunk, Header};
use crate::codes::Records;
use crate::random::Randomness;
use crate::release::{Staged, Staging, Written};
use crate::shape::Codes;
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};

/// Writes release/clusters.jsonl, and private/rows: for each cluster, in the order of the file, the
/// input lines of its patients.
///
/// The order of clusters, members, chunks and subrecords is drawn; codes within a set are in byte
/// order, which tells nothing.
pub fn write_codes(
    records: &Records,
    clusters: &Clusters,
    header: &Header,
    staging: Staging,
    random: &mut Randomness,
) -> Result<Staged<Codes>> {
    let path = staging.release().join(CLUSTERS_FILE);
    let lines = staging.private().join("rows");
    let io = |e: std::io::Error| Error::io(&path, &e);
    let create = |path| File::create(path).map(|f| BufWriter::with_capacity(1 << 18, f));
    let mut out = create(&path).map_err(io)?;
    let mut rows = create(&lines).map_err(io)?;
    let codes = records.texts().map(|text| serde_json::Value::from(text).to_string()).collect();
    let line = |record: u32| records.line(record as usize);
    let mut writer = Writer { codes, line: &line, order: Order::Drawn(random), text: Vec::new(), rows: Vec::new() };
    writeln!(out, "{}", first_line(header)).map_err(io)?;
    for node in writer.order.of(&clusters.nodes) {
        writer.node(node);
        writer.text.push(b'\n');
        out.write_all(&writer.text).map_err(io)?;
        rows.write_all(&writer.rows).map_err(io)?;
        writer.text.clear();
        writer.rows.clear();
    }
    out.flush().and_then(|()| rows.flush()).map_err(io)?;
    let written = Written {
        file: CLUSTERS_FILE.into(),
        rows: clusters.nodes.len() as u64,
        lines,
        columns: Vec::new(),
        added: 0,
        beside: Vec::new(),
        more: Vec::new(),
        parts: Vec::new(),
        workers: None,
    };
    Ok(Staged::new(staging, written))
}

/// The header: version 2 where clusters show labels, so that a reader who knows version 1 does not overlook them.
pub(super) fn first_line(header: &Header) -> String {
    let Header { k, m, columns } = header;
    match &columns[..] {
        [] => format!("{{\"format\":\"{CLUSTERS_FORMAT}\",\"version\":1,\"k\":{k},\"m\":{m}}}"),
        _ => format!(
            "{{\"format\":\"{CLUSTERS_FORMAT}\",\"version\":2,\"k\":{k},\"m\":{m},\"columns\":{}}}",
            serde_json::Value::from(columns.clone())
        ),
    }
}

/// A line of a file of clusters, as it is written for a cluster whose codes are numbered in the byte order of these
/// texts. Everything in it keeps its order.
pub(super) fn line(node: &ClusterNode, texts: &[&str]) -> Vec<u8> {
    let codes = texts.iter().map(|text| serde_json::Value::from(*text).to_string()).collect();
    let mut writer = Writer { codes, line: &|_| 0, order: Order::Kept, text: Vec::new(), rows: Vec::new() };
    writer.node(node);
    writer.text.push(b'\n');
    writer.text
}

/// The order in which items are written.
enum Order<'a> {
    Drawn(&'a mut Randomness),
    Kept,
}

impl Order<'_> {
    /// References to the items, in this order.
    fn of<'a, T>(&mut self, items: &'a [T]) -> Vec<&'a T> {
        let mut all: Vec<&T> = items.iter().collect();
        if let Order::Drawn(random) = self {
            random.shuffle(&mut all);
        }
        all
    }
}

struct Writer<'a> {
    /// One entry per code: its text as JSON.
    codes: Vec<String>,
    /// The input line of a record.
    line: &'a dyn Fn(u32) -> u64,
    order: Order<'a>,
    text: Vec<u8>,
    rows: Vec<u8>,
}

impl Writer<'_> {
    fn node(&mut self, node: &ClusterNode) {
        match node {
            ClusterNode::Cluster(cluster) => self.cluster(cluster),
            ClusterNode::Joint(joint) => {
                self.text.extend_from_slice(b"{\"members\":[");
                for (i, member) in self.order.of(&joint.members).into_iter().enumerate() {
                    self.comma(i);
                    self.node(member);
                }
                self.text.extend_from_slice(b"],\"shared_chunks\":[");
                self.chunks(&joint.shared_chunks);
                self.text.extend_from_slice(b"]}");
            }
        }
    }

    fn cluster(&mut self, cluster: &Cluster) {
        self.text.extend_from_slice(format!("{{\"size\":{},", cluster.size).as_bytes());
        if !cluster.cells.is_empty() {
            let cells: Vec<&str> = cluster.cells.iter().map(|cell| &**cell).collect();
            self.text.extend_from_slice(format!("\"cells\":{},", serde_json::Value::from(cells)).as_bytes());
        }
        self.text.extend_from_slice(b"\"record_chunks\":[");
        self.chunks(&cluster.record_chunks);
        self.text.extend_from_slice(b"],\"item_chunk\":");
        self.set(&cluster.item_chunk);
        self.text.push(b'}');
        for (i, &record) in cluster.records.iter().enumerate() {
            let space = if i > 0 { " " } else { "" };
            self.rows.extend_from_slice(format!("{space}{}", (self.line)(record)).as_bytes());
        }
        self.rows.push(b'\n');
    }

    fn chunks(&mut self, chunks: &[CodeChunk]) {
        for (i, chunk) in self.order.of(chunks).into_iter().enumerate() {
            self.comma(i);
            self.text.extend_from_slice(b"{\"domain\":");
            self.set(&chunk.domain);
            self.text.extend_from_slice(b",\"subrecords\":[");
            let subrecords: Vec<&[u32]> = chunk.subrecords().collect();
            for (i, subrecord) in self.order.of(&subrecords).into_iter().enumerate() {
                self.comma(i);
                self.set(subrecord);
            }
            self.text.extend_from_slice(b"]}");
        }
    }

    fn set(&mut self, codes: &[u32]) {
        self.text.push(b'[');
        let mut codes = codes.to_vec();
        codes.sort_unstable();
        for (i, code) in codes.into_iter().enumerate() {
            self.comma(i);
            self.text.extend_from_slice(self.codes[code as usize].as_bytes());
        }
        self.text.push(b']');
    }

    fn comma(&mut self, i: usize) {
        if i > 0 {
            self.text.push(b',');
        }
    }
}
