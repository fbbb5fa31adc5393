//! `$mirror.cfg`: sessions of the chip.

use p4cc_p4runtime::errors::Failure;
use p4cc_switch::chip::mirror::{MirrorDirection, MirrorSession, no_coalescing};

use super::rows::{Change, ENTRIES, FixedEntry, Rule, id_of};
use crate::schema::Table;
use crate::target::Target;

/// `$mirror.cfg`
pub const SESSIONS: Rule = Rule { effect: set_session, ..ENTRIES };

fn set_session(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let id = u16::try_from(change.number(0)).unwrap_or(u16::MAX);
    let sessions = &mut target.switch.control().chip_mut().mirrors;
    let Some(new) = change.new else { return Ok(sessions.delete(id)?) };
    match change.table.action(new.action).map(|action| action.name.as_str()) {
        Some("$normal") => {}
        Some(_) => return Err(no_coalescing(id).into()),
        None => {
            return Err(Failure::invalid(format!("table {}: give the action $normal", change.table.name)));
        }
    }
    Ok(sessions.put(session(change.table, id, new)?)?)
}

fn session(table: &Table, id: u16, row: &FixedEntry) -> Result<MirrorSession, Failure> {
    let number = |name: &str| row.number(id_of(table, name));
    let flag = |name: &str| row.flag(id_of(table, name));
    let fit = |name: &str, most: u64| match number(name) {
        value if value <= most => Ok(value),
        value => Err(Failure::invalid(format!(
            "table {}, session {id}: {name} is {value}, above {most}",
            table.name
        ))),
    };
    let half = |name: &str| fit(name, u16::MAX.into()).map(|value| value as u16);
    let port = fit("$ucast_egress_port", u32::MAX.into())? as u32;
    Ok(MirrorSession {
        id,
        enabled: flag("$session_enable"),
        direction: match row.text(id_of(table, "$direction")) {
            "EGRESS" => MirrorDirection::Egress,
            "BOTH" => MirrorDirection::Both,
            _ => MirrorDirection::Ingress,
        },
        unicast_port: port,
        unicast_valid: flag("$ucast_egress_port_valid"),
        queue: fit("$egress_port_queue", u32::MAX.into())? as u32,
        ingress_cos: fit("$ingress_cos", 7)? as u8,
        color: match row.text(id_of(table, "$packet_color")) {
            "YELLOW" => 1,
            "RED" => 3,
            _ => 0,
        },
        level1_hash: half("$level1_mcast_hash")?,
        level2_hash: half("$level2_mcast_hash")?,
        groups: [
            (half("$mcast_grp_a")?, flag("$mcast_grp_a_valid")),
            (half("$mcast_grp_b")?, flag("$mcast_grp_b_valid")),
        ],
        l1_xid: half("$mcast_l1_xid")?,
        l2_xid: half("$mcast_l2_xid")?,
        rid: half("$mcast_rid")?,
        cpu_cos: fit("$icos_for_copy_to_cpu", 7)? as u8,
        copy_to_cpu: flag("$copy_to_cpu"),
        max_length_bytes: half("$max_pkt_len")?,
    })
}
