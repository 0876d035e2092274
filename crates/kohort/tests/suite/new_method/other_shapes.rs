//! Methods for codes and for patient histories that only this test knows: they take the whole path by their names.

use crate::common::run::options;
use kohort::hospital::Hospital;
use kohort::methods::{CodesMethod, Entry, EventsMethod, Read, Register, Work, claims, disassociate};
use kohort::pipeline::{self, Extras};
use kohort_core::Result;
use kohort_core::codes::Records;
use kohort_core::events::Histories;
use kohort_core::policy::Policy;
use kohort_core::release::{Clusters, EventsPlan};
use kohort_core::shape::{Codes, Events};
use std::fs::{self, File};

/// Splits codes with a parameter that cannot be set.
#[derive(Debug)]
struct Unrefined(disassociate::Params);

impl CodesMethod for Unrefined {
    fn plan(&self, records: &Records, policy: &Policy<Codes>, work: Work) -> Result<Clusters> {
        disassociate::plan(records, policy, &self.0, work.threads, work.progress)
    }
}

/// Generalizes events, whatever their number.
#[derive(Debug)]
struct Untruncated(claims::Params);

impl EventsMethod for Untruncated {
    fn plan(&self, histories: &Histories, policy: &Policy<Events>, work: Work) -> Result<EventsPlan> {
        self.0.plan(histories, policy, work)
    }
}

static UNREFINED: Entry = Entry {
    name: "unrefined",
    read: Read::Codes(|policy| {
        let params = disassociate::Params::read(policy)?;
        Ok(Box::new(Unrefined(disassociate::Params { refine: disassociate::Refine::Not, ..params })))
    }),
    ..disassociate::METHOD
};

static UNTRUNCATED: Entry = Entry {
    name: "untruncated",
    read: Read::Events(|policy| Ok(Box::new(Untruncated(claims::Params::read(policy)?)))),
    ..claims::METHOD
};

/// Releases the hospital by an example policy that names another method.
fn release(entry: &'static Entry, instead_of: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let hospital = Hospital { rows: 1500, seed: 4 };
    let file = |name: &str| File::create(folder.path().join(name)).unwrap();
    hospital.write_patients(&mut file("patients.csv")).unwrap();
    hospital.write_discharges(&mut file("discharges.csv")).unwrap();
    hospital.write_conditions(&mut file("conditions.csv")).unwrap();
    let policy = folder.path().join("policy.toml");
    let named = entry.example.replace(&format!("name = \"{instead_of}\""), &format!("name = \"{}\"", entry.name));
    assert_ne!(named, entry.example);
    fs::write(&policy, named).unwrap();
    let register = Register::built_in().with(entry);
    let out = folder.path().join("out");
    pipeline::anonymize_by(&register, &policy, &out, &options(7, 2), &Extras::default()).unwrap();
    fs::read_to_string(out.join("release/certificate.json")).unwrap()
}

#[test]
fn a_second_method_for_codes_takes_the_whole_path() {
    let certificate = release(&UNREFINED, "disassociate");
    assert!(certificate.contains("\"unrefined\""), "{certificate}");
}

#[test]
fn a_second_method_for_patient_histories_takes_the_whole_path() {
    let certificate = release(&UNTRUNCATED, "claims");
    assert!(certificate.contains("\"untruncated\""), "{certificate}");
}
