//! "Group Programming", "Rules on Setting `max_size`" and "One Shot Action Selector Programming".

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{CPU_PORT, Lab};
use p4::action_profile_group::{Member, member::WatchKind};
use p4::entity::Entity as Of;

/// A lab whose selectors have members 1 to 5.
fn lab(profile: &str) -> (Lab, crate::lab::Stream, u32) {
    let (lab, stream) = Lab::with_primary();
    let action_profile_id = lab.profile(profile);
    for member_id in 1..=5 {
        let action = Some(lab.forward(member_id as u8));
        let member = p4::ActionProfileMember { action_profile_id, member_id, action };
        lab.insert(Of::ActionProfileMember(member)).expect("a member");
    }
    (lab, stream, action_profile_id)
}

fn group(action_profile_id: u32, group_id: u32, max_size: i32, weights: &[i32]) -> p4::ActionProfileGroup {
    let member = |(member_id, &weight)| Member { member_id, weight, watch_kind: None };
    let members = (1..).zip(weights).map(member).collect();
    p4::ActionProfileGroup { action_profile_id, group_id, members, max_size }
}

fn code(result: Result<(), (Code, String)>) -> Code {
    result.map_or_else(|(code, _)| code, |()| Code::Ok)
}

#[test]
fn the_size_of_a_group_stays_as_it_was_inserted() {
    let (lab, _stream, profile) = lab("unbounded");
    let put = |max_size, weights: &[i32]| Of::ActionProfileGroup(group(profile, 1, max_size, weights));
    lab.insert(put(4, &[1, 1])).expect("a group");
    for other in [0, 3, 5] {
        let (code, message) = lab.modify(put(other, &[1])).expect_err("another size");
        assert_eq!(code, Code::InvalidArgument);
        assert!(message.contains("max_size") && message.contains('4'), "{message}");
    }
    lab.modify(put(4, &[2, 2])).expect("the same size");
    assert_eq!(code(lab.modify(put(4, &[3, 2]))), Code::ResourceExhausted);
    assert_eq!(lab.read(put(0, &[])).expect("it is there"), [put(4, &[2, 2])]);
}

#[test]
fn a_bound_of_the_program_asks_for_one_of_the_group() {
    let (bounded, _stream, profile) = lab("weighted");
    let put = |max_size, weights: &[i32]| Of::ActionProfileGroup(group(profile, 1, max_size, weights));
    assert_eq!(code(bounded.insert(put(0, &[1]))), Code::InvalidArgument, "max_group_size is 4");
    assert_eq!(code(bounded.insert(put(5, &[1]))), Code::InvalidArgument);
    assert_eq!(code(bounded.insert(put(-1, &[1]))), Code::InvalidArgument);
    bounded.insert(put(4, &[2, 2])).expect("a group");
    let (free, _stream, profile) = lab("unbounded");
    let put = |id, max_size| Of::ActionProfileGroup(group(profile, id, max_size, &[1]));
    free.insert(put(1, 0)).expect("no bound is needed");
    assert_eq!(code(free.insert(put(2, 17))), Code::ResourceExhausted, "the selector has 16 in all");
}

#[test]
fn sizes_may_count_members() {
    let (lab, _stream, profile) = lab("counted");
    let put = |id, weights: &[i32]| Of::ActionProfileGroup(group(profile, id, 2, weights));
    lab.insert(put(1, &[50, 50])).expect("two members, whatever they weigh");
    assert_eq!(code(lab.insert(put(2, &[1, 1, 1]))), Code::ResourceExhausted);
    let (code, message) = lab.insert(put(2, &[51])).expect_err("max_member_weight is 50");
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("50"), "{message}");
}

#[test]
fn a_watched_port_is_one_of_the_device_and_reads_as_written() {
    let (lab, _stream, profile) = lab("unbounded");
    let watch = |id, kind| {
        let mut group = group(profile, id, 0, &[1]);
        group.members[0].watch_kind = Some(kind);
        group
    };
    for unknown in [WatchKind::WatchPort(vec![8]), number(8), WatchKind::WatchPort(vec![1, 0, 0, 0])] {
        let (code, message) =
            lab.insert(Of::ActionProfileGroup(watch(1, unknown))).expect_err("there is no such port");
        assert_eq!(code, Code::InvalidArgument);
        assert!(message.contains("watch port"), "{message}");
    }
    let cpu = WatchKind::WatchPort((CPU_PORT as u16).to_be_bytes().to_vec());
    let kinds = [(1, WatchKind::WatchPort(vec![7])), (2, number(7)), (3, cpu)];
    let groups = kinds.map(|(id, kind)| Of::ActionProfileGroup(watch(id, kind)));
    groups.iter().for_each(|group| lab.insert(group.clone()).expect("a group"));
    assert_eq!(lab.read(Of::ActionProfileGroup(group(profile, 0, 0, &[]))).expect("groups"), groups);
}

#[expect(deprecated, reason = "the numeric port is what is tried")]
fn number(port: i32) -> WatchKind {
    WatchKind::Watch(port)
}

