//! The chip's own tables: ports, multicast, mirroring, packet generator, traffic manager.

use p4cc_bfrt::proto::bfrt_proto as wire;
use p4cc_switch::SchedulerConfig;
use p4cc_switch::chip::{Deflection, MirrorDirection, Trigger};
use p4cc_units::{Rate, Time};
use serde_json::Value as Json;
use tonic::Code;
use wire::data_field::{BoolArray, IntArray, Value};
use wire::update::Type;
use wire::write_request::Atomicity;

use crate::lab::{Lab, Stream, entry, exact, number_of, stream, update};
use crate::matching::forward;

/// The chip's part of what clients are told.
struct Chip {
    lab: Lab,
    tables: Json,
    _stream: Stream,
}

impl Chip {
    fn new() -> Self {
        Self::of(Lab::new())
    }

    fn tofino_2() -> Self {
        Self::of(Lab::of_tofino_2())
    }

    fn of((mut lab, stream): (Lab, Stream)) -> Self {
        let tables = lab.info().1;
        Self { lab, tables, _stream: stream }
    }

    fn table(&self, name: &str) -> &Json {
        let tables = self.tables["tables"].as_array().expect("tables");
        tables.iter().find(|table| table["name"] == name).unwrap_or_else(|| panic!("a table {name}"))
    }

    fn number(json: &Json) -> u32 {
        u32::try_from(json.as_u64().expect("a number")).expect("32 bits")
    }

    fn id(&self, table: &str) -> u32 {
        Self::number(&self.table(table)["id"])
    }

    fn action(&self, table: &str, name: &str) -> u32 {
        let actions = self.table(table)["action_specs"].as_array().expect("actions");
        Self::number(&actions.iter().find(|action| action["name"] == name).expect("the action")["id"])
    }

    /// Number of a data field, of an action's among them.
    fn field(&self, table: &str, name: &str) -> u32 {
        let table = self.table(table);
        let of_actions = table["action_specs"].as_array().into_iter().flatten();
        let data = of_actions.flat_map(|action| action["data"].as_array().into_iter().flatten());
        let mut data = data.chain(table["data"].as_array().into_iter().flatten());
        let named = data.find(|data| data["singleton"]["name"] == name);
        Self::number(&named.unwrap_or_else(|| panic!("a field {name}"))["singleton"]["id"])
    }

    /// An entry of a queue of a port, by the place that the chip knows it by.
    fn queue(&self, table: &str, (port, queue): (u32, u32), fields: Vec<(&str, Value)>) -> wire::TableEntry {
        let keys = self.table(table)["key"].as_array().expect("two keys");
        let (ports, queues) = if table.starts_with("tf2") { (8, 16) } else { (4, 8) };
        let place = [port / ports, port % ports * queues + queue].map(|number| vec![number as u8]);
        let key = keys.iter().zip(place).map(|(key, bytes)| exact(Self::number(&key["id"]), bytes));
        entry(self.id(table), key.collect(), 0, self.fields(table, fields))
    }

    /// An entry whose key is one number of so many bytes.
    fn entry(&self, table: &str, (key, bytes): (u32, usize), fields: Vec<(&str, Value)>) -> wire::TableEntry {
        let key_id = Self::number(&self.table(table)["key"][0]["id"]);
        let key = key.to_be_bytes()[4 - bytes..].to_vec();
        entry(self.id(table), vec![exact(key_id, key)], 0, self.fields(table, fields))
    }

    fn fields(&self, table: &str, fields: Vec<(&str, Value)>) -> Vec<wire::DataField> {
        let field = |(name, value)| wire::DataField { field_id: self.field(table, name), value: Some(value) };
        fields.into_iter().map(field).collect()
    }

    fn value(&self, of: &wire::TableEntry, table: &str, name: &str) -> Value {
        let id = self.field(table, name);
        let fields = &of.data.as_ref().expect("data").fields;
        fields
            .iter()
            .find(|field| field.field_id == id)
            .and_then(|field| field.value.clone())
            .expect("the field")
    }
}

fn asked(entry: &wire::TableEntry) -> wire::TableEntry {
    wire::TableEntry { data: None, ..entry.clone() }
}

fn text(value: &str) -> Value {
    Value::StrVal(value.to_owned())
}

fn numbers(values: &[u32]) -> Value {
    Value::IntArrVal(IntArray { val: values.to_vec() })
}

fn half(value: u16) -> Value {
    Value::Stream(value.to_be_bytes().to_vec())
}

