//! TCP connections of a run: the ports of each, and which flow a segment is of.
//!
//! A connection is known by addresses and ports. The client's port is the flow's, as over UDP; the server's
//! is iperf's, or the next that is free between two hosts whose flows have one client port.

use core::net::Ipv4Addr;
use std::collections::BTreeMap;

use hashbrown::HashTable;
use p4cc_switch::Stream;
use p4cc_transport::PacketFormat;
use p4cc_transport::tcp::{TcpClient, TcpServer};
use p4cc_transport::wire::{Ports, TcpPacket, source_port};

use crate::describe::spec::NetworkSpec;
use crate::describe::{FlowPlan, HostPlan, Topology};
use crate::error::{SpecError, refuse};
use crate::record::NoFlow;

/// First port of servers: iperf's.
const FIRST_SERVER_PORT: u16 = 5_001;
/// Last port of servers: those above are clients' (RFC6335).
const LAST_SERVER_PORT: u16 = 49_151;

/// Both ends of a connection.
#[derive(Debug)]
pub(crate) struct TcpEnds {
    pub client: TcpClient,
    pub server: TcpServer,
}

/// What tells a direction of a connection: source, destination, ports.
type Tuple = (Ipv4Addr, Ipv4Addr, Ports);

/// The end of a flow that a segment is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TcpEnd {
    Client,
    Server,
}

/// The flow of each direction of each connection. Looked up only: its order reaches nobody.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    table: HashTable<(Tuple, u32, TcpEnd)>,
    /// The next server port to try where connections share hosts and the client's port.
    next_port: BTreeMap<(Ipv4Addr, Ipv4Addr, u16), u16>,
}

impl Connections {
    /// Both ends of a flow's connection, if it speaks TCP.
    pub fn connect(
        &mut self,
        spec: &NetworkSpec,
        topology: &Topology,
        index: u32,
        plan: &FlowPlan,
        seed: u64,
    ) -> Result<Option<Box<TcpEnds>>, SpecError> {
        let sender = spec.algorithms.iter().nth(plan.algorithm as usize);
        let Some((name, config)) = sender.filter(|(_, config)| config.packets == PacketFormat::Tcp) else {
            return Ok(None);
        };
        let tcp = config.tcp().map_err(|error| {
            SpecError::new(format!("algorithms.{name}.{}", error.place), error.cause, error.remedy)
        })?;
        let (client, server) = (&topology.hosts[plan.src as usize], &topology.hosts[plan.dst as usize]);
        let ports = self.take_ports(client.ipv4, server.ipv4, plan)?;
        self.add((client.ipv4, server.ipv4, ports), index, TcpEnd::Server);
        self.add((server.ipv4, client.ipv4, ports.reversed()), index, TcpEnd::Client);
        // RFC6528: numbers that nobody guesses; here, of the flow's own stream.
        let mut stream = Stream::named(seed, &format!("flow.{}.initial_seq", plan.id));
        let mut initial_seq = || stream.next_u64() as u32;
        let client = TcpClient::new(&tcp, ports, initial_seq());
        let server = TcpServer::new(&tcp, ports, initial_seq());
        Ok(Some(Box::new(TcpEnds { client, server })))
    }

    /// Ports that no other connection between these hosts has, from the client's side.
    fn take_ports(
        &mut self,
        client: Ipv4Addr,
        server: Ipv4Addr,
        plan: &FlowPlan,
    ) -> Result<Ports, SpecError> {
        let src = plan.src_port.unwrap_or_else(|| source_port(plan.id));
        let first = self.next_port.get(&(client, server, src)).copied().unwrap_or(FIRST_SERVER_PORT);
        let is_free = |dst: &u16| {
            let ports = Ports { src, dst: *dst };
            self.find((client, server, ports)).is_none()
                && self.find((server, client, ports.reversed())).is_none()
        };
        let Some(dst) = (first..=LAST_SERVER_PORT).find(is_free) else {
            let cause = format!("too many TCP connections from {client} port {src} to {server}");
            return refuse("flows", cause, "give flows other source ports, or packets: udp");
        };
        if dst != FIRST_SERVER_PORT {
            self.next_port.insert((client, server, src), dst + 1);
        }
        Ok(Ports { src, dst })
    }

    fn add(&mut self, tuple: Tuple, flow: u32, end: TcpEnd) {
        self.table.insert_unique(hash(&tuple), (tuple, flow, end), |(tuple, ..)| hash(tuple));
    }

    /// The flow that ends at a host and that a segment is of, and its end here; or why there is none.
    #[inline]
    pub fn at_host(&self, host: &HostPlan, segment: &TcpPacket) -> Result<(u32, TcpEnd), NoFlow> {
        if segment.dst_mac != host.mac || segment.dst != host.ipv4 {
            return Err(NoFlow::Address);
        }
        self.find((segment.src, segment.dst, segment.header.ports)).ok_or(NoFlow::Flow)
    }

    /// The flow that a segment is of, and the end that it is for.
    #[inline]
    pub fn find(&self, tuple: Tuple) -> Option<(u32, TcpEnd)> {
        let found = self.table.find(hash(&tuple), |(other, ..)| *other == tuple);
        found.map(|(_, flow, end)| (*flow, *end))
    }
}

/// Multiplicative hashing of addresses and ports; the upper bits are mixed into the lower ones.
#[inline]
fn hash(&(src, dst, ports): &Tuple) -> u64 {
    let addresses = u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits());
    let ports = u64::from(ports.src) << 16 | u64::from(ports.dst);
    let mixed = (addresses ^ ports.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed >> 32
}
