//! The dual-threshold ECN program (p4src/v1model/ecn_dual.p4) as the front end lowers it, built by hand.

use p4cc_ir::{
    ActionCall, BinOp, Bits, CounterId, ExternCall, HashAlgorithm, HeaderId, Inst, Keyset, MatchKind,
    MatchValue, Operand, ProfileId, TableId, Terminator, VarId, VarType,
};

use super::{ProgramBuilder, block, constant, var};
use crate::control::{EntryAction, Group, GroupMember, Member, TableEntry};
use crate::{Pipeline, State};

/// The compiled program and the names of its parts.
pub struct EcnProgram {
    /// Compiled.
    pub pipeline: Pipeline,
    /// Ethernet, IPv4, ports.
    pub headers: [HeaderId; 3],
    /// `ipv4_lpm`
    pub lpm: TableId,
    /// `ecmp`
    pub ecmp: ProfileId,
    /// `thresholds`
    pub thresholds: TableId,
    /// `codepoint_map`
    pub codepoints: TableId,
    /// `level_packets`
    pub levels: CounterId,
    /// `set_next_hop`, `set_thresholds`, `set_codepoint`
    pub actions: [p4cc_ir::ActionId; 3],
}

fn copy(dst: VarId, src: VarId) -> Inst {
    Inst::Assign { dst, src: var(src) }
}

fn put(dst: VarId, width: u32, value: u128) -> Inst {
    Inst::Assign { dst, src: constant(width, value) }
}

fn binary(dst: VarId, op: BinOp, a: VarId, b: Operand) -> Inst {
    Inst::Binary { dst, op, a: var(a), b }
}

fn to(block: u32) -> p4cc_ir::BlockId {
    p4cc_ir::BlockId(block)
}

fn branch(cond: VarId, then: u32, otherwise: u32) -> Terminator {
    Terminator::Branch { cond: var(cond), then: to(then), otherwise: to(otherwise) }
}

fn exactly(width: u32, value: u128) -> Keyset {
    let mask = Bits::from_u128(width, u128::MAX);
    Keyset::Mask { value: Bits::from_u128(width, value), mask }
}

fn headers(b: &mut ProgramBuilder) -> [HeaderId; 3] {
    let bit = VarType::Bit;
    let ethernet = b.header_type("ethernet", &[("dst", bit(48)), ("src", bit(48)), ("type", bit(16))]);
    let ipv4 = b.header_type(
        "ipv4",
        &[
            ("version", bit(4)),
            ("ihl", bit(4)),
            ("dscp", bit(6)),
            ("ecn", bit(2)),
            ("total_len", bit(16)),
            ("identification", bit(16)),
            ("flags", bit(3)),
            ("frag_offset", bit(13)),
            ("ttl", bit(8)),
            ("protocol", bit(8)),
            ("hdr_checksum", bit(16)),
            ("src_addr", bit(32)),
            ("dst_addr", bit(32)),
        ],
    );
    let ports = b.header_type("ports", &[("src_port", bit(16)), ("dst_port", bit(16))]);
    [b.header("ethernet", ethernet), b.header("ipv4", ipv4), b.header("l4_ports", ports)]
}

