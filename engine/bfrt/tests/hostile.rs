//! Random and malformed requests: each gets an answer or a code with a message, nothing panics, memory stays
//! flat.
//!
//! `P4CC_HOSTILE_REQUESTS` says how many; without it there are a few thousand.

use std::sync::Arc;

use p4cc_bfrt::proto::bfrt_proto as wire;
use p4cc_bfrt::schema::{self, Chip, Field, Key, KeyKind, Object, Schema, Table, Type};
use p4cc_bfrt::{Local, Options};
use p4cc_p4runtime::{Devices, NoSuchDevice};
use p4cc_switch::{DEFAULT_PASS_LIMIT, Packet, PortConfig, Switch, SwitchConfig, TimestampUnit};
use p4cc_units::{Rate, Span, Time};
use parking_lot::Mutex;
use prost::Message;
use wire::data_field::{BoolArray, ContainerArray, IntArray, StrArray, Value, container_array};
use wire::entity::Entity as Of;
use wire::key_field::MatchType;
use wire::table_attribute::Attribute;

const PROGRAM: &str = include_str!("grpc/program.p4");
const DEFAULT_REQUESTS: u64 = 4_000;
/// Growth between the first third, when tables have filled, and the end.
const MAX_GROWTH_BYTES: u64 = 48 << 20;

struct Bench(Mutex<Switch>, Mutex<Time>);

impl Devices for Bench {
    fn ids(&self) -> Vec<u64> {
        vec![0]
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        if device_id != 0 {
            return Err(NoSuchDevice(device_id));
        }
        f(&mut self.0.lock(), *self.1.lock());
        Ok(())
    }

    fn packet_out(&self, device_id: u64, _packet: Packet) -> Result<(), NoSuchDevice> {
        Err(NoSuchDevice(device_id))
    }
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// True once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// A number, small more often than not.
    fn number(&mut self) -> u64 {
        let bits = [3, 4, 8, 16, 32, 64][self.below(6)];
        self.next() >> (64 - bits)
    }

    fn id(&mut self, right: u32) -> u32 {
        if self.once_in(150) { self.number() as u32 } else { right }
    }

    /// Bytes of a number of this width, now and then too many, too few or too large.
    fn bytes(&mut self, width: u32) -> Vec<u8> {
        let mut len = width.div_ceil(8) as usize;
        if self.once_in(100) {
            len = self.below(20);
        }
        let number = self.number();
        let mut bytes = vec![0; len];
        for (at, byte) in bytes.iter_mut().rev().enumerate().take(8) {
            *byte = (number >> (8 * at)) as u8;
        }
        if !width.is_multiple_of(8)
            && !self.once_in(60)
            && let Some(first) = bytes.first_mut()
        {
            *first &= (1 << (width % 8)) - 1;
        }
        bytes
    }
}

fn key(dice: &mut Dice, key: &Key) -> wire::KeyField {
    use wire::key_field::{Exact, Lpm, Optional, Range, Ternary};
    let width = key.ty.width();
    let kind = match dice.below(200) {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 3,
        4 => 4,
        5 => 5,
        _ => match key.kind {
            KeyKind::Exact | KeyKind::Atcam | KeyKind::DleftHash => 0,
            KeyKind::Ternary => 1,
            KeyKind::Lpm => 2,
            KeyKind::Range => 3,
            KeyKind::Optional => 4,
        },
    };
    let match_type = match (kind, &key.ty) {
        (0, Type::Text(choices, _)) => {
            let text = dice.pick(choices).cloned().unwrap_or_else(|| "a text".to_owned());
            Some(MatchType::Exact(Exact { value: text.into_bytes() }))
        }
        (0, _) => Some(MatchType::Exact(Exact { value: dice.bytes(width) })),
        (1, _) => Some(MatchType::Ternary(Ternary { value: dice.bytes(width), mask: dice.bytes(width) })),
        (2, _) => {
            let prefix_len = dice.below(width as usize + 2) as i32 - i32::from(dice.once_in(50));
            Some(MatchType::Lpm(Lpm { value: dice.bytes(width), prefix_len }))
        }
        (3, _) => Some(MatchType::Range(Range { low: dice.bytes(width), high: dice.bytes(width) })),
        (4, _) => Some(MatchType::Optional(Optional { value: dice.bytes(width), is_valid: dice.once_in(2) })),
        _ => None,
    };
    wire::KeyField { field_id: dice.id(key.id), match_type }
}