fn word(value: u32) -> Value {
    Value::Stream(value.to_be_bytes().to_vec())
}

fn with_action(of: wire::TableEntry, action_id: u32) -> wire::TableEntry {
    let data = of.data.map(|data| wire::TableData { action_id, ..data });
    wire::TableEntry { data, ..of }
}

#[test]
fn the_device_tells_its_numbers() {
    let mut chip = Chip::new();
    let name = "tf1.dev.device_configuration";
    let default = wire::TableEntry { table_id: chip.id(name), is_default_entry: true, ..Default::default() };
    let read = chip.lab.entries(default.clone()).expect("an entry");
    assert_eq!(number_of(&read[0], chip.field(name, "num_pipes")), 4);
    assert_eq!(number_of(&read[0], chip.field(name, "num_stages")), 12);
    assert_eq!(chip.value(&read[0], name, "external_port_list"), numbers(&[0, 1, 2, 3, 4, 5, 6, 7]));
    let fields = chip.fields(name, vec![("selector_member_order", Value::BoolVal(true))]);
    let data = Some(wire::TableData { action_id: 0, fields });
    chip.lab.one(Type::Modify, wire::TableEntry { data, ..default.clone() }).expect("a setting");
    let read = chip.lab.entries(default).expect("an entry");
    assert_eq!(chip.value(&read[0], name, "selector_member_order"), Value::BoolVal(true));
    assert_eq!(
        number_of(&read[0], chip.field(name, "flow_learn_timeout_usec")),
        500,
        "what is not given stays"
    );
}

#[test]
fn a_port_has_a_speed_and_a_state() {
    let mut chip = Chip::new();
    let fields = vec![("$SPEED", text("BF_SPEED_40G")), ("$FEC", text("BF_FEC_TYP_NONE"))];
    let port = chip.entry("$PORT", (3, 4), fields);
    chip.lab.one(Type::Insert, port.clone()).expect("a port");
    assert!(!chip.lab.switch(|switch| switch.observation().is_port_up(3)), "it is not enabled");
    assert_eq!(chip.lab.one(Type::Insert, port.clone()).unwrap_err().0, Code::AlreadyExists);
    let enable = chip.entry("$PORT", (3, 4), vec![("$PORT_ENABLE", Value::BoolVal(true))]);
    chip.lab.one(Type::Modify, enable).expect("a state");
    assert!(chip.lab.switch(|switch| switch.observation().is_port_up(3)));
    let read = chip.lab.entries(asked(&port)).expect("the port");
    assert_eq!(chip.value(&read[0], "$PORT", "$SPEED"), text("BF_SPEED_40G"));
    assert_eq!(chip.value(&read[0], "$PORT", "$PORT_UP"), Value::BoolVal(true));
    assert_eq!(chip.value(&read[0], "$PORT", "$PORT_NAME"), text("1/3"));
    chip.lab.one(Type::Delete, asked(&port)).expect("a deletion");
    chip.lab.one(Type::Delete, asked(&port)).expect("what is not there is gone");
    assert!(chip.lab.entries(asked(&port)).is_err());
    let absent = chip.entry("$PORT", (77, 4), vec![]);
    let (code, message) = chip.lab.one(Type::Insert, absent).unwrap_err();
    assert!(code == Code::InvalidArgument && message.contains("77"), "{message}");
    let wrong = chip.entry("$PORT", (3, 4), vec![("$SPEED", text("BF_SPEED_41G"))]);
    assert_eq!(chip.lab.one(Type::Insert, wrong).unwrap_err().0, Code::InvalidArgument);
}

#[test]
fn statistics_are_counted_set_and_cleared() {
    let mut chip = Chip::new();
    chip.lab.packet(2, &[0; 64]);
    let received = chip.field("$PORT_STAT", "$FramesReceivedOK");
    let two = chip.entry("$PORT_STAT", (2, 4), vec![]);
    assert_eq!(number_of(&chip.lab.entries(asked(&two)).expect("counts")[0], received), 1);
    let set = chip.entry(
        "$PORT_STAT",
        (2, 4),
        vec![("$FramesReceivedOK", Value::Stream(vec![0, 0, 0, 0, 0, 0, 0, 9]))],
    );
    chip.lab.one(Type::Modify, set).expect("a count");
    chip.lab.packet(2, &[0; 64]);
    assert_eq!(number_of(&chip.lab.entries(asked(&two)).expect("counts")[0], received), 10);
    let all = wire::TableEntry { table_id: chip.id("$PORT_STAT"), ..Default::default() };
    chip.lab.one(Type::Delete, all.clone()).expect("a clearance");
    let read = chip.lab.entries(all).expect("counts of all ports");
    assert_eq!(read.len(), 8);
    assert!(read.iter().all(|one| number_of(one, received) == 0));
}

