//! What the system says of this process. Where it says nothing, nothing is told.

use std::fs;

use super::family::{Family, Value};

/// Returns what is known of the process, under the names that Prometheus has for it.
pub(super) fn families() -> Vec<Family> {
    let memory = resident_bytes().map(|bytes| {
        Family::gauge("process_resident_memory_bytes", "Memory that is in use.", Value::Count(bytes))
    });
    let descriptors = open_descriptors().map(|count| {
        Family::gauge("process_open_fds", "File descriptors that are open.", Value::Count(count))
    });
    let most = most_descriptors().map(|count| {
        Family::gauge("process_max_fds", "File descriptors that may be open.", Value::Count(count))
    });
    [memory, descriptors, most].into_iter().flatten().collect()
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

fn open_descriptors() -> Option<u64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    // The one that the directory is read by is none of ours.
    u64::try_from(count.saturating_sub(1)).ok()
}

fn most_descriptors() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
