//! The chip's packet replication engine: groups of level-1 nodes, each with ports and LAGs of level 2.
//!
//! A node stands for a routed copy and has the `rid` that egress sees; its ports are bridged copies. A member
//! of a group is left out where its exclusion number is the packet's `level1_exclusion_id`. Of a node that
//! has the packet's `rid`, and of all nodes for a packet with the global one, the ports are left out that the
//! packet's `level2_exclusion_id` names. One node of an ECMP group is chosen by `level1_mcast_hash`, one port
//! of a LAG by `level2_mcast_hash`.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_exec::control::ControlError;

use super::bounds::check_port;
use crate::pre::{Target, delete, insert, modify};

/// Places of an ECMP group.
pub const ECMP_SLOTS: usize = 32;
/// Greatest level-2 exclusion number.
pub const MAX_L2_XID: u16 = (1 << 9) - 1;
/// Greatest id of a LAG.
pub const MAX_LAG: u8 = 254;
/// Most nodes, and most ECMP groups; the chip has 2^15 nodes in all.
pub const MAX_NODES: usize = 1 << 15;
/// Most members of a group, and most ports and LAGs of a node.
pub const MAX_MEMBERS: usize = 1 << 12;
/// Bits of a hash for choices.
const HASH_MASK: u32 = (1 << 13) - 1;

/// A node of level 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct L1Node {
    /// The control plane's number.
    pub id: u32,
    /// Value of `egress_rid` of its copies.
    pub rid: u16,
    /// A copy goes to each.
    pub ports: Vec<u32>,
    /// A copy goes to one port of each.
    pub lags: Vec<u8>,
}

/// A node or an ECMP group as part of a multicast group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Of the node or ECMP group.
    pub id: u32,
    /// Packets with this `level1_exclusion_id` leave it out.
    pub l1_xid: Option<u16>,
}

/// A multicast group.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// Value of `mcast_grp_a` or `mcast_grp_b`.
    pub id: u16,
    /// Level-1 nodes, in order.
    pub nodes: Vec<Member>,
    /// ECMP groups, in order.
    pub ecmps: Vec<Member>,
}

/// Nodes of which a packet's hash chooses one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ecmp {
    /// The control plane's number.
    pub id: u32,
    /// The nodes.
    pub nodes: Vec<u32>,
}

/// Ports of which a packet's hash chooses one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lag {
    /// The control plane's number.
    pub id: u8,
    /// The ports here.
    pub ports: Vec<u32>,
    /// Members on other chips that count behind the ports here.
    pub remote_msb_count: u32,
    /// Members on other chips that count before the ports here.
    pub remote_lsb_count: u32,
}

/// What the engine knows of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MulticastPort {
    /// Where copies go while the port is down, with port protection.
    pub backup_port: Option<u32>,
    /// Whether the control plane holds it for up.
    pub forwards: bool,
    /// Whether it is the port of `copy_to_cpu`.
    pub copies_to_cpu: bool,
}

impl Default for MulticastPort {
    fn default() -> Self {
        Self { backup_port: None, forwards: true, copies_to_cpu: false }
    }
}

/// What holds for all groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MulticastConfig {
    /// A packet with this `rid` has level-2 exclusion in all nodes.
    pub global_rid: u16,
    /// Copies for ports that are down go to their backups.
    pub port_protection: bool,
    /// Kept for the control plane: a LAG always prefers ports that are up here.
    pub fast_failover: bool,
}

/// What a packet tells the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketOfGroup {
    /// `rid`
    pub rid: u16,
    /// `level1_exclusion_id`
    pub l1_xid: u16,
    /// `level2_exclusion_id`
    pub l2_xid: u16,
    /// `level1_mcast_hash`
    pub hash1: u16,
    /// `level2_mcast_hash`
    pub hash2: u16,
    /// Tofino 2 mixes a node's `rid` into the hash of its LAGs.
    pub mixes_rid: bool,
}

/// Groups, nodes and what they name.
#[derive(Clone, Debug, Default)]
pub struct MulticastTree {
    /// What holds for all groups.
    pub config: MulticastConfig,
    groups: BTreeMap<u16, Group>,
    nodes: BTreeMap<u32, L1Node>,
    ecmps: BTreeMap<u32, [Option<u32>; ECMP_SLOTS]>,
    lags: BTreeMap<u8, Lag>,
    prunes: BTreeMap<u16, BTreeSet<u32>>,
    ports: BTreeMap<u32, MulticastPort>,
}

