//! "Stream Error Reporting" and "Client Arbitration": messages that are wrong, roles by number.

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{Lab, Stream};
use p4::entity::Entity as Of;
use p4::stream_error::Details;
use p4::stream_message_request::Update as Said;
use p4::stream_message_response::Update as Told;

fn error(lab: &Lab, stream: &mut Stream) -> p4::StreamError {
    match lab.hear(stream) {
        Ok(Told::Error(error)) => error,
        other => panic!("no error: {other:?}"),
    }
}

#[test]
fn an_empty_message_is_answered_and_ends_nothing() {
    let (lab, mut stream) = Lab::with_primary();
    // A kind of message that is not known decodes as none.
    lab.say(&stream, None);
    let told = error(&lab, &mut stream);
    assert_eq!(Code::from(told.canonical_code), Code::InvalidArgument);
    assert_eq!(told.details, Some(Details::Other(p4::StreamOtherError { other: None })));
    assert_eq!(lab.arbitrate(&mut stream, 2, None), Code::Ok);
}

#[test]
fn messages_before_arbitration_are_answered_and_end_nothing() {
    let lab = Lab::new();
    let mut stream = lab.open();
    let packet = p4::PacketOut { payload: vec![1], metadata: Vec::new() };
    lab.say(&stream, Some(Said::Packet(packet.clone())));
    let told = error(&lab, &mut stream);
    assert_eq!(Code::from(told.canonical_code), Code::FailedPrecondition);
    assert_eq!(told.details, Some(Details::PacketOut(p4::PacketOutError { packet_out: Some(packet) })));
    lab.say(&stream, Some(Said::DigestAck(p4::DigestListAck { digest_id: 1, list_id: 1 })));
    assert_eq!(Code::from(error(&lab, &mut stream).canonical_code), Code::FailedPrecondition);
    lab.say(&stream, None);
    assert_eq!(Code::from(error(&lab, &mut stream).canonical_code), Code::InvalidArgument);
    assert_eq!(lab.arbitrate(&mut stream, 1, None), Code::Ok);
}

#[test]
fn only_the_primary_sends_packets() {
    let (lab, _stream) = Lab::with_primary();
    let mut backup = lab.open();
    assert_eq!(lab.arbitrate(&mut backup, 0, None), Code::AlreadyExists);
    lab.say(&backup, Some(Said::Packet(p4::PacketOut { payload: vec![1], metadata: Vec::new() })));
    assert_eq!(Code::from(error(&lab, &mut backup).canonical_code), Code::PermissionDenied);
}

#[expect(deprecated, reason = "the number of a role is what is tried")]
fn role(id: u64, name: &str) -> Option<p4::Role> {
    Some(p4::Role { id, name: name.to_owned(), config: None })
}

#[test]
#[expect(deprecated, reason = "the number of a role is what is tried")]
fn a_role_may_have_a_number() {
    let lab = Lab::new();
    let mut stream = lab.open();
    let update = p4::MasterArbitrationUpdate {
        device_id: crate::lab::DEVICE,
        role: role(7, ""),
        election_id: Some(p4::Uint128 { high: 0, low: 3 }),
        status: None,
    };
    lab.say(&stream, Some(Said::Arbitration(update)));
    match lab.hear(&mut stream) {
        Ok(Told::Arbitration(told)) => assert_eq!(told.role, role(7, "")),
        other => panic!("{other:?}"),
    }
    let entry = p4::TableEntry {
        table_id: lab.table("hosts"),
        r#match: vec![crate::lab::exact(1, &[7])],
        action: lab.forwards(1),
        ..Default::default()
    };
    let write = |role_id, role: &str| {
        let entity = Some(p4::Entity { entity: Some(Of::TableEntry(entry.clone())) });
        let update = p4::Update { r#type: p4::update::Type::Insert.into(), entity };
        let request = p4::WriteRequest {
            role_id,
            role: role.to_owned(),
            election_id: Some(p4::Uint128 { high: 0, low: 3 }),
            updates: vec![update],
            ..Default::default()
        };
        lab.write(request).map_err(|status| status.code())
    };
    assert_eq!(write(8, ""), Err(Code::NotFound), "no controller has this role");
    assert_eq!(write(0, ""), Err(Code::PermissionDenied), "the default role has no primary");
    assert_eq!(write(7, "seven"), Err(Code::InvalidArgument), "one or the other");
    assert_eq!(write(7, ""), Ok(()));
    let mut both = lab.open();
    assert_eq!(lab.arbitrate(&mut both, 1, role(7, "seven")), Code::InvalidArgument);
    let mut other = lab.open();
    assert_eq!(lab.arbitrate(&mut other, 3, role(8, "")), Code::Ok, "ids are those of a role");
}
