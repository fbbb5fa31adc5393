//! What simple_switch and psa_switch add: queue depths and rates, mirroring sessions, time.

use std::time::{SystemTime, UNIX_EPOCH};

use p4cc_switch::config::PRIORITIES;
use p4cc_switch::{CloneSession, DropCause, Replica, Switch};
use p4cc_units::Rate;

use super::{Entry, of_switch};
use crate::fault::{Fault, Outcome};
use crate::service::{Answer, Args, Context};
use crate::value::{Fields, Value};

/// `SESSION_NOT_FOUND`.
const SESSION_NOT_FOUND: i32 = 1;
/// simple_switch's result of a setting that was taken, and of one that was not.
const DONE: Value = Value::I32(0);
const NOT_DONE: Value = Value::I32(1);

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    let switches = ["simple_switch", "psa_switch"].into_iter().flat_map(of_bmv2);
    switches
        .chain(of_switch("p4cc", [("set_port_rate_bps", set_rate_bps), ("get_port_counters", port_counters)]))
}

/// The calls of one of BMv2's switches; psa_switch has some of them.
fn of_bmv2(service: &'static str) -> impl Iterator<Item = Entry> {
    of_switch(
        service,
        [
            ("set_egress_queue_depth", |c, a| set_depth(c, Some(a.u32(1)?), None, a.u32(2)?)),
            ("set_egress_priority_queue_depth", |c, a| {
                set_depth(c, Some(a.u32(1)?), Some(priority(a, 2)?), a.u32(3)?)
            }),
            ("set_all_egress_queue_depths", |c, a| set_depth(c, None, None, a.u32(1)?)),
            ("set_egress_queue_rate", |c, a| set_rate(c, Some(a.u32(1)?), None, a.u64(2)?)),
            ("set_egress_priority_queue_rate", |c, a| {
                set_rate(c, Some(a.u32(1)?), Some(priority(a, 2)?), a.u64(3)?)
            }),
            ("set_all_egress_queue_rates", |c, a| set_rate(c, None, None, a.u64(1)?)),
            ("mirroring_session_add", session_add),
            ("mirroring_session_delete", session_delete),
            ("mirroring_session_get", session_get),
            ("mirroring_mapping_add", mapping_add),
            ("mirroring_mapping_delete", mapping_delete),
            ("mirroring_mapping_get_egress_port", mapping_get),
            ("get_time_elapsed_us", |c, _| Ok(Some(Value::I64(c.now.as_us() as i64)))),
            ("get_time_since_epoch_us", |_, _| Ok(Some(Value::I64(epoch_us())))),
        ],
    )
}

fn epoch_us() -> i64 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(wall.as_micros()).unwrap_or(i64::MAX)
}

fn priority(args: &Args<'_>, id: i16) -> Outcome<u8> {
    let priority = args.u32(id)?;
    u8::try_from(priority).ok().filter(|priority| usize::from(*priority) < PRIORITIES).ok_or_else(|| {
        Fault::Arguments(format!("there is no priority {priority}; give 0 to {}", PRIORITIES - 1))
    })
}

/// Applies a change to a port, or to all.
fn to_ports(switch: &mut Switch, port: Option<u32>, change: impl Fn(&mut Switch, u32) -> bool) -> Answer {
    let ports = match port {
        Some(port) => vec![port],
        None => switch.config().ports.iter().map(|port| port.port).collect(),
    };
    let done = ports.into_iter().all(|port| change(switch, port));
    Ok(Some(if done { DONE } else { NOT_DONE }))
}

fn set_depth(context: &mut Context<'_>, port: Option<u32>, priority: Option<u8>, depth_pkts: u32) -> Answer {
    to_ports(context.switch, port, |switch, port| {
        switch.control().set_queue_capacity(port, priority, depth_pkts)
    })
}

/// A rate of 0 packets a second is no limit, as in BMv2.
fn set_rate(context: &mut Context<'_>, port: Option<u32>, priority: Option<u8>, rate_pps: u64) -> Answer {
    let rate_pps = Some(rate_pps).filter(|rate_pps| *rate_pps > 0);
    to_ports(context.switch, port, |switch, port| {
        switch.control().set_queue_rate_pps(port, priority, rate_pps)
    })
}

