//! The connections that are open, and which of them ends when there are too many.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Most connections at once.
pub(crate) const MAX_CONNECTIONS: usize = 64;

/// What ends a connection whose thread waits for its client.
pub(crate) trait End {
    fn end(&self) -> io::Result<()>;
}

impl End for TcpStream {
    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Both)
    }
}

struct Connection<S> {
    stream: S,
    /// When its last call began or ended.
    last: Instant,
    /// A call of its client is worked on, or waits for others' to be over.
    busy: bool,
}

/// All connections have calls that are worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// Open connections by number.
pub(crate) struct Connections<S = TcpStream> {
    open: BTreeMap<u64, Connection<S>>,
    next: u64,
}

impl<S> Default for Connections<S> {
    fn default() -> Self {
        Self { open: BTreeMap::new(), next: 0 }
    }
}

impl<S: End> Connections<S> {
    /// Takes in a connection; its number. Where another one ended for it, how long that had been idle.
    /// A client that never reads its answers is as idle as one that never asks.
    pub fn add(&mut self, stream: S) -> Result<(u64, Option<Duration>), Busy> {
        let mut ended = None;
        if self.open.len() >= MAX_CONNECTIONS {
            let idle = self.open.iter().filter(|(_, one)| !one.busy);
            let (&longest, _) = idle.min_by_key(|(_, one)| one.last).ok_or(Busy)?;
            if let Some(one) = self.open.remove(&longest) {
                // It fails where the client has ended it already.
                let _ = one.stream.end();
                ended = Some(one.last.elapsed());
            }
        }
        let number = self.next;
        self.next += 1;
        self.open.insert(number, Connection { stream, last: Instant::now(), busy: false });
        Ok((number, ended))
    }

    /// A call begins or is over.
    pub fn set_busy(&mut self, number: u64, busy: bool) {
        if let Some(one) = self.open.get_mut(&number) {
            (one.last, one.busy) = (Instant::now(), busy);
        }
    }

    /// A connection is over.
    pub fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    struct Fake(Rc<Cell<bool>>);

    impl End for Fake {
        fn end(&self) -> io::Result<()> {
            self.0.set(true);
            Ok(())
        }
    }

    #[test]
    fn the_longest_idle_one_ends_for_a_new_one_and_no_call_is_cut() {
        let mut connections = Connections::default();
        let add = |connections: &mut Connections<Fake>| {
            let ended = Rc::new(Cell::new(false));
            connections.add(Fake(Rc::clone(&ended))).map(|(number, other)| (number, other.is_some(), ended))
        };
        let all: Vec<_> =
            (0..MAX_CONNECTIONS).map(|_| add(&mut connections).expect("there is room")).collect();
        assert!(all.iter().all(|(_, other, _)| !other));
        // The first has a call that goes on, the second had one a moment ago.
        connections.set_busy(all[0].0, true);
        connections.set_busy(all[1].0, true);
        connections.set_busy(all[1].0, false);
        let (new, other, _) = add(&mut connections).expect("one makes room");
        assert!(other);
        let ended: Vec<_> = (0..all.len()).filter(|at| all[*at].2.get()).collect();
        assert_eq!(ended, [2]);
        for (number, ..) in all.iter().chain([&(new, false, Rc::default())]) {
            connections.set_busy(*number, true);
        }
        assert!(matches!(add(&mut connections), Err(Busy)));
        connections.remove(new);
        assert!(add(&mut connections).is_ok_and(|(_, other, _)| !other));
    }
}
