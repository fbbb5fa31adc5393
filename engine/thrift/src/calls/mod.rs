//! The calls, one file for each kind of thing.

mod arrays;
pub(crate) mod daemon;
mod entries;
mod hashes;
mod learning;
pub(crate) mod multicast;
mod names;
mod profiles;
mod queues;
mod tables;

use crate::service::Method;

/// A call: its service, its name, the function that answers it.
pub(crate) type Entry = ((&'static str, &'static str), Method);

/// Calls of one service that work on the switch.
fn of_switch<const N: usize>(
    service: &'static str,
    calls: [(&'static str, crate::service::Call); N],
) -> impl Iterator<Item = Entry> {
    calls.into_iter().map(move |(name, call)| ((service, name), Method::Switch(call)))
}

/// Calls of one service that work on the daemon.
fn of_daemon<const N: usize>(
    service: &'static str,
    calls: [(&'static str, crate::service::DaemonCall); N],
) -> impl Iterator<Item = Entry> {
    calls.into_iter().map(move |(name, call)| ((service, name), Method::Daemon(call)))
}

/// All calls.
pub(crate) fn all() -> Vec<Entry> {
    let mut all = Vec::new();
    all.extend(tables::calls());
    all.extend(profiles::calls());
    all.extend(arrays::calls());
    all.extend(multicast::calls());
    all.extend(queues::calls());
    all.extend(daemon::calls());
    all.extend(learning::calls());
    all.extend(hashes::calls());
    all
}
