//! Ports: `$PORT` with rate, state and loop, `$PORT_STAT`, and names of ports.
//!
//! A port of the switch is there whether it was added or not, and is up until `$PORT_ENABLE` says
//! otherwise: a link of a network simulated or of the host stands in for the cable.

use p4cc_ir::Bits;
use p4cc_p4runtime::errors::Failure;
use p4cc_switch::PortCounters;
use p4cc_units::Rate;

use super::rows::{Change, ENTRIES, FixedEntry, RowKey, Rule, id_of, key_number, key_of};
use crate::fields::{Match, Row, Value};
use crate::schema::Table;
use crate::target::{Entry, Target, Verb};

/// Numbers of ports.
pub const PORTS: u32 = 512;
/// Channels of a connection.
const CHANNELS: u32 = 4;
/// Connections of a pipe.
const CONNECTIONS: u32 = 16;

/// `$PORT`
pub const PORT: Rule = Rule { forgives: true, effect: set_port, live: port_state, ..ENTRIES };

/// A port of the switch.
fn port_of(target: &Target<'_>, table: &Table, number: u64) -> Result<u32, Failure> {
    let port = u32::try_from(number).ok().filter(|port| target.switch.has_port(*port));
    port.ok_or_else(|| {
        Failure::invalid(format!(
            "table {}: the switch has no port {number}; start it with that port",
            table.name
        ))
    })
}

fn set_port(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let table = change.table;
    let port = port_of(target, table, change.number(0))?;
    let Some(new) = change.new else {
        target.switch.control().set_port_up(port, true);
        return Ok(());
    };
    let speed = id_of(table, "$SPEED");
    if change.given.contains(&speed)
        && let Some(rate) = rate_of(new.text(speed))
    {
        target.switch.control().set_port_rate(port, rate);
    }
    let enable = id_of(table, "$PORT_ENABLE");
    let is_new = change.old.is_none();
    if is_new || change.given.contains(&enable) {
        target.switch.control().set_port_up(port, new.flag(enable));
    }
    Ok(())
}

/// `BF_SPEED_100G`: 100 Gb/s; none of `BF_SPEED_NONE`.
pub fn rate_of(speed: &str) -> Option<Rate> {
    let digits = speed.strip_prefix("BF_SPEED_")?.split('G').next()?;
    digits.parse::<u64>().ok().map(|gigabits| Rate::from_bps(gigabits * 1_000_000_000))
}

fn port_state(target: &Target<'_>, table: &Table, key: &RowKey, row: &mut FixedEntry) {
    let port = key_number(key, 0) as u32;
    let flag =
        |row: &mut FixedEntry, name, value| drop(row.data.insert(id_of(table, name), Value::Bool(value)));
    let is_up = row.flag(id_of(table, "$PORT_ENABLE")) && target.switch.observation().is_port_up(port);
    flag(row, "$PORT_UP", is_up);
    flag(row, "$IS_VALID", true);
    flag(row, "$IS_INTERNAL", false);
    let (connection, channel) = connection_of(port);
    row.set_number(table, id_of(table, "$CONN_ID"), connection.into());
    row.set_number(table, id_of(table, "$CHNL_ID"), channel.into());
    row.data.insert(id_of(table, "$PORT_NAME"), Value::Text(format!("{connection}/{channel}")));
    row.data.insert(id_of(table, "$MEDIA_TYPE"), Value::Text("BF_MEDIA_TYPE_UNKNOWN".to_owned()));
}

/// Connection, from 1, and channel of a port: in the order of the ports, as there is no board.
pub fn connection_of(port: u32) -> (u32, u32) {
    let (pipe, at) = (port >> 7, port & 0x7f);
    (pipe * CONNECTIONS + at / CHANNELS + 1, at % CHANNELS)
}

fn port_at(connection: u32, channel: u32) -> Option<u32> {
    let at = connection.checked_sub(1).filter(|_| channel < CHANNELS)?;
    let (pipe, at) = (at / CONNECTIONS, at % CONNECTIONS);
    (pipe < 4).then_some(pipe << 7 | (at * CHANNELS + channel))
}

/// The count that stands behind a field; none that the switch does not count.
fn count_of(counters: &PortCounters, name: &str) -> u64 {
    match name {
        "$FramesReceivedOK" | "$FramesReceivedAll" => counters.rx_pkts,
        "$OctetsReceivedinGoodFrames" | "$OctetsReceived" => counters.rx_bytes,
        "$FramesTransmittedOK" | "$FramesTransmittedAll" => counters.tx_pkts,
        "$OctetsTransmittedTotal" | "$OctetsTransmittedwithouterror" => counters.tx_bytes,
        "$FramesReceivedoftypePAUSE" | "$PriorityPauseFrames" => {
            counters.pauses.iter().map(|pause| pause.received).sum()
        }
        "$FramesTransmittedPause" | "$FramesTransmittedPriPause" => {
            counters.pauses.iter().map(|pause| pause.sent).sum()
        }
        _ => 0,
    }
}