fn field(dice: &mut Dice, of: &Field) -> wire::DataField {
    let most = if dice.once_in(50) { 400 } else { 5 };
    let count = dice.below(most);
    let value = match (&of.ty, of.repeated) {
        _ if dice.once_in(200) => None,
        _ if dice.once_in(200) => Some(Value::StrVal("???".to_owned())),
        (Type::Container(inner), _) => {
            let fields: Vec<&Field> = inner.iter().flat_map(|data| &data.fields).collect();
            let row = |dice: &mut Dice| {
                let val = fields.iter().map(|one| field(dice, one)).collect();
                container_array::Container { val }
            };
            Some(Value::ContainerArrVal(ContainerArray {
                container: (0..count).map(|_| row(dice)).collect(),
            }))
        }
        (Type::Int(..) | Type::Bytes(..), false) => Some(Value::Stream(dice.bytes(of.ty.width()))),
        (Type::Int(..) | Type::Bytes(..), true) => {
            Some(Value::IntArrVal(IntArray { val: (0..count).map(|_| dice.number() as u32).collect() }))
        }
        (Type::Bool(_), false) => Some(Value::BoolVal(dice.once_in(2))),
        (Type::Bool(_), true) => {
            Some(Value::BoolArrVal(BoolArray { val: (0..count).map(|_| dice.once_in(2)).collect() }))
        }
        (Type::Float(_), _) => {
            let odd = [0.0, -1.0, 1e30, f32::NAN, f32::INFINITY, 0.5, 1e-30];
            Some(Value::FloatVal(dice.pick(&odd).copied().unwrap_or(0.0)))
        }
        (Type::Text(choices, _), false) => {
            Some(Value::StrVal(dice.pick(choices).cloned().unwrap_or_else(|| "text".to_owned())))
        }
        (Type::Text(choices, _), true) => {
            let one = |dice: &mut Dice| dice.pick(choices).cloned().unwrap_or_default();
            Some(Value::StrArrVal(StrArray { val: (0..count).map(|_| one(dice)).collect() }))
        }
    };
    wire::DataField { field_id: dice.id(of.id), value }
}

fn entry(dice: &mut Dice, table: &Table) -> wire::TableEntry {
    let value = match dice.below(16) {
        0..=2 => None,
        3 => Some(wire::table_entry::Value::HandleId(dice.number() as u32)),
        _ => {
            let mut fields: Vec<wire::KeyField> = table.key.iter().map(|one| key(dice, one)).collect();
            if dice.once_in(12) {
                let gone = dice.below(fields.len());
                fields.truncate(gone);
            }
            Some(wire::table_entry::Value::Key(wire::TableKey { fields }))
        }
    };
    let action = dice.pick(&table.actions);
    let named = action.into_iter().flat_map(|action| &action.data).chain(&table.data);
    let all: Vec<&Field> = named.flat_map(|data| data.fields.first()).collect();
    let leaves_out = dice.once_in(3);
    let mut fields = Vec::new();
    for one in all {
        if !(leaves_out && dice.once_in(2)) {
            fields.push(field(dice, one));
        }
    }
    let action_id = dice.id(action.map_or(0, |action| action.id));
    let flag = |dice: &mut Dice| dice.once_in(2);
    wire::TableEntry {
        table_id: dice.id(table.id),
        value,
        data: (!dice.once_in(10)).then_some(wire::TableData { action_id, fields }),
        is_default_entry: dice.once_in(10),
        entry_tgt: dice.once_in(8).then(|| target(dice)),
        table_flags: Some(wire::TableFlags {
            from_hw: flag(dice),
            key_only: dice.once_in(10),
            mod_del: flag(dice),
            reset_ttl: flag(dice),
            reset_stats: flag(dice),
        }),
        ..Default::default()
    }
}

fn target(dice: &mut Dice) -> wire::TargetDevice {
    let pipe_id = *dice.pick(&[0xffff, 0xffff, 0xffff, 0, 1, 3, 4, 77]).unwrap_or(&0);
    wire::TargetDevice {
        device_id: u32::from(dice.once_in(60)),
        pipe_id,
        direction: dice.number() as u32 % 3,
        prsr_id: 0xff,
    }
}

