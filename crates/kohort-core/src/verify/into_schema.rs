//! Writes a verified release into a schema of a database as well: the same rows, and the certificate beside them.

use super::{ReleaseFolder, Verified, files};
use crate::policy::Policy;
use crate::release::{FileEntry, PATIENT};
use crate::shape::Shape;
use crate::table::{Input, Loaded, OutputSchema, ReleasedTable, Source, open};
use crate::{Error, Result};
use sha2::{Digest, Sha256};

/// The largest text that goes along with the data.
const LARGEST_TEXT: u64 = 256 << 20;

impl<S: Shape> Verified<S> {
    /// Writes it into a schema, in a transaction that is to be committed when the release was published. What the
    /// database holds then was read back and compared. `replace`: an earlier release there is replaced.
    pub fn load_into(
        &self,
        schema: &OutputSchema,
        source: &Source,
        policy: &Policy<S>,
        replace: bool,
    ) -> Result<Loaded> {
        if !self.findings.samples.is_empty() {
            return Err(Error::yours("[output] is for one release, but the policy asks for samples."));
        }
        let certificate = &self.findings.certificate;
        let release = ReleaseFolder::new(self.staging.release());
        let (mut tables, mut texts) = (Vec::new(), Vec::new());
        for entry in &certificate.files {
            match entry.rows {
                Some(_) => tables.push(self.released_table(&release, entry, source, policy)?),
                None => texts.push((entry.name.clone(), release.text(&entry.name, LARGEST_TEXT)?)),
            }
        }
        let bytes = files::certificate_bytes(&release)?;
        let hash: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        texts.push(("certificate.json".into(), files::certificate_text(&bytes)?.into()));
        let signature = crate::signature::SIGNATURE_FILE;
        if release.join(signature).is_file() {
            texts.push((signature.into(), release.text(signature, LARGEST_TEXT)?));
        }
        let loaded = schema.load(&tables, &texts, &hash, replace)?;
        // What was sent are the bytes that were verified.
        files::check_hashes(&release, certificate)?;
        Ok(loaded)
    }

    fn released_table(
        &self,
        release: &ReleaseFolder,
        entry: &FileEntry,
        source: &Source,
        policy: &Policy<S>,
    ) -> Result<ReleasedTable> {
        let input = if entry.parts.is_some() { release.parts(entry) } else { release.input(&entry.name) };
        let input = Input { delimiter: Some(self.findings.certificate.delimiter), ..input };
        let stem = entry.name.split('.').next().unwrap_or(&entry.name);
        let stem = stem.trim_end_matches('/');
        let original = source
            .patients()
            .map_or(Some(source), |patients| match stem {
                "patients" => Some(patients),
                name => source.event_tables().find(|own| own.events_name() == name),
            })
            .and_then(Source::database_table);
        let name = original.and_then(|own| own.table_name()).unwrap_or(stem).to_string();
        let released = open(&input)?;
        let known = original.map(|own| own.column_types()).transpose()?.unwrap_or_default();
        let type_of = |column: &String| known.iter().find(|(own, _)| own == column).map(|(_, own)| own.clone());
        let types = released.columns().iter().map(type_of).collect();
        let mut columns = released.columns().to_vec();
        if let (Some(first), Some(own)) =
            (columns.first_mut().filter(|own| *own == PATIENT), S::patient_name(policy, stem))
        {
            *first = own.into();
        }
        Ok(ReleasedTable { name, columns, source: released, types })
    }
}
