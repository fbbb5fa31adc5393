//! "Error Reporting" of large batches, reads of externs.

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{Lab, errors, exact};
use p4::entity::Entity as Of;

/// What a client counts of the two headers, each with its name and 32 bytes more (RFC 7541, section 4.1).
fn header_bytes(status: &tonic::Status) -> usize {
    let encoded: usize = status
        .message()
        .bytes()
        .map(|byte| if (b' '..=b'~').contains(&byte) && byte != b'%' { 1 } else { 3 })
        .sum();
    let details = status.details().len().div_ceil(3) * 4;
    "grpc-message".len() + 32 + encoded + "grpc-status-details-bin".len() + 32 + details
}

#[test]
fn the_status_of_every_update_reaches_a_client() {
    let (lab, _stream) = Lab::with_primary();
    // The client of the lab announces a mebibyte, of which four fifths are used: enough for every text.
    let limit = (1 << 20) / 5 * 4;
    for count in [2, 100, 140, 500] {
        let update = |at: usize| {
            let entry = p4::TableEntry {
                table_id: lab.table("hosts"),
                r#match: vec![exact(1, &[1, 2, 3, 4, 5])],
                action: lab.forwards(1),
                ..Default::default()
            };
            // Every fifth is wrong in another way.
            let entity = match at % 5 {
                4 => Of::CounterEntry(p4::CounterEntry { counter_id: 1, ..Default::default() }),
                _ => Of::TableEntry(entry),
            };
            p4::Update {
                r#type: p4::update::Type::Insert.into(),
                entity: Some(p4::Entity { entity: Some(entity) }),
            }
        };
        let request = p4::WriteRequest { updates: (0..count).map(update).collect(), ..Default::default() };
        let status = lab.write(request).expect_err("they are wrong");
        assert_eq!(status.code(), Code::Unknown);
        assert!(header_bytes(&status) <= limit, "{count}: {}", header_bytes(&status));
        let codes: Vec<Code> = errors(&status).iter().map(|error| Code::from(error.canonical_code)).collect();
        let wanted = |at| if at % 5 == 4 { Code::NotFound } else { Code::OutOfRange };
        assert_eq!(codes, (0..count).map(wanted).collect::<Vec<_>>());
        assert!(status.message().contains("address"), "the first is told: {}", status.message());
        let first = |at: &usize| at % 5 != 4;
        let told = errors(&status);
        let texts = (0..count).filter(first).map(|at| told[at].message.as_str());
        assert!(texts.into_iter().all(|text| text.contains("the field has 32")), "all of it");
    }
}

#[test]
fn a_read_of_all_externs_finds_none() {
    let (lab, _stream) = Lab::with_primary();
    assert_eq!(lab.read(Of::ExternEntry(p4::ExternEntry::default())).expect("no error"), []);
    let named = p4::ExternEntry { extern_type_id: 0x81, extern_id: 1, entry: None };
    let status = lab.read(Of::ExternEntry(named)).expect_err("there is no such extern");
    assert_eq!(Code::from(errors(&status)[0].canonical_code), Code::Unimplemented);
}
