//! "Read": answers of any length, in messages that clients take; what happens to them while the device is
//! written, and when nobody takes them.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use p4cc_p4runtime::Options;
use p4cc_p4runtime::proto::p4::v1 as p4;
use prost::Message;
use tonic::{Code, Streaming};

use crate::lab::{Lab, errors, exact};
use crate::pushed::id;
use p4::entity::Entity as Of;
use p4::update::Type;

/// Cells of each register of the program.
const CELLS: usize = 1 << 17;
/// What gRPC clients take of one message by default.
const CLIENT_TAKES: usize = 4 << 20;

/// A program with so many registers and a table.
fn program(registers: usize) -> String {
    let mut declared = String::new();
    for at in 0..registers {
        writeln!(declared, "register<bit<32>>({CELLS}) r{at};").expect("a string takes everything");
    }
    include_str!("registers.p4").replace("// registers", &declared)
}

fn lab(registers: usize, options: Options) -> (Lab, crate::lab::Stream) {
    let mut lab = Lab::bare_with(crate::lab::CPU_PORT, options);
    lab.install(&program(registers));
    lab.info = lab.info_of_switch();
    let mut stream = lab.open();
    assert_eq!(lab.arbitrate(&mut stream, 1, None), Code::Ok);
    (lab, stream)
}

fn register(lab: &Lab, name: &str) -> u32 {
    id(lab.info.registers.iter().map(|one| &one.preamble), name)
}

fn cells(register_id: u32) -> Of {
    Of::RegisterEntry(p4::RegisterEntry { register_id, ..Default::default() })
}

fn write_cell(lab: &Lab, register_id: u32, at: usize, value: u8) -> Result<(), (Code, String)> {
    let data = p4::p4_data::Data::Bitstring(vec![value]);
    let data = Some(p4::P4Data { data: Some(data) });
    let index = Some(p4::Index { index: at as i64 });
    lab.modify(Of::RegisterEntry(p4::RegisterEntry { register_id, index, data }))
}

/// The value of a cell as an answer has it.
fn value(entity: &p4::Entity) -> (i64, Vec<u8>) {
    match &entity.entity {
        Some(Of::RegisterEntry(p4::RegisterEntry { index: Some(index), data: Some(data), .. })) => {
            match &data.data {
                Some(p4::p4_data::Data::Bitstring(bytes)) => (index.index, bytes.clone()),
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

/// The rest of an answer.
fn rest(lab: &Lab, answer: &mut Streaming<p4::ReadResponse>) -> Result<Vec<p4::Entity>, tonic::Status> {
    let mut found = Vec::new();
    while let Some(message) = lab.take(answer)? {
        assert!(message.encoded_len() <= CLIENT_TAKES, "{} bytes in one message", message.encoded_len());
        found.extend(message.entities);
    }
    Ok(found)
}

#[test]
fn an_answer_comes_in_messages_that_clients_take() {
    let (lab, _stream) = lab(2, Options::default());
    let everything = cells(0);
    let mut answer = lab.start_read(vec![everything.clone(), everything]);
    let found = rest(&lab, &mut answer).expect("all of it");
    assert_eq!(found.len(), 4 * CELLS);
    let indices = found.iter().map(|entity| value(entity).0);
    assert!(indices.eq((0..4).flat_map(|_| 0..CELLS as i64)), "each cell once, in order");
}

#[test]
fn failures_of_single_entities_follow_the_answer() {
    let (lab, _stream) = lab(1, Options::default());
    let mut answer = lab.start_read(vec![cells(77), cells(register(&lab, "r0")), cells(78)]);
    let mut found = 0;
    let status = loop {
        match lab.take(&mut answer) {
            Ok(message) => found += message.expect("the failures are told").entities.len(),
            Err(status) => break status,
        }
    };
    assert_eq!(found, CELLS);
    let codes: Vec<_> = errors(&status).iter().map(|error| Code::from(error.canonical_code)).collect();
    assert_eq!(codes, [Code::NotFound, Code::Ok, Code::NotFound]);
}

#[test]
fn a_read_shows_the_state_before_a_write_that_comes_meanwhile() {
    let (lab, _stream) = lab(1, Options::default());
    let r0 = register(&lab, "r0");
    let mut answer = lab.start_read(vec![cells(r0)]);
    let first = lab.take(&mut answer).expect("no failure").expect("a message");
    assert!(first.entities.len() < CELLS / 4, "the answer has only begun");
    write_cell(&lab, r0, CELLS - 1, 7).expect("the primary writes");
    let rest = rest(&lab, &mut answer).expect("the rest");
    assert_eq!(first.entities.len() + rest.len(), CELLS);
    assert_eq!(value(&rest[rest.len() - 1]), (CELLS as i64 - 1, vec![0]), "as it was when the read began");
    let index = Some(p4::Index { index: CELLS as i64 - 1 });
    let again = lab.read(Of::RegisterEntry(p4::RegisterEntry { register_id: r0, index, data: None }));
    let entity = p4::Entity { entity: again.expect("an answer").pop() };
    assert_eq!(value(&entity).1, [7]);
}

/// The last message of an answer that a write has had made is never lost between its end and its client.
#[test]
fn an_answer_is_whole_whenever_a_write_comes() {
    const CELLS_OF_ANSWER: usize = 1 << 12;
    let (lab, _stream) = lab(1, Options::default());
    let r0 = register(&lab, "r0");
    let first_cells: Vec<_> = (0..CELLS_OF_ANSWER as i64)
        .map(|index| {
            let index = Some(p4::Index { index });
            Of::RegisterEntry(p4::RegisterEntry { register_id: r0, index, data: None })
        })
        .collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                write_cell(&lab, r0, CELLS - 1, 7).expect("the primary writes");
            }
        });
        let found = (0..400).map(|_| {
            let mut answer = lab.start_read(first_cells.clone());
            rest(&lab, &mut answer).expect("all of it").len()
        });
        let short: Vec<_> = found.filter(|found| *found != CELLS_OF_ANSWER).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(short.is_empty(), "answers that ended early, with so many cells: {short:?}");
    });
}