fn parser(b: &mut ProgramBuilder, [ethernet, ipv4, ports]: [HeaderId; 3]) {
    let (eth, ip) = (b.fields(ethernet), b.fields(ipv4));
    let (version_ok, ihl_ok) = (b.bits("tmp.version_ok", 1), b.bits("tmp.ihl_ok", 1));
    let version = Terminator::Select {
        keys: vec![var(eth[2])],
        cases: vec![(vec![exactly(16, 0x800)], to(1))],
        default: Some(to(3)),
    };
    let l4 = Terminator::Select {
        keys: vec![var(ip[7]), var(ip[9])],
        cases: vec![
            (vec![exactly(13, 0), exactly(8, 17)], to(2)),
            (vec![exactly(13, 0), exactly(8, 6)], to(2)),
        ],
        default: Some(to(3)),
    };
    let verify = |cond: VarId, error| Inst::Verify { cond: var(cond), error: constant(32, error) };
    let ipv4_insts = vec![
        Inst::Extract { header: ipv4 },
        binary(version_ok, BinOp::Eq, ip[0], constant(4, 4)),
        verify(version_ok, 8),
        binary(ihl_ok, BinOp::Eq, ip[1], constant(4, 5)),
        verify(ihl_ok, 7),
    ];
    let blocks = vec![
        block(vec![Inst::Extract { header: ethernet }], version),
        block(ipv4_insts, l4),
        block(vec![Inst::Extract { header: ports }], Terminator::Accept),
        block(Vec::new(), Terminator::Accept),
    ];
    b.program.errors.extend(["Ipv4OptionsNotSupported".to_owned(), "Ipv4VersionWrong".to_owned()]);
    b.set_blocks(b.v1model().parser, blocks);
}

fn checksums(b: &mut ProgramBuilder, ipv4: HeaderId) {
    let ip = b.fields(ipv4);
    let valid = b.bits("tmp.ipv4_valid", 1);
    let data: Vec<Operand> =
        ip.iter().enumerate().filter(|(i, _)| *i != 10).map(|(_, &field)| var(field)).collect();
    let is_valid = Inst::IsValid { dst: valid, header: ipv4 };
    let verify = Inst::Extern(ExternCall::VerifyChecksum {
        cond: var(valid),
        data: data.clone(),
        checksum: var(ip[10]),
        algorithm: HashAlgorithm::Csum16,
        with_payload: false,
    });
    let update = Inst::Extern(ExternCall::UpdateChecksum {
        cond: var(valid),
        data,
        checksum: ip[10],
        algorithm: HashAlgorithm::Csum16,
        with_payload: false,
    });
    let entry = b.v1model();
    b.set_blocks(entry.verify_checksum, vec![block(vec![is_valid.clone(), verify], Terminator::Return)]);
    b.set_blocks(entry.compute_checksum, vec![block(vec![is_valid, update], Terminator::Return)]);
}

fn ingress(
    b: &mut ProgramBuilder,
    [ethernet, ipv4, ports]: [HeaderId; 3],
) -> (TableId, ProfileId, p4cc_ir::ActionId) {
    let (eth, ip, l4) = (b.fields(ethernet), b.fields(ipv4), b.fields(ports));
    let meta = b.meta();
    let (drop, forward_drop) = (b.bits("ingress.drop", 1), b.bits("forward.drop", 1));
    let egress_spec = b.bits("forward.egress_spec", 9);
    let (flag, other, third) = (b.bits("tmp.a", 1), b.bits("tmp.b", 1), b.bits("tmp.c", 1));
    let next_hop = b.action("set_next_hop", &[9, 48], |p| {
        vec![
            copy(egress_spec, p[0]),
            copy(eth[1], eth[0]),
            copy(eth[0], p[1]),
            binary(ip[8], BinOp::Sub, ip[8], constant(8, 1)),
            put(forward_drop, 1, 0),
        ]
    });
    let no_route = b.action("no_route", &[], |_| vec![put(forward_drop, 1, 1)]);
    let no_action = b.action("NoAction", &[], |_| Vec::new());
    let mut keys = vec![(ip[12], MatchKind::Lpm)];
    keys.extend([ip[11], ip[12], ip[9], l4[0], l4[1]].map(|field| (field, MatchKind::Selector)));
    let lpm = b.table("ipv4_lpm", &keys, &[next_hop, no_route, no_action]);
    let ecmp = b.profile("ecmp", 1024, Some(HashAlgorithm::Crc16));
    b.program.tables[lpm.index()].profile = Some(ecmp);
    let start = vec![
        put(drop, 1, 1),
        binary(flag, BinOp::Eq, meta.parser_error, constant(32, 0)),
        binary(other, BinOp::Eq, meta.checksum_error, constant(1, 0)),
        binary(flag, BinOp::And, flag, var(other)),
    ];
    let forward = vec![
        copy(egress_spec, meta.egress_spec),
        put(forward_drop, 1, 1),
        Inst::IsValid { dst: other, header: ipv4 },
        binary(third, BinOp::Le { signed: false }, ip[8], constant(8, 1)),
        Inst::Unary { dst: third, op: p4cc_ir::UnOp::Not, src: var(third) },
        binary(other, BinOp::And, other, var(third)),
    ];
    let apply = vec![Inst::Apply { table: lpm, hit: None, action: None }];
    let back = vec![copy(meta.egress_spec, egress_spec), copy(drop, forward_drop)];
    let blocks = vec![
        block(start, branch(flag, 1, 4)),
        block(forward, branch(other, 2, 3)),
        block(apply, Terminator::Jump(to(3))),
        block(back, Terminator::Jump(to(4))),
        block(Vec::new(), branch(drop, 5, 6)),
        block(vec![Inst::Extern(ExternCall::MarkToDrop)], Terminator::Return),
        block(Vec::new(), Terminator::Return),
    ];
    b.set_blocks(b.v1model().ingress, blocks);
    (lpm, ecmp, next_hop)
}