/// The rate of a port's link in bit/s; 0 for no limit.
fn set_rate_bps(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let rate_bps = match args.u64(2)? {
        0 => u64::MAX,
        rate_bps => rate_bps,
    };
    let (port, rate) = (args.u32(1)?, Rate::from_bps(rate_bps));
    to_ports(context.switch, Some(port), |switch, port| switch.control().set_port_rate(port, rate))
}

/// Counters of a port by name.
fn port_counters(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let port = args.u32(1)?;
    let counters = context.switch.observation().port_counters(port);
    let counters = counters.ok_or_else(|| Fault::Arguments(format!("there is no port {port}")))?;
    let mut rows = vec![
        ("rx_pkts".to_owned(), counters.rx_pkts),
        ("rx_bytes".to_owned(), counters.rx_bytes),
        ("tx_pkts".to_owned(), counters.tx_pkts),
        ("tx_bytes".to_owned(), counters.tx_bytes),
        ("waiting_pkts".to_owned(), u64::from(context.switch.observation().port_depth_pkts(port))),
        ("peak_depth_pkts".to_owned(), u64::from(counters.peak_depth_pkts())),
    ];
    for cause in DropCause::ALL {
        let dropped = counters.queues.iter().map(|queue| queue.dropped.of(cause)).sum();
        rows.push((cause.column().to_owned(), dropped));
    }
    let pairs = rows.into_iter().map(|(name, value)| (Value::text(name), Value::I64(value as i64)));
    Ok(Some(Value::Map(crate::value::Type::String, crate::value::Type::I64, pairs.collect())))
}

fn bad_session(text: impl Into<String>) -> Fault {
    Fault::new(SESSION_NOT_FOUND, text)
}

pub(super) fn put_session(context: &mut Context<'_>, id: u32, replicas: Vec<Replica>) -> Outcome<()> {
    let session = CloneSession { id, replicas, class_of_service: 0, packet_length_bytes: 0 };
    let pre = context.switch.control().pre_mut();
    let put =
        if pre.session(id).is_some() { pre.modify_session(session) } else { pre.insert_session(session) };
    put.map_err(|error| bad_session(error.to_string()))
}

/// A session copies to a port, or as a multicast group does, be the group changed or made later, or both.
fn session_add(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, config) = (args.u32(1)?, args.fields(2)?);
    let port = if config.has(1) { Some(config.u32(1)?) } else { None };
    let group = if config.has(2) { Some(config.u32(2)?) } else { None };
    let replicas = context.memory.multicast.session_replicas(port, group);
    put_session(context, id, replicas)?;
    context.memory.multicast.follow(id, port, group);
    Ok(None)
}

fn session_delete(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = args.u32(1)?;
    let deleted = context.switch.control().pre_mut().delete_session(id);
    deleted.map_err(|error| bad_session(error.to_string()))?;
    context.memory.multicast.follow(id, None, None);
    Ok(None)
}

fn egress_port(context: &Context<'_>, id: u32) -> Option<u32> {
    context.switch.observation().pre().session(id)?.replicas.first().map(|replica| replica.first.port)
}

fn session_get(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let id = args.u32(1)?;
    if context.switch.observation().pre().session(id).is_none() {
        return Err(bad_session(format!("there is no session {id}")));
    }
    let (port, group) = match context.memory.multicast.followed(id) {
        Some((port, group)) => (port, Some(group)),
        None => (egress_port(context, id), None),
    };
    let fields = [(1, port), (2, group)];
    let fields = fields.into_iter().filter_map(|(at, number)| Some((at, Value::I32(number? as i32))));
    Ok(Some(Value::Struct(fields.collect::<Fields>())))
}

fn mapping_add(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let (id, port) = (args.u32(1)?, args.u32(2)?);
    let put = put_session(context, id, vec![Replica::new(port, 0)]);
    Ok(Some(if put.is_ok() { DONE } else { NOT_DONE }))
}

fn mapping_delete(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    let deleted = context.switch.control().pre_mut().delete_session(args.u32(1)?);
    Ok(Some(if deleted.is_ok() { DONE } else { NOT_DONE }))
}

fn mapping_get(context: &mut Context<'_>, args: &Args<'_>) -> Answer {
    Ok(Some(Value::I32(egress_port(context, args.u32(1)?).map_or(-1, |port| port as i32))))
}
