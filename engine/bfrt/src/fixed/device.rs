//! The device: numbers of pipes, stages and ports.

use p4cc_p4runtime::errors::Failure;

use super::ports::PORTS;
use super::rows::{Change, FixedEntry, KEPT, RowKey, Rule, id_of};
use crate::fields::Value;
use crate::schema::{Chip, Table};
use crate::target::Target;

/// Pipes of both chips in their largest form.
const PIPES: u32 = 4;
/// Ports of a pipe that are counted as the chip's.
const PORTS_OF_A_PIPE: u32 = 72;
/// Ports of a pipe to the outside.
const FRONT_PORTS_OF_A_PIPE: u32 = 64;
/// What a port's number has of its pipe.
const PIPE_SHIFT: u32 = 7;

/// `dev.device_configuration`
pub const CONFIGURATION: Rule = Rule { live: numbers, ..KEPT };
/// `dev.warm_init`
pub const WARM_INIT: Rule = Rule { effect: refuse_warm_init, ..KEPT };

/// The chip that a table of its own belongs to.
pub fn chip_of(table: &Table) -> Chip {
    if table.name.starts_with(Chip::Tofino2.prefix()) { Chip::Tofino2 } else { Chip::Tofino1 }
}

/// Ports of the CPU's Ethernet, and the one of its bus.
fn cpu_ports(chip: Chip) -> ([u32; 4], u32) {
    match chip {
        Chip::Tofino1 => ([64, 65, 66, 67], 320),
        Chip::Tofino2 => ([2, 3, 4, 5], 0),
    }
}

fn numbers(target: &Target<'_>, table: &Table, _: &RowKey, row: &mut FixedEntry) {
    let chip = chip_of(table);
    let (ethernet, bus) = cpu_ports(chip);
    let front = FRONT_PORTS_OF_A_PIPE / 4 * PIPES;
    let sku = if chip == Chip::Tofino1 { "BFN-T10-064Q" } else { "BFN-T20-128Q" };
    row.data.insert(id_of(table, "sku"), Value::Text(sku.to_owned()));
    for (name, number) in [
        ("num_pipes", PIPES),
        ("num_stages", chip.stages()),
        ("num_max_ports", PORTS_OF_A_PIPE * PIPES),
        ("num_front_ports", front),
        ("pcie_cpu_port", bus),
    ] {
        row.set_number(table, id_of(table, name), number.into());
    }
    let recirculation =
        (0..PIPES).flat_map(|pipe| recirculation_ports(chip).map(move |at| pipe << PIPE_SHIFT | at));
    let recirculation: Vec<u32> = recirculation.collect();
    let has = |port: &u32| target.switch.has_port(*port) && !ethernet.contains(port);
    let external: Vec<u32> = (0..PORTS).filter(has).collect();
    for (name, ports) in [
        ("eth_cpu_port_list", ethernet.to_vec()),
        ("internal_port_list", Vec::new()),
        ("external_port_list", external),
        ("recirc_port_list", recirculation),
    ] {
        row.data.insert(id_of(table, name), Value::Numbers(ports));
    }
}

/// Ports of a pipe that lead back into it.
fn recirculation_ports(chip: Chip) -> std::ops::RangeInclusive<u32> {
    match chip {
        Chip::Tofino1 => 68..=71,
        Chip::Tofino2 => 6..=7,
    }
}

fn refuse_warm_init(_: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    match change.new {
        None => Ok(()),
        Some(_) => Err(Failure::unimplemented(format!(
            "table {}: restart by SetForwardingPipelineConfig, VERIFY_AND_WARM_INIT_BEGIN_AND_END",
            change.table.name
        ))),
    }
}