/// A route with actions of its own.
fn one_shot(lab: &Lab, table: &str, mode: i32, size: i32, weights: &[i32]) -> p4::TableEntry {
    let action = |weight: &i32| p4::ActionProfileAction {
        action: Some(lab.forward(1)),
        weight: *weight,
        watch_kind: None,
    };
    let set = p4::ActionProfileActionSet {
        action_profile_actions: weights.iter().map(action).collect(),
        action_selection_mode: mode,
        size_semantics: size,
    };
    let of = p4::table_action::Type::ActionProfileActionSet(set);
    let lpm = p4::field_match::Lpm { value: vec![10, 0, 0, 0], prefix_len: 8 };
    let field_match_type = Some(p4::field_match::FieldMatchType::Lpm(lpm));
    p4::TableEntry {
        table_id: lab.table(table),
        r#match: vec![p4::FieldMatch { field_id: 1, field_match_type }],
        action: Some(p4::TableAction { r#type: Some(of) }),
        ..Default::default()
    }
}

#[test]
fn a_set_may_name_the_mode_that_the_selector_has_and_its_own_size() {
    let (hash, random) = (1, 2);
    let (by_weights, by_members) = (1, 2);
    for (table, mode, size, weights) in [
        ("weighted_routes", hash, by_weights, &[1, 3][..]),
        ("weighted_routes", 0, by_members, &[9, 1]),
        ("counted_routes", hash, by_members, &[50, 50]),
        ("counted_routes", 0, by_weights, &[1, 1]),
    ] {
        let (lab, _stream) = Lab::with_primary();
        let entry = one_shot(&lab, table, mode, size, weights);
        lab.insert(Of::TableEntry(entry.clone())).unwrap_or_else(|refused| panic!("{table}: {refused:?}"));
        let all = p4::TableEntry { table_id: entry.table_id, ..Default::default() };
        assert_eq!(lab.read(Of::TableEntry(all)).expect("it is there"), [Of::TableEntry(entry)]);
    }
    let (lab, _stream) = Lab::with_primary();
    for (table, mode, size, weights, wanted) in [
        ("weighted_routes", random, 0, &[1][..], Code::Unimplemented),
        ("weighted_routes", 7, 0, &[1], Code::InvalidArgument),
        ("weighted_routes", 0, 7, &[1], Code::InvalidArgument),
        ("weighted_routes", 0, by_weights, &[3, 2], Code::InvalidArgument),
        ("counted_routes", 0, 0, &[1, 1, 1], Code::InvalidArgument),
        ("counted_routes", 0, 0, &[51], Code::InvalidArgument),
    ] {
        let entry = one_shot(&lab, table, mode, size, weights);
        assert_eq!(code(lab.insert(Of::TableEntry(entry))), wanted, "{table} {mode} {size} {weights:?}");
    }
}

#[test]
fn an_action_of_a_set_watches_a_port_of_the_device() {
    use p4::action_profile_action::WatchKind;
    let (lab, _stream) = Lab::with_primary();
    let mut entry = one_shot(&lab, "unbounded_routes", 0, 0, &[1]);
    let mut watch = |port: u8| {
        let Some(p4::TableAction { r#type: Some(p4::table_action::Type::ActionProfileActionSet(set)) }) =
            &mut entry.action
        else {
            panic!("a set")
        };
        set.action_profile_actions[0].watch_kind = Some(WatchKind::WatchPort(vec![port]));
        Of::TableEntry(entry.clone())
    };
    assert_eq!(code(lab.insert(watch(9))), Code::InvalidArgument);
    assert_eq!(code(lab.insert(watch(3))), Code::Ok);
}

#[test]
fn a_config_that_was_saved_is_committed_with_the_ports_of_now() {
    use p4::set_forwarding_pipeline_config_request::Action;
    let (lab, _stream) = Lab::with_primary();
    let push = |action: Action, config| {
        let request = p4::SetForwardingPipelineConfigRequest {
            device_id: crate::lab::DEVICE,
            election_id: Some(p4::Uint128 { high: 0, low: 1 }),
            action: action.into(),
            config,
            ..Default::default()
        };
        lab.call::<_, p4::SetForwardingPipelineConfigResponse>(
            "/p4.v1.P4Runtime/SetForwardingPipelineConfig",
            request,
        )
        .expect("it is taken");
    };
    let config = p4::ForwardingPipelineConfig {
        p4info: Some(lab.info.clone()),
        p4_device_config: crate::lab::PROGRAM.as_bytes().to_vec(),
        cookie: None,
    };
    push(Action::VerifyAndSave, Some(config));
    let mut entry = one_shot(&lab, "unbounded_routes", 0, 0, &[1, 1]);
    let Some(p4::TableAction { r#type: Some(p4::table_action::Type::ActionProfileActionSet(set)) }) =
        &mut entry.action
    else {
        panic!("a set")
    };
    for (port, action) in (5..).zip(&mut set.action_profile_actions) {
        action.action = Some(lab.forward(port));
        action.watch_kind = Some(p4::action_profile_action::WatchKind::WatchPort(vec![port]));
    }
    lab.insert(Of::TableEntry(entry)).expect("an entry");
    lab.switch(|switch| switch.control().set_port_up(5, false));
    push(Action::Commit, None);
    let depths = || [5, 6].map(|port| lab.switch(|switch| switch.observation().port_depth_pkts(port)));
    (0..4).for_each(|kind| lab.receive(0, 100 + kind, 0x0a00_0000 + u32::from(kind)));
    assert_eq!(depths(), [0, 4]);
}
