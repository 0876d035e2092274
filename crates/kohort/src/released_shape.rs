//! The parts of each shape that the path from a policy to a release needs, beside what the core knows of it:
//! how a method plans, what is measured, what the custodian is told.

use crate::evidence::{self, Metrics, Stage, Stopwatch};
use crate::methods::{CodesMethod, EventsMethod, Method, Register, TableMethod, Work};
use crate::outside::{self, Outside, Unasked};
use kohort_core::Result;
use kohort_core::codes::Records;
use kohort_core::cohort::Cohort;
use kohort_core::events::Histories;
use kohort_core::ledger::{Classes, Ledger};
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{Clusters, EventsPlan, Plan};
use kohort_core::risk::RegistryAttacks;
use kohort_core::shape::{Codes, Events, Shape, Table};
use kohort_core::table::Source;
use kohort_core::verify::Verified;

/// A shape of data for which releases are made.
pub trait ReleasedShape: Shape {
    /// The trait of the methods for this shape.
    type Method: ?Sized;

    /// Measurements that are made before the method starts.
    type Before;

    /// Finds the method that the policy names.
    fn method(register: &Register, policy: &Policy<Self>) -> Result<Method<Self::Method>>;

    /// Asks the method what is to happen to the data.
    fn plan(
        method: &Method<Self::Method>,
        input: &Self::Input,
        policy: &Policy<Self>,
        source: &Source,
        random: &mut Randomness,
    ) -> Result<Self::Plan>;

    /// Measures what is measured before the method starts, and refuses what could not be measured afterwards.
    fn before(input: &Self::Input, policy: &Policy<Self>) -> Result<Self::Before>;

    /// Findings about released columns outside every requirement.
    type Outside;

    /// Looks at released columns outside every requirement, and refuses those that would single people out.
    fn look_outside(source: &Source, policy: &Policy<Self>) -> Result<Self::Outside>;

    /// Refuses a plan that such a column would undo. Returns what the custodian should know.
    fn check_outside(
        outside: &Self::Outside,
        source: &Source,
        data: (&Self::Input, &Self::Plan),
        policy: &Policy<Self>,
    ) -> Result<Unasked>;

    /// Draws the samples that are released instead of the whole, if the policy asks for any.
    fn sample(
        method: &Method<Self::Method>,
        verified: Verified<Self>,
        source: &Source,
        policy: &Policy<Self>,
        random: &mut Randomness,
        stopwatch: &mut Stopwatch,
    ) -> Result<Verified<Self>>;

    /// The class of each person, for the custodian's ledger.
    fn classes(ledger: &Ledger, verified: &Verified<Self>, source: &Source, policy: &Policy<Self>) -> Result<Classes>;

    /// Measures risk and utility: the content of metrics.json.
    fn measure(run: &MethodRun<Self>, verified: &Verified<Self>, stopwatch: &Stopwatch) -> Result<Metrics>;

    /// Notes for the custodian about the data and the plan.
    fn notes(input: &Self::Input, plan: &Self::Plan) -> Vec<String>;
}

/// The note about a method that a deadline or an interrupt stopped.
const STOPPED_EARLY: &str = "The method was stopped before it had finished, and its best result so far was kept. The release \
    is verified like any other, but it is not repeatable: another run may coarsen other cells.";

/// A run as far as the method decides it.
pub struct MethodRun<'a, S: ReleasedShape> {
    /// The policy.
    pub policy: &'a Policy<S>,
    /// Its method.
    pub method: &'a Method<S::Method>,
    /// The data as the method saw it.
    pub input: &'a S::Input,
    /// The measurements made before the method started.
    pub before: &'a S::Before,
    /// The method's decisions.
    pub plan: &'a S::Plan,
    /// How many threads work.
    pub threads: usize,
}

impl ReleasedShape for Table {
    type Method = dyn TableMethod;
    type Before = Vec<RegistryAttacks>;

    fn method(register: &Register, policy: &Policy) -> Result<Method> {
        register.for_table(policy)
    }

    fn plan(method: &Method, cohort: &Cohort, policy: &Policy, _: &Source, random: &mut Randomness) -> Result<Plan> {
        method.plan(cohort, policy, random)
    }

    type Outside = Outside;

    fn look_outside(source: &Source, policy: &Policy) -> Result<Outside> {
        outside::look(source, policy)
    }

    fn check_outside(
        outside: &Outside,
        source: &Source,
        (cohort, plan): (&Cohort, &Plan),
        policy: &Policy,
    ) -> Result<Unasked> {
        outside.check_plan(cohort, plan, policy)?;
        let derived = outside.derived(source, (cohort, plan), policy)?;
        Ok(Unasked { notes: outside.notes.clone(), derived })
    }

    fn before(cohort: &Cohort, policy: &Policy) -> Result<Vec<RegistryAttacks>> {
        evidence::baseline_fits(cohort, policy)?;
        evidence::attacks(cohort, policy)
    }

    fn sample(
        method: &Method,
        verified: Verified,
        source: &Source,
        policy: &Policy,
        random: &mut Randomness,
        stopwatch: &mut Stopwatch,
    ) -> Result<Verified> {
        match method.samples() {
            [] => Ok(verified),
            shares => stopwatch.stage(Stage::Sample, || verified.sample(shares, source, policy, random)),
        }
    }

