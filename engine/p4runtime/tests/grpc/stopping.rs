//! A server that is to end: who waits leaves at once, whatever holds the device.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use p4cc_ir::TableId;
use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{Lab, PATIENCE, exact};
use crate::pushes;
use p4::entity::Entity as Of;
use p4::set_forwarding_pipeline_config_request::Action;
use p4::update::Type;

/// Requests that wait behind the one that has the device.
const WAITING: usize = 6;
/// When requests have arrived for certain.
const ARRIVED: Duration = Duration::from_millis(200);

fn codes(answers: &std::sync::mpsc::Receiver<Code>, count: usize) -> Vec<Code> {
    (0..count).map(|_| answers.recv_timeout(PATIENCE).expect("an answer")).collect()
}

#[test]
fn requests_that_wait_for_the_device_end_while_another_has_it() {
    let (lab, mut stream) = Lab::with_primary();
    let (lab, (answer, answers)) = (&lab, channel());
    thread::scope(|scope| {
        lab.switch(|_| {
            for at in 0..=WAITING {
                let answer = answer.clone();
                scope.spawn(move || {
                    let done = match at % 2 {
                        0 => lab.write(p4::WriteRequest::default()),
                        _ => lab.read(Of::TableEntry(p4::TableEntry::default())).map(|_| ()),
                    };
                    answer.send(done.map_or_else(|status| status.code(), |()| Code::Ok))
                });
            }
            thread::sleep(ARRIVED);
            lab.begin_stop();
            // One is where nothing can call it back: the owner of the device holds it.
            assert_eq!(codes(&answers, WAITING), [Code::Unavailable; WAITING]);
            assert!(answers.try_recv().is_err(), "the first waits for the owner");
        });
        codes(&answers, 1);
    });
    assert_eq!(lab.hear(&mut stream).expect_err("the stream ends").code(), Code::Unavailable);
    assert_eq!(lab.write(p4::WriteRequest::default()).expect_err("none is taken").code(), Code::Unavailable);
}

#[test]
fn a_batch_that_is_being_applied_is_given_up() {
    let (lab, _stream) = Lab::with_primary();
    let (lab, hosts) = (&lab, lab.table("hosts"));
    let update = |at: u32| {
        let entry = p4::TableEntry {
            table_id: hosts,
            r#match: vec![exact(1, ((1 << 24) + at).to_be_bytes().as_slice())],
            action: lab.forwards(1),
            ..Default::default()
        };
        let entity = Some(p4::Entity { entity: Some(Of::TableEntry(entry)) });
        p4::Update { r#type: Type::Insert.into(), entity }
    };
    let request = p4::WriteRequest { updates: (1..=200_000).map(update).collect(), ..Default::default() };
    thread::scope(|scope| {
        let written = lab.switch(|_| {
            let written = scope.spawn(|| lab.write(request));
            thread::sleep(5 * ARRIVED);
            lab.begin_stop();
            written
        });
        let status = written.join().expect("no panic").expect_err("the server ends");
        assert!(matches!(status.code(), Code::Unavailable | Code::Unknown), "{status}");
    });
    let entries = lab.switch(|switch| {
        let state = switch.observation().state().expect("a program");
        let place = state.program().tables.iter().position(|table| table.cp.name.ends_with("hosts"));
        state.table_len(TableId::from_index(place.expect("the table")))
    });
    assert_eq!(entries, 0, "nothing was applied after the call to stop");
}

#[test]
fn a_program_that_is_being_compiled_is_given_up() {
    for action in [Action::Verify, Action::VerifyAndCommit] {
        let (lab, _stream) = pushes::lab();
        let (program, info) = pushes::slow("stopping");
        let started = Instant::now();
        let (status, stopped) = thread::scope(|scope| {
            let (lab, config) = (&lab, Some((program.as_str(), &info, 2)));
            let pushed = scope.spawn(move || pushes::push(lab, pushes::request((action, 1), config)));
            thread::sleep(ARRIVED);
            let asked = started.elapsed();
            lab.begin_stop();
            (pushed.join().expect("no panic").expect_err("the server ends"), asked)
        });
        assert_eq!(status.code(), Code::Unavailable, "{status}");
        assert!(started.elapsed() < stopped + Duration::from_secs(1), "{:?}", started.elapsed());
    }
}
