//! "Direct Resources" (9.1.7): what is given with an entry whose action does not execute the resource.

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::exact;
use crate::pushed::{Pushed, action, id, own_info};
use p4::entity::Entity as Of;
use p4::update::Type;

/// Two tables with a counter and a meter; only `forward` of the first names them.
fn program() -> String {
    let declared = "direct_counter(CounterType.packets_and_bytes) hits; direct_meter<bit<32>>(MeterType.packets) rates; \
                    direct_counter(CounterType.packets_and_bytes) plain_hits;";
    let program = include_str!("registers.p4").replace("// registers", declared);
    let program = program.replace(
        "{ std.egress_spec = port; }",
        "{ std.egress_spec = port; hits.count(); rates.read(meta.value); } \
         action plain(bit<9> port) { std.egress_spec = port; }",
    );
    let program = program.replace("size = 65536;", "counters = hits; meters = rates;");
    program.replace(
        "apply { hosts.apply(); }",
        "table others { key = { hdr.address.address: exact; } actions = { plain; drop; } counters = plain_hits; } \
         apply { hosts.apply(); others.apply(); }",
    )
}

#[test]
fn data_of_a_resource_that_the_action_does_not_execute_are_refused() {
    let program = program();
    let info = own_info(&program);
    let lab = Pushed::with(&program, &info);
    let table = |alias| id(info.tables.iter().map(|one| &one.preamble), alias);
    let of = |alias| id(info.actions.iter().map(|one| &one.preamble), alias);
    let (forward, drop) = (action(of("forward"), &[(1, &[2])]), action(of("drop"), &[]));
    let counter_data = Some(p4::CounterData { byte_count: 5, packet_count: 1 });
    let meter_config = Some(p4::MeterConfig { cir: 1, cburst: 1, pir: 2, pburst: 2, eburst: 0 });
    let entry = |alias, address: u8, action: &Option<p4::TableAction>| p4::TableEntry {
        table_id: table(alias),
        r#match: vec![exact(1, &[address])],
        action: action.clone(),
        ..Default::default()
    };
    let code = |verb, entry| {
        lab.update(verb, Of::TableEntry(entry)).map_err(|(code, message)| {
            assert!(message.contains("direct"), "{message}");
            code
        })
    };
    let counted = |entry| p4::TableEntry { counter_data, ..entry };
    let measured = |entry| p4::TableEntry { meter_config, ..entry };
    assert_eq!(code(Type::Insert, counted(measured(entry("hosts", 1, &forward)))), Ok(()));
    for given in [counted(entry("hosts", 2, &drop)), measured(entry("hosts", 2, &drop))] {
        assert_eq!(code(Type::Insert, given.clone()), Err(Code::InvalidArgument));
        assert_eq!(
            code(Type::Modify, p4::TableEntry { r#match: vec![exact(1, &[1])], ..given }),
            Err(Code::InvalidArgument)
        );
    }
    assert_eq!(lab.entries(table("hosts")).len(), 1, "nothing of what was refused is there");
    assert_eq!(code(Type::Insert, entry("hosts", 2, &drop)), Ok(()));
    let kept = counted(entry("hosts", 2, &None));
    assert_eq!(code(Type::Modify, kept), Err(Code::InvalidArgument), "the entry's own action");
    let default =
        p4::TableEntry { r#match: Vec::new(), is_default_action: true, ..counted(entry("hosts", 0, &drop)) };
    assert_eq!(code(Type::Modify, default), Err(Code::InvalidArgument));
    // Where no action names the resource it is v1model's hits that count.
    assert_eq!(code(Type::Insert, counted(entry("others", 1, &drop))), Ok(()));
}
