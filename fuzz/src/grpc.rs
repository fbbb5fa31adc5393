//! Any P4Runtime requests to a switch with a program that has a bit of everything, and packets between them.
//!
//! An input is a list of steps: a byte for what is done, two for a length, and so many bytes. Messages come
//! as their bytes; what a controller repeats in each (device and election id) is filled in by some steps, so
//! that changed bytes reach what lies behind the checks of these.

use std::sync::{Arc, OnceLock};

use p4cc_p4runtime::proto::p4::v1 as p4;
use p4cc_p4runtime::{Devices, Local, NoSuchDevice};
use p4cc_switch::{Packet, PortConfig, Switch, SwitchConfig};
use p4cc_units::{Rate, Time};
use parking_lot::Mutex;
use prost::Message;

use crate::bytes::Bytes;
use crate::{corpus, programs};

const DEVICE: u64 = 1;
/// Steps of one input.
const MAX_STEPS: usize = 32;
const PORTS: u32 = 8;
const CPU_PORT: u32 = 510;

/// What a step does with its bytes.
const STEPS: [&str; 10] = [
    "Write",
    "Read",
    "Write raw",
    "Read raw",
    "Set",
    "Get",
    "stream",
    "new stream",
    "packet",
    "Capabilities",
];

struct One(Mutex<Switch>);

impl Devices for One {
    fn ids(&self) -> Vec<u64> {
        vec![DEVICE]
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        if device_id != DEVICE {
            return Err(NoSuchDevice(device_id));
        }
        f(&mut self.0.lock(), Time::from_ns(1));
        Ok(())
    }

    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice> {
        self.with_device(device_id, &mut |switch, now| switch.packet_out(now, packet.clone()))
    }
}

fn switch() -> Switch {
    let port = |port| PortConfig {
        port,
        rate: Rate::from_bps(1_000_000_000),
        capacity_pkts: 16,
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        device_id: DEVICE,
        ports: (0..PORTS).map(port).collect(),
        cpu_port: Some(CPU_PORT),
        ..p4cc_filetests::bench::config()
    };
    Switch::new(config).expect("the configuration is right")
}

/// A server whose switch runs the program. The first one is kept, so that the program is compiled once.
fn server() -> (Arc<One>, Local) {
    static FIRST: OnceLock<(Arc<One>, Local)> = OnceLock::new();
    FIRST.get_or_init(made);
    made()
}

fn made() -> (Arc<One>, Local) {
    let device = Arc::new(One(Mutex::new(switch())));
    let server = Local::new(Arc::clone(&device) as Arc<dyn Devices>).expect("threads can be made");
    server.install(DEVICE, programs::everything().as_bytes().to_vec()).expect("the program compiles");
    (device, server)
}

pub(crate) fn run(input: &[u8]) {
    let (device, mut server) = server();
    let mut stream = server.open();
    let _ = server.send(stream, &arbitration(1));
    let mut input = Bytes(input);
    for _ in 0..MAX_STEPS {
        if input.is_empty() {
            return;
        }
        let step = STEPS[usize::from(input.byte()) % STEPS.len()];
        let length = usize::from(input.word());
        let bytes = input.take(length);
        let status = match step {
            "packet" => {
                receive(&device, &server, bytes);
                Ok(Vec::new())
            }
            "stream" => server.send(stream, bytes).map(|_| Vec::new()),
            "new stream" => {
                stream = server.open();
                server
                    .send(stream, &arbitration(u64::from(bytes.first().copied().unwrap_or(2))))
                    .map(|_| Vec::new())
            }
            _ => server.call(method(step), &filled(step, bytes)),
        };
        if let Err(status) = status {
            assert!(!status.message().contains("error of the compiler itself"), "{}", status.message());
        }
    }
}

fn method(step: &str) -> &str {
    match step {
        "Set" => "SetForwardingPipelineConfig",
        "Get" => "GetForwardingPipelineConfig",
        _ => step.split(' ').next().unwrap_or(step),
    }
}

/// The bytes with device and election id as the primary has them, if they are such a message.
fn filled(step: &str, bytes: &[u8]) -> Vec<u8> {
    let election_id = Some(p4::Uint128 { high: 0, low: 1 });
    let whole = match step {
        "Write" => p4::WriteRequest::decode(bytes).map(|request| {
            p4::WriteRequest { device_id: DEVICE, election_id, role: String::new(), ..request }
                .encode_to_vec()
        }),
        "Read" => p4::ReadRequest::decode(bytes).map(|request| {
            p4::ReadRequest { device_id: DEVICE, role: String::new(), ..request }.encode_to_vec()
        }),
        "Set" => p4::SetForwardingPipelineConfigRequest::decode(bytes).map(|request| {
            p4::SetForwardingPipelineConfigRequest { device_id: DEVICE, election_id, ..request }
                .encode_to_vec()
        }),
        _ => return bytes.to_vec(),
    };
    whole.unwrap_or_else(|_| bytes.to_vec())
}

