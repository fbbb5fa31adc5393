//! bf-rt.json of a program: names, ids and types as clients read them.

use p4cc_bfrt::schema::{self, Chip, Means, Object, Schema, Table, Type};
use p4cc_ir::Program;
use p4cc_syntax::{FileSystem, Options, Source};

const HEAD: &str = r#"
#include <core.p4>
#include <tna.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
header vlan_t { bit<3> pcp; bit<1> cfi; bit<12> vid; }
struct headers_t { ethernet_t ethernet; vlan_t[2] vlan; }
struct pair_t { bit<32> lo; bit<32> hi; }
struct md_t { bit<9> port; bool seen; pair_t pair; }
struct port_md_t { bit<16> vrf; bit<48> pad; }
struct message_t { bit<48> src; bit<9> port; }
parser IP(packet_in pkt, out headers_t hdr, out md_t md, out ingress_intrinsic_metadata_t im) {
    value_set<bit<16>>(4) kinds;
    state start {
        pkt.extract(im);
        port_md_t pmd = port_metadata_unpack<port_md_t>(pkt);
        md = { pmd.vrf[8:0], false, { 0, 0 } };
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) { kinds: more; default: accept; }
    }
    state more { pkt.extract(hdr.vlan.next); transition accept; }
}
"#;

const TAIL: &str = r#"
control ID(packet_out pkt, inout headers_t hdr, in md_t md,
        in ingress_intrinsic_metadata_for_deparser_t dm) {
    Digest<message_t>() learn;
    apply {
        if (dm.digest_type == 1) { learn.pack({ hdr.ethernet.src, md.port }); }
        pkt.emit(hdr);
    }
}
parser EP(packet_in pkt, out headers_t hdr, out md_t md, out egress_intrinsic_metadata_t em) {
    state start { pkt.extract(em); transition accept; }
}
control E(inout headers_t hdr, inout md_t md, in egress_intrinsic_metadata_t em,
        in egress_intrinsic_metadata_from_parser_t pm, inout egress_intrinsic_metadata_for_deparser_t dm,
        inout egress_intrinsic_metadata_for_output_port_t om) {
    apply { }
}
control ED(packet_out pkt, inout headers_t hdr, in md_t md, in egress_intrinsic_metadata_for_deparser_t dm) {
    apply { pkt.emit(hdr); }
}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"#;

const INGRESS: &str = r#"
control I(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t im,
        in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
        inout ingress_intrinsic_metadata_for_tm_t tm) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) hits;
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS) ports;
    Meter<bit<9>>(512, MeterType_t.BYTES) rates;
    Register<pair_t, bit<10>>(1024) pairs;
    RegisterParam<bit<32>>(7) step;
    RegisterAction<pair_t, bit<10>, bit<32>>(pairs) add = {
        void apply(inout pair_t value, out bit<32> result) {
            value.lo = value.lo + step.read();
            result = value.lo;
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.CRC16) choose;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) mix;
    ActionProfile(64) members;
    ActionSelector(members, choose, SelectorMode_t.FAIR, 20, 8) spread;
    action send(PortId_t port) { hits.count(); tm.ucast_egress_port = port; }
    action drop() { hits.count(); dm.drop_ctl = 1; }
    action out_of(PortId_t port) { tm.ucast_egress_port = port; }
    table forward {
        key = { hdr.ethernet.dst : ternary; hdr.vlan[0].vid : exact @name("vlan"); im.ingress_port : exact; }
        actions = { send; @defaultonly drop; }
        const default_action = drop();
        counters = hits;
        size = 2048;
    }
    table balance {
        key = { hdr.ethernet.kind[7:0] : exact; hdr.ethernet.src : selector; }
        actions = { out_of; }
        implementation = spread;
        idle_timeout = true;
    }
    apply {
        forward.apply();
        balance.apply();
        ports.count(im.ingress_port);
        dm.packet_color_unused();
    }
}
"#;

fn program(ingress: &str) -> Program {
    let text = format!("{HEAD}{ingress}{TAIL}");
    let (source, mut found) = Source::from_text("test.p4", &text, &FileSystem, &Options::default());
    let (tree, more) = p4cc_syntax::parse(&source);
    found.extend(more);
    let (program, more) = p4cc_compile::compile(&tree);
    found.extend(more);
    program.unwrap_or_else(|| panic!("{}", source.render(&found, false)))
}

fn example() -> Program {
    program(&INGRESS.replace(
        "dm.packet_color_unused();",
        "md.port = mix.get({ hdr.ethernet.src, im.ingress_port, 8w3 })[8:0]; rates.execute(im.ingress_port); \
         md.pair.lo = add.execute(1);",
    ))
}

