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
    let mut writer = Writer { codes, records, text: Vec::new(), rows: Vec::new() };
    writeln!(out, "{}", first_line(header)).map_err(io)?;
    for node in shuffled(&clusters.nodes, random) {
        writer.node(node, random);
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
fn first_line(header: &Header) -> String {
    let Header { k, m, columns } = header;
    match &columns[..] {
        [] => format!("{{\"format\":\"{CLUSTERS_FORMAT}\",\"version\":1,\"k\":{k},\"m\":{m}}}"),
        _ => format!(
            "{{\"format\":\"{CLUSTERS_FORMAT}\",\"version\":2,\"k\":{k},\"m\":{m},\"columns\":{}}}",
            serde_json::Value::from(columns.clone())
        ),
    }
}

/// References to the items, in random order.
fn shuffled<'a, T>(items: &'a [T], random: &mut Randomness) -> Vec<&'a T> {
    let mut order: Vec<&T> = items.iter().collect();
    random.shuffle(&mut order);
    order
}

struct Writer<'a> {
    /// One entry per code: its text as JSON.
    codes: Vec<String>,
    records: &'a Records,
    text: Vec<u8>,
    rows: Vec<u8>,
}

impl Writer<'_> {
    fn node(&mut self, node: &ClusterNode, random: &mut Randomness) {
        match node {
            ClusterNode::Cluster(cluster) => self.cluster(cluster, random),
            ClusterNode::Joint(joint) => {
                self.text.extend_from_slice(b"{\"members\":[");
                for (i, member) in shuffled(&joint.members, random).into_iter().enumerate() {
                    self.comma(i);
                    self.node(member, random);
                }
                self.text.extend_from_slice(b"],\"shared_chunks\":[");
                self.chunks(&joint.shared_chunks, random);
                self.text.extend_from_slice(b"]}");
            }
        }
    }

    fn cluster(&mut self, cluster: &Cluster, random: &mut Randomness) {
        self.text.extend_from_slice(format!("{{\"size\":{},", cluster.size).as_bytes());
        if !cluster.cells.is_empty() {
            let cells: Vec<&str> = cluster.cells.iter().map(|cell| &**cell).collect();
            self.text.extend_from_slice(format!("\"cells\":{},", serde_json::Value::from(cells)).as_bytes());
        }
        self.text.extend_from_slice(b"\"record_chunks\":[");
        self.chunks(&cluster.record_chunks, random);
        self.text.extend_from_slice(b"],\"item_chunk\":");
        self.set(&cluster.item_chunk);
        self.text.push(b'}');
        for (i, &record) in cluster.records.iter().enumerate() {
            let space = if i > 0 { " " } else { "" };
            self.rows.extend_from_slice(format!("{space}{}", self.records.line(record as usize)).as_bytes());
        }
        self.rows.push(b'\n');
    }

    fn chunks(&mut self, chunks: &[CodeChunk], random: &mut Randomness) {
        for (i, chunk) in shuffled(chunks, random).into_iter().enumerate() {
            self.comma(i);
            self.text.extend_from_slice(b"{\"domain\":");
            self.set(&chunk.domain);
            self.text.extend_from_slice(b",\"subrecords\":[");
            let subrecords: Vec<&[u32]> = chunk.subrecords().collect();
            for (i, subrecord) in shuffled(&subrecords, random).into_iter().enumerate() {
                self.comma(i);
                self.set(subrecord);
            }
            self.text.extend_from_slice(b"]}");
        }
    }

    fn set(&mut self, codes: &[u32]) {
        self.text.push(b'[');
        for (i, &code) in codes.iter().enumerate() {
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