const GROUP: &str = "multicast group";
const NODE: &str = "multicast node";
const ECMP: &str = "multicast ECMP group";
const LAG: &str = "multicast LAG";

impl MulticastTree {
    /// Adds a group.
    ///
    /// # Errors
    /// It exists, or names what is not there.
    pub fn insert_group(&mut self, group: Group) -> Result<(), ControlError> {
        self.check_group(&group)?;
        insert(GROUP, &mut self.groups, group.id, group)
    }

    /// Replaces a group.
    ///
    /// # Errors
    /// It does not exist, or names what is not there.
    pub fn modify_group(&mut self, group: Group) -> Result<(), ControlError> {
        self.check_group(&group)?;
        modify(GROUP, &mut self.groups, group.id, group)
    }

    /// Removes a group.
    ///
    /// # Errors
    /// It does not exist.
    pub fn delete_group(&mut self, id: u16) -> Result<(), ControlError> {
        delete(GROUP, &mut self.groups, id)
    }

    /// A group.
    pub fn group(&self, id: u16) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// All groups by id.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    fn check_group(&self, group: &Group) -> Result<(), ControlError> {
        check_count(GROUP, group.id.into(), group.nodes.len() + group.ecmps.len())?;
        let missing = |what: &str, id: u32| {
            ControlError::NotFound(format!("{GROUP} {}: there is no {what} {id}; insert it first", group.id))
        };
        if let Some(member) = group.nodes.iter().find(|member| !self.nodes.contains_key(&member.id)) {
            return Err(missing(NODE, member.id));
        }
        if let Some(member) = group.ecmps.iter().find(|member| !self.ecmps.contains_key(&member.id)) {
            return Err(missing(ECMP, member.id));
        }
        Ok(())
    }

    /// Adds a node.
    ///
    /// # Errors
    /// It exists, or a port or LAG is out of range.
    pub fn insert_node(&mut self, node: L1Node) -> Result<(), ControlError> {
        check_node(&node)?;
        check_room(NODE, self.nodes.len(), MAX_NODES)?;
        insert_any(NODE, &mut self.nodes, node.id, node)
    }

    /// Replaces a node.
    ///
    /// # Errors
    /// It does not exist, or a port or LAG is out of range.
    pub fn modify_node(&mut self, node: L1Node) -> Result<(), ControlError> {
        check_node(&node)?;
        modify(NODE, &mut self.nodes, node.id, node)
    }

    /// Removes a node.
    ///
    /// # Errors
    /// It does not exist, or a group still has it.
    pub fn delete_node(&mut self, id: u32) -> Result<(), ControlError> {
        let group = self.groups.values().find(|group| group.nodes.iter().any(|member| member.id == id));
        if let Some(group) = group {
            return Err(in_use(NODE, id, GROUP, group.id.into()));
        }
        let ecmp = self.ecmps.iter().find(|(_, slots)| slots.contains(&Some(id)));
        if let Some((ecmp, _)) = ecmp {
            return Err(in_use(NODE, id, ECMP, *ecmp));
        }
        delete(NODE, &mut self.nodes, id)
    }

    /// A node.
    pub fn node(&self, id: u32) -> Option<&L1Node> {
        self.nodes.get(&id)
    }

    /// All nodes by id.
    pub fn nodes(&self) -> impl Iterator<Item = &L1Node> {
        self.nodes.values()
    }

    /// Adds an ECMP group.
    ///
    /// # Errors
    /// It exists, is too large, or names what is not there.
    pub fn insert_ecmp(&mut self, ecmp: &Ecmp) -> Result<(), ControlError> {
        let slots = self.slots(ecmp, [None; ECMP_SLOTS])?;
        check_room(ECMP, self.ecmps.len(), MAX_NODES)?;
        insert_any(ECMP, &mut self.ecmps, ecmp.id, slots)
    }

    /// Replaces an ECMP group's nodes; one that stays keeps its place.
    ///
    /// # Errors
    /// It does not exist, is too large, or names what is not there.
    pub fn modify_ecmp(&mut self, ecmp: &Ecmp) -> Result<(), ControlError> {
        let old = self.ecmps.get(&ecmp.id).copied().unwrap_or([None; ECMP_SLOTS]);
        let slots = self.slots(ecmp, old)?;
        modify(ECMP, &mut self.ecmps, ecmp.id, slots)
    }

    /// Removes an ECMP group.
    ///
    /// # Errors
    /// It does not exist, or a group still has it.
    pub fn delete_ecmp(&mut self, id: u32) -> Result<(), ControlError> {
        let group = self.groups.values().find(|group| group.ecmps.iter().any(|member| member.id == id));
        if let Some(group) = group {
            return Err(in_use(ECMP, id, GROUP, group.id.into()));
        }
        delete(ECMP, &mut self.ecmps, id)
    }

    /// An ECMP group.
    pub fn ecmp(&self, id: u32) -> Option<Ecmp> {
        self.ecmps.get(&id).map(|slots| Ecmp { id, nodes: slots.iter().flatten().copied().collect() })
    }

    /// All ECMP groups by id.
    pub fn ecmps(&self) -> impl Iterator<Item = Ecmp> {
        self.ecmps
            .iter()
            .map(|(id, slots)| Ecmp { id: *id, nodes: slots.iter().flatten().copied().collect() })
    }

    /// Places of an ECMP group's nodes, given those that it had.
    fn slots(
        &self,
        ecmp: &Ecmp,
        mut slots: [Option<u32>; ECMP_SLOTS],
    ) -> Result<[Option<u32>; ECMP_SLOTS], ControlError> {
        if ecmp.nodes.len() > ECMP_SLOTS {
            return Err(ControlError::ResourceExhausted(format!(
                "{ECMP} {} has {} nodes; the most is {ECMP_SLOTS}",
                ecmp.id,
                ecmp.nodes.len()
            )));
        }
        for slot in &mut slots {
            *slot = slot.filter(|node| ecmp.nodes.contains(node));
        }
        for &node in &ecmp.nodes {
            if !self.nodes.contains_key(&node) {
                let text = format!("{ECMP} {}: there is no {NODE} {node}; insert it first", ecmp.id);
                return Err(ControlError::NotFound(text));
            }
            let is_there = slots.contains(&Some(node));
            if let Some(free) = slots.iter_mut().find(|slot| slot.is_none()).filter(|_| !is_there) {
                *free = Some(node);
            }
        }
        Ok(slots)
    }

    /// Sets the members of a LAG. One without members is as good as none.
    ///
    /// # Errors
    /// Its number or a port is out of range.
    pub fn put_lag(&mut self, lag: Lag) -> Result<(), ControlError> {
        if lag.id > MAX_LAG {
            let text = format!("{LAG} {} is not a number from 0 to {MAX_LAG}", lag.id);
            return Err(ControlError::InvalidArgument(text));
        }
        check_ports(LAG, lag.id.into(), &lag.ports)?;
        let mut lag = lag;
        lag.ports.sort_unstable();
        lag.ports.dedup();
        self.lags.insert(lag.id, lag);
        Ok(())
    }

    /// Forgets a LAG.
    pub fn delete_lag(&mut self, id: u8) {
        self.lags.remove(&id);
    }

    /// A LAG that was set.
    pub fn lag(&self, id: u8) -> Option<&Lag> {
        self.lags.get(&id)
    }

    /// All LAGs that were set, by id.
    pub fn lags(&self) -> impl Iterator<Item = &Lag> {
        self.lags.values()
    }

    /// Sets the ports that a level-2 exclusion number leaves out.
    ///
    /// # Errors
    /// The number or a port is out of range.
    pub fn set_prune(&mut self, l2_xid: u16, ports: BTreeSet<u32>) -> Result<(), ControlError> {
        if l2_xid > MAX_L2_XID {
            let text =
                format!("multicast exclusion: level-2 number {l2_xid} is not one from 0 to {MAX_L2_XID}");
            return Err(ControlError::InvalidArgument(text));
        }
        for &port in &ports {
            check_port("multicast exclusion", port)?;
        }
        if ports.is_empty() {
            self.prunes.remove(&l2_xid);
        } else {
            self.prunes.insert(l2_xid, ports);
        }
        Ok(())
    }

    /// The ports that a level-2 exclusion number leaves out.
    pub fn prune(&self, l2_xid: u16) -> &BTreeSet<u32> {
        static NONE: BTreeSet<u32> = BTreeSet::new();
        self.prunes.get(&l2_xid).unwrap_or(&NONE)
    }

    /// Sets what is known of a port.
    ///
    /// # Errors
    /// It or its backup is none of the chip's.
    pub fn set_port(&mut self, port: u32, known: MulticastPort) -> Result<(), ControlError> {
        check_port("multicast port", port)?;
        if let Some(backup) = known.backup_port {
            check_port("multicast backup port", backup)?;
        }
        if known.copies_to_cpu {
            // The chip has one such port.
            self.ports.values_mut().for_each(|other| other.copies_to_cpu = false);
        }
        if known == MulticastPort::default() {
            self.ports.remove(&port);
        } else {
            self.ports.insert(port, known);
        }
        Ok(())
    }

    /// What is known of a port.
    pub fn port(&self, port: u32) -> MulticastPort {
        self.ports.get(&port).copied().unwrap_or_default()
    }

    /// The port of `copy_to_cpu`, if the control plane has set one.
    pub fn cpu_port(&self) -> Option<u32> {
        self.ports.iter().find(|(_, known)| known.copies_to_cpu).map(|(port, _)| *port)
    }

    /// Whether ports of a node with this `rid` may be left out for a packet, and which.
    pub(crate) fn pruned(&self, packet: &PacketOfGroup, rid: u16) -> &BTreeSet<u32> {
        static NONE: BTreeSet<u32> = BTreeSet::new();
        let reaches = packet.rid == rid || packet.rid == self.config.global_rid;
        if reaches { self.prune(packet.l2_xid) } else { &NONE }
    }

    /// Where the copies of a packet for a group go, in order: nodes, then ECMP groups.
    pub(crate) fn targets(&self, id: u16, packet: &PacketOfGroup, down: &BTreeSet<u32>) -> Vec<Target> {
        let Some(group) = self.groups.get(&id) else { return Vec::new() };
        let stays = |member: &&Member| member.l1_xid != Some(packet.l1_xid);
        let direct = group.nodes.iter().filter(stays).filter_map(|member| self.nodes.get(&member.id));
        let chosen = group.ecmps.iter().filter(stays).filter_map(|member| {
            let slots = self.ecmps.get(&member.id)?;
            self.nodes.get(&chosen_node(slots, packet.hash1)?)
        });
        let mut all = Vec::new();
        for node in direct.chain(chosen) {
            self.copies_of(node, packet, down, &mut all);
        }
        all
    }

    fn copies_of(&self, node: &L1Node, packet: &PacketOfGroup, down: &BTreeSet<u32>, all: &mut Vec<Target>) {
        let pruned = self.pruned(packet, node.rid);
        let direct = node.ports.iter().filter(|port| !pruned.contains(*port));
        let direct = direct.map(|&port| if self.is_up(port, down) { port } else { self.backup(port) });
        let chosen = node.lags.iter().filter_map(|id| {
            let port = self.port_of_lag(self.lags.get(id)?, node.rid, packet, down)?;
            let stays = !pruned.contains(&port);
            stays.then(|| if self.is_up(port, down) { port } else { self.backup(port) })
        });
        all.extend(direct.chain(chosen).map(|port| Target { port, instance: node.rid }));
    }

    fn is_up(&self, port: u32, down: &BTreeSet<u32>) -> bool {
        !down.contains(&port) && self.port(port).forwards
    }

    fn backup(&self, port: u32) -> u32 {
        let backup = self.port(port).backup_port.filter(|_| self.config.port_protection);
        backup.unwrap_or(port)
    }

    /// The port of a LAG that the hash falls on, another that is up if it is down; none if the hash falls on
    /// a member of another chip.
    fn port_of_lag(&self, lag: &Lag, rid: u16, packet: &PacketOfGroup, down: &BTreeSet<u32>) -> Option<u32> {
        let mixed = if packet.mixes_rid { packet.hash2 ^ rid } else { packet.hash2 };
        let hash = u64::from(u32::from(mixed) & HASH_MASK);
        let here = lag.ports.len() as u64;
        let before = u64::from(lag.remote_lsb_count);
        let all = before + here + u64::from(lag.remote_msb_count);
        let at = hash.checked_rem(all)?.checked_sub(before)?;
        let port = lag.ports.get(usize::try_from(at).ok()?).copied()?;
        if self.is_up(port, down) {
            return Some(port);
        }
        let live: Vec<u32> = lag.ports.iter().copied().filter(|&port| self.is_up(port, down)).collect();
        let other = hash.checked_rem(live.len() as u64).and_then(|at| live.get(at as usize).copied());
        Some(other.unwrap_or(port))
    }
}