fn table<'a>(schema: &'a Schema, name: &str) -> &'a Table {
    let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
    schema
        .tables
        .iter()
        .find(|table| table.name == name)
        .unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

fn data(table: &Table) -> Vec<(u32, &str)> {
    table.data.iter().flat_map(|data| &data.fields).map(|field| (field.id, field.name.as_str())).collect()
}

#[test]
fn tables_have_the_pipe_in_front_and_actions_have_not() {
    let schema = schema::of_program(&example(), Chip::Tofino1).unwrap();
    let forward = table(&schema, "pipe.I.forward");
    assert_eq!((forward.id >> 24, forward.kind, forward.size), (2, "MatchAction_Direct", 2048));
    assert_eq!(forward.has_const_default, Some(true));
    let keys: Vec<(u32, &str)> = forward.key.iter().map(|key| (key.id, key.name.as_str())).collect();
    let priority = (65_537, "$MATCH_PRIORITY");
    assert_eq!(keys, [(1, "hdr.ethernet.dst"), (2, "vlan"), (3, "im.ingress_port"), priority]);
    let actions: Vec<&str> = forward.actions.iter().map(|action| action.name.as_str()).collect();
    assert_eq!(actions, ["I.send", "I.drop"]);
    assert_eq!(data(forward), [(65_553, "$COUNTER_SPEC_BYTES"), (65_554, "$COUNTER_SPEC_PKTS")]);
    assert_eq!(
        (forward.operations.as_slice(), forward.attributes.as_slice()),
        (&["SyncCounters"][..], &["EntryScope"][..])
    );
}

/// p4c's back end makes one of the actions that share a name, and each table lists it. So does P4Info.
#[test]
fn actions_of_one_name_and_data_are_one_to_both_protocols() {
    let control = |name: &str| {
        format!(
            "control {name}(inout headers_t hdr) {{
                 @name(\".nop\") action nop() {{ }}
                 @name(\".tag\") action tag(bit<12> vid) {{ hdr.vlan[0].vid = vid; }}
                 table t {{ key = {{ hdr.ethernet.kind : exact; }} actions = {{ nop; tag; }} }}
                 apply {{ t.apply(); }}
             }}
             "
        )
    };
    let used = INGRESS
        .replace("    action send(", "    A() a; B() b;\n    action send(")
        .replace("dm.packet_color_unused();", "a.apply(hdr); b.apply(hdr); md.port = im.ingress_port;");
    let program = program(&format!("{}{}{used}", control("A"), control("B")));
    let schema = schema::of_program(&program, Chip::Tofino1).unwrap();
    let listed = |name: &str| -> Vec<(u32, String)> {
        table(&schema, name).actions.iter().map(|action| (action.id, action.name.clone())).collect()
    };
    let (a, b) = (listed("pipe.I.a.t"), listed("pipe.I.b.t"));
    assert_eq!(a, b);
    let names: Vec<&str> = a.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["nop", "tag", "NoAction"]);
    let info = p4cc_p4runtime::p4info(&program).expect("ids can be given");
    let named = |name: &str| {
        let preambles = info.actions.iter().filter_map(|action| action.preamble.as_ref());
        preambles.filter(|preamble| preamble.name == name).map(|preamble| preamble.id).collect::<Vec<u32>>()
    };
    assert_eq!((named("nop"), named("tag")), (vec![a[0].0], vec![a[1].0]));
}

#[test]
fn a_selector_has_members_groups_and_a_table_to_ask() {
    let schema = schema::of_program(&example(), Chip::Tofino1).unwrap();
    let (members, groups) = (table(&schema, "pipe.I.members"), table(&schema, "pipe.I.spread"));
    assert_eq!((members.id >> 24, members.kind, members.size), (0x81, "Action", 64));
    assert_eq!((groups.id >> 24, groups.kind, groups.size), (0x82, "Selector", 8));
    assert_eq!(groups.depends_on, [members.id]);
    assert_eq!(members.actions.len(), 2, "the table's, that of a miss among them");
    let balance = table(&schema, "pipe.I.balance");
    assert_eq!(balance.kind, "MatchAction_Indirect_Selector");
    assert_eq!(balance.depends_on, [groups.id, members.id]);
    assert_eq!(balance.data[0].fields.len(), 2, "a member or a group");
    assert_eq!(balance.key[0].annotations[0].name, "isFieldSlice");
    assert_eq!(balance.size, 512, "the chip's size of a table that says none");
    assert!(balance.attributes.contains(&"IdleTimeout") && balance.operations.contains(&"UpdateHitState"));
    assert_eq!(table(&schema, "pipe.I.spread_get_member").id, 0x9a00_0000 | groups.id & 0x00ff_ffff);
}

