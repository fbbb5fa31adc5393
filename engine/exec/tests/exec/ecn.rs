//! The dual-threshold ECN program, whole.

use p4cc_exec::PacketView;
use p4cc_exec::testing::{EcnProgram, Rig, ecn_program};

fn send(program: &EcnProgram, rig: &mut Rig, packet: &[u8], depth: u64) -> (u64, Vec<u8>) {
    let entry = *program.pipeline.v1model().expect("a v1model program");
    let outcome = rig.parse(PacketView { bytes: packet, zeros: 1000 });
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.consumed_bits, 38 * 8);
    rig.run(entry.verify_checksum);
    rig.run(entry.ingress);
    let port = rig.get(entry.metadata.egress_spec);
    rig.set(entry.metadata.egress_port, port);
    rig.set(entry.metadata.enq_qdepth, depth);
    rig.run(entry.egress);
    rig.run(entry.compute_checksum);
    (port, rig.deparse())
}

fn checksum_is_right(ip: &[u8]) -> bool {
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    (sum >> 16) + (sum & 0xffff) == 0xffff
}

#[test]
fn forwards_marks_and_counts() {
    let program = ecn_program();
    let mut rig = Rig::new(program.pipeline.clone());
    rig.state = program.filled(8);
    let packet = EcnProgram::packet(3);
    assert!(checksum_is_right(&packet[14..34]));
    for (depth, ecn, level) in [(0, 3, 0), (32, 3, 0), (33, 2, 1), (64, 2, 1), (65, 1, 2), (500, 1, 2)] {
        let cell = |rig: &Rig, port: u64| {
            rig.state.counter_read(program.levels, port as u32 * 4 + level).map(|cell| cell.packets)
        };
        let before: Vec<_> = (0..64).map(|port| cell(&rig, port)).collect();
        let (port, out) = send(&program, &mut rig, &packet, depth);
        assert!((12..16).contains(&port), "group 4 has ports 12 to 15, not {port}");
        assert_eq!(out[..6], [2, 0, 0, 0, 0, port as u8]);
        assert_eq!(out[6..12], packet[..6]);
        assert_eq!(out[15] & 3, ecn, "depth {depth}");
        assert_eq!(out[22], 63);
        assert!(checksum_is_right(&out[14..34]));
        assert_eq!(out[34..38], packet[34..38]);
        assert_eq!(cell(&rig, port), before[port as usize].clone().map(|packets| packets + 1));
    }
}

#[test]
fn drops_what_it_cannot_forward() {
    let program = ecn_program();
    let mut rig = Rig::new(program.pipeline.clone());
    rig.state = program.filled(8);
    let mut wrong_checksum = EcnProgram::packet(3);
    wrong_checksum[24] ^= 1;
    assert_eq!(send(&program, &mut rig, &wrong_checksum, 0).0, 511);
    assert_eq!(send(&program, &mut rig, &EcnProgram::packet(200), 0).0, 511, "no route");
    rig.state.set_drop_port(77);
    assert_eq!(send(&program, &mut rig, &wrong_checksum, 0).0, 77);
}

#[test]
fn a_frame_carries_nothing_to_the_next_packet() {
    let program = ecn_program();
    let mut fresh = Rig::new(program.pipeline.clone());
    fresh.state = program.filled(8);
    let mut used = Rig::new(program.pipeline.clone());
    used.state = program.filled(8);
    send(&program, &mut used, &EcnProgram::packet(6), 90);
    assert_eq!(
        send(&program, &mut used, &EcnProgram::packet(3), 40),
        send(&program, &mut fresh, &EcnProgram::packet(3), 40)
    );
}

#[test]
fn truncated_packets_are_rejected_without_harm() {
    let program = ecn_program();
    let mut rig = Rig::new(program.pipeline.clone());
    let packet = EcnProgram::packet(3);
    for length in 0..38 {
        let outcome = rig.parse(PacketView::new(&packet[..length]));
        assert_eq!(outcome.error, Some(p4cc_ir::core_errors::PACKET_TOO_SHORT), "{length} bytes");
        assert_eq!(rig.get(program.pipeline.v1model().expect("a v1model program").metadata.parser_error), 1);
        assert_eq!(rig.frame.is_valid(&program.pipeline, program.headers[0]), length >= 14);
    }
}

#[test]
fn its_text_form_is_stable_and_names_everything() {
    let text = p4cc_ir::text::to_text(ecn_program().pipeline.program());
    assert_eq!(text, p4cc_ir::text::to_text(ecn_program().pipeline.program()));
    for part in [
        "header_type ipv4 { version: bit<4>",
        "key hdr.ipv4.dst_addr: Lpm = hdr.ipv4.dst_addr",
        "hdr.ipv4.ttl = hdr.ipv4.ttl - 8w0x1",
        "select (hdr.ethernet.type) { (16w0x800 &&& 16w0xffff) => block1 } else block3",
        "update_checksum if tmp.ipv4_valid",
        "emit l4_ports",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}
