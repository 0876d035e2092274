//! What this process has cost so far.

use nix::sys::resource::{UsageWho, getrusage};

/// CPU seconds so far, and the peak of memory in MB.
pub fn usage() -> (f64, i64) {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("usage");
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    (seconds(usage.user_time()) + seconds(usage.system_time()), usage.max_rss() / 1024)
}