/// The node that a hash falls on, counted among the places; if that place is empty, among the nodes.
fn chosen_node(slots: &[Option<u32>; ECMP_SLOTS], hash: u16) -> Option<u32> {
    let hash = usize::from(hash);
    let at = slots.get(hash % ECMP_SLOTS).copied().flatten();
    let live = || {
        let nodes: Vec<u32> = slots.iter().flatten().copied().collect();
        hash.checked_rem(nodes.len()).and_then(|at| nodes.get(at).copied())
    };
    at.or_else(live)
}

fn check_node(node: &L1Node) -> Result<(), ControlError> {
    check_count(NODE, node.id, node.ports.len() + node.lags.len())?;
    if let Some(lag) = node.lags.iter().find(|lag| **lag > MAX_LAG) {
        let text = format!("{NODE} {}: LAG {lag} is not a number from 0 to {MAX_LAG}", node.id);
        return Err(ControlError::InvalidArgument(text));
    }
    check_ports(NODE, node.id, &node.ports)
}

fn check_ports(what: &str, id: u32, ports: &[u32]) -> Result<(), ControlError> {
    ports.iter().try_for_each(|&port| check_port(&format!("{what} {id}"), port))
}

fn check_count(what: &str, id: u32, count: usize) -> Result<(), ControlError> {
    if count <= MAX_MEMBERS {
        return Ok(());
    }
    let text = format!("{what} {id} has {count} members; the most is {MAX_MEMBERS}");
    Err(ControlError::ResourceExhausted(text))
}

