//! Prefetch: the processor fetches what the next logical processes will touch in this epoch.
//!
//! A network of hundreds of switches holds more packets and entries than the processor's near caches. Most of
//! what a logical process touches first would cost a wait for memory. But while one batch is handled, the
//! events of the next ones are known: their packets, their switch, the flows of their hosts. The address of
//! one often lies in another, so prefetching takes several steps, each one batch nearer, and each reads only
//! what the step before has fetched.
//!
//! Nothing here changes results.

use p4cc_switch::prefetch::prefetch;

use crate::events::Cursor;
use crate::network::Network;
use crate::switches::SwitchNode;

impl Network {
    /// Takes the steps that are due before the batch of a logical process.
    pub(crate) fn prefetch_for(&mut self, process: usize) {
        self.schedule.calendar.prefetch_pending(process + 3);
        if let Some(node) = self.switch_of(process + 3) {
            node.switch.prefetch();
            node.prefetch_lines();
        }
        if let Some(node) = self.switch_of(process + 2) {
            node.switch.prefetch_ports();
            node.channels().for_each(|channel| self.links.prefetch(channel));
        }
        match self.switch_of(process) {
            Some(node) => {
                node.switch.prefetch_queues();
                for channel in node.channels() {
                    self.schedule.calendar.prefetch_room(self.links.channels()[channel].to());
                }
            }
            None => self.hosts.prefetch_ends(&self.schedule.calendar, process),
        }
        if self.switch_of(process + 1).is_none() {
            self.hosts.prefetch_flows(&mut self.schedule.calendar, process + 1);
        }
    }

    /// Prefetches the packet of the next event of a later batch; false if there is none. Called once for each
    /// event of the current batch, as the processor can wait for a few cache lines at once only.
    #[inline(always)]
    pub(crate) fn prefetch_packet(&self, further: &mut Cursor) -> bool {
        let Some(entry) = self.schedule.calendar.next_pending(further) else { return false };
        if let Some(packet) = entry.packet() {
            prefetch(&**packet);
        }
        if let Some(host) = (entry.event().node() as usize).checked_sub(self.switches.len()) {
            self.hosts.prefetch_host(host);
        }
        true
    }

    fn switch_of(&self, process: usize) -> Option<&SwitchNode> {
        self.switches.nodes().get(self.schedule.calendar.first_node(process)?)
    }
}
