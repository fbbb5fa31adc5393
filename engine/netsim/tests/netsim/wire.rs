//! The smallest network: two hosts without a switch.

use p4cc_netsim::NetworkSpec;
use serde_json::{Value, json};

/// Hosts `a` and `b` on one 10 Gb/s wire of 50 us each way; `keys` are the rest of the description.
pub fn two_hosts(loss: f64, keys: &Value) -> NetworkSpec {
    let host = |name: &str, last: u8, peer: u8| {
        json!({
            "name": name, "mac": format!("02:00:00:00:00:{last:02x}"), "ipv4": format!("10.0.0.{last}"),
            "gateway_mac": format!("02:00:00:00:00:{peer:02x}"),
        })
    };
    let mut spec = json!({
        "switches": [],
        "hosts": [host("a", 1, 2), host("b", 2, 1)],
        "links": [{"a": {"node": "a"}, "b": {"node": "b"}, "rate_bps": 10_000_000_000_u64, "delay_ns": 50_000,
            "loss": loss}],
        "limits": {"max_events": 1_000_000},
    });
    for (key, value) in keys.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    NetworkSpec::from_json(&spec.to_string()).expect("a right description")
}