fn check_room(what: &str, count: usize, most: usize) -> Result<(), ControlError> {
    if count < most {
        return Ok(());
    }
    Err(ControlError::ResourceExhausted(format!("there are {most} of {what} already; delete one first")))
}

fn insert_any<V>(what: &str, map: &mut BTreeMap<u32, V>, id: u32, value: V) -> Result<(), ControlError> {
    if map.contains_key(&id) {
        return Err(ControlError::AlreadyExists(format!("{what} {id} exists already; modify it instead")));
    }
    map.insert(id, value);
    Ok(())
}

fn in_use(what: &str, id: u32, by: &str, of: u32) -> ControlError {
    ControlError::FailedPrecondition(format!("{by} {of} still has {what} {id}; take it out there first"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32, rid: u16, ports: &[u32], lags: &[u8]) -> L1Node {
        L1Node { id, rid, ports: ports.to_vec(), lags: lags.to_vec() }
    }

    fn group(id: u16, nodes: &[(u32, Option<u16>)], ecmps: &[u32]) -> Group {
        Group {
            id,
            nodes: nodes.iter().map(|&(id, l1_xid)| Member { id, l1_xid }).collect(),
            ecmps: ecmps.iter().map(|&id| Member { id, l1_xid: None }).collect(),
        }
    }

    fn ports(tree: &MulticastTree, packet: PacketOfGroup, down: &[u32]) -> Vec<(u32, u16)> {
        let down = down.iter().copied().collect();
        tree.targets(7, &packet, &down).iter().map(|target| (target.port, target.instance)).collect()
    }

    fn tree() -> MulticastTree {
        let mut tree = MulticastTree::default();
        tree.config.global_rid = 0xffff;
        tree.insert_node(node(1, 10, &[1, 2], &[])).expect("a right node");
        tree.insert_node(node(2, 20, &[2, 3], &[])).expect("a right node");
        tree.insert_group(group(7, &[(1, Some(100)), (2, None)], &[])).expect("a right group");
        tree
    }

    #[test]
    fn a_member_is_left_out_by_its_exclusion_number_and_ports_by_the_packets() {
        let mut tree = tree();
        let packet = PacketOfGroup { rid: 20, l2_xid: 5, ..PacketOfGroup::default() };
        assert_eq!(ports(&tree, packet, &[]), [(1, 10), (2, 10), (2, 20), (3, 20)]);
        assert_eq!(ports(&tree, PacketOfGroup { l1_xid: 100, ..packet }, &[]), [(2, 20), (3, 20)]);
        tree.set_prune(5, [2].into()).expect("a right number");
        assert_eq!(ports(&tree, packet, &[]), [(1, 10), (2, 10), (3, 20)], "of the packet's own rid only");
        let global = PacketOfGroup { rid: 0xffff, ..packet };
        assert_eq!(ports(&tree, global, &[]), [(1, 10), (3, 20)]);
        assert_eq!(ports(&tree, PacketOfGroup { l2_xid: 6, ..global }, &[]).len(), 4);
    }

    #[test]
    fn hashes_choose_one_node_and_one_port() {
        let mut tree = tree();
        tree.insert_node(node(3, 30, &[], &[4])).expect("a right node");
        tree.insert_ecmp(&Ecmp { id: 1, nodes: vec![1, 2] }).expect("a right group");
        tree.put_lag(Lag { id: 4, ports: vec![9, 8], remote_msb_count: 1, remote_lsb_count: 1 })
            .expect("a LAG");
        tree.modify_group(group(7, &[(3, None)], &[1])).expect("a right group");
        let chosen = |tree: &MulticastTree, hash1, hash2, down: &[u32]| {
            ports(tree, PacketOfGroup { rid: 1, hash1, hash2, ..PacketOfGroup::default() }, down)
        };
        // Members of the LAG in order: one elsewhere, 8, 9, one elsewhere.
        assert_eq!(chosen(&tree, 0, 1, &[]), [(8, 30), (1, 10), (2, 10)]);
        assert_eq!(chosen(&tree, 1, 2, &[]), [(9, 30), (2, 20), (3, 20)]);
        assert_eq!(chosen(&tree, 33, 3, &[]), [(2, 20), (3, 20)], "the member elsewhere has the copy");
        assert_eq!(chosen(&tree, 2, 2, &[9]), [(8, 30), (1, 10), (2, 10)], "an empty place, and a dead port");
        // A node that stays keeps its place.
        tree.modify_ecmp(&Ecmp { id: 1, nodes: vec![2] }).expect("a right group");
        assert_eq!(chosen(&tree, 1, 0, &[]), [(2, 20), (3, 20)]);
        let packet = PacketOfGroup { rid: 1, hash2: 30, mixes_rid: true, ..PacketOfGroup::default() };
        assert_eq!(ports(&tree, packet, &[]), [(2, 20), (3, 20)], "30 ^ 30 falls on the member elsewhere");
    }

    #[test]
    fn a_backup_stands_in_with_protection_only() {
        let mut tree = tree();
        let known = MulticastPort { backup_port: Some(6), ..MulticastPort::default() };
        tree.set_port(3, known).expect("a port");
        let packet = PacketOfGroup { rid: 1, ..PacketOfGroup::default() };
        assert_eq!(ports(&tree, packet, &[3]).last(), Some(&(3, 20)));
        tree.config.port_protection = true;
        assert_eq!(ports(&tree, packet, &[3]).last(), Some(&(6, 20)));
        tree.set_port(3, MulticastPort { forwards: false, ..known }).expect("a port");
        assert_eq!(ports(&tree, packet, &[]).last(), Some(&(6, 20)));
    }

    #[test]
    fn what_is_in_use_stays_and_what_is_missing_is_named() {
        let mut tree = tree();
        assert!(matches!(tree.delete_node(1), Err(ControlError::FailedPrecondition(_))));
        assert!(matches!(tree.insert_group(group(8, &[(9, None)], &[])), Err(ControlError::NotFound(_))));
        assert!(matches!(tree.insert_ecmp(&Ecmp { id: 1, nodes: vec![9] }), Err(ControlError::NotFound(_))));
        assert!(matches!(tree.insert_node(node(1, 0, &[], &[])), Err(ControlError::AlreadyExists(_))));
        assert!(matches!(tree.insert_node(node(5, 0, &[512], &[])), Err(ControlError::InvalidArgument(_))));
        assert!(matches!(tree.insert_node(node(5, 0, &[], &[255])), Err(ControlError::InvalidArgument(_))));
        assert!(matches!(tree.set_prune(512, BTreeSet::new()), Err(ControlError::InvalidArgument(_))));
        let many = Ecmp { id: 1, nodes: (0..33).collect() };
        assert!(matches!(tree.insert_ecmp(&many), Err(ControlError::ResourceExhausted(_))));
        tree.delete_group(7).expect("it is there");
        tree.delete_node(1).expect("nobody has it any more");
    }
}