#[test]
fn registers_say_which_half_a_field_is() {
    let program = example();
    let schema = schema::of_program(&program, Chip::Tofino1).unwrap();
    let pairs = table(&schema, "pipe.I.pairs");
    assert_eq!(data(pairs), [(1, "I.pairs.lo"), (2, "I.pairs.hi")]);
    assert!(matches!(pairs.data[1].fields[0].means, Means::Cell(_, 1)));
    let step = table(&schema, "pipe.I.step");
    assert_eq!((step.kind, step.id >> 24), ("RegisterParam", 0x8d));
    assert_eq!(step.depends_on, [pairs.id]);
    assert_eq!(step.data[0].fields[0].ty, Type::Bytes(32, Some(7)));
    assert!(matches!(step.object, Object::RegisterParam(_)));
}

#[test]
fn registers_and_filters_of_entries_are_fields_of_their_table() {
    let ingress = INGRESS
        .replace(
            "    action send(",
            "    DirectRegister<pair_t>() cells;
             DirectRegisterAction<pair_t, bit<32>>(cells) more = {
                 void apply(inout pair_t value, out bit<32> result) {
                     value.lo = value.lo + step.read();
                     result = value.lo;
                 }
             };
             DirectLpf<bit<32>>() smooth;
             action send(",
        )
        .replace("hits.count(); tm.", "md.pair.hi = smooth.execute(more.execute()); hits.count(); tm.")
        .replace("counters = hits;", "counters = hits; registers = cells; filters = smooth;")
        .replace("dm.packet_color_unused();", "md.port = im.ingress_port;")
        .replace("value.lo + step.read();\n            result", "value.lo + 1;\n            result");
    let program = program(&ingress);
    let schema = schema::of_program(&program, Chip::Tofino1).unwrap();
    let forward = table(&schema, "pipe.I.forward");
    let fields: Vec<&str> = data(forward).into_iter().map(|(_, name)| name).collect();
    for name in ["I.cells.lo", "I.cells.hi", "$LPF_SPEC_TYPE", "$COUNTER_SPEC_PKTS"] {
        assert!(fields.contains(&name), "{name} is not among {fields:?}");
    }
    assert_eq!(table(&schema, "pipe.I.step").depends_on, [forward.id], "the table has the cells");
    assert!(
        schema.tables.iter().all(|table| !["pipe.I.cells", "pipe.I.smooth"].contains(&table.name.as_str()))
    );
    let info = p4cc_p4runtime::p4info::p4info(&program).unwrap();
    let registers: Vec<&str> =
        info.registers.iter().filter_map(|one| one.preamble.as_ref()).map(|of| of.name.as_str()).collect();
    assert_eq!(registers, ["I.pairs", "I.step"], "P4Runtime has no registers of entries");
}

#[test]
fn a_hash_that_is_called_once_can_be_changed() {
    let schema = schema::of_program(&example(), Chip::Tofino1).unwrap();
    let configure = table(&schema, "pipe.I.mix.configure");
    let names: Vec<&str> = data(configure).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["hdr.ethernet.src", "im.ingress_port", "constant0_8_8w3"]);
    let compute = table(&schema, "pipe.I.mix.compute");
    assert_eq!(compute.key.len(), 2, "a number is no key");
    assert!(schema.tables.iter().all(|table| !table.name.starts_with("pipe.I.choose")));
    let twice = program(&INGRESS.replace(
        "dm.packet_color_unused();",
        "md.port = mix.get({ hdr.ethernet.src })[8:0] + mix.get({ hdr.ethernet.dst })[8:0];",
    ));
    let schema = schema::of_program(&twice, Chip::Tofino1).unwrap();
    assert!(schema.tables.iter().all(|table| !table.name.starts_with("pipe.I.mix")));
}