    fn classes(ledger: &Ledger, verified: &Verified, source: &Source, policy: &Policy) -> Result<Classes> {
        ledger.classes_of_table(verified, source, policy)
    }

    fn measure(run: &MethodRun<Table>, verified: &Verified, stopwatch: &Stopwatch) -> Result<Metrics> {
        let found = (&verified.findings().recount, &verified.findings().compared);
        let MethodRun { policy, method, input: cohort, before, plan, .. } = *run;
        let own = cohort.at_own_levels();
        let measured = evidence::table::TableRun { policy, method, cohort: &own, plan, attacks: before };
        evidence::table::measure(&measured, verified, found, stopwatch)
    }

    fn notes(cohort: &Cohort, plan: &Plan) -> Vec<String> {
        let early = plan.trace.stopped_early().then(|| STOPPED_EARLY.to_string());
        cohort.notes.iter().cloned().chain(early).collect()
    }
}

impl ReleasedShape for Codes {
    type Method = dyn CodesMethod;
    type Before = ();

    fn method(register: &Register, policy: &Policy<Codes>) -> Result<Method<dyn CodesMethod>> {
        register.for_codes(policy)
    }

    fn plan(
        method: &Method<dyn CodesMethod>,
        records: &Records,
        policy: &Policy<Codes>,
        source: &Source,
        random: &mut Randomness,
    ) -> Result<Clusters> {
        method.plan(records, policy, Work::on(source, random))
    }

    type Outside = ();

    fn look_outside(source: &Source, policy: &Policy<Codes>) -> Result<()> {
        outside::look_at_codes(source, policy)
    }

    fn check_outside((): &(), _: &Source, _: (&Records, &Clusters), _: &Policy<Codes>) -> Result<Unasked> {
        Ok(Unasked::default())
    }

    fn before(_: &Records, _: &Policy<Codes>) -> Result<()> {
        Ok(())
    }

    fn sample(
        _: &Method<Self::Method>,
        verified: Verified<Codes>,
        _: &Source,
        _: &Policy<Codes>,
        _: &mut Randomness,
        _: &mut Stopwatch,
    ) -> Result<Verified<Codes>> {
        Ok(verified)
    }

    fn classes(
        ledger: &Ledger,
        verified: &Verified<Codes>,
        source: &Source,
        policy: &Policy<Codes>,
    ) -> Result<Classes> {
        ledger.classes_of_codes(verified, source, policy)
    }

    fn measure(run: &MethodRun<Codes>, verified: &Verified<Codes>, stopwatch: &Stopwatch) -> Result<Metrics> {
        let (records, clusters) = (run.input, run.plan);
        let measured = evidence::codes::CodesRun {
            policy: run.policy,
            method: &**run.method,
            records,
            clusters,
            threads: run.threads,
        };
        let found = (&verified.findings().recount, &verified.findings().compared);
        evidence::codes::measure(&measured, verified, found, stopwatch)
    }

    fn notes(records: &Records, clusters: &Clusters) -> Vec<String> {
        [&records.notes[..], &clusters.notes].concat()
    }
}

impl ReleasedShape for Events {
    type Method = dyn EventsMethod;
    type Before = ();

    fn method(register: &Register, policy: &Policy<Events>) -> Result<Method<dyn EventsMethod>> {
        register.for_events(policy)
    }

    fn plan(
        method: &Method<dyn EventsMethod>,
        histories: &Histories,
        policy: &Policy<Events>,
        source: &Source,
        random: &mut Randomness,
    ) -> Result<EventsPlan> {
        method.plan(histories, policy, Work::on(source, random))
    }

    type Outside = Vec<String>;

    fn look_outside(source: &Source, policy: &Policy<Events>) -> Result<Vec<String>> {
        outside::look_at_events(source, policy)
    }

    fn check_outside(
        notes: &Vec<String>,
        _: &Source,
        _: (&Histories, &EventsPlan),
        _: &Policy<Events>,
    ) -> Result<Unasked> {
        Ok(Unasked { notes: notes.clone(), ..Unasked::default() })
    }

    fn before(_: &Histories, _: &Policy<Events>) -> Result<()> {
        Ok(())
    }

    fn sample(
        _: &Method<Self::Method>,
        verified: Verified<Events>,
        _: &Source,
        _: &Policy<Events>,
        _: &mut Randomness,
        _: &mut Stopwatch,
    ) -> Result<Verified<Events>> {
        Ok(verified)
    }

    fn classes(
        ledger: &Ledger,
        verified: &Verified<Events>,
        source: &Source,
        policy: &Policy<Events>,
    ) -> Result<Classes> {
        ledger.classes_of_events(verified, source, policy)
    }

    fn measure(run: &MethodRun<Events>, verified: &Verified<Events>, stopwatch: &Stopwatch) -> Result<Metrics> {
        let MethodRun { policy, input: histories, plan, threads, .. } = *run;
        let measured = evidence::events::EventsRun { policy, asked: &policy.own, histories, plan, threads };
        let found = (&verified.findings().recount, &verified.findings().compared);
        evidence::events::measure(&measured, verified, found, stopwatch)
    }

    fn notes(histories: &Histories, _: &EventsPlan) -> Vec<String> {
        histories.notes.clone()
    }
}