#[test]
fn a_read_too_long_to_wait_for_a_write_is_aborted() {
    let (lab, _stream) = lab(8, Options::default());
    let mut answer = lab.start_read(vec![cells(0)]);
    lab.take(&mut answer).expect("no failure").expect("a message");
    write_cell(&lab, register(&lab, "r0"), 0, 7).expect("a write is not kept waiting");
    let status = rest(&lab, &mut answer).expect_err("parts of two states are no answer");
    assert_eq!(status.code(), Code::Aborted, "{}", status.message());
    assert!(status.message().contains("read again"), "{}", status.message());
}

#[test]
fn rows_of_a_table_come_once_each_in_their_order() {
    let (lab, _stream) = lab(0, Options::default());
    let (table_id, count) = (lab.table("hosts"), 5_000_u32);
    let entry = |at: u32| p4::TableEntry {
        table_id,
        r#match: vec![exact(1, at.to_be_bytes().trim_ascii_start_zeros())],
        action: lab.forwards(1),
        ..Default::default()
    };
    let update = |at| p4::Update {
        r#type: Type::Insert.into(),
        entity: Some(p4::Entity { entity: Some(Of::TableEntry(entry(at))) }),
    };
    let updates = (1..=count).map(update).collect();
    lab.write(p4::WriteRequest { updates, ..Default::default() }).expect("right entries");
    let wanted = |of: p4::TableEntry| Of::TableEntry(p4::TableEntry { table_id, ..of });
    let mut answer = lab.start_read(vec![wanted(p4::TableEntry::default())]);
    let first = lab.take(&mut answer).expect("no failure").expect("a message");
    assert!(first.entities.len() < count as usize);
    // The row is gone from the switch, and still in the answer.
    lab.update(Type::Delete, Of::TableEntry(entry(count))).expect("it is there");
    let all: Vec<_> = first.entities.into_iter().chain(rest(&lab, &mut answer).expect("all")).collect();
    assert_eq!(all.len(), count as usize);
    let found = all.iter().map(|entity| match &entity.entity {
        Some(Of::TableEntry(found)) => found.r#match.clone(),
        other => panic!("{other:?}"),
    });
    assert!(found.eq((1..=count).map(|at| entry(at).r#match)));
    // Nothing that the filter lets through, in a table of many rows.
    let none = wanted(p4::TableEntry { metadata: vec![9], ..Default::default() });
    assert_eq!(lab.read(none).expect("no failure"), []);
}

/// Bytes without zeros in front, as the protocol wants them.
trait Canonical {
    fn trim_ascii_start_zeros(&self) -> &[u8];
}

impl Canonical for [u8; 4] {
    fn trim_ascii_start_zeros(&self) -> &[u8] {
        let zeros = self.iter().take_while(|byte| **byte == 0).count();
        &self[zeros..]
    }
}

#[test]
fn answers_that_nobody_takes_keep_nobody_waiting_and_end() {
    let patience = Duration::from_secs(2);
    let (lab, _stream) = lab(2, Options { read_patience: patience, ..Options::default() });
    let mut stalled = [(); 2].map(|()| lab.start_read(vec![cells(0)]));
    for answer in &mut stalled {
        lab.take(answer).expect("no failure").expect("a message");
    }
    assert_eq!(lab.read(Of::TableEntry(p4::TableEntry::default())).expect("others are served"), []);
    std::thread::sleep(patience * 3 / 2);
    let status = rest(&lab, &mut stalled[0]).expect_err("it was not taken");
    assert_eq!(status.code(), Code::DeadlineExceeded, "{}", status.message());
    // A client that leaves it at that loses its connection, and may open another.
    std::thread::sleep(patience);
    rest(&lab, &mut stalled[1]).expect_err("it was not taken");
    assert_eq!(lab.read(Of::TableEntry(p4::TableEntry::default())).expect("others are served"), []);
}

#[test]
fn a_request_of_millions_of_entities_is_refused() {
    let (lab, _stream) = lab(1, Options::default());
    let many = vec![cells(0); 2_000_000];
    let mut answer = match lab.try_read(many) {
        Ok(answer) => answer,
        Err(status) => return assert_eq!(status.code(), Code::ResourceExhausted),
    };
    let status = rest(&lab, &mut answer).expect_err("it is too long");
    assert_eq!(status.code(), Code::ResourceExhausted);
}