#[test]
fn annotations_that_are_lists_are_written_as_p4c_writes_them() {
    let annotated = INGRESS.replace(
        "Hash<bit<16>>(HashAlgorithm_t.CRC16) mix;",
        r#"@symmetric("hdr.ethernet.src", "hdr.ethernet.dst") Hash<bit<16>>(HashAlgorithm_t.CRC16) mix;"#,
    );
    let annotated = annotated.replace(
        "dm.packet_color_unused();",
        "md.port = mix.get({ hdr.ethernet.src, hdr.ethernet.dst })[8:0];",
    );
    let annotated = annotated.replace(
        "    table balance {",
        "    @alpm(1) @alpm_atcam_exclude_field_msbs(hdr.ethernet.src, 7) table balance {",
    );
    let schema = schema::of_program(&program(&annotated), Chip::Tofino1).unwrap();
    let texts = |name| -> Vec<&str> {
        table(&schema, name).annotations.iter().map(|annotation| annotation.name.as_str()).collect()
    };
    assert!(texts("pipe.I.mix.algorithm").contains(&r#"@symmetric("hdr.ethernet.src", "hdr.ethernet.dst")"#));
    assert!(texts("pipe.I.balance").contains(&"@alpm_atcam_exclude_field_msbs(hdr.ethernet.src, 7)"));
}

#[test]
fn kinds_of_externs_come_in_the_order_of_their_first_objects() {
    let schema = schema::of_program(&example(), Chip::Tofino1).unwrap();
    let kinds: Vec<&str> = schema.tables.iter().map(|table| table.kind).collect();
    let first = |kind| kinds.iter().position(|of| *of == kind).unwrap();
    let places =
        ["Counter", "Meter", "Register", "RegisterParam", "DynHashConfigure", "Action", "ParserValueSet"];
    assert!(places.map(first).is_sorted(), "{kinds:?}");
}

#[test]
fn port_metadata_value_sets_and_digests_are_there() {
    let schema = schema::of_program(&example(), Chip::Tofino1).unwrap();
    let metadata = table(&schema, "pipe.IP.$PORT_METADATA");
    assert_eq!((metadata.key[0].name.as_str(), metadata.size), ("im.ingress_port", 288));
    assert_eq!(data(metadata), [(1, "vrf"), (2, "pad")]);
    let kinds = table(&schema, "pipe.IP.kinds");
    assert_eq!((kinds.kind, kinds.key[0].name.as_str()), ("ParserValueSet", "f1"));
    let [learn] = schema.learn_filters.as_slice() else { panic!("{:?}", schema.learn_filters) };
    assert_eq!(learn.name, "pipe.ID.learn");
    let fields: Vec<&str> = learn.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(fields, ["src", "port"]);
}

#[test]
fn a_snapshot_shows_the_values_of_its_control() {
    let schema = schema::of_program(&example(), Chip::Tofino2).unwrap();
    let ingress = table(&schema, "pipe.snapshot.ingress_data");
    let names: Vec<&str> = data(ingress).into_iter().map(|(_, name)| name).collect();
    for name in
        ["hdr.ethernet.$valid", "hdr.vlan$1.vid", "md.pair.hi", "im.ingress_port", "tm.ucast_egress_port"]
    {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert!(!names.contains(&"md.seen"), "flags are not shown");
    let trigger = table(&schema, "pipe.snapshot.egress_trigger");
    let id =
        |table: &Table, name: &str| data(table).iter().find(|(_, other)| *other == name).map(|(id, _)| *id);
    let value = id(ingress, "hdr.ethernet.dst");
    assert_eq!(id(trigger, "trig.hdr.ethernet.dst"), value, "one value has one id");
    assert_eq!(id(trigger, "trig.hdr.ethernet.dst_mask"), value.map(|id| id + 0x8000));
    assert_eq!(table(&schema, "tbl_dbg_counter").size, 20 * 16);
}

#[test]
fn the_text_is_json_with_every_table() {
    let schema = schema::of_program(&example(), Chip::Tofino1).unwrap();
    let text = schema::json::text(&schema);
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["schema_version"], "1.0.0");
    assert_eq!(read["tables"].as_array().map(Vec::len), Some(schema.tables.len()));
    let rates =
        read["tables"].as_array().unwrap().iter().find(|table| table["name"] == "pipe.I.rates").unwrap();
    assert!(rates.get("annotations").is_none());
    assert_eq!(rates["data"][0]["singleton"]["type"]["default_value"], u64::MAX);
}

#[test]
fn other_architectures_have_none() {
    let text = "#include <core.p4>\n#include <v1model.p4>\nstruct h {} struct m {}\n\
        parser P(packet_in p, out h a, inout m b, inout standard_metadata_t s) { state start { transition accept; } }\n\
        control C(inout h a, inout m b) { apply {} }\n\
        control I(inout h a, inout m b, inout standard_metadata_t s) { apply {} }\n\
        control D(packet_out p, in h a) { apply {} }\nV1Switch(P(), C(), I(), I(), C(), D()) main;";
    let (source, _) = Source::from_text("v1.p4", text, &FileSystem, &Options::default());
    let (tree, _) = p4cc_syntax::parse(&source);
    let program = p4cc_compile::compile(&tree).0.unwrap();
    let error = schema::of_program(&program, Chip::Tofino1).unwrap_err();
    assert!(error.to_string().contains("v1model"), "{error}");
}
