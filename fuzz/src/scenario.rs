//! Any text as the description of a network, as Python gives it: it is refused
//! with place and cause, or built and run for a while. What reads the YAML of a
//! scenario is Python; `tests/p4cc/scenario/test_scenario_texts.py` gives it changed files.

use std::sync::{Arc, OnceLock};

use p4cc_exec::Pipeline;
use p4cc_netsim::{Network, NetworkSpec, RunOptions};

use crate::{corpus, programs};

/// What one run may take.
const MAX_BYTES: usize = 1 << 16;
const MAX_EVENTS: u64 = 2_000;
const MAX_PORTS: usize = 64;

/// The last byte of the address is the port.
const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
header ipv4_t { bit<128> start; bit<24> net; bit<8> host; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; }
struct meta_t { }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); p.extract(h.ipv4); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { s.egress_spec = (bit<9>) h.ipv4.host; }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

fn forward() -> &'static Arc<Pipeline> {
    static MADE: OnceLock<Arc<Pipeline>> = OnceLock::new();
    MADE.get_or_init(|| programs::of_text(PROGRAM))
}

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = core::str::from_utf8(input.get(..MAX_BYTES).unwrap_or(input)) else { return };
    let mut spec = match NetworkSpec::from_json(text) {
        Ok(spec) => spec,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    spec.limits.max_events = spec.limits.max_events.min(MAX_EVENTS);
    if spec.switches.iter().map(|switch| switch.ports.len()).sum::<usize>() > MAX_PORTS {
        return;
    }
    let mut network = match Network::build(spec, 1) {
        Ok(network) => network,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for device in network.device_ids().collect::<Vec<_>>() {
        if let Some(switch) = network.switch_mut(device) {
            switch.control().set_pipeline(Arc::clone(forward()));
        }
    }
    if let Ok(mut fork) = network.fork(2) {
        let ran = fork.run(RunOptions::default());
        let _ = (ran.is_ok(), fork.results());
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    corpus::kept("scenario")
}