fn receive(device: &One, server: &Local, bytes: &[u8]) {
    let _ = device.with_device(DEVICE, &mut |switch, now| {
        let port = bytes.first().map_or(0, |first| u32::from(*first) % PORTS);
        switch.receive(now, port, Packet::new(bytes, 0));
        while let Some(port) = switch.next_ready() {
            while switch.transmit(now, port).is_some() {}
        }
    });
    let _ = server.deliver(Time::from_ns(2));
}

fn arbitration(low: u64) -> Vec<u8> {
    let update = p4::MasterArbitrationUpdate {
        device_id: DEVICE,
        election_id: Some(p4::Uint128 { high: 0, low }),
        ..Default::default()
    };
    let update = Some(p4::stream_message_request::Update::Arbitration(update));
    p4::StreamMessageRequest { update }.encode_to_vec()
}

fn step(name: &str, bytes: &[u8]) -> Vec<u8> {
    let place = STEPS.iter().position(|step| *step == name).unwrap_or_default();
    [&[place as u8][..], &(bytes.len() as u16).to_le_bytes(), bytes].concat()
}

/// For each object of the program an entity that names it: written, read, and read by wildcard.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let program = programs::of_text(programs::everything());
    let info = p4cc_p4runtime::p4info(program.program()).expect("the program has a P4Info");
    let mut seeds = vec![
        [step("Get", &[]), step("Capabilities", &[]), step("packet", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])]
            .concat(),
        step("new stream", &[3]),
    ];
    for entity in entities(&info) {
        let entity = p4::Entity { entity: Some(entity) };
        let write = |kind: p4::update::Type| {
            let update = p4::Update { r#type: kind as i32, entity: Some(entity.clone()) };
            step("Write", &p4::WriteRequest { updates: vec![update], ..Default::default() }.encode_to_vec())
        };
        let read = step(
            "Read",
            &p4::ReadRequest { entities: vec![entity.clone()], ..Default::default() }.encode_to_vec(),
        );
        let packet = step("packet", &[0, 0, 0, 1, 0, 1, 0, 2, 0, 3, 0, 4]);
        let writes =
            [p4::update::Type::Insert, p4::update::Type::Modify, p4::update::Type::Delete].map(write);
        seeds.push([&writes[0][..], &read, &packet, &writes[1], &read, &writes[2], &read].concat());
    }
    let config = p4::ForwardingPipelineConfig {
        p4info: Some(info),
        p4_device_config: programs::everything().as_bytes().to_vec(),
        ..Default::default()
    };
    let set = |action: i32| {
        let request = p4::SetForwardingPipelineConfigRequest {
            action,
            config: Some(config.clone()),
            ..Default::default()
        };
        step("Set", &request.encode_to_vec())
    };
    seeds.push([set(1), set(2), set(3), set(4), set(5), step("Get", &[])].concat());
    seeds.extend(corpus::kept("grpc"));
    seeds
}

