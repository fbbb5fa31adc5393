//! Action profiles and selectors.

use p4cc_exec::control::{ControlError, EntryAction, Group, GroupMember, Member, SetMember, TableEntry};
use p4cc_exec::testing::{ProgramBuilder, Rig, var};
use p4cc_ir::{
    ActionCall, ActionId, Bits, HashAlgorithm, Inst, MatchKind, MatchValue, ProfileId, TableId, VarId,
};

struct Selected {
    rig: Rig,
    table: TableId,
    profile: ProfileId,
    set: ActionId,
    flow: VarId,
    out: VarId,
    action: VarId,
}

fn selected(selector: Option<HashAlgorithm>) -> Selected {
    let mut b = ProgramBuilder::new();
    let (key, flow) = (b.bits("key", 8), b.bits("flow", 16));
    let (out, action) = (b.bits("out", 32), b.bits("action", 8));
    let set = b.action("set", &[32], |p| vec![Inst::Assign { dst: out, src: var(p[0]) }]);
    let miss = b.action("miss", &[], |_| Vec::new());
    let mut keys = vec![(key, MatchKind::Exact)];
    keys.extend(selector.map(|_| (flow, MatchKind::Selector)));
    let table = b.table("t", &keys, &[set, miss]);
    let profile = b.profile("p", 8, selector);
    b.program.profiles[profile.index()].max_group_size = 6;
    b.program.tables[table.index()].profile = Some(profile);
    b.ingress(vec![Inst::Apply { table, hit: None, action: Some(action) }]);
    Selected { rig: Rig::new(b.compile()), table, profile, set, flow, out, action }
}

impl Selected {
    fn member(&self, id: u32) -> Member {
        let args = vec![Bits::from_u128(32, u128::from(id) * 100)];
        Member { id, action: ActionCall { action: self.set, args } }
    }

    fn group(id: u32, members: &[(u32, u32)]) -> Group {
        let members = members.iter();
        let members = members.map(|&(member_id, weight)| GroupMember { member_id, weight, watch_port: None });
        Group { id, max_size: 0, members: members.collect() }
    }

    fn entry(action: EntryAction) -> TableEntry {
        let matches = vec![MatchValue::Exact(Bits::zero(8))];
        TableEntry {
            matches,
            priority: 0,
            action,
            metadata: Vec::new(),
            controller_metadata: 0,
            idle_timeout_ns: 0,
            is_const: false,
        }
    }

    fn choose(&mut self, flow: u64) -> u64 {
        self.rig.set(self.out, 1);
        self.rig.set(self.flow, flow);
        self.rig.ingress();
        self.rig.get(self.out)
    }
}

fn with_group(members: &[(u32, u32)]) -> Selected {
    let mut s = selected(Some(HashAlgorithm::Identity));
    for &(id, _) in members {
        assert_eq!(s.rig.state.member_insert(s.profile, s.member(id)), Ok(()));
    }
    assert_eq!(s.rig.state.group_insert(s.profile, Selected::group(1, members)), Ok(()));
    assert_eq!(s.rig.state.table_insert(s.table, Selected::entry(EntryAction::Group(1))), Ok(()));
    s
}

#[test]
fn weights_share_the_hash_space_in_the_order_of_ids() {
    let mut s = with_group(&[(3, 1), (1, 3)]);
    let chosen: Vec<u64> = (0..5).map(|flow| s.choose(flow)).collect();
    assert_eq!(chosen, [100, 100, 100, 300, 100]);
    assert_eq!(s.rig.get(s.action), 0);
}

#[test]
fn a_port_that_is_down_is_not_chosen() {
    let mut s = with_group(&[(1, 1), (2, 1)]);
    let mut group = Selected::group(1, &[(1, 1), (2, 1)]);
    group.members[0].watch_port = Some(9.into());
    assert_eq!(s.rig.state.group_modify(s.profile, group), Ok(()));
    assert_eq!((s.choose(0), s.choose(1)), (100, 200));
    s.rig.state.set_port_up(9, false);
    assert_eq!((s.choose(0), s.choose(1)), (200, 200));
    s.rig.state.set_port_up(9, true);
    assert_eq!((s.choose(0), s.choose(1)), (100, 200));
}

#[test]
fn an_empty_group_runs_nothing() {
    let mut s = with_group(&[(1, 1)]);
    assert_eq!(s.rig.state.group_modify(s.profile, Selected::group(1, &[])), Ok(()));
    assert_eq!(s.choose(0), 1);
    assert_eq!(s.rig.get(s.action), 2, "past the list of actions");
}

