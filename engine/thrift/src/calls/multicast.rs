//! Multicast as BMv2's tools set it up: groups of nodes, a node being a replication id with ports and LAGs.
//!
//! The engine's groups are lists of copies; they are made anew whenever a node of theirs changes. A LAG takes
//! one copy, on the first of its ports: simple_switch never sets the hash that would choose another.
//!
//! Groups that a controller made or changed over P4Runtime have nodes too, one for each replication id. They
//! are made when a call asks for the group, and keep the copies as the controller wrote them.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_switch::{MulticastGroup, Replica, ReplicationEngine};
use serde_json::json;

use super::queues::put_session;
use super::{Entry, of_switch};
use crate::fault::{Fault, Outcome, multicast};
use crate::service::{Answer, Args, Call, Context};
use crate::value::Value;

/// Most nodes that calls may create.
const MAX_NODES: usize = 4_096;
/// Most nodes, those of groups made over P4Runtime included.
const MAX_ALL_NODES: usize = 65_536;

#[derive(Clone)]
struct Node {
    rid: u16,
    ports: Vec<u32>,
    lags: Vec<u32>,
    /// The copies as they were written over P4Runtime, with backups, where they were.
    written: Vec<Replica>,
}

/// What was set up, beyond the copies that come of it.
#[derive(Default)]
pub(crate) struct Nodes {
    nodes: BTreeMap<i32, Node>,
    groups: BTreeMap<u32, BTreeSet<i32>>,
    lags: BTreeMap<u32, Vec<u32>>,
    /// Mirroring sessions that copy as a group does: a port of their own, and the group.
    sessions: BTreeMap<u32, (Option<u32>, u32)>,
    /// Handles of nodes that are gone, which BMv2 gives again, and the first that was never given.
    free: BTreeSet<i32>,
    next: i32,
}

/// The calls, which both kinds of replication engine have alike but for LAGs.
const CALLS: [(&str, Call); 8] = [
    ("bm_mc_mgrp_create", group_create),
    ("bm_mc_mgrp_destroy", group_destroy),
    ("bm_mc_node_create", node_create),
    ("bm_mc_node_associate", node_associate),
    ("bm_mc_node_dissociate", node_dissociate),
    ("bm_mc_node_destroy", node_destroy),
    ("bm_mc_node_update", node_update),
    ("bm_mc_get_entries", get_entries),
];

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    of_switch("simple_pre_lag", CALLS)
        .chain(of_switch("simple_pre_lag", [("bm_mc_set_lag_membership", set_lag)]))
        .chain(of_switch("simple_pre", CALLS))
}

/// Numbers of the ones in a string of zeros and ones, the last of which is number 0.
fn parse_map(text: &str) -> Outcome<Vec<u32>> {
    if !text.bytes().all(|byte| matches!(byte, b'0' | b'1')) {
        return Err(Fault::new(multicast::ERROR, "a map of ports is a string of zeros and ones"));
    }
    Ok((0..).zip(text.bytes().rev()).filter(|(_, byte)| *byte == b'1').map(|(port, _)| port).collect())
}

/// The LAGs of a call that may name some.
fn parse_lags(args: &Args<'_>, id: i16) -> Outcome<Vec<u32>> {
    if args.has(id) { parse_map(args.text(id)?) } else { Ok(Vec::new()) }
}

fn no_node(handle: i32) -> Fault {
    Fault::new(multicast::INVALID_L1_HANDLE, format!("there is no node with handle {handle}"))
}

fn no_group(handle: u32) -> Fault {
    Fault::new(multicast::INVALID_MGRP_HANDLE, format!("there is no group with handle {handle}"))
}

impl Nodes {
    /// Copies of a mirroring session to a port and to a
    /// group's nodes, none as long as there is no such group.
    pub fn session_replicas(&self, port: Option<u32>, group: Option<u32>) -> Vec<Replica> {
        let members = group.and_then(|group| self.groups.get(&group));
        let of_group = members.map(|members| self.replicas(members)).unwrap_or_default();
        port.map(|port| Replica::new(port, 0)).into_iter().chain(of_group).collect()
    }

