//! Threads: the only place that starts them. Results never depend on how many there are.

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Does two things, at the same time where there is more than one thread.
pub fn both<A, B: Send>(threads: usize, a: impl FnOnce() -> A, b: impl FnOnce() -> B + Send) -> (A, B) {
    if threads == 1 {
        return (a(), b());
    }
    std::thread::scope(|scope| {
        let b = scope.spawn(b);
        let a = a();
        (a, finished(b))
    })
}

/// Runs `work` on so many threads, of which this one is the first, and collects their results.
/// Threads share their work through what `work` captures.
pub fn workers<R: Send>(threads: usize, work: impl Fn() -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut results = vec![work()];
        results.extend(others.into_iter().map(finished));
        results
    })
}

/// Calls `work` with each number below `count`. The results are in the order of the numbers.
pub fn map<R: Send>(threads: usize, count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if threads < 2 || count < 2 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results = workers(threads.min(count), || {
        let mut own = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return own;
            }
            own.push((number, work(number)));
        }
    });
    let mut results: Vec<(usize, R)> = results.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Calls `work` with each item. The results are in the order of the items.
pub fn map_items<T: Send, R: Send>(threads: usize, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let take = |number: usize| items[number].lock().unwrap_or_else(PoisonError::into_inner).take();
    map(threads, items.len(), |number| take(number).map(&work)).into_iter().flatten().collect()
}

/// Waits for a thread. If it panicked, so does this one.
fn finished<R>(thread: std::thread::ScopedJoinHandle<R>) -> R {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// `produce` hands out items one after the other; `work` sees them on `threads` threads, each with
/// a state of its own made by `state` from the thread's number; what it returns comes to `fold` in
/// the order of the items. The first error in that order is the one returned, whatever the number
/// of threads. A few items are under way at a time, so that memory stays bounded.
/// At the end the threads' states are handed back.
pub fn in_order<T: Send, S: Send, R: Send>(
    threads: usize,
    produce: impl FnOnce(&mut dyn FnMut(T) -> Result<()>) -> Result<()> + Send,
    state: impl Fn(usize) -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<R> + Sync,
    mut fold: impl FnMut(R) -> Result<()>,
) -> Result<Vec<S>> {
    if threads == 1 {
        let mut state = state(0);
        produce(&mut |item| fold(work(&mut state, item)?))?;
        return Ok(vec![state]);
    }
    std::thread::scope(|scope| {
        let (send_item, items) = sync_channel::<(u64, T)>(threads * 2);
        let items = Arc::new(Mutex::new(items));
        let (send_done, done) = sync_channel::<(u64, Result<R>)>(threads * 2);
        let send_failed = send_done.clone();
        scope.spawn(move || {
            let mut number = 0;
            let sent = produce(&mut |item| {
                number += 1;
                // Nobody listens any more: an error was found, and there is no need to go on.
                send_item.send((number - 1, item)).map_err(|_| Error::machine("stopped"))
            });
            if let Err(error) = sent {
                let _ = send_failed.send((number, Err(error)));
            }
        });
        let start = |thread| {
            let (items, send_done) = (Arc::clone(&items), send_done.clone());
            let (state, work) = (&state, &work);
            scope.spawn(move || run(&items, &send_done, state(thread), work))
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        drop((items, send_done));
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (number, result) in done {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                fold(result?)?;
            }
        }
        Ok(running.into_iter().map(finished).collect())
    })
}

fn run<T, S, R>(
    items: &Mutex<Receiver<(u64, T)>>,
    done: &SyncSender<(u64, Result<R>)>,
    mut state: S,
    work: &impl Fn(&mut S, T) -> Result<R>,
) -> S {
    loop {
        let next = items.lock().ok().and_then(|r| r.recv().ok());
        let Some((number, item)) = next else { return state };
        if done.send((number, work(&mut state, item))).is_err() {
            return state;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_and_item_is_worked_on_once_and_in_order() {
        for threads in [1, 2, 8] {
            for count in [0, 1, 2, 1000] {
                let squares: Vec<usize> = (0..count).map(|n| n * n).collect();
                assert_eq!(map(threads, count, |n| n * n), squares);
                assert_eq!(map_items(threads, (0..count).collect(), |n: usize| n * n), squares);
            }
            assert_eq!(workers(threads, || 1), vec![1; threads]);
            assert_eq!(both(threads, || 1, || 2), (1, 2));
        }
    }

    #[test]
    fn a_panic_on_a_thread_reaches_the_caller() {
        let panics = |n: usize| assert!(n != 7, "seven");
        assert!(std::panic::catch_unwind(|| map(4, 20, panics)).is_err());
        assert!(std::panic::catch_unwind(|| both(2, || (), || panics(7))).is_err());
    }

    #[test]
    fn results_and_errors_come_in_order() {
        for threads in [1, 2, 8] {
            let mut seen = Vec::new();
            let numbers = |each: &mut dyn FnMut(u64) -> Result<()>| (0..1000).try_for_each(each);
            let push = |n| {
                seen.push(n);
                Ok(())
            };
            in_order(threads, numbers, |_| (), |(), n| Ok(n * 2), push).unwrap();
            assert_eq!(seen, (0..1000).map(|n| n * 2).collect::<Vec<u64>>());
            let fails = |(): &mut (), n: u64| if n % 100 == 37 { Err(Error::yours(n.to_string())) } else { Ok(n) };
            let error = in_order(threads, numbers, |_| (), fails, |_| Ok(())).unwrap_err();
            assert_eq!(error.message, "37");
            let late = |each: &mut dyn FnMut(u64) -> Result<()>| {
                (0..5).try_for_each(each)?;
                Err(Error::yours("the end"))
            };
            let mut count = 0;
            let add = |_| {
                count += 1;
                Ok(())
            };
            let error = in_order(threads, late, |_| (), |(), n| Ok(n), add).unwrap_err();
            assert_eq!((count, error.message.as_str()), (5, "the end"));
        }
    }
}