fn attribute(dice: &mut Dice, table: &Table) -> wire::TableAttribute {
    let mode = |dice: &mut Dice| {
        let scope = match dice.below(3) {
            0 => Some(wire::mode::Scope::Predef(dice.below(3) as i32)),
            1 => Some(wire::mode::Scope::UserDefined(dice.number())),
            _ => None,
        };
        Some(wire::Mode { scope, args: dice.number() })
    };
    let attribute = match dice.below(10) {
        0 => Attribute::IdleTable(wire::IdleTable {
            ttl_query_interval: dice.number() as u32,
            max_ttl: dice.number() as u32,
            min_ttl: dice.number() as u32,
            idle_table_mode: dice.below(3) as i32,
            enable: dice.once_in(2),
        }),
        1 => Attribute::EntryScope(wire::EntryScope {
            gress_scope: mode(dice),
            pipe_scope: mode(dice),
            prsr_scope: mode(dice),
        }),
        2 => {
            let fields = table.key.iter().map(|key| wire::KeyFieldMask {
                field_id: dice.id(key.id),
                mask: dice.bytes(key.ty.width()),
            });
            Attribute::DynKeyMask(wire::DynKeyMask { fields: fields.collect() })
        }
        3 => Attribute::DynHashing(wire::DynHashing { alg: dice.number() as u32, seed: dice.number() }),
        4 => Attribute::ByteCountAdj(wire::ByteCountAdj { byte_count_adjust: dice.number() as i32 }),
        5 => Attribute::PortStatusNotify(wire::PortStatusChg { enable: dice.once_in(2) }),
        6 => Attribute::IntvlMs(wire::StatePullIntvl { intvl_val: dice.number() as u32 }),
        7 => Attribute::PreDeviceConfig(wire::PreDeviceConfig {
            pre_global_rid: Some(wire::PreGlobalRid { global_rid: dice.number() as u32 }),
            ..Default::default()
        }),
        _ => Attribute::SelectorUpdateNotify(wire::SelectorUpdateCb { enable: dice.once_in(2) }),
    };
    wire::TableAttribute { table_id: dice.id(table.id), attribute: (!dice.once_in(20)).then_some(attribute) }
}

fn entity(dice: &mut Dice, schema: &Schema) -> wire::Entity {
    // The program's own tables come first; those of the chip are many more.
    let own = schema.tables.iter().take_while(|table| table.object != schema::Object::Fixed).count();
    let among = if dice.once_in(3) { &schema.tables[..] } else { &schema.tables[..own] };
    let Some(table) = dice.pick(among) else { return wire::Entity::default() };
    let entity = match dice.below(30) {
        0 => Of::TableUsage(wire::TableUsage { table_id: dice.id(table.id), ..Default::default() }),
        1 | 2 => Of::TableAttribute(attribute(dice, table)),
        3 => {
            let name = dice.pick(&table.operations).copied().unwrap_or("Sync").to_owned();
            Of::TableOperation(wire::TableOperation {
                table_id: dice.id(table.id),
                table_operations_type: name,
            })
        }
        4 => {
            let fields = table.key.iter().map(|one| key(dice, one)).collect();
            let value = Some(wire::handle_id::Value::Key(wire::TableKey { fields }));
            Of::Handle(wire::HandleId { table_id: dice.id(table.id), value })
        }
        5 => {
            let names = wire::object_id::TableObject { table_name: table.name.clone(), names: None };
            let object = Some(wire::object_id::Object::TableObject(names));
            Of::ObjectId(wire::ObjectId { object, id: 0 })
        }
        6 => return wire::Entity::default(),
        _ => Of::TableEntry(entry(dice, table)),
    };
    wire::Entity { entity: Some(entity) }
}