struct Egress {
    thresholds: TableId,
    codepoints: TableId,
    levels: CounterId,
    actions: [p4cc_ir::ActionId; 2],
}

fn egress(b: &mut ProgramBuilder, ipv4: HeaderId) -> Egress {
    let ip = b.fields(ipv4);
    let meta = b.meta();
    let (valid, has, high) = (b.bits("tmp.valid", 1), b.bits("ecn.has", 1), b.bits("tmp.high", 1));
    let (k, k_dc) = (b.bits("ecn.k", 19), b.bits("ecn.k_dc", 19));
    let (level, cell, index) = (b.bits("meta.level", 2), b.bits("tmp.cell", 11), b.bits("tmp.index", 32));
    let (port, depth) = (b.bits("ecn.egress_port", 9), b.bits("ecn.enq_qdepth", 19));
    let no_action = p4cc_ir::ActionId(2);
    let set_thresholds =
        b.action("set_thresholds", &[19, 19], |p| vec![put(has, 1, 1), copy(k, p[0]), copy(k_dc, p[1])]);
    let set_codepoint = b.action("set_codepoint", &[2], |p| vec![copy(ip[3], p[0])]);
    let thresholds = b.table("thresholds", &[(port, MatchKind::Exact)], &[set_thresholds, no_action]);
    let keys = [(level, MatchKind::Exact), (ip[3], MatchKind::Exact)];
    let codepoints = b.table("codepoint_map", &keys, &[set_codepoint, no_action]);
    let levels = b.counter("level_packets", Some(2048));
    let start = vec![
        copy(port, meta.egress_port),
        copy(depth, meta.enq_qdepth),
        put(level, 2, 0),
        put(has, 1, 0),
        put(k, 19, 0),
        put(k_dc, 19, 0),
        Inst::Apply { table: thresholds, hit: None, action: None },
    ];
    let less = |dst, limit: VarId| Inst::Binary {
        dst,
        op: BinOp::Le { signed: false },
        a: var(limit),
        b: var(depth),
    };
    let end = vec![
        Inst::Apply { table: codepoints, hit: None, action: None },
        Inst::Concat { dst: cell, hi: var(port), lo: var(level) },
        Inst::Resize { dst: index, src: var(cell), signed: false },
        Inst::Extern(ExternCall::CounterCount { counter: levels, index: var(index) }),
    ];
    let blocks = vec![
        block(vec![Inst::IsValid { dst: valid, header: ipv4 }], branch(valid, 1, 7)),
        block(start, branch(has, 2, 6)),
        block(vec![less(high, k_dc)], branch(high, 3, 4)),
        block(vec![put(level, 2, 2)], Terminator::Jump(to(6))),
        block(vec![less(high, k)], branch(high, 5, 6)),
        block(vec![put(level, 2, 1)], Terminator::Jump(to(6))),
        block(end, Terminator::Return),
        block(Vec::new(), Terminator::Return),
    ];
    b.set_blocks(b.v1model().egress, blocks);
    Egress { thresholds, codepoints, levels, actions: [set_thresholds, set_codepoint] }
}