    /// Lets a mirroring session follow a group, or none.
    pub fn follow(&mut self, session: u32, port: Option<u32>, group: Option<u32>) {
        match group {
            Some(group) => self.sessions.insert(session, (port, group)),
            None => self.sessions.remove(&session),
        };
    }

    /// Port and group of a mirroring session that follows one.
    pub fn followed(&self, session: u32) -> Option<(Option<u32>, u32)> {
        self.sessions.get(&session).copied()
    }

    fn replicas(&self, members: &BTreeSet<i32>) -> Vec<Replica> {
        let nodes = members.iter().filter_map(|handle| self.nodes.get(handle));
        let mut replicas = Vec::new();
        for node in nodes {
            if !node.written.is_empty() {
                replicas.extend(node.written.iter().cloned());
                continue;
            }
            let of_lags = node.lags.iter().filter_map(|lag| self.lags.get(lag)?.first());
            for &port in node.ports.iter().chain(of_lags) {
                let replica = Replica::new(port, node.rid);
                // Nodes of one replication id may share a port; the copies would be the same.
                if !replicas.contains(&replica) {
                    replicas.push(replica);
                }
            }
        }
        replicas
    }

    /// Follows what became of a group over P4Runtime.
    fn adopt(&mut self, pre: &ReplicationEngine, id: u32) -> Outcome<()> {
        let Some(group) = pre.group(id) else {
            self.forget(id);
            return Ok(());
        };
        if self
            .groups
            .get(&id)
            .is_some_and(|members| in_order(&self.replicas(members)) == in_order(&group.replicas))
        {
            return Ok(());
        }
        self.forget(id);
        let mut by_rid = BTreeMap::<u16, Vec<Replica>>::new();
        for replica in &group.replicas {
            by_rid.entry(replica.first.instance).or_default().push(replica.clone());
        }
        if self.nodes.len() + by_rid.len() > MAX_ALL_NODES {
            return Err(Fault::new(
                multicast::TABLE_FULL,
                format!("there are more than {MAX_ALL_NODES} nodes"),
            ));
        }
        let mut members = BTreeSet::new();
        for (rid, written) in by_rid {
            let ports = written.iter().map(|replica| replica.first.port).collect();
            members.insert(self.insert(Node { rid, ports, lags: Vec::new(), written }));
        }
        self.groups.insert(id, members);
        Ok(())
    }

    /// Adds a node; its handle.
    fn insert(&mut self, node: Node) -> i32 {
        let handle = self.free.pop_first().unwrap_or(self.next);
        self.next = self.next.max(handle.saturating_add(1));
        self.nodes.insert(handle, node);
        handle
    }

    /// Removes a node; whether it was there.
    fn remove(&mut self, handle: i32) -> bool {
        let was_there = self.nodes.remove(&handle).is_some();
        if was_there {
            self.free.insert(handle);
        }
        was_there
    }

    /// Forgets a group, and the nodes that only its copies over P4Runtime made.
    fn forget(&mut self, id: u32) {
        let members = self.groups.remove(&id).unwrap_or_default();
        for handle in members {
            let written = self.nodes.get(&handle).is_some_and(|node| !node.written.is_empty());
            if written && !self.groups.values().any(|of| of.contains(&handle)) {
                self.remove(handle);
            }
        }
    }
}

/// Copies in an order of their own, for comparison.
fn in_order(replicas: &[Replica]) -> Vec<&Replica> {
    let mut all: Vec<_> = replicas.iter().collect();
    all.sort_by_key(|replica| (replica.first.port, replica.first.instance));
    all
}

