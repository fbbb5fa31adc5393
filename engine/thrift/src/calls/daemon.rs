//! What concerns the whole switch: its program, its ports, itself.

use md5::{Digest, Md5};

use super::{Entry, of_daemon};
use crate::config::of_program;
use crate::fault::{Fault, Outcome};
use crate::service::{Answer, Args, Memory, Target};
use crate::state_file;
use crate::value::{Fields, Type, Value};

/// `NO_ONGOING_SWAP` and `CONFIG_SWAP_DISABLED`, which BMv2 gives for a config that it cannot use too.
const NO_ONGOING_SWAP: i32 = 3;
const CONFIG_SWAP_DISABLED: i32 = 1;
/// `DevMgrErrorCode`'s only one.
const PORT_ERROR: i32 = 1;

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    let standard = of_daemon(
        "standard",
        [
            ("bm_get_config", |target, _, _| Ok(Some(Value::text(config(target)?)))),
            ("bm_get_config_md5", |target, _, _| {
                Ok(Some(Value::String(Md5::digest(config(target)?).to_vec())))
            }),
            ("bm_load_new_config", load),
            ("bm_serialize_state", serialize),
            ("bm_swap_configs", swap),
            ("bm_reset_state", reset),
            ("bm_mgmt_get_info", info),
            ("bm_get_id_from_name", id_from_name),
            ("bm_dev_mgr_add_port", add_port),
            ("bm_dev_mgr_remove_port", remove_port),
            ("bm_dev_mgr_show_ports", show_ports),
        ],
    );
    standard.chain(of_daemon("p4cc", [("set_port_delay_ns", set_delay)]))
}

fn source(target: &dyn Target) -> Outcome<String> {
    target.config().ok_or_else(|| Fault::Internal("the switch has no program yet".to_owned()))
}

/// BMv2 JSON of the program: as it was given, or what a controller needs of a program given as P4-16 source.
pub(crate) fn config(target: &dyn Target) -> Outcome<String> {
    let text = source(target)?;
    if p4cc_bmv2json::is_document(&text) {
        return Ok(text);
    }
    let mut described = Err(Fault::Internal("the switch has no program yet".to_owned()));
    target.with_switch(&mut |switch, _| {
        if let Some(pipeline) = switch.observation().pipeline() {
            described = Ok(of_program(pipeline.program()).to_string());
        }
    });
    described
}

/// `IdLookupErrorCode`'s codes differ by whether there is such a kind of object.
fn id_from_name(target: &dyn Target, memory: &mut Memory, args: &Args<'_>) -> Answer {
    let (kind, name) = (args.i32(2)?, args.text(3)?);
    let found = memory.names(target)?.id(kind, name);
    let id = found.map_err(|has_kind| {
        Fault::new(i32::from(has_kind), format!("there is no object {name} of kind {kind}"))
    })?;
    Ok(Some(Value::I32(id)))
}

fn load(target: &dyn Target, memory: &mut Memory, args: &Args<'_>) -> Answer {
    let text = args.text(1)?;
    // What `bm_get_config` gave may come back: it stands for the program that runs.
    let is_own = config(target).is_ok_and(|own| own == text);
    memory.loaded = Some(if is_own { source(target)? } else { text.to_owned() });
    Ok(None)
}

fn serialize(target: &dyn Target, _memory: &mut Memory, _args: &Args<'_>) -> Answer {
    let text = state_file::encode(&source(target)?, &target.save().map_err(Fault::Internal)?);
    Ok(Some(Value::text(text)))
}

fn swap(target: &dyn Target, memory: &mut Memory, _args: &Args<'_>) -> Answer {
    let nothing = || Fault::new(NO_ONGOING_SWAP, "no config was loaded; call bm_load_new_config first");
    let config = memory.loaded.take().ok_or_else(nothing)?;
    target.load(config).map_err(|cause| Fault::new(CONFIG_SWAP_DISABLED, cause))?;
    Ok(None)
}

/// Loads the program anew: tables as it has them, cells of zero, no groups.
fn reset(target: &dyn Target, _memory: &mut Memory, _args: &Args<'_>) -> Answer {
    target.load(source(target)?).map_err(Fault::Internal)?;
    Ok(None)
}

fn info(target: &dyn Target, _memory: &mut Memory, _args: &Args<'_>) -> Answer {
    let mut device_id = 0;
    target.with_switch(&mut |switch, _| device_id = switch.device_id());
    let thrift_port = Value::I32(target.thrift_port().into());
    let mut info = Fields::from([(1, Value::I64(device_id as i64)), (2, thrift_port)]);
    info.extend(target.notifications_socket().map(|socket| (3, Value::text(socket))));
    Ok(Some(Value::Struct(info)))
}

fn add_port(target: &dyn Target, _memory: &mut Memory, args: &Args<'_>) -> Answer {
    let pcap = if args.has(3) { args.text(3)? } else { "" };
    let added = target.add_port(args.u32(2)?, args.text(1)?, pcap);
    added.map_err(|cause| Fault::new(PORT_ERROR, cause))?;
    Ok(None)
}

fn remove_port(target: &dyn Target, _memory: &mut Memory, args: &Args<'_>) -> Answer {
    target.remove_port(args.u32(1)?).map_err(|cause| Fault::new(PORT_ERROR, cause))?;
    Ok(None)
}

fn show_ports(target: &dyn Target, _memory: &mut Memory, _args: &Args<'_>) -> Answer {
    let ports = target.ports().into_iter().map(|port| {
        let remark = (!port.remark.is_empty()).then(|| (Value::text("remark"), Value::text(port.remark)));
        Value::structure([
            (1, Value::I32(port.port as i32)),
            (2, Value::text(port.interface)),
            (3, Value::Bool(port.up)),
            (4, Value::Map(Type::String, Type::String, remark.into_iter().collect())),
        ])
    });
    Ok(Some(Value::structs(ports.collect())))
}

/// The delay of a port's link.
fn set_delay(target: &dyn Target, _memory: &mut Memory, args: &Args<'_>) -> Answer {
    target.set_delay_ns(args.u32(1)?, args.u64(2)?).map_err(Fault::Arguments)?;
    Ok(None)
}