/// Builds and compiles the program.
pub fn ecn_program() -> EcnProgram {
    let mut b = ProgramBuilder::new();
    let headers = headers(&mut b);
    parser(&mut b, headers);
    checksums(&mut b, headers[1]);
    let (lpm, ecmp, next_hop) = ingress(&mut b, headers);
    let Egress { thresholds, codepoints, levels, actions } = egress(&mut b, headers[1]);
    b.deparser(&headers);
    let actions = [next_hop, actions[0], actions[1]];
    EcnProgram { pipeline: b.compile(), headers, lpm, ecmp, thresholds, codepoints, levels, actions }
}

fn entry(matches: Vec<MatchValue>, action: EntryAction) -> TableEntry {
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

impl EcnProgram {
    /// State with `routes` host routes 10.0.x.y to groups of four ports, thresholds 33 and 65 on 64 ports,
    /// and the codepoints of the profile `gst` (docs/algorithms/marking.md#dual-thresholds).
    ///
    /// # Panics
    /// When the program refuses an entry.
    pub fn filled(&self, routes: u32) -> State {
        let mut state = State::new(&self.pipeline);
        let exact = |width, value| MatchValue::Exact(Bits::from_u128(width, value));
        let call = |action, args: &[(u32, u128)]| ActionCall {
            action,
            args: args.iter().map(|&(width, value)| Bits::from_u128(width, value)).collect(),
        };
        let install = |result: Result<(), crate::control::ControlError>| {
            if let Err(error) = result {
                panic!("{error}");
            }
        };
        for port in 0..64u32 {
            let action =
                call(self.actions[0], &[(9, port.into()), (48, 0x0200_0000_0000 + u128::from(port))]);
            install(state.member_insert(self.ecmp, Member { id: port + 1, action }));
            let thresholds = EntryAction::Direct(call(self.actions[1], &[(19, 33), (19, 65)]));
            let port_key = vec![exact(9, port.into())];
            install(state.table_insert(self.thresholds, entry(port_key, thresholds)));
        }
        for group in 0..16u32 {
            let members =
                (0..4).map(|i| GroupMember { member_id: group * 4 + i + 1, weight: 1, watch_port: None });
            let members = members.collect();
            install(state.group_insert(self.ecmp, Group { id: group + 1, max_size: 0, members }));
        }
        for route in 0..routes {
            let value = Bits::from_u128(32, u128::from(0x0a00_0000 + route));
            let key = vec![MatchValue::Lpm { value, len: 32 }];
            install(state.table_insert(self.lpm, entry(key, EntryAction::Group(route % 16 + 1))));
        }
        for (level, ecn, marked) in [(1, 3, 2), (2, 3, 1), (2, 2, 1)] {
            let mark = EntryAction::Direct(call(self.actions[2], &[(2, marked)]));
            install(state.table_insert(self.codepoints, entry(vec![exact(2, level), exact(2, ecn)], mark)));
        }
        state
    }

    /// An Ethernet/IPv4/UDP packet to 10.0.0.`host`, capable (codepoint 11), with a right checksum.
    pub fn packet(host: u8) -> Vec<u8> {
        let mut packet = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        let mut ip = vec![0x45, 3, 5, 0xdc, 0, 1, 0, 0, 64, 17, 0, 0, 10, 1, 0, 7, 10, 0, 0, host];
        let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        let folded = !((sum >> 16) + (sum & 0xffff)) as u16;
        ip[10..12].copy_from_slice(&folded.to_be_bytes());
        packet.extend(ip);
        packet.extend([0x30, 0x39, 0x12, 0xb7, 0, 40, 0, 0]);
        packet.extend([0; 32]);
        packet
    }
}