/// Writes groups anew, all or, with a node, those that it is in.
fn rewrite(context: &mut Context<'_>, node: Option<i32>) -> Answer {
    let Context { switch, memory, .. } = context;
    let nodes = &memory.multicast;
    let concerned = nodes.groups.iter().filter(|(_, of)| node.is_none_or(|node| of.contains(&node)));
    for (&id, members) in concerned {
        let metadata =
            switch.observation().pre().group(id).map(|group| group.metadata.clone()).unwrap_or_default();
        let group = MulticastGroup { id, replicas: nodes.replicas(members), metadata };
        switch
            .control()
            .pre_mut()
            .modify_group(group)
            .map_err(|error| Fault::new(multicast::ERROR, error.to_string()))?;
    }
    rewrite_sessions(context)
}

/// Writes the mirroring sessions anew that follow a group.
fn rewrite_sessions(context: &mut Context<'_>) -> Answer {
    let sessions = context.memory.multicast.sessions.clone();
    for (id, (port, group)) in sessions {
        let replicas = context.memory.multicast.session_replicas(port, Some(group));
        // A controller may have deleted it over P4Runtime; then it is not made again.
        if context.switch.observation().pre().session(id).is_some() {
            put_session(context, id, replicas)?;
        }
    }
    Ok(None)
}

fn group_create(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = args.u32(2)?;
    if context.switch.observation().pre().group(id).is_some() {
        // In BMv2, too, the group stays as it is.
        return Ok(Some(Value::I32(id as i32)));
    }
    let group = MulticastGroup { id, replicas: Vec::new(), metadata: Vec::new() };
    let inserted = context.switch.control().pre_mut().insert_group(group);
    inserted.map_err(|error| Fault::new(multicast::INVALID_MGID, error.to_string()))?;
    context.memory.multicast.groups.insert(id, BTreeSet::new());
    Ok(Some(Value::I32(id as i32)))
}

fn group_destroy(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = args.u32(2)?;
    // BMv2 does not mind if there is no such group.
    let _ = context.switch.control().pre_mut().delete_group(id);
    context.memory.multicast.forget(id);
    rewrite_sessions(context)
}

fn node_create(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let rid = u16::try_from(args.i32(2)?)
        .map_err(|_| Fault::new(multicast::ERROR, "a replication id has 16 bits"))?;
    let (ports, lags) = (parse_map(args.text(3)?)?, parse_lags(args, 4)?);
    let nodes = &mut context.memory.multicast;
    if nodes.nodes.len() >= MAX_NODES {
        return Err(Fault::new(multicast::TABLE_FULL, format!("there are {MAX_NODES} nodes already")));
    }
    Ok(Some(Value::I32(nodes.insert(Node { rid, ports, lags, written: Vec::new() }))))
}

/// Group and node of arguments 2 and 3, both there.
fn pair(context: &mut Context<'_>, args: &Args<'_>) -> Outcome<(u32, i32)> {
    let (group, node) = (args.u32(2)?, args.i32(3)?);
    let nodes = &mut context.memory.multicast;
    nodes.adopt(context.switch.observation().pre(), group)?;
    if !nodes.groups.contains_key(&group) {
        return Err(no_group(group));
    }
    if !nodes.nodes.contains_key(&node) {
        return Err(no_node(node));
    }
    Ok((group, node))
}

fn node_associate(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (group, node) = pair(context, args)?;
    let groups = &mut context.memory.multicast.groups;
    if groups.values().any(|members| members.contains(&node)) {
        return Err(Fault::new(multicast::ERROR, format!("node {node} is in a group already")));
    }
    groups.entry(group).or_default().insert(node);
    rewrite(context, Some(node))
}

fn node_dissociate(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (group, node) = pair(context, args)?;
    if !context.memory.multicast.groups.entry(group).or_default().remove(&node) {
        return Err(Fault::new(multicast::ERROR, format!("node {node} is not in group {group}")));
    }
    rewrite(context, None)
}

fn node_destroy(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let handle = args.i32(2)?;
    let nodes = &mut context.memory.multicast;
    if !nodes.remove(handle) {
        return Err(no_node(handle));
    }
    for members in nodes.groups.values_mut() {
        members.remove(&handle);
    }
    rewrite(context, None)
}

