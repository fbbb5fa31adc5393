//! The switch that cases, twins and fuzz targets run programs on.

use std::sync::Arc;

use p4cc_exec::Pipeline;
use p4cc_switch::{DEFAULT_PASS_LIMIT, ExecChoice, PortConfig, Switch, SwitchConfig};
use p4cc_units::Rate;

/// Its ports, from 0 on, each of 1 Gbit/s with room for 64 packets.
pub const PORTS: u32 = 8;

/// Its configuration.
pub fn config() -> SwitchConfig {
    let port = |port| PortConfig {
        port,
        rate: Rate::from_bps(1_000_000_000),
        capacity_pkts: 64,
        ..PortConfig::default()
    };
    SwitchConfig {
        device_id: 1,
        ports: (0..PORTS).map(port).collect(),
        timestamp_unit: p4cc_switch::TimestampUnit::default(),
        buffer: None,
        cpu_port: None,
        drop_port: p4cc_exec::DEFAULT_DROP_PORT,
        seed: 1,
        pass_limit: DEFAULT_PASS_LIMIT,
    }
}

/// The switch with a program, run by the back end of choice.
pub fn switch(pipeline: &Arc<Pipeline>, exec: ExecChoice) -> Switch {
    switch_with_cpu_port(pipeline, exec, None)
}

/// The same with a port whose packets go to the controller.
#[expect(clippy::missing_panics_doc, reason = "the configuration is the same each time and is right")]
pub fn switch_with_cpu_port(pipeline: &Arc<Pipeline>, exec: ExecChoice, cpu_port: Option<u32>) -> Switch {
    let mut switch = Switch::new(SwitchConfig { cpu_port, ..config() }).expect("the configuration is right");
    switch.control().set_exec(exec);
    switch.control().set_pipeline(Arc::clone(pipeline));
    switch
}