fn request(dice: &mut Dice, schema: &Schema) -> (&'static str, Vec<u8>) {
    let count = 1 + dice.below(3);
    let client_id = u32::from(dice.once_in(40));
    match dice.below(20) {
        0 => {
            let config = wire::ForwardingPipelineConfig {
                p4_name: if dice.once_in(3) { "other" } else { "program" }.to_owned(),
                bfruntime_info: dice.bytes(64),
                ..Default::default()
            };
            let request = wire::SetForwardingPipelineConfigRequest {
                client_id,
                action: dice.below(7) as i32,
                dev_init_mode: dice.below(3) as i32,
                config: vec![config; dice.below(3)],
                ..Default::default()
            };
            ("SetForwardingPipelineConfig", request.encode_to_vec())
        }
        1 => (
            "GetForwardingPipelineConfig",
            wire::GetForwardingPipelineConfigRequest::default().encode_to_vec(),
        ),
        2..=8 => {
            let entities = (0..count).map(|_| entity(dice, schema)).collect();
            let request =
                wire::ReadRequest { target: Some(target(dice)), client_id, entities, ..Default::default() };
            ("Read", request.encode_to_vec())
        }
        _ => {
            let updates = (0..count).map(|_| {
                let entity = Some(entity(dice, schema));
                let verb = dice.pick(&[1, 1, 1, 1, 2, 2, 3, 4, 5, 5, 5, 6, 0, 7]).copied().unwrap_or(0);
                wire::Update { r#type: verb, entity }
            });
            let request = wire::WriteRequest {
                updates: updates.collect(),
                target: Some(target(dice)),
                client_id,
                atomicity: if dice.once_in(10) { dice.below(4) as i32 } else { 0 },
                ..Default::default()
            };
            ("Write", request.encode_to_vec())
        }
    }
}

/// Turns, leaves out or doubles some bytes.
fn damage(dice: &mut Dice, bytes: &mut Vec<u8>) {
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(bytes.len());
        match (dice.below(3), bytes.get_mut(at)) {
            (0, Some(byte)) => *byte ^= 1 << dice.below(8),
            (1, Some(_)) => bytes.truncate(at),
            _ => bytes.insert(at, dice.next() as u8),
        }
    }
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4_096
}

fn bench() -> Arc<Bench> {
    let ports = (0..8).map(|port| PortConfig {
        port,
        rate: Rate::from_bps(u64::MAX),
        capacity_pkts: 16,
        ..PortConfig::default()
    });
    let config = SwitchConfig {
        device_id: 0,
        ports: ports.collect(),
        timestamp_unit: TimestampUnit::Ns,
        buffer: None,
        cpu_port: None,
        drop_port: 511,
        seed: 0,
        pass_limit: DEFAULT_PASS_LIMIT,
        deflect_on_drop: false,
    };
    let switch = Switch::new(config).expect("the configuration is sound");
    Arc::new(Bench(Mutex::new(switch), Mutex::new(Time::ZERO)))
}

/// A server whose client is bound to the program, and what the program offers.
fn bound(bench: &Arc<Bench>) -> (p4cc_p4runtime::Local, Local, Schema) {
    let p4runtime = p4cc_p4runtime::Local::new(Arc::clone(bench) as _).expect("threads");
    p4runtime.install(0, PROGRAM.as_bytes().to_vec()).expect("the program compiles");
    let program = Arc::clone(bench.0.lock().observation().pipeline().expect("a program").program());
    let mut schema = schema::of_program(&program, Chip::Tofino1).expect("a program of the chip");
    schema.tables.extend(schema::fixed(Chip::Tofino1).tables);
    let options = Options { p4_name: Some("program".to_owned()) };
    let mut server = Local::new(Arc::clone(bench) as _, options).expect("threads");
    let stream = server.open();
    server.send(stream, &subscription().encode_to_vec()).expect("a subscription");
    let config = vec![wire::ForwardingPipelineConfig { p4_name: "program".to_owned(), ..Default::default() }];
    let bind = wire::SetForwardingPipelineConfigRequest { config, ..Default::default() };
    server.call("SetForwardingPipelineConfig", &bind.encode_to_vec()).expect("the program");
    (p4runtime, server, schema)
}

fn subscription() -> wire::StreamMessageRequest {
    wire::StreamMessageRequest {
        client_id: 0,
        update: Some(wire::stream_message_request::Update::Subscribe(wire::Subscribe::default())),
    }
}

