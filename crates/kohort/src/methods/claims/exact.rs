//! The share that decides about a plan: patients with few choices of known events are counted exactly, the others are
//! drawn from. The verifier does the same with code of its own; the closer both are to an exact count, the less a plan
//! has to stay below the limit.

use super::draws::{Draws, Who, number_of_choices};
use super::estimate::{EstimateInput, LabelKnowledge, SearchedPatients, hits, hits_of};
use kohort_core::parallel;
use kohort_core::privacy::{ONE_PATIENT, ShareAtRisk};

/// A patient with more choices than this is drawn from.
const MOST_CHOICES: u64 = 1 << 12;
/// All choices that are tried.
const ALL_CHOICES: u64 = 1 << 18;
/// Patients whose choices are tried together.
const TOGETHER: usize = 64;

/// The shares of tolerant and of strict matches, from every choice where there are few and from `count` draws.
pub(super) fn shares(asked: &EstimateInput, count: usize, seed: u64) -> [ShareAtRisk; 2] {
    asked.prepare(|knows, crowd| {
        // Where two columns are known, those patients count who have events in their table.
        let of_table = |p: &u32| match knows.linked {
            [one] => !crowd.left.of_person(one.table, *p as usize).is_empty(),
            _ => true,
        };
        let people: Vec<u32> = crowd.left.with_events().into_iter().filter(of_table).collect();
        let streams = knows.streams();
        let choices: Vec<(u32, u64)> = people.iter().map(|&p| (p, number(knows, &streams, p as usize))).collect();
        let up_to = tried_up_to(&choices);
        let (few, many) = choices.iter().partition::<Vec<(u32, u64)>, _>(|own| own.1 <= up_to);
        let exact = millionths(knows, crowd, &few, asked.threads);
        let many: Vec<u32> = many.into_iter().map(|own| own.0).collect();
        let drawn = match many.is_empty() {
            true => Vec::new(),
            false => hits(knows, crowd, Who::Any(&many, count), asked.threads, seed),
        };
        let of = |enumerated_millionths: u64, hits: usize| ShareAtRisk {
            patients: people.len() as u64,
            enumerated: few.len() as u64,
            enumerated_millionths,
            hits: hits as u64,
            draws: drawn.len() as u64,
        };
        let tolerant = drawn.iter().filter(|h| h.0).count();
        let strict = drawn.iter().filter(|h| h.0 && !h.1).count();
        [of(exact[0], tolerant), of(exact[1], strict)]
    })
}

/// The number of choices of known events of a patient, over all streams.
fn number(knows: &LabelKnowledge, streams: &[usize], person: usize) -> u64 {
    let of_stream = |(&table, power): (&usize, &Vec<u8>)| {
        let n = knows.drawn.of_person(table, person).len();
        number_of_choices(n, usize::from(power[person]), MOST_CHOICES)
    };
    streams.iter().zip(knows.power).map(of_stream).fold(1, u64::saturating_mul)
}

/// The largest power of two up to which all choices together are few enough; or 0.
fn tried_up_to(choices: &[(u32, u64)]) -> u64 {
    let mut up_to = MOST_CHOICES;
    while up_to > 0 && choices.iter().map(|own| own.1).filter(|&n| n <= up_to).sum::<u64>() > ALL_CHOICES {
        up_to /= 2;
    }
    up_to
}

/// The sums of the shares of hits, tolerant and strict, in millionths of a patient, each rounded up.
fn millionths(knows: &LabelKnowledge, crowd: &SearchedPatients, few: &[(u32, u64)], threads: usize) -> [u64; 2] {
    let streams = knows.streams();
    let part = |part: usize| {
        let own = &few[part * TOGETHER..few.len().min((part + 1) * TOGETHER)];
        let people: Vec<u32> = own.iter().map(|own| own.0).collect();
        let known = |stream: usize, person: usize| usize::from(knows.power[stream][person]);
        let draws = Draws::every(knows.drawn, &people, &streams, known);
        let mut rest = &hits_of(knows, crowd, &draws)[..];
        let mut sums = [0, 0];
        for &(_, choices) in own {
            let (first, others) = rest.split_at(choices as usize);
            rest = others;
            let share = |hits: usize| (hits as u64 * ONE_PATIENT).div_ceil(choices);
            sums[0] += share(first.iter().filter(|h| h.0).count());
            sums[1] += share(first.iter().filter(|h| h.0 && !h.1).count());
        }
        sums
    };
    let parts = parallel::map(threads, few.len().div_ceil(TOGETHER), part);
    parts.into_iter().fold([0, 0], |all, own| [all[0] + own[0], all[1] + own[1]])
}
