//! The switch that cases, twins and fuzz targets run programs on.

use std::sync::Arc;

use p4cc_exec::Pipeline;
use p4cc_switch::{BufferConfig, DEFAULT_PASS_LIMIT, ExecChoice, PortConfig, Switch, SwitchConfig};
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
        deflect_on_drop: false,
    }
}

/// What a case wants of its switch.
#[derive(Clone, Copy, Default, Debug)]
pub struct Setup {
    /// Port whose packets go to the controller.
    pub cpu_port: Option<u32>,
    /// What finds its queue full runs through ingress once more (v1model).
    pub deflect_on_drop: bool,
    /// Queues hold three packets, and the shared buffer little more.
    pub is_tight: bool,
}

/// What a tight switch has.
const TIGHT_PKTS: u32 = 3;
const TIGHT_BUFFER: BufferConfig =
    BufferConfig { bytes: 2_000, reserve_bytes: 0, resume_offset_bytes: 0, lossless: 0 };

/// The switch with a program, run by the back end of choice.
pub fn switch(pipeline: &Arc<Pipeline>, exec: ExecChoice) -> Switch {
    switch_with(pipeline, exec, Setup::default())
}

/// The same as a case wants it.
#[expect(clippy::missing_panics_doc, reason = "the configuration is the same each time and is right")]
pub fn switch_with(pipeline: &Arc<Pipeline>, exec: ExecChoice, setup: Setup) -> Switch {
    let Setup { cpu_port, deflect_on_drop, is_tight } = setup;
    let mut config = SwitchConfig { cpu_port, deflect_on_drop, ..config() };
    if is_tight {
        config.buffer = Some(TIGHT_BUFFER);
        config.ports.iter_mut().for_each(|port| port.capacity_pkts = TIGHT_PKTS);
    }
    let mut switch = Switch::new(config).expect("the configuration is right");
    switch.control().set_exec(exec);
    switch.control().set_pipeline(Arc::clone(pipeline));
    switch
}