#[test]
fn what_is_used_is_not_deleted() {
    let mut s = with_group(&[(1, 1), (2, 1)]);
    let held = |result: Result<(), ControlError>| {
        assert!(matches!(result, Err(ControlError::FailedPrecondition(_))), "{result:?}");
    };
    held(s.rig.state.member_delete(s.profile, 1));
    held(s.rig.state.group_delete(s.profile, 1));
    let matches = [MatchValue::Exact(Bits::zero(8))];
    assert_eq!(s.rig.state.table_modify(s.table, Selected::entry(EntryAction::Member(2))), Ok(()));
    assert_eq!(s.choose(0), 200);
    assert_eq!(s.rig.state.group_delete(s.profile, 1), Ok(()));
    assert_eq!(s.rig.state.member_delete(s.profile, 1), Ok(()));
    held(s.rig.state.member_delete(s.profile, 2));
    assert_eq!(s.rig.state.table_delete(s.table, &matches, 0), Ok(()));
    assert_eq!(s.rig.state.member_delete(s.profile, 2), Ok(()));
    assert_eq!(s.rig.state.members(s.profile).count() + s.rig.state.groups(s.profile).count(), 0);
}

#[test]
fn a_changed_member_changes_at_once() {
    let mut s = with_group(&[(1, 1)]);
    let action = ActionCall { action: s.set, args: vec![Bits::from_u128(32, 7)] };
    assert_eq!(s.rig.state.member_modify(s.profile, Member { id: 1, action }), Ok(()));
    assert_eq!(s.choose(0), 7);
}

#[test]
fn limits_and_mistakes_are_refused() {
    let mut s = with_group(&[(1, 1), (2, 1)]);
    let exhausted = |result: Result<(), ControlError>| {
        assert!(matches!(result, Err(ControlError::ResourceExhausted(_))), "{result:?}");
    };
    exhausted(s.rig.state.group_insert(s.profile, Selected::group(2, &[(1, 7)])));
    assert_eq!(s.rig.state.group_insert(s.profile, Selected::group(2, &[(1, 6)])), Ok(()));
    exhausted(s.rig.state.group_insert(s.profile, Selected::group(3, &[(1, 1)])));
    for id in 3..9 {
        assert_eq!(s.rig.state.member_insert(s.profile, s.member(id)), Ok(()));
    }
    exhausted(s.rig.state.member_insert(s.profile, s.member(9)));
    let again = s.rig.state.member_insert(s.profile, s.member(8));
    assert!(matches!(again, Err(ControlError::AlreadyExists(_))), "{again:?}");
    for bad in [Selected::group(4, &[(1, 0)]), Selected::group(4, &[(1, 1), (1, 1)])] {
        let refused = s.rig.state.group_insert(s.profile, bad);
        assert!(matches!(refused, Err(ControlError::InvalidArgument(_))), "{refused:?}");
    }
    let unknown = s.rig.state.group_modify(s.profile, Selected::group(2, &[(99, 1)]));
    assert!(matches!(unknown, Err(ControlError::NotFound(_))), "{unknown:?}");
    let direct = EntryAction::Direct(s.member(1).action);
    let refused = s.rig.state.table_modify(s.table, Selected::entry(direct));
    assert!(matches!(refused, Err(ControlError::InvalidArgument(_))), "{refused:?}");
    let plain = selected(None);
    let mut state = plain.rig.state;
    assert!(state.group_insert(plain.profile, Selected::group(1, &[])).is_err());
    assert!(state.table_insert(plain.table, Selected::entry(EntryAction::Group(1))).is_err());
}

#[test]
fn every_algorithm_spreads_over_its_members() {
    for algorithm in [HashAlgorithm::Crc16, HashAlgorithm::Crc32, HashAlgorithm::Csum16, HashAlgorithm::Xor16]
    {
        let mut s = selected(Some(algorithm));
        for id in [1, 2] {
            assert_eq!(s.rig.state.member_insert(s.profile, s.member(id)), Ok(()));
        }
        assert_eq!(s.rig.state.group_insert(s.profile, Selected::group(1, &[(1, 1), (2, 1)])), Ok(()));
        assert_eq!(s.rig.state.table_insert(s.table, Selected::entry(EntryAction::Group(1))), Ok(()));
        let first = (0..200).filter(|&flow| s.choose(flow) == 100).count();
        assert!((60..140).contains(&first), "{algorithm:?}: {first} of 200");
        assert_eq!(s.choose(77), s.choose(77));
    }
}

/// A set of actions with weights, the n-th writing n + 1 hundred.
fn set(of: &Selected, weights: &[u32]) -> EntryAction {
    let member =
        |(id, &weight): (u32, &u32)| SetMember { action: of.member(id).action, weight, watch_port: None };
    EntryAction::Set((1..).zip(weights).map(member).collect::<Vec<_>>().into())
}

#[test]
fn an_entry_may_bring_its_own_actions() {
    let mut s = selected(Some(HashAlgorithm::Identity));
    let entry = Selected::entry(set(&s, &[2, 1]));
    assert_eq!(s.rig.state.table_insert(s.table, entry.clone()), Ok(()));
    let chosen: Vec<u64> = (0..6).map(|flow| s.choose(flow)).collect();
    assert_eq!(chosen, [100, 100, 200, 100, 100, 200]);
    assert_eq!(s.rig.state.table_entries(s.table).cloned().collect::<Vec<_>>(), [entry]);
    assert_eq!((s.rig.state.members(s.profile).count(), s.rig.state.groups(s.profile).count()), (0, 0));
    let refused = s.rig.state.member_insert(s.profile, s.member(1));
    assert!(matches!(refused, Err(ControlError::InvalidArgument(_))), "{refused:?}");
    let larger = Selected::entry(set(&s, &[1, 1, 4]));
    assert_eq!(s.rig.state.table_modify(s.table, larger), Ok(()), "the old set makes room for the new");
    assert_eq!(s.choose(5), 300);
    assert_eq!(s.rig.state.table_delete(s.table, &[MatchValue::Exact(Bits::zero(8))], 0), Ok(()));
    assert_eq!(s.rig.state.member_insert(s.profile, s.member(1)), Ok(()));
    let refused = s.rig.state.table_insert(s.table, Selected::entry(set(&s, &[1])));
    assert!(matches!(refused, Err(ControlError::InvalidArgument(_))), "{refused:?}");
}