fn entities(info: &p4cc_p4runtime::proto::p4::config::v1::P4Info) -> Vec<p4::entity::Entity> {
    use p4::entity::Entity;
    let mut made = Vec::new();
    for table in &info.tables {
        let id = table.preamble.as_ref().map_or(0, |preamble| preamble.id);
        let matches = table.match_fields.iter().map(field).collect::<Vec<_>>();
        for action in &table.action_refs {
            let params =
                info.actions.iter().find(|one| one.preamble.as_ref().is_some_and(|own| own.id == action.id));
            let params = params.into_iter().flat_map(|action| &action.params);
            let params =
                params.map(|param| p4::action::Param { param_id: param.id, value: vec![1] }).collect();
            let action = p4::Action { action_id: action.id, params };
            let action = p4::TableAction { r#type: Some(p4::table_action::Type::Action(action)) };
            made.push(Entity::TableEntry(p4::TableEntry {
                table_id: id,
                r#match: matches.clone(),
                action: Some(action),
                priority: i32::from(!matches.is_empty()),
                ..Default::default()
            }));
        }
        made.push(Entity::DirectCounterEntry(p4::DirectCounterEntry {
            table_entry: Some(p4::TableEntry { table_id: id, r#match: matches, ..Default::default() }),
            data: Some(p4::CounterData { byte_count: 1, packet_count: 2 }),
        }));
    }
    let index = Some(p4::Index { index: 0 });
    let ids = |list: Vec<Option<&p4cc_p4runtime::proto::p4::config::v1::Preamble>>| {
        list.into_iter().flatten().map(|preamble| preamble.id).collect::<Vec<_>>()
    };
    for id in ids(info.counters.iter().map(|one| one.preamble.as_ref()).collect()) {
        let data = Some(p4::CounterData { byte_count: 1, packet_count: 2 });
        made.push(Entity::CounterEntry(p4::CounterEntry { counter_id: id, index, data }));
    }
    for id in ids(info.meters.iter().map(|one| one.preamble.as_ref()).collect()) {
        let config = Some(p4::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, ..Default::default() });
        made.push(Entity::MeterEntry(p4::MeterEntry { meter_id: id, index, config, ..Default::default() }));
    }
    for id in ids(info.registers.iter().map(|one| one.preamble.as_ref()).collect()) {
        let data = Some(p4::P4Data { data: Some(p4::p4_data::Data::Bitstring(vec![5])) });
        made.push(Entity::RegisterEntry(p4::RegisterEntry { register_id: id, index, data }));
    }
    for id in ids(info.digests.iter().map(|one| one.preamble.as_ref()).collect()) {
        let config =
            Some(p4::digest_entry::Config { max_timeout_ns: 1, max_list_size: 2, ack_timeout_ns: 3 });
        made.push(Entity::DigestEntry(p4::DigestEntry { digest_id: id, config }));
    }
    for id in ids(info.action_profiles.iter().map(|one| one.preamble.as_ref()).collect()) {
        let action = info.actions.first().and_then(|action| action.preamble.as_ref()).map_or(0, |own| own.id);
        let action = Some(p4::Action { action_id: action, params: Vec::new() });
        made.push(Entity::ActionProfileMember(p4::ActionProfileMember {
            action_profile_id: id,
            member_id: 1,
            action,
        }));
        made.push(Entity::ActionProfileGroup(p4::ActionProfileGroup {
            action_profile_id: id,
            group_id: 1,
            max_size: 4,
            members: vec![p4::action_profile_group::Member { member_id: 1, weight: 1, ..Default::default() }],
        }));
    }
    for id in ids(info.value_sets.iter().map(|one| one.preamble.as_ref()).collect()) {
        made.push(Entity::ValueSetEntry(p4::ValueSetEntry { value_set_id: id, members: Vec::new() }));
    }
    made.extend(replication());
    made
}

fn replication() -> [p4::entity::Entity; 2] {
    use p4::entity::Entity;
    use p4::packet_replication_engine_entry::Type;
    let replicas = || {
        vec![p4::Replica {
            instance: 1,
            port_kind: Some(p4::replica::PortKind::Port(vec![2])),
            ..Default::default()
        }]
    };
    let group = p4::MulticastGroupEntry { multicast_group_id: 1, replicas: replicas(), ..Default::default() };
    let session = p4::CloneSessionEntry { session_id: 1, replicas: replicas(), ..Default::default() };
    [Type::MulticastGroupEntry(group), Type::CloneSessionEntry(session)].map(|kind| {
        Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type: Some(kind) })
    })
}

fn field(field: &p4cc_p4runtime::proto::p4::config::v1::MatchField) -> p4::FieldMatch {
    use p4::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
    use p4cc_p4runtime::proto::p4::config::v1::match_field::{Match, MatchType};
    let kind = match field.r#match {
        Some(Match::MatchType(kind)) => MatchType::try_from(kind).unwrap_or(MatchType::Exact),
        _ => MatchType::Exact,
    };
    let one = || vec![1];
    let made = match kind {
        MatchType::Lpm => FieldMatchType::Lpm(Lpm { value: one(), prefix_len: field.bitwidth }),
        MatchType::Ternary => FieldMatchType::Ternary(Ternary { value: one(), mask: one() }),
        MatchType::Range => FieldMatchType::Range(Range { low: one(), high: vec![9] }),
        MatchType::Optional => FieldMatchType::Optional(Optional { value: one() }),
        _ => FieldMatchType::Exact(Exact { value: one() }),
    };
    p4::FieldMatch { field_id: field.id, field_match_type: Some(made) }
}
