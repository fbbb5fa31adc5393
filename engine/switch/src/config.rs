//! What a switch is made of: ports, rates, buffers, units.

use p4cc_units::Rate;

/// Ports that v1model can name with its 9 bits.
pub const MAX_PORTS: u32 = 512;
/// Queues of a port; 0 is served last, 7 first.
pub const PRIORITIES: usize = 8;
/// Largest capacity of one queue, in packets: what `enq_qdepth`'s 19 bits can count.
pub const MAX_QUEUE_PKTS: u32 = (1 << 19) - 1;
/// Most extra bytes that a link may add to each packet.
pub const MAX_FRAMING_BYTES: u32 = 256;

/// Unit of v1model's timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TimestampUnit {
    /// Microseconds, as BMv2.
    #[default]
    Us,
    /// Nanoseconds.
    Ns,
}

/// Unit of `enq_qdepth` and `deq_qdepth`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum QdepthUnit {
    /// Packets.
    #[default]
    Packets,
    /// Cells of [`CELL_BYTES`] bytes; a packet takes whole cells of its length on the link.
    Cells80,
}

/// Bytes of a cell of [`QdepthUnit::Cells80`].
pub const CELL_BYTES: u32 = 80;

/// A port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortConfig {
    /// Number that the program sees.
    pub port: u32,
    /// Rate of the link.
    pub rate: Rate,
    /// Packets that each of the port's queues holds; the packet in transmission is not counted.
    pub capacity_pkts: u32,
    /// Bytes that the link adds to the IP bytes of each packet.
    pub framing_bytes: u32,
    /// Unit of the depths that the program sees.
    pub qdepth_unit: QdepthUnit,
}

/// A switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchConfig {
    /// P4Runtime's device id.
    pub device_id: u64,
    /// Ports, in any order.
    pub ports: Vec<PortConfig>,
    /// Unit of timestamps.
    pub timestamp_unit: TimestampUnit,
    /// Port whose packets go to the controller, if there is one. Not among `ports`.
    pub cpu_port: Option<u32>,
    /// Value of `egress_spec` that drops; v1model's default is 511.
    pub drop_port: u32,
    /// Seed of the switch's random stream.
    pub seed: u64,
}

/// v1model's drop port when nobody says otherwise.
pub const DEFAULT_DROP_PORT: u32 = 511;

/// A configuration that cannot be used: where, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {cause}; {remedy}")]
pub struct ConfigError {
    /// Which value, such as `ports[3].capacity_pkts`.
    pub place: String,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl ConfigError {
    fn new(place: String, cause: String, remedy: &str) -> Self {
        Self { place, cause, remedy: remedy.to_owned() }
    }
}

impl SwitchConfig {
    /// Checks every value against its bounds.
    ///
    /// # Errors
    /// The first value that is out of bounds or contradicts another.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut seen = [false; MAX_PORTS as usize];
        for (name, port) in [("drop_port", Some(self.drop_port)), ("cpu_port", self.cpu_port)] {
            let Some(port) = port else { continue };
            take(&mut seen, port, name)?;
        }
        for (i, port) in self.ports.iter().enumerate() {
            take(&mut seen, port.port, &format!("ports[{i}].port"))?;
            port.check(i)?;
        }
        Ok(())
    }
}

/// Takes a port number that nobody else has.
fn take(seen: &mut [bool], port: u32, place: &str) -> Result<(), ConfigError> {
    let Some(taken) = seen.get_mut(port as usize) else {
        let cause = format!("port {port} does not fit v1model's 9 bits");
        return Err(ConfigError::new(place.to_owned(), cause, "give a number from 0 to 511"));
    };
    if core::mem::replace(taken, true) {
        let cause = format!("port {port} is used twice");
        let remedy = "ports, the CPU port and the drop port each need a number of their own";
        return Err(ConfigError::new(place.to_owned(), cause, remedy));
    }
    Ok(())
}

impl PortConfig {
    fn check(&self, index: usize) -> Result<(), ConfigError> {
        if self.rate.as_bps() == 0 {
            let place = format!("ports[{index}].rate_bps");
            return Err(ConfigError::new(place, "a port of rate 0 never sends".to_owned(), "give 1 or more"));
        }
        if !(1..=MAX_QUEUE_PKTS).contains(&self.capacity_pkts) {
            let cause = format!("{} packets are out of range", self.capacity_pkts);
            let place = format!("ports[{index}].capacity_pkts");
            return Err(ConfigError::new(place, cause, "give a capacity from 1 to 524287"));
        }
        if self.framing_bytes > MAX_FRAMING_BYTES {
            let cause = format!("{} bytes a packet are out of range", self.framing_bytes);
            let place = format!("ports[{index}].framing_bytes");
            return Err(ConfigError::new(place, cause, "give 0 to 256; Ethernet's are 24 or 38"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(port: u32) -> PortConfig {
        PortConfig {
            port,
            rate: Rate::from_bps(1),
            capacity_pkts: 1,
            framing_bytes: 0,
            qdepth_unit: QdepthUnit::Packets,
        }
    }

    fn message(ports: Vec<PortConfig>, cpu_port: Option<u32>) -> String {
        let config = SwitchConfig {
            device_id: 1,
            ports,
            timestamp_unit: TimestampUnit::Us,
            cpu_port,
            drop_port: DEFAULT_DROP_PORT,
            seed: 0,
        };
        config.check().map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn every_bound_names_its_place() {
        assert_eq!(message(vec![port(0), port(1)], Some(510)), "fine");
        for (got, want) in [
            (message(vec![port(512)], None), "ports[0].port: port 512 does not fit"),
            (message(vec![port(1), port(1)], None), "ports[1].port: port 1 is used twice"),
            (message(vec![port(511)], None), "ports[0].port: port 511 is used twice"),
            (message(vec![port(7)], Some(7)), "ports[0].port: port 7 is used twice"),
            (message(vec![PortConfig { rate: Rate::default(), ..port(1) }], None), "ports[0].rate_bps: "),
            (message(vec![PortConfig { capacity_pkts: 0, ..port(1) }], None), "ports[0].capacity_pkts: 0"),
            (
                message(vec![PortConfig { framing_bytes: 257, ..port(1) }], None),
                "ports[0].framing_bytes: 257",
            ),
        ] {
            assert!(got.starts_with(want), "{got}");
        }
    }
}
