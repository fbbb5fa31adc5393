//! `$pre.*`: groups, nodes, ECMP groups, LAGs, pruning and ports of the packet replication engine.

use p4cc_p4runtime::errors::Failure;
use p4cc_switch::chip::{Ecmp, Group, L1Node, Lag, Member, MulticastPort};

use super::rows::{Change, ENTRIES, FixedEntry, KEPT, Rule, id_of};
use crate::schema::Table;
use crate::target::Target;

/// Exclusion numbers of level 2.
const L2_XIDS: u32 = 288;
/// LAGs.
const LAGS: u32 = 255;

/// Ids of the fields of `$pre.mgid`: nodes and ECMP groups, each with whether it is left out and for whom.
const GROUP_LISTS: &[&[u32]] = &[&[1, 2, 3], &[4, 5, 6]];

/// The rule of a table, by its name.
pub fn rule(name: &str) -> Option<Rule> {
    Some(match name {
        "$pre.mgid" => Rule { lists: GROUP_LISTS, effect: set_group, ..ENTRIES },
        "$pre.node" => Rule { effect: set_node, ..ENTRIES },
        "$pre.ecmp" => Rule { effect: set_ecmp, ..ENTRIES },
        "$pre.lag" => Rule { count: LAGS, effect: set_lag, ..KEPT },
        "$pre.prune" => Rule { count: L2_XIDS, effect: set_prune, ..KEPT },
        "$pre.port" => Rule { effect: set_port, ..KEPT },
        _ => return None,
    })
}

fn u16_of(value: u64) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

fn u32_of(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn members(table: &Table, row: &FixedEntry, names: [&str; 3]) -> Vec<Member> {
    let [ids, valid, xids] = names.map(|name| id_of(table, name));
    let (ids, valid, xids) = (row.numbers(ids), row.flags(valid), row.numbers(xids));
    let member = |(at, id): (usize, &u32)| {
        let excluded = valid.get(at).copied().unwrap_or(false);
        let xid = xids.get(at).copied().unwrap_or(0);
        Member { id: *id, l1_xid: excluded.then_some(u16_of(xid.into())) }
    };
    ids.iter().enumerate().map(member).collect()
}

fn set_group(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let id = u16_of(change.number(0));
    let tree = &mut target.switch.control().chip_mut().multicast;
    let Some(new) = change.new else { return Ok(tree.delete_group(id)?) };
    let nodes = ["$MULTICAST_NODE_ID", "$MULTICAST_NODE_L1_XID_VALID", "$MULTICAST_NODE_L1_XID"];
    let ecmps = ["$MULTICAST_ECMP_ID", "$MULTICAST_ECMP_L1_XID_VALID", "$MULTICAST_ECMP_L1_XID"];
    let group =
        Group { id, nodes: members(change.table, new, nodes), ecmps: members(change.table, new, ecmps) };
    match change.old {
        Some(_) => tree.modify_group(group)?,
        None => tree.insert_group(group)?,
    }
    Ok(())
}

fn set_node(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let id = u32_of(change.number(0));
    let Some(new) = change.new else { return delete_node(target, id) };
    let tree = &mut target.switch.control().chip_mut().multicast;
    let field = |name| id_of(change.table, name);
    let lag = |lag: &u32| {
        u8::try_from(*lag).map_err(|_| Failure::invalid(format!("$pre.node {id}: there is no LAG {lag}")))
    };
    let node = L1Node {
        id,
        rid: u16_of(new.number(field("$MULTICAST_RID"))),
        ports: new.numbers(field("$DEV_PORT")).to_vec(),
        lags: new.numbers(field("$MULTICAST_LAG_ID")).iter().map(lag).collect::<Result<_, _>>()?,
    };
    match change.old {
        Some(_) => tree.modify_node(node)?,
        None => tree.insert_node(node)?,
    }
    Ok(())
}

/// Deletes a node. As the chip's driver does, it takes the node out of its groups first.
fn delete_node(target: &mut Target<'_>, id: u32) -> Result<(), Failure> {
    let tree = &mut target.switch.control().chip_mut().multicast;
    let of_node = |group: &&Group| group.nodes.iter().any(|member| member.id == id);
    let groups: Vec<Group> = tree.groups().filter(of_node).cloned().collect();
    for mut group in groups {
        group.nodes.retain(|member| member.id != id);
        tree.modify_group(group)?;
    }
    tree.delete_node(id)?;
    let is_groups = |table: &&Table| super::name_of(table) == "$pre.mgid";
    if let Some(table) = target.schema.tables.iter().find(is_groups) {
        target.kept.fixed.rows.drop_member(table.id, GROUP_LISTS[0], id);
    }
    Ok(())
}

fn set_ecmp(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let id = u32_of(change.number(0));
    let tree = &mut target.switch.control().chip_mut().multicast;
    let Some(new) = change.new else { return Ok(tree.delete_ecmp(id)?) };
    let nodes = new.numbers(id_of(change.table, "$MULTICAST_NODE_ID")).to_vec();
    let ecmp = Ecmp { id, nodes };
    match change.old {
        Some(_) => tree.modify_ecmp(&ecmp)?,
        None => tree.insert_ecmp(&ecmp)?,
    }
    Ok(())
}

fn set_lag(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let id = u8::try_from(change.number(0)).unwrap_or(u8::MAX);
    let tree = &mut target.switch.control().chip_mut().multicast;
    let Some(new) = change.new else {
        tree.delete_lag(id);
        return Ok(());
    };
    let count = |name| u32_of(new.number(id_of(change.table, name)));
    let lag = Lag {
        id,
        ports: new.numbers(id_of(change.table, "$DEV_PORT")).to_vec(),
        remote_msb_count: count("$MULTICAST_LAG_REMOTE_MSB_COUNT"),
        remote_lsb_count: count("$MULTICAST_LAG_REMOTE_LSB_COUNT"),
    };
    Ok(tree.put_lag(lag)?)
}

fn set_prune(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let ports = change.new.map_or(&[][..], |new| new.numbers(id_of(change.table, "$DEV_PORT")));
    let ports = ports.iter().copied().collect();
    Ok(target.switch.control().chip_mut().multicast.set_prune(u16_of(change.number(0)), ports)?)
}

fn set_port(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let port = u32_of(change.number(0));
    let tree = &mut target.switch.control().chip_mut().multicast;
    let mut known = change.old.map_or_else(MulticastPort::default, |_| tree.port(port));
    let field = |name| id_of(change.table, name);
    match change.new {
        None => known = MulticastPort::default(),
        Some(new) => {
            let given = |name| change.given.contains(&field(name));
            if given("$MULTICAST_BACKUP_PORT") {
                let backup = u32_of(new.number(field("$MULTICAST_BACKUP_PORT")));
                known.backup_port = (backup != port).then_some(backup);
            }
            if given("$MULTICAST_FORWARD_STATE") {
                known.forwards = new.flag(field("$MULTICAST_FORWARD_STATE"));
            }
            if given("$COPY_TO_CPU_PORT_ENABLE") {
                known.copies_to_cpu = new.flag(field("$COPY_TO_CPU_PORT_ENABLE"));
            }
        }
    }
    Ok(tree.set_port(port, known)?)
}
