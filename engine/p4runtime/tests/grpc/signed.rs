//! Keys and parameters of `int<W>`, which the P4Runtime text does not have
//! ("Bytestrings"): P4Info gives them a bitwidth, so that bytes are two's complement
//! patterns without a sign, as in BMv2's server; ranges go by the order of the numbers.

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{exact, field};
use crate::pushed::{Pushed, action, id, optional, own_info};
use p4::entity::Entity as Of;
use p4::field_match::{FieldMatchType, Range, Ternary};
use p4::update::Type;

const PROGRAM: &str = include_str!("signed.p4");
/// -1, -5 and -2048 of int<12>.
const MINUS_1: [u8; 2] = [0x0f, 0xff];
const MINUS_5: [u8; 2] = [0x0f, 0xfb];
const LEAST: [u8; 2] = [0x08, 0x00];

/// The switch, and what makes entries of it.
struct Signed {
    lab: Pushed,
    info: p4cc_p4runtime::proto::p4::config::v1::P4Info,
}

impl Signed {
    fn new() -> Self {
        let info = own_info(PROGRAM);
        Self { lab: Pushed::with(PROGRAM, &info), info }
    }

    fn table(&self, alias: &str) -> u32 {
        id(self.info.tables.iter().map(|one| &one.preamble), alias)
    }

    fn action(&self, alias: &str, argument: &[u8]) -> Option<p4::TableAction> {
        action(id(self.info.actions.iter().map(|one| &one.preamble), alias), &[(1, argument)])
    }

    /// An entry that forwards to a port.
    fn entry(&self, table: &str, of: p4::FieldMatch, port: u8) -> p4::TableEntry {
        let priority = i32::from(table != "values");
        let action = self.action("forward", &[port]);
        p4::TableEntry {
            table_id: self.table(table),
            r#match: vec![of],
            action,
            priority,
            ..Default::default()
        }
    }

    /// The port that takes a packet with this level.
    fn port_of(&self, table_mark: u16, level: i16) -> u32 {
        let packet = (level.cast_unsigned() << 4 | table_mark).to_be_bytes();
        self.lab.receive(0, &packet);
        (0..8).find(|port| self.lab.sent(*port).is_some()).expect("the packet leaves")
    }
}

fn range(low: &[u8], high: &[u8]) -> p4::FieldMatch {
    field(1, FieldMatchType::Range(Range { low: low.to_vec(), high: high.to_vec() }))
}

#[test]
fn a_range_goes_from_a_negative_number_to_a_positive_one() {
    let s = Signed::new();
    let entry = s.entry("ranges", range(&MINUS_5, &[5]), 1);
    s.lab.insert(entry.clone()).expect("an entry");
    assert_eq!(s.lab.entries(entry.table_id), [entry]);
    let ports: Vec<u32> = [-6, -5, -1, 0, 5, 6].map(|level| s.port_of(0, level)).into();
    assert_eq!(ports, [6, 1, 1, 1, 1, 6]);
}

#[test]
fn ends_of_a_range_are_in_the_order_of_the_numbers() {
    let s = Signed::new();
    let refused =
        |low: &[u8], high: &[u8]| s.lab.insert(s.entry("ranges", range(low, high), 1)).expect_err("it");
    let (code, message) = refused(&[5], &MINUS_5);
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("low 0x05 is above high 0x0ffb, as numbers of int<12>"), "{message}");
    let (code, message) = refused(&LEAST, &[0x07, 0xff]);
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("leave the field out"), "{message}");
    // Bits from zeros to ones are from 0 to -1 here.
    assert!(refused(&[0], &MINUS_1).1.contains("is above high"));
}

#[test]
fn a_sign_that_goes_on_in_front_is_the_same_value() {
    let s = Signed::new();
    let ternary = |value: &[u8]| {
        field(1, FieldMatchType::Ternary(Ternary { value: value.to_vec(), mask: vec![0x0f, 0xff] }))
    };
    type Match<'a> = &'a dyn Fn(&[u8]) -> p4::FieldMatch;
    let tables: [(&str, Match<'_>, u16); 4] = [
        ("values", &|value| exact(1, value), 1),
        ("patterns", &ternary, 2),
        ("choices", &|value| optional(1, value), 3),
        ("ranges", &|value| range(value, value), 0),
    ];
    for (table, of, mark) in tables {
        s.lab.insert(s.entry(table, of(&[0xff, 0xff, 0xff]), 1)).expect(table);
        assert_eq!(s.lab.entries(s.table(table)), [s.entry(table, of(&MINUS_1), 1)], "{table}");
        let again = s.lab.insert(s.entry(table, of(&MINUS_1), 1)).expect_err("the same entry");
        assert_eq!(again.0, Code::AlreadyExists, "{table}");
        assert_eq!((s.port_of(mark, -1), s.port_of(mark, 255)), (1, 6), "{table}");
        // P4Info has no signs: short bytes are what they are for any client.
        s.lab.insert(s.entry(table, of(&[0xff]), 2)).expect(table);
        assert_eq!(s.port_of(mark, 255), 2, "{table}");
        for wide in [[0x10, 0x00], [0xf7, 0xff]] {
            assert_eq!(s.lab.insert(s.entry(table, of(&wide), 3)).expect_err("13 bits").0, Code::OutOfRange);
        }
    }
}

#[test]
fn entries_of_the_source_and_default_arguments_are_given_alike() {
    let s = Signed::new();
    let found = s.lab.entries(s.table("written"));
    let matches: Vec<_> = found.iter().map(|entry| entry.r#match.clone()).collect();
    assert_eq!(matches, [vec![range(&LEAST, &[0x0f, 0xfa])], vec![range(&MINUS_5, &[5])]]);
    assert_eq!((s.port_of(4, -5), s.port_of(4, -6), s.port_of(4, 6)), (1, 2, 6));
    let default = |argument: &[u8]| p4::TableEntry {
        table_id: s.table("ranges"),
        is_default_action: true,
        action: s.action("replace", argument),
        ..Default::default()
    };
    s.lab.update(Type::Modify, Of::TableEntry(default(&[0xff, 0xff]))).expect("a default entry");
    assert_eq!(s.lab.read(Of::TableEntry(default(&[]))), [Of::TableEntry(default(&MINUS_1))]);
    s.lab.receive(0, &[0, 0]);
    assert_eq!(s.lab.sent(7), Some(vec![0xff, 0xf0]));
}
