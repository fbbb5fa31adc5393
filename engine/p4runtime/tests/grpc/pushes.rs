//! "SetForwardingPipelineConfig": a device serves its clients and runs its program while another is compiled.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use p4cc_p4runtime::proto::p4::config::v1::P4Info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::{Code, Status};

use crate::lab::{CPU_PORT, DEVICE, Lab, PROGRAM, Stream};
use crate::pushed::own_info;
use p4::entity::Entity as Of;
use p4::set_forwarding_pipeline_config_request::Action;

/// Tables of the program that takes a while to compile.
const TABLES: usize = 1_500;

/// A program that takes a while to compile, and its P4Info. No other has its text, so that none knows it
/// already.
pub fn slow(name: &str) -> (String, P4Info) {
    let mut tables = String::new();
    let mut applied = String::from("hosts.apply();");
    for at in 0..TABLES {
        writeln!(
            tables,
            "action a{at}(bit<32> x) {{ hdr.address.address = hdr.address.address + x; meta.value = meta.value ^ x; }} \
             table t{at} {{ key = {{ hdr.address.address: exact; }} actions = {{ a{at}; drop; }} }}"
        )
        .expect("a string takes everything");
        write!(applied, "t{at}.apply();").expect("a string takes everything");
    }
    let program = include_str!("registers.p4").replace("// registers", "");
    let program = program.replace("    apply { hosts.apply(); }", &format!("{tables} apply {{ {applied} }}"));
    let info = own_info(include_str!("registers.p4"));
    (format!("{program}\n// {name}\n"), info)
}

pub fn request(
    (action, election_id): (Action, u64),
    config: Option<(&str, &P4Info, u64)>,
) -> p4::SetForwardingPipelineConfigRequest {
    let config = config.map(|(program, info, cookie)| p4::ForwardingPipelineConfig {
        p4info: Some(info.clone()),
        p4_device_config: program.as_bytes().to_vec(),
        cookie: Some(p4::forwarding_pipeline_config::Cookie { cookie }),
    });
    p4::SetForwardingPipelineConfigRequest {
        device_id: DEVICE,
        election_id: Some(p4::Uint128 { high: 0, low: election_id }),
        action: action.into(),
        config,
        ..Default::default()
    }
}

pub fn push(lab: &Lab, request: p4::SetForwardingPipelineConfigRequest) -> Result<(), Status> {
    let method = "/p4.v1.P4Runtime/SetForwardingPipelineConfig";
    lab.call::<_, p4::SetForwardingPipelineConfigResponse>(method, request).map(|_| ())
}

fn cookie(lab: &Lab) -> Option<u64> {
    let request = p4::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: 1 };
    let method = "/p4.v1.P4Runtime/GetForwardingPipelineConfig";
    let got: p4::GetForwardingPipelineConfigResponse = lab.call(method, request).expect("an answer");
    got.config?.cookie.map(|cookie| cookie.cookie)
}

pub fn lab() -> (Lab, Stream) {
    let lab = Lab::bare(CPU_PORT);
    let mut stream = lab.open();
    assert_eq!(lab.arbitrate(&mut stream, 1, None), Code::Ok);
    let small = own_info(PROGRAM);
    push(&lab, request((Action::VerifyAndCommit, 1), Some((PROGRAM, &small, 1)))).expect("a right program");
    (lab, stream)
}

#[test]
fn others_are_answered_and_packets_pass_while_a_program_is_compiled() {
    let (lab, mut stream) = lab();
    for action in [Action::Verify, Action::VerifyAndSave, Action::VerifyAndCommit, Action::ReconcileAndCommit]
    {
        let (program, info) = slow(action.as_str_name());
        let is_pushed = AtomicBool::new(false);
        let (answered, passed) = thread::scope(|scope| {
            scope.spawn(|| {
                let pushed = push(&lab, request((action, 1), Some((&program, &info, 2))));
                pushed.expect("a right program");
                is_pushed.store(true, Ordering::SeqCst);
            });
            let (mut answered, mut passed) = (0, 0);
            while !is_pushed.load(Ordering::SeqCst) {
                let read = lab.read(Of::TableEntry(p4::TableEntry::default()));
                let written = lab.write(p4::WriteRequest::default());
                assert_eq!((read.is_ok(), written.is_ok()), (true, true));
                assert_eq!(lab.arbitrate(&mut stream, 1, None), Code::Ok, "streams are served");
                lab.receive(1, 3, 9);
                if !is_pushed.load(Ordering::SeqCst) {
                    (answered, passed) = (answered + 1, passed + 1);
                }
            }
            (answered, passed)
        });
        assert!(answered >= 2 && passed >= 2, "{action:?}: {answered} rounds before the push was answered");
    }
    assert_eq!(cookie(&lab), Some(2));
}

#[test]
fn the_program_before_runs_until_the_next_is_ready_and_takes_the_writes() {
    let (lab, _stream) = lab();
    let (program, info) = slow("before");
    thread::scope(|scope| {
        let pushed =
            scope.spawn(|| push(&lab, request((Action::VerifyAndCommit, 1), Some((&program, &info, 2)))));
        assert_eq!(cookie(&lab), Some(1), "the other is being compiled");
        pushed.join().expect("no panic").expect("a right program");
    });
    assert_eq!(cookie(&lab), Some(2));
}

#[test]
fn a_primary_that_is_replaced_while_its_program_is_compiled_changes_nothing() {
    let (lab, _stream) = lab();
    let (program, info) = slow("replaced");
    let mut other = lab.open();
    let status = thread::scope(|scope| {
        let pushed =
            scope.spawn(|| push(&lab, request((Action::VerifyAndCommit, 1), Some((&program, &info, 2)))));
        // The push has been taken in when the device still says its first cookie a moment later.
        thread::sleep(Duration::from_millis(20));
        assert_eq!(lab.arbitrate(&mut other, 2, None), Code::Ok);
        pushed.join().expect("no panic").expect_err("another is primary")
    });
    assert_eq!(status.code(), Code::PermissionDenied, "{}", status.message());
    assert_eq!(cookie(&lab), Some(1));
}

#[test]
fn pushes_to_one_device_take_effect_one_after_the_other() {
    let (lab, _stream) = lab();
    let info = own_info(PROGRAM);
    thread::scope(|scope| {
        for number in 10..16 {
            let (lab, info) = (&lab, &info);
            scope.spawn(move || {
                // Each is another text, so that none is known already.
                let program = format!("{PROGRAM}\n// {number}\n");
                let saved = request((Action::VerifyAndSave, 1), Some((&program, info, number)));
                push(lab, saved).expect("a right program");
            });
        }
    });
    push(&lab, request((Action::Commit, 1), None)).expect("one of them is saved");
    assert!(cookie(&lab).is_some_and(|cookie| (10..16).contains(&cookie)));
    let status = push(&lab, request((Action::Commit, 1), None)).expect_err("nothing is saved any more");
    assert_eq!(status.code(), Code::NotFound);
}