/// Everything that a batch may change: the switch's state, and what clients read, in its order.
fn everything(bench: &Bench, server: &mut Local, schema: &Schema) -> (String, Vec<Vec<Vec<u8>>>) {
    let read = |table: &Table| {
        let table = wire::TableEntry { table_id: table.id, ..Default::default() };
        let entities = vec![wire::Entity { entity: Some(Of::TableEntry(table)) }];
        let target = Some(wire::TargetDevice { pipe_id: 0xffff, ..Default::default() });
        wire::ReadRequest { target, entities, ..Default::default() }.encode_to_vec()
    };
    let tables = schema.tables.iter().map(|table| server.call("Read", &read(table)).unwrap_or_default());
    let tables = tables.collect();
    let switch = bench.0.lock();
    let states: Vec<_> =
        (0..switch.observation().pipes()).filter_map(|pipe| switch.observation().state_of(pipe)).collect();
    (format!("{states:?} {:?} {:?}", switch.observation().pre(), switch.observation().chip()), tables)
}

#[test]
fn a_batch_that_fails_leaves_no_trace() {
    const BATCHES: usize = 400;
    let bench = bench();
    let (_p4runtime, mut server, schema) = bound(&bench);
    let (mut dice, mut undone) = (Dice(26), 0);
    for _ in 0..BATCHES {
        let before = everything(&bench, &mut server, &schema);
        let updates = (0..1 + dice.below(6)).map(|_| wire::Update {
            r#type: dice.pick(&[1, 1, 1, 2, 3, 4, 5, 5, 6]).copied().unwrap_or(0),
            entity: Some(entity(&mut dice, &schema)),
        });
        let request = wire::WriteRequest {
            updates: updates.collect(),
            target: Some(wire::TargetDevice { pipe_id: 0xffff, ..Default::default() }),
            atomicity: 1 + dice.below(2) as i32,
            ..Default::default()
        };
        if server.call("Write", &request.encode_to_vec()).is_err() {
            undone += usize::from(request.updates.len() > 1);
            let after = everything(&bench, &mut server, &schema);
            // A member that came and went leaves its row free.
            let is_member = |one: &wire::Update| match one.entity.as_ref().and_then(|of| of.entity.as_ref()) {
                Some(Of::TableEntry(entry)) => {
                    let table = schema.tables.iter().find(|table| table.id == entry.table_id);
                    table.is_some_and(|table| matches!(table.object, Object::Members(_)))
                }
                _ => false,
            };
            assert!(before.0 == after.0 || request.updates.iter().any(is_member), "{request:#?}");
            assert!(before.1 == after.1, "{request:#?}");
        }
    }
    assert!((BATCHES / 10..BATCHES).contains(&undone), "{undone} of {BATCHES} batches failed");
}

#[test]
fn any_request_gets_an_answer_or_a_code_with_a_message() {
    let wanted = std::env::var("P4CC_HOSTILE_REQUESTS").ok().and_then(|text| text.parse().ok());
    let requests: u64 = wanted.unwrap_or(DEFAULT_REQUESTS);
    let bench = bench();
    let (p4runtime, mut server, schema) = bound(&bench);
    let (mut dice, mut answered, mut damaged, mut before) = (Dice(25), 0, 0, 0);
    for number in 0..requests {
        if number == requests / 3 {
            before = resident_bytes();
        }
        let (method, mut bytes) = request(&mut dice, &schema);
        if dice.once_in(5) {
            damage(&mut dice, &mut bytes);
            damaged += 1;
        }
        match server.call(method, &bytes) {
            Ok(_) => answered += 1,
            Err(status) => assert!(!status.message().is_empty(), "{method} {bytes:02x?}: {status:?}"),
        }
        if number % 7 == 0 {
            let kind = [8, 9, 10][dice.below(3)];
            let packet = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, dice.next() as u8, kind, 0];
            let mut switch = bench.0.lock();
            switch.receive(*bench.1.lock(), dice.below(8) as u32, Packet::new(&packet, 0));
        }
        if number % 50 == 0 {
            let now = *bench.1.lock() + Span::from_ns(700_000_000);
            *bench.1.lock() = now;
            let delivered = p4runtime.deliver(now);
            server.deliver(now, &delivered.held);
            let unread = server.open();
            // What is no message, or comes first, or twice.
            for message in [vec![0xff; 3], Vec::new(), subscription().encode_to_vec()] {
                let _ = server.send(unread, &message);
            }
            server.close(unread);
        }
    }
    let growth = resident_bytes().saturating_sub(before);
    assert!(answered > requests / 20, "{answered} of {requests} were answered: too few to say anything");
    assert!(damaged > requests / 10, "{damaged} of {requests} were damaged");
    assert!(growth < MAX_GROWTH_BYTES, "memory grew by {growth} bytes over {requests} requests");
}
