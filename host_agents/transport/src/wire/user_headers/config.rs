//! The description of the headers of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The layer that the headers follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum After {
    /// Ethernet.
    Ethernet,
    /// IPv4 without options.
    Ipv4,
    /// UDP.
    Udp,
}

/// How the layers in front say that the headers follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Announcement {
    /// The EtherType.
    pub ethertype: Option<u16>,
    /// IPv4's protocol number.
    pub protocol: Option<u8>,
    /// IPv4's header length counts them: they are options.
    pub ihl: bool,
    /// The UDP destination port.
    pub udp_port: Option<u16>,
}

/// The headers of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserHeadersConfig {
    /// Where they are.
    pub after: After,
    /// What announces them.
    #[serde(default)]
    pub announce: Announcement,
    /// Whether receivers echo them.
    #[serde(default)]
    pub echo: bool,
    /// In the order of the wire.
    pub headers: Vec<UserHeaderConfig>,
}

/// One header, or a stack of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserHeaderConfig {
    /// Name of its type.
    pub name: String,
    /// Names and widths of its fields in bits, in the order of the wire.
    pub fields: Vec<(String, u32)>,
    /// The field that counts its repetitions; absent: once.
    #[serde(default)]
    pub count: Option<CountField>,
    /// Its bytes as senders write them, of each of its elements.
    pub bytes: Vec<u8>,
}

/// A field that counts the repetitions of a later header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountField {
    /// Place of its header in the list.
    pub header: usize,
    /// Place of the field there.
    pub field: usize,
}
