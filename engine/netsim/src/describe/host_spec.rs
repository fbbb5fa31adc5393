//! Hosts in the description: addresses, interfaces, and what pairs of them have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host, with one network interface unless `interfaces` has more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Name, unique among all nodes.
    pub name: String,
    /// Its address, `aa:bb:cc:dd:ee:ff`.
    pub mac: String,
    /// Its address, unique.
    pub ipv4: core::net::Ipv4Addr,
    /// Address that it sends to: what a first-hop switch expects, known without ARP.
    #[serde(default = "default_gateway_mac")]
    pub gateway_mac: String,
    /// Length of its network's prefix, 0 to 32: hosts in it are sent to by their own address in place of the
    /// gateway's. With 32 there are none.
    #[serde(default = "default_prefix_len", skip_serializing_if = "is_default_prefix_len")]
    pub prefix_len: u8,
    /// Interfaces beyond port 0, in the order of their ports from 1 on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceSpec>,
    /// Which interfaces lead to which hosts; one without `to` is for all that no other names. Without any,
    /// all interfaces lead to every host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<HostWaySpec>,
}

/// A further interface of a host, which has the host's addresses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceSpec {
    /// Address that it sends to, as the host's.
    #[serde(default = "default_gateway_mac")]
    pub gateway_mac: String,
}

/// The interfaces that lead from one host to others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostWaySpec {
    /// Names of the hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Ports of interfaces in groups: flows are spread over the first group that has an interface whose link
    /// is up.
    pub interfaces: Vec<Vec<u32>>,
}

/// The base round-trip time of each pair of hosts, in groups of hosts that have the same ones.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairRttsSpec {
    /// Names of the hosts; each is in one group.
    pub groups: Vec<Vec<String>>,
    /// By the group of the sender and that of the receiver.
    pub rtt_ns: Vec<Vec<u64>>,
}

const fn default_prefix_len() -> u8 {
    32
}

// serde hands over a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_default_prefix_len(prefix_len: &u8) -> bool {
    *prefix_len == default_prefix_len()
}

fn default_gateway_mac() -> String {
    "02:00:00:00:00:01".to_owned()
}