fn node_update(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let handle = args.i32(2)?;
    let (ports, lags) = (parse_map(args.text(3)?)?, parse_lags(args, 4)?);
    let node = context.memory.multicast.nodes.get_mut(&handle).ok_or_else(|| no_node(handle))?;
    (node.ports, node.lags, node.written) = (ports, lags, Vec::new());
    rewrite(context, Some(handle))
}

fn set_lag(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let lag = match args.value(2)? {
        Value::I16(lag) => u32::try_from(*lag).ok(),
        _ => None,
    };
    let lag = lag.ok_or_else(|| Fault::new(multicast::ERROR, "there is no such LAG"))?;
    context.memory.multicast.lags.insert(lag, parse_map(args.text(3)?)?);
    rewrite(context, None)
}

/// Everything as BMv2's JSON. Each node has one second-level handle, its own.
fn get_entries(context: &mut Context<'_>, _args: &Args<'_>) -> Answer {
    let Context { switch, memory, .. } = context;
    let known =
        memory.multicast.groups.keys().chain(switch.observation().pre().groups().map(|group| &group.id));
    let all: BTreeSet<u32> = known.copied().collect();
    for id in all {
        memory.multicast.adopt(switch.observation().pre(), id)?;
    }
    let Nodes { nodes, groups, lags, .. } = &context.memory.multicast;
    let first =
        nodes.iter().map(|(handle, node)| json!({"handle": handle, "rid": node.rid, "l2_handle": handle}));
    let second =
        nodes.iter().map(|(handle, node)| json!({"handle": handle, "ports": node.ports, "lags": node.lags}));
    let document = json!({
        "mgrps": groups.iter().map(|(id, of)| json!({"id": id, "l1_handles": of})).collect::<Vec<_>>(),
        "l1_handles": first.collect::<Vec<_>>(),
        "l2_handles": second.collect::<Vec<_>>(),
        "lags": lags.iter().map(|(id, ports)| json!({"id": id, "ports": ports})).collect::<Vec<_>>(),
    });
    Ok(Some(Value::text(document.to_string())))
}

#[cfg(test)]
mod tests {
    use p4cc_exec::control::PortForm;
    use p4cc_switch::Target;

    use super::*;

    fn group(id: u32, replicas: Vec<Replica>) -> MulticastGroup {
        MulticastGroup { id, replicas, metadata: Vec::new() }
    }

    #[test]
    fn groups_of_p4runtime_have_a_node_for_each_replication_id_and_keep_their_backups() {
        let (mut pre, mut nodes) = (ReplicationEngine::default(), Nodes::default());
        let backup = Replica {
            first: Target { port: 1, instance: 7 },
            form: PortForm::default(),
            backups: vec![Target { port: 3, instance: 7 }],
        };
        let replicas = vec![backup.clone(), Replica::new(2, 8), Replica::new(4, 7)];
        pre.insert_group(group(5, replicas.clone())).expect("a right group");
        nodes.adopt(&pre, 5).expect("there is room");
        let rids: Vec<_> = nodes.nodes.values().map(|node| (node.rid, node.ports.clone())).collect();
        assert_eq!(rids, [(7, vec![1, 4]), (8, vec![2])]);
        let members = nodes.groups[&5].clone();
        assert_eq!(in_order(&nodes.replicas(&members)), in_order(&replicas), "backups too");
        // Asked again, the handles are the same; after a change there are new ones, and none is left over.
        nodes.adopt(&pre, 5).expect("there is room");
        assert_eq!(nodes.groups[&5], members);
        pre.modify_group(group(5, vec![Replica::new(9, 1)])).expect("it is there");
        nodes.adopt(&pre, 5).expect("there is room");
        assert_eq!(nodes.nodes.values().map(|node| node.ports.clone()).collect::<Vec<_>>(), [vec![9]]);
        pre.delete_group(5).expect("it is there");
        nodes.adopt(&pre, 5).expect("there is room");
        assert!(nodes.groups.is_empty() && nodes.nodes.is_empty());
    }
}