/// The switch's own counts of a port, by field.
fn own_counts(target: &Target<'_>, table: &Table, port: u32) -> Vec<(u32, u64)> {
    let counters = target.switch.observation().port_counters(port).unwrap_or_default();
    let fields = table.data.iter().flat_map(|data| &data.fields);
    fields.map(|field| (field.id, count_of(&counters, &field.name))).collect()
}

/// Writes statistics: a field that is given begins at that number, and a port that is deleted at 0.
///
/// # Errors
/// No such port.
pub fn write_statistics(target: &mut Target<'_>, verb: Verb, entry: &Entry<'_>) -> Result<(), Failure> {
    let table = entry.table;
    let ports: Vec<u32> = match (&entry.key, verb) {
        (None, Verb::Delete | Verb::Reset) => {
            (0..PORTS).filter(|port| target.switch.has_port(*port)).collect()
        }
        _ => vec![port_of(target, table, key_number(&key_of(entry)?, 0))?],
    };
    for port in ports {
        let counts = own_counts(target, table, port);
        let offsets = target.kept.fixed.statistics.entry(port).or_default();
        for (id, count) in counts {
            let given = entry.data.iter().find(|given| given.field.id == id);
            match (verb, given.map(|given| &given.value)) {
                (Verb::Delete | Verb::Reset, _) => drop(offsets.insert(id, 0_u64.wrapping_sub(count))),
                (_, Some(Value::Number(value))) => {
                    offsets.insert(id, value.low_u64().wrapping_sub(count));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Reads statistics of a port, or of all.
///
/// # Errors
/// No such port.
pub fn read_statistics(target: &Target<'_>, entry: &Entry<'_>) -> Result<Vec<Row>, Failure> {
    let table = entry.table;
    let ports: Vec<u32> = match &entry.key {
        None => (0..PORTS).filter(|port| target.switch.has_port(*port)).collect(),
        Some(_) => vec![port_of(target, table, key_number(&key_of(entry)?, 0))?],
    };
    let row = |port: u32| {
        let offsets = target.kept.fixed.statistics.get(&port);
        let shown = |(id, count): (u32, u64)| {
            let offset = offsets.and_then(|offsets| offsets.get(&id)).copied().unwrap_or(0);
            (id, Value::Number(Bits::from_u128(64, count.wrapping_add(offset).into())))
        };
        let key = table.key.first().map(|key| vec![(key.id, number_match(port))]);
        Row { key, action: 0, data: own_counts(target, table, port).into_iter().map(shown).collect() }
    };
    Ok(ports.into_iter().map(row).collect())
}

fn number_match(number: u32) -> Match {
    Match::Exact(Bits::from_u128(32, number.into()))
}

/// `$PORT_HDL_INFO`, `$PORT_FP_IDX_INFO` and `$PORT_STR_INFO`: which port has a connection, an index or a
/// name.
///
/// # Errors
/// No port has it.
pub fn read_name(entry: &Entry<'_>) -> Result<Vec<Row>, Failure> {
    let table = entry.table;
    let key = key_of(entry)?;
    let found = match (table.name.as_str(), key.as_slice()) {
        ("$PORT_HDL_INFO", [_, _]) => port_at(key_number(&key, 0) as u32, key_number(&key, 1) as u32),
        ("$PORT_FP_IDX_INFO", [_]) => {
            let index = key_number(&key, 0) as u32;
            port_at(index / CHANNELS + 1, index % CHANNELS)
        }
        ("$PORT_STR_INFO", [Match::Text(name)]) => name
            .split_once('/')
            .and_then(|(connection, channel)| port_at(connection.parse().ok()?, channel.parse().ok()?)),
        _ => None,
    };
    let port =
        found.ok_or_else(|| Failure::not_found(format!("table {}: no port has this name", table.name)))?;
    let fields = table.key.iter().map(|field| field.id).zip(key).collect();
    let id = id_of(table, "$DEV_PORT");
    let data = vec![(id, Value::Number(Bits::from_u128(32, port.into())))];
    Ok(vec![Row { key: Some(fields), action: 0, data }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_ports_are_one_to_one() {
        for port in [0, 3, 4, 63, 128, 191, 447] {
            let (connection, channel) = connection_of(port);
            assert_eq!(port_at(connection, channel), Some(port));
        }
        assert_eq!(connection_of(0), (1, 0));
        assert_eq!(port_at(0, 0), None);
        assert_eq!(port_at(1, 4), None);
        assert_eq!(port_at(65, 0), None);
    }

    #[test]
    fn speeds_are_rates() {
        assert_eq!(rate_of("BF_SPEED_40G_NB"), Some(Rate::from_bps(40_000_000_000)));
        assert_eq!(rate_of("BF_SPEED_NONE"), None);
    }
}