#[test]
fn sets_have_bounds() {
    let mut s = selected(Some(HashAlgorithm::Identity));
    for weights in [&[0][..], &[7], &[4, 3]] {
        let refused = s.rig.state.table_insert(s.table, Selected::entry(set(&s, weights)));
        assert!(matches!(refused, Err(ControlError::InvalidArgument(_))), "{weights:?}: {refused:?}");
    }
    assert_eq!(s.rig.state.table_insert(s.table, Selected::entry(set(&s, &[6]))), Ok(()));
    let mut other = Selected::entry(set(&s, &[3]));
    other.matches = vec![MatchValue::Exact(Bits::from_u128(8, 1))];
    let refused = s.rig.state.table_insert(s.table, other);
    assert!(matches!(refused, Err(ControlError::ResourceExhausted(_))), "{refused:?}");
    let mut plain = selected(None);
    let refused = plain.rig.state.table_insert(plain.table, Selected::entry(set(&plain, &[1])));
    assert!(matches!(refused, Err(ControlError::InvalidArgument(_))), "{refused:?}");
}

#[test]
fn a_set_without_usable_actions_runs_none() {
    let mut s = selected(Some(HashAlgorithm::Identity));
    let EntryAction::Set(mut set) = set(&s, &[1, 1]) else { panic!("a set") };
    set.members[0].watch_port = Some(3.into());
    assert_eq!(s.rig.state.table_insert(s.table, Selected::entry(EntryAction::Set(set))), Ok(()));
    s.rig.state.set_port_up(3, false);
    assert_eq!((s.choose(0), s.choose(1)), (200, 200));
    s.rig.state.set_port_up(3, true);
    assert_eq!((s.choose(0), s.choose(1)), (100, 200));
}

/// Tables of one profile list its actions in their own
/// order, and an entry's action is named by its place there.
#[test]
fn tables_that_share_a_profile_name_actions_by_their_own_lists() {
    let mut b = ProgramBuilder::new();
    let (key, flow, out) = (b.bits("key", 8), b.bits("flow", 16), b.bits("out", 32));
    let places = [b.bits("first", 8), b.bits("second", 8)];
    let wide = b.action("wide", &[32, 32], |p| vec![Inst::Assign { dst: out, src: var(p[1]) }]);
    let set = b.action("set", &[32], |p| vec![Inst::Assign { dst: out, src: var(p[0]) }]);
    let miss = b.action("miss", &[], |_| Vec::new());
    let keys = [(key, MatchKind::Exact), (flow, MatchKind::Selector)];
    let tables = [b.table("t1", &keys, &[set, miss]), b.table("t2", &keys, &[wide, miss, set])];
    let profile = b.profile("p", 8, Some(HashAlgorithm::Identity));
    for table in tables {
        b.program.tables[table.index()].profile = Some(profile);
    }
    let apply = |(&table, &place)| Inst::Apply { table, hit: None, action: Some(place) };
    b.ingress(tables.iter().zip(&places).map(apply).collect());
    let mut rig = Rig::new(b.compile());
    let args = |values: &[u128]| values.iter().map(|&value| Bits::from_u128(32, value)).collect();
    let member =
        |id, action, values: &[u128]| Member { id, action: ActionCall { action, args: args(values) } };
    assert_eq!(rig.state.member_insert(profile, member(1, set, &[7])), Ok(()));
    assert_eq!(rig.state.member_insert(profile, member(2, wide, &[8, 9])), Ok(()));
    for table in tables {
        assert_eq!(rig.state.table_insert(table, Selected::entry(EntryAction::Member(1))), Ok(()));
    }
    rig.ingress();
    assert_eq!(places.map(|place| rig.get(place)), [0, 2]);
    assert_eq!(rig.get(out), 7);
    assert_eq!(rig.state.table_modify(tables[1], Selected::entry(EntryAction::Member(2))), Ok(()));
    rig.ingress();
    assert_eq!((places.map(|place| rig.get(place)), rig.get(out)), ([0, 0], 9));
    assert_eq!(rig.state.group_insert(profile, Selected::group(1, &[])), Ok(()));
    for table in tables {
        assert_eq!(rig.state.table_modify(table, Selected::entry(EntryAction::Group(1))), Ok(()));
    }
    rig.ingress();
    assert_eq!(places.map(|place| rig.get(place)), [2, 3], "past the list of each");
}