#[test]
fn multicast_groups_grow_and_shrink_by_their_nodes() {
    let mut chip = Chip::new();
    for (id, ports) in [(1, [1, 2]), (2, [3, 4])] {
        let fields = vec![
            ("$MULTICAST_RID", half(7)),
            ("$MULTICAST_LAG_ID", numbers(&[])),
            ("$DEV_PORT", numbers(&ports)),
        ];
        let node = chip.entry("$pre.node", (id, 4), fields);
        chip.lab.one(Type::Insert, node).expect("a node");
    }
    let group = chip.entry("$pre.mgid", (5, 2), vec![]);
    chip.lab.one(Type::Insert, group.clone()).expect("a group");
    for (node, xid) in [(1, Some(9)), (2, None)] {
        let valid = Value::BoolArrVal(BoolArray { val: vec![xid.is_some()] });
        let fields = vec![
            ("$MULTICAST_NODE_ID", numbers(&[node])),
            ("$MULTICAST_NODE_L1_XID_VALID", valid),
            ("$MULTICAST_NODE_L1_XID", numbers(&[xid.unwrap_or(0)])),
        ];
        let more = chip.entry("$pre.mgid", (5, 2), fields);
        chip.lab.one(Type::ModifyInc, more).expect("a member");
    }
    let nodes = |chip: &Chip| {
        chip.lab.switch(|switch| {
            let group = switch.observation().chip().multicast.group(5).expect("the group").clone();
            group.nodes.iter().map(|member| (member.id, member.l1_xid)).collect::<Vec<_>>()
        })
    };
    assert_eq!(nodes(&chip), [(1, Some(9)), (2, None)]);
    let mut less = chip.entry("$pre.mgid", (5, 2), vec![("$MULTICAST_NODE_ID", numbers(&[1]))]);
    let deletes = wire::table_mod_inc_flag::Type::ModIncDelete;
    less.table_flags = None;
    less.table_mod_inc_flag = Some(wire::TableModIncFlag { r#type: deletes.into() });
    chip.lab.one(Type::ModifyInc, less).expect("one less");
    assert_eq!(nodes(&chip), [(2, None)]);
    let read = chip.lab.entries(asked(&group)).expect("the group");
    assert_eq!(chip.value(&read[0], "$pre.mgid", "$MULTICAST_NODE_ID"), numbers(&[2]));
    // A node that goes leaves its groups.
    chip.lab.one(Type::Delete, chip.entry("$pre.node", (2, 4), vec![])).expect("a deletion");
    assert_eq!(nodes(&chip), []);
    let read = chip.lab.entries(asked(&group)).expect("the group");
    assert_eq!(chip.value(&read[0], "$pre.mgid", "$MULTICAST_NODE_ID"), numbers(&[]));
    let unknown = chip.entry("$pre.mgid", (6, 2), vec![("$MULTICAST_NODE_ID", numbers(&[99]))]);
    assert!(chip.lab.one(Type::Insert, unknown.clone()).is_err(), "there is no such node");
    assert!(chip.lab.entries(asked(&unknown)).is_err(), "what is refused is not kept");
}

#[test]
fn prunes_and_lags_are_there_from_the_start() {
    let mut chip = Chip::new();
    let prune = chip.entry("$pre.prune", (40, 2), vec![("$DEV_PORT", numbers(&[1, 6]))]);
    chip.lab.one(Type::Insert, prune.clone()).expect("ports");
    chip.lab.one(Type::Insert, prune).expect("the same again");
    assert!(chip.lab.switch(|switch| switch.observation().chip().multicast.prune(40).contains(&6)));
    let all = wire::TableEntry { table_id: chip.id("$pre.prune"), ..Default::default() };
    let read = chip.lab.entries(all).expect("all of them");
    assert_eq!(read.len(), 288);
    assert_eq!(chip.value(&read[40], "$pre.prune", "$DEV_PORT"), numbers(&[1, 6]));
    let all = wire::TableEntry { table_id: chip.id("$pre.lag"), ..Default::default() };
    assert_eq!(chip.lab.entries(all).expect("all of them").len(), 255);
}

#[test]
fn mirror_sessions_are_normal_ones() {
    let mut chip = Chip::new();
    let fields = vec![
        ("$session_enable", Value::BoolVal(true)),
        ("$direction", text("EGRESS")),
        ("$ucast_egress_port", word(4)),
        ("$ucast_egress_port_valid", Value::BoolVal(true)),
        ("$max_pkt_len", half(128)),
    ];
    let session = chip.entry("$mirror.cfg", (12, 2), fields);
    let (normal, coalescing) =
        (chip.action("$mirror.cfg", "$normal"), chip.action("$mirror.cfg", "$coalescing"));
    let made = with_action(session.clone(), normal);
    chip.lab.one(Type::Insert, made.clone()).expect("a session");
    chip.lab.switch(|switch| {
        let session = switch.observation().chip().mirrors.get(12).expect("the session");
        assert_eq!((session.unicast_port, session.direction), (4, MirrorDirection::Egress));
        assert_eq!(session.max_length_bytes, 128);
    });
    assert_eq!(chip.lab.one(Type::Insert, made.clone()).unwrap_err().0, Code::AlreadyExists);
    let other = with_action(chip.entry("$mirror.cfg", (13, 2), vec![]), coalescing);
    assert_eq!(chip.lab.one(Type::Insert, other).unwrap_err().0, Code::Unimplemented);
    chip.lab.one(Type::Delete, asked(&made)).expect("a deletion");
    assert!(chip.lab.switch(|switch| switch.observation().chip().mirrors.get(12).is_none()));
}

#[test]
fn the_packet_generator_is_told_what_to_send() {
    let mut chip = Chip::new();
    let buffer = "tf1.pktgen.pkt_buffer";
    let keys = &chip.table(buffer)["key"];
    let (offset, size) = (Chip::number(&keys[0]["id"]), Chip::number(&keys[1]["id"]));
    let key = vec![exact(offset, 16_u32.to_be_bytes()), exact(size, 3_u32.to_be_bytes())];
    let fields = chip.fields(buffer, vec![("buffer", Value::Stream(vec![1, 2, 3]))]);
    let bytes = entry(chip.id(buffer), key, 0, fields);
    chip.lab.one(Type::Modify, bytes.clone()).expect("bytes");
    assert_eq!(chip.lab.switch(|switch| switch.observation().chip().generator.buffer(3, 16, 3)), [1, 2, 3]);
    let read = chip.lab.entries(asked(&bytes)).expect("bytes");
    assert_eq!(chip.value(&read[0], buffer, "buffer"), numbers(&[1, 2, 3]));

    let apps = "tf1.pktgen.app_cfg";
    let fields = vec![
        ("timer_nanosec", word(1_000)),
        ("pkt_len", half(3)),
        ("pkt_buffer_offset", half(16)),
        ("app_enable", Value::BoolVal(false)),
    ];
    let app = with_action(chip.entry(apps, (2, 4), fields), chip.action(apps, "trigger_timer_one_shot"));
    chip.lab.one(Type::Modify, app.clone()).expect("an application");
    let enable = chip.entry(apps, (2, 4), vec![("app_enable", Value::BoolVal(true))]);
    chip.lab.one(Type::Modify, enable).expect("a start");
    chip.lab.switch(|switch| {
        let app = switch.observation().chip().generator.app(1, 2).expect("the application").clone();
        assert_eq!(
            (app.trigger, app.enabled, app.length_bytes),
            (Trigger::OneShot { timer_ns: 1_000 }, true, 3)
        );
        assert!(switch.next_generated().is_some(), "the timer runs");
    });
    let read = chip.lab.entries(asked(&app)).expect("the application");
    assert_eq!(
        read[0].data.as_ref().map(|data| data.action_id),
        Some(chip.action(apps, "trigger_timer_one_shot"))
    );
    // Counters of 64 bits go round, those of all pipes together too.
    let full = ("trigger_counter", Value::Stream(vec![0xff; 8]));
    let counts = chip.entry(apps, (2, 4), vec![full, ("app_enable", Value::BoolVal(true))]);
    chip.lab.one(Type::Modify, counts).expect("counters");
    let read = chip.lab.entries(asked(&app)).expect("the application");
    assert_eq!(chip.value(&read[0], apps, "trigger_counter"), Value::Stream((-4_i64).to_be_bytes().to_vec()));
    for number in [8, 200] {
        let past = chip.entry(apps, (number, 4), vec![]);
        assert_eq!(chip.lab.one(Type::Modify, past).unwrap_err().0, Code::InvalidArgument, "{number}");
    }
}

#[test]
fn port_metadata_reach_the_switch() {
    let mut chip = Chip::new();
    let table = chip.lab.id("$PORT_METADATA");
    let key = chip.lab.key_id("$PORT_METADATA", "intr.ingress_port");
    let field = chip.lab.data_id("$PORT_METADATA", "$DEFAULT_FIELD");
    let row = entry(table, vec![exact(key, [0, 6])], 0, vec![stream(field, [1, 2, 3, 4, 5, 6, 7, 8])]);
    chip.lab.one(Type::Insert, row.clone()).expect("metadata");
    assert_eq!(
        chip.lab.switch(|switch| switch.observation().chip().port_metadata(6)[..8].to_vec()),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
    chip.lab.one(Type::Delete, asked(&row)).expect("a deletion");
    assert_eq!(chip.lab.switch(|switch| switch.observation().chip().port_metadata(6)[..8].to_vec()), [0; 8]);
}

#[test]
fn a_port_is_shaped_in_bits_only() {
    let mut chip = Chip::new();
    let (shaping, config) = ("tf1.tm.port.sched_shaping", "tf1.tm.port.sched_cfg");
    let rate = chip.entry(shaping, (1, 4), vec![("unit", text("BPS")), ("max_rate", word(1_000_000))]);
    chip.lab.one(Type::Modify, rate).expect("a rate");
    let on = chip.entry(config, (1, 4), vec![("max_rate_enable", Value::BoolVal(true))]);
    chip.lab.one(Type::Modify, on).expect("a shaper");
    let packets = chip.entry(shaping, (1, 4), vec![("unit", text("PPS"))]);
    assert_eq!(chip.lab.one(Type::Modify, packets).unwrap_err().0, Code::Unimplemented);
    assert_eq!(Rate::from_bps(1_000_000_000).as_bps(), 1_000_000 * 1_000);
    let absent = chip.entry(config, (99, 4), vec![("max_rate_enable", Value::BoolVal(true))]);
    assert_eq!(chip.lab.one(Type::Modify, absent).unwrap_err().0, Code::InvalidArgument);
}

/// 1 kbit/s, and packets of 64 bytes: one at once, the next after it is paid for.
#[test]
fn a_queue_is_shaped_in_bits() {
    let mut chip = Chip::new();
    let port = 3_u32;
    chip.lab.one(Type::Insert, forward(&chip.lab, 1, port as u8)).expect("a way");
    let mut packet = [0; 64];
    packet[5] = 1;
    let (shaping, config) = ("tf1.tm.queue.sched_shaping", "tf1.tm.queue.sched_cfg");
    let rate = |burst| vec![("unit", text("BPS")), ("max_rate", word(1)), ("max_burst_size", word(burst))];
    let slow = chip.queue(shaping, (port, 0), rate(0));
    chip.lab.one(Type::Modify, slow).expect("a rate");
    let on = chip.queue(config, (port, 0), vec![("max_rate_enable", Value::BoolVal(true))]);
    chip.lab.one(Type::Modify, on).expect("a shaper");
    let sent = |chip: &Chip| chip.lab.packet(2, &packet).len();
    assert_eq!([sent(&chip), sent(&chip)], [1, 0]);
    // 50 bytes on the link without Ethernet's header: 400 ms.
    let allowed = chip.lab.switch(|switch| switch.next_allowed(port));
    assert_eq!(allowed, Some(Time::from_ms(400)));
    // A burst is bytes: one more packet, so that the one that waited and the next one leave.
    let burst = chip.queue(shaping, (port, 0), rate(50));
    chip.lab.one(Type::Modify, burst).expect("a burst");
    assert_eq!([sent(&chip), sent(&chip)], [2, 0]);
    let off = chip.queue(config, (port, 0), vec![("max_rate_enable", Value::BoolVal(false))]);
    chip.lab.one(Type::Modify, off).expect("no shaper");
    assert_eq!(sent(&chip), 2, "one has waited");
}

/// Before the batch, a packet each 1 ms. What the batch wrote would be one each 100 ms, or bits.
#[test]
fn a_batch_that_fails_leaves_a_rate_in_packets() {
    let mut chip = Chip::new();
    let port = 3_u32;
    chip.lab.one(Type::Insert, forward(&chip.lab, 1, port as u8)).expect("a way");
    let mut packet = [0; 64];
    packet[5] = 1;
    let (shaping, config) = ("tf1.tm.queue.sched_shaping", "tf1.tm.queue.sched_cfg");
    let on = chip.queue(config, (port, 0), vec![("max_rate_enable", Value::BoolVal(true))]);
    chip.lab.one(Type::Modify, on).expect("a greatest rate");
    let rate = |chip: &Chip, unit, rate| {
        chip.queue(shaping, (port, 0), vec![("unit", text(unit)), ("max_rate", word(rate))])
    };
    let refused = chip.queue(config, (port, 1), vec![("dwrr_weight", half(0))]);
    let fail = |chip: &mut Chip, row| {
        let updates = [row, refused.clone()].map(|row| update(Type::Modify, row)).to_vec();
        chip.lab.write_atomic(updates, Atomicity::RollbackOnError).unwrap_err();
    };
    let thousand = rate(&chip, "PPS", 1_000);
    chip.lab.one(Type::Modify, thousand).expect("a rate");
    for (unit, number) in [("PPS", 10), ("BPS", 1)] {
        let row = rate(&chip, unit, number);
        fail(&mut chip, row);
        // Whatever waited leaves, since a new rate forgives debts; the next one waits for 1 ms.
        let sent = chip.lab.packet(2, &packet).len() + chip.lab.packet(2, &packet).len();
        assert!(sent > 0);
        let allowed = chip.lab.switch(|switch| switch.next_allowed(port));
        assert_eq!(allowed, Some(Time::from_ms(1)), "{unit}");
    }
    // A failed batch restores a rate in bits, too. A rate in packets takes it out of the configuration, which
    // copies of the network are made from.
    let shaper = |chip: &Chip| {
        let ports = chip.lab.switch(|switch| switch.config().ports.clone());
        ports.iter().find(|of| of.port == port).expect("the port").shapers[0]
    };
    let [bits, packets] = [("BPS", 1), ("PPS", 10)].map(|(unit, number)| rate(&chip, unit, number));
    chip.lab.one(Type::Modify, bits).expect("a rate in bits");
    let of_bits = shaper(&chip);
    assert_eq!(of_bits.map(|shaper| shaper.rate), Some(Rate::from_bps(1_000)));
    fail(&mut chip, packets.clone());
    assert_eq!(shaper(&chip), of_bits);
    assert_eq!(chip.lab.switch(|switch| switch.queue_rate_pps(port, 0)), None);
    chip.lab.one(Type::Modify, packets).expect("a rate in packets");
    assert_eq!(shaper(&chip), None);
    assert_eq!(chip.lab.switch(|switch| switch.queue_rate_pps(port, 0)), Some(10));
}

/// A port of Tofino 2 has sixteen queues, a port of the switch eight.
#[test]
fn queues_that_the_switch_lacks_are_refused() {
    let mut chip = Chip::tofino_2();
    let ports = |chip: &Chip| chip.lab.switch(|switch| switch.config().ports.clone());
    let before = ports(&chip);
    let (shaping, config) = ("tf2.tm.queue.sched_shaping", "tf2.tm.queue.sched_cfg");
    for (table, fields) in [
        (config, vec![("max_priority", text("HIGH"))]),
        (config, vec![("dwrr_weight", half(9))]),
        (config, vec![("max_rate_enable", Value::BoolVal(true))]),
        (shaping, vec![("unit", text("BPS")), ("max_rate", word(1))]),
    ] {
        let ninth = chip.queue(table, (3, 9), fields);
        let (code, said) = chip.lab.one(Type::Modify, ninth).unwrap_err();
        assert_eq!(code, Code::Unimplemented);
        assert!(said.contains("queue 9 of port 3") && said.contains("0 to 7"), "{said}");
    }
    assert!(ports(&chip) == before);
    let last = chip.queue(config, (3, 7), vec![("dwrr_weight", half(9))]);
    chip.lab.one(Type::Modify, last.clone()).expect("a queue of the switch");
    assert_eq!(ports(&chip)[3].scheduler.weights, [1, 1, 1, 1, 1, 1, 1, 9]);
    let weight = |chip: &mut Chip, queue| {
        let asked_for = asked(&chip.queue(config, (3, queue), vec![]));
        let found = chip.lab.entries(asked_for).expect("the queue")[0].clone();
        number_of(&found, chip.field(config, "dwrr_weight"))
    };
    assert_eq!(weight(&mut chip, 7), 9);
    assert_ne!(weight(&mut chip, 15), 9, "another queue, of which nothing was written");
}

/// Order and shares of a port's queues, and what is read of them.
#[test]
fn queues_have_a_priority_and_a_weight() {
    let mut chip = Chip::new();
    let config = "tf1.tm.queue.sched_cfg";
    let read = |chip: &mut Chip, place| {
        let found =
            chip.lab.entries(asked(&chip.queue(config, place, vec![]))).expect("the queue")[0].clone();
        let weight = number_of(&found, chip.field(config, "dwrr_weight"));
        (chip.value(&found, config, "max_priority"), weight)
    };
    // As the switch begins: queue 7 goes first.
    assert_eq!(read(&mut chip, (3, 7)), (text("7"), 1));
    for (queue, share) in [(0, 1), (1, 2), (2, 1_023)] {
        let fields = vec![("max_priority", text("LOW")), ("dwrr_weight", half(share))];
        let row = chip.queue(config, (3, queue), fields);
        chip.lab.one(Type::Modify, row).expect("a queue of the switch");
    }
    let high = chip.queue(config, (3, 3), vec![("max_priority", text("HIGH"))]);
    chip.lab.one(Type::Modify, high).expect("the highest priority");
    let scheduler = |chip: &Chip, port: u32| {
        let ports = chip.lab.switch(|switch| switch.config().ports.clone());
        ports.iter().find(|of| of.port == port).expect("the port").scheduler
    };
    let set = scheduler(&chip, 3);
    assert_eq!(set.levels, [0, 0, 0, 7, 4, 5, 6, 7]);
    assert_eq!(set.weights, [1, 2, 1_023, 1, 1, 1, 1, 1]);
    assert_eq!(read(&mut chip, (3, 2)), (text("0"), 1_023));
    assert_eq!(scheduler(&chip, 4), SchedulerConfig::default(), "another port");
    // 10 bits on the chip; without a share a queue would never have its turn.
    for (share, code) in [(0, Code::Unimplemented), (1_024, Code::InvalidArgument)] {
        let row = chip.queue(config, (3, 1), vec![("dwrr_weight", half(share))]);
        assert_eq!(chip.lab.one(Type::Modify, row).unwrap_err().0, code);
        assert_eq!(scheduler(&chip, 3), set);
    }
    // What a batch wrote before it failed is undone.
    let rows = [(4, 9), (5, 0)]
        .map(|(queue, share)| chip.queue(config, (3, queue), vec![("dwrr_weight", half(share))]));
    let updates = rows.map(|row| update(Type::Modify, row)).to_vec();
    chip.lab.write_atomic(updates, Atomicity::RollbackOnError).unwrap_err();
    assert_eq!(scheduler(&chip, 3), set);
    let clear = wire::TableEntry { table_id: chip.id(config), ..Default::default() };
    chip.lab.one(Type::Delete, clear).expect("the queues begin anew");
    assert_eq!(scheduler(&chip, 3), SchedulerConfig::default());
}

/// Where refused packets go, by port group and queue, and who shows it.
#[test]
fn a_pipe_deflects_to_a_queue_of_its_own() {
    let mut chip = Chip::new();
    let config = "tf1.tm.pipe.cfg";
    let row = |chip: &Chip, fields| wire::TableEntry {
        is_default_entry: true,
        ..entry(chip.id(config), vec![], 0, chip.fields(config, fields))
    };
    let byte = |value: u8| Value::Stream(vec![value]);
    let of = |chip: &Chip, pipe| chip.lab.switch(|switch| switch.observation().chip().deflection(pipe));
    assert!(!of(&chip, 0).enabled);
    // Group 17 has the ports 68 to 71, which lead back: queue 10 of it is the third of port 69.
    let to = row(&chip, vec![("mirror_drop_pg_id", byte(17)), ("mirror_drop_pg_queue", byte(10))]);
    chip.lab.one(Type::Modify, to).expect("a destination");
    for pipe in 0..4 {
        let port = u32::from(pipe) << 7 | 69;
        assert_eq!(of(&chip, pipe), Deflection { port, queue: 2, enabled: true });
    }
    let shown = chip.lab.entries(asked(&row(&chip, vec![]))).expect("the pipe")[0].clone();
    let number = |chip: &Chip, name| number_of(&shown, chip.field(config, name));
    assert_eq!([number(&chip, "mirror_drop_pg_id"), number(&chip, "mirror_drop_pg_queue")], [17, 10]);
    assert_eq!([number(&chip, "mirror_drop_dev_port"), number(&chip, "mirror_drop_queue_nr")], [69, 2]);
    let ports = "tf1.tm.port.cfg";
    let port = chip.lab.entries(asked(&chip.entry(ports, (69, 4), vec![]))).expect("the port")[0].clone();
    assert_eq!(number_of(&port, chip.field(ports, "mirror_drop_pg_queue")), 10);
    // Half a place is none, and so is one beyond the chip's.
    for fields in [
        vec![("mirror_drop_pg_id", byte(1))],
        vec![("mirror_drop_pg_id", byte(18)), ("mirror_drop_pg_queue", byte(0))],
        vec![("mirror_drop_pg_id", byte(1)), ("mirror_drop_pg_queue", byte(32))],
    ] {
        let refused = row(&chip, fields);
        assert_eq!(chip.lab.one(Type::Modify, refused).unwrap_err().0, Code::InvalidArgument);
    }
    assert_eq!(of(&chip, 0).port, 69);
    // Another field changes nothing here, and a reset what the switch began with.
    let limit = row(&chip, vec![("eg_limit_cells", word(100))]);
    chip.lab.one(Type::Modify, limit).expect("a limit");
    assert_eq!(of(&chip, 0).port, 69);
    let reset = row(&chip, vec![]);
    chip.lab.one(Type::Delete, reset).expect("a reset");
    assert!(!of(&chip, 0).enabled);
}

/// On Tofino 2 a place turns deflection on, unless it was turned off before.
#[test]
fn deflection_that_is_off_stays_off_at_another_place() {
    let mut chip = Chip::tofino_2();
    let config = "tf2.tm.pipe.cfg";
    let row = |chip: &Chip, fields| wire::TableEntry {
        is_default_entry: true,
        ..entry(chip.id(config), vec![], 0, chip.fields(config, fields))
    };
    let byte = |value: u8| Value::Stream(vec![value]);
    let at = |group| vec![("mirror_drop_pg_id", byte(group)), ("mirror_drop_pg_queue", byte(17))];
    let switched = |on| vec![("mirror_drop_enable", Value::BoolVal(on))];
    let of = |chip: &Chip| chip.lab.switch(|switch| switch.observation().chip().deflection(2));
    let place = |group: u32, enabled| Deflection { port: 2 << 7 | (group * 8 + 1), queue: 1, enabled };
    for (fields, want) in [
        (at(1), place(1, true)),
        (switched(false), place(1, false)),
        (at(2), place(2, false)),
        (switched(true), place(2, true)),
        (at(3), place(3, true)),
        ([at(4), switched(false)].concat(), place(4, false)),
        ([at(5), switched(true)].concat(), place(5, true)),
    ] {
        let written = row(&chip, fields);
        chip.lab.one(Type::Modify, written).expect("a setting");
        assert_eq!(of(&chip), want);
        let shown = chip.lab.entries(asked(&row(&chip, vec![]))).expect("the pipe")[0].clone();
        assert_eq!(chip.value(&shown, config, "mirror_drop_enable"), Value::BoolVal(want.enabled));
    }
    // What a failed batch switched off is on again, and after a reset a place turns it on.
    let updates = [switched(false), vec![("mirror_drop_pg_id", byte(1))]];
    let updates = updates.map(|fields| update(Type::Modify, row(&chip, fields))).to_vec();
    chip.lab.write_atomic(updates, Atomicity::RollbackOnError).unwrap_err();
    assert_eq!(of(&chip), place(5, true));
    for fields in [switched(false), vec![], at(6)] {
        let verb = if fields.is_empty() { Type::Delete } else { Type::Modify };
        let written = row(&chip, fields);
        chip.lab.one(verb, written).expect("a setting");
    }
    assert_eq!(of(&chip), place(6, true));
}

#[test]
fn tables_without_a_counterpart_say_so() {
    let mut chip = Chip::new();
    let pipe = wire::TableEntry {
        table_id: chip.id("tf1.tm.counter.pipe"),
        is_default_entry: true,
        ..Default::default()
    };
    let status = chip.lab.entries(pipe).unwrap_err();
    let error = &crate::lab::details(&status)[0];
    assert_eq!(Code::from_i32(error.canonical_code), Code::Unimplemented);
    assert!(error.message.contains("tf1.tm.counter.pipe"), "{}", error.message);
}
