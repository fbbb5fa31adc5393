//! Advanced flow control of Tofino 2: a deparser pauses or resumes one queue of the traffic manager.
//!
//! A message has 32 bits: whether it is one (1), the pipe (2), the group of eight ports (4), nothing (3), the
//! queue of the group, sixteen for each port (7), and the credit (15). The chip's queues take it in one of two
//! modes. Here they are in the mode `XOFF`: any credit pauses the queue, none resumes it.

use crate::config::PRIORITIES;

/// Queues of a port on the chip.
const QUEUES_OF_PORT: u32 = 16;

/// What a message asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowControl {
    /// Port of the queue.
    pub port: u32,
    /// The queue, as a priority of the switch.
    pub priority: u8,
    /// It is to pause.
    pub pauses: bool,
}

impl FlowControl {
    /// Reads a message; none where it asks for nothing.
    pub fn read(message: u32) -> Option<Self> {
        let bits = |from: u32, count: u32| message >> from & ((1 << count) - 1);
        let (is_message, pipe, group, queue, credit) =
            (bits(31, 1), bits(29, 2), bits(25, 4), bits(15, 7), bits(0, 15));
        (is_message == 1).then_some(Self {
            port: pipe << 7 | group << 3 | queue / QUEUES_OF_PORT,
            priority: ((queue % QUEUES_OF_PORT) as usize % PRIORITIES) as u8,
            pauses: credit != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_a_queue_of_a_port() {
        // Pipe 1, group 1, queue 16 of the group: the first queue of port 137.
        let message = 1 << 31 | 1 << 29 | 1 << 25 | 16 << 15;
        let pause = FlowControl::read(message | 1).expect("a message");
        assert_eq!(pause, FlowControl { port: 137, priority: 0, pauses: true });
        assert!(!FlowControl::read(message).expect("a message").pauses);
        assert_eq!(FlowControl::read(message & !(1 << 31) | 1), None);
        let last = FlowControl::read(u32::MAX).expect("a message");
        assert_eq!((last.port, last.priority), (511, 7));
    }
}
