//! "GetForwardingPipelineConfig": how much of long answers one client holds, and for how long.

use std::time::Duration;

use p4cc_p4runtime::Options;
use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{CPU_PORT, Lab, PATIENCE, PROGRAM};
use p4::get_forwarding_pipeline_config_request::ResponseType;

/// Four answers of so many bytes fit into what one client may hold, five do not.
const LONG: usize = 14 << 20;
/// When an answer that need not wait has come.
const SOON: Duration = Duration::from_secs(2);

fn lab(options: Options) -> Lab {
    let lab = Lab::bare_with(CPU_PORT, options);
    lab.install(&format!("{PROGRAM}\n// {}\n", "x".repeat(LONG)));
    lab
}

#[test]
fn a_client_holds_so_many_bytes_of_long_answers_and_short_ones_do_not_wait() {
    let lab = lab(Options::default());
    let all = ResponseType::All;
    let mut first = lab.start_config(all, PATIENCE).expect("there is room");
    let others = [(); 3].map(|()| lab.start_config(all, PATIENCE).expect("there is room"));
    assert!(lab.start_config(all, SOON).is_none(), "there is none left");
    assert!(lab.start_config(ResponseType::CookieOnly, PATIENCE).is_some(), "it is short");
    let taken = lab.take_config(&mut first).expect("all of it").p4_device_config;
    assert!(taken.len() > LONG && taken.ends_with(b"x\n"));
    drop(first);
    let mut next = lab.start_config(all, PATIENCE).expect("there is room again");
    drop(others);
    assert_eq!(lab.take_config(&mut next).expect("all of it").p4_device_config, taken);
}

#[test]
fn a_client_that_takes_nothing_loses_its_connection() {
    let patience = Duration::from_secs(1);
    let lab = lab(Options { read_patience: patience, ..Options::default() });
    let mut stalled = lab.start_config(ResponseType::All, PATIENCE).expect("there is room");
    std::thread::sleep(patience * 3);
    let status = lab.take_config(&mut stalled).expect_err("it was not taken");
    assert!(matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal), "{status}");
    let mut again = lab.start_config(ResponseType::All, PATIENCE).expect("it may connect again");
    assert!(lab.take_config(&mut again).expect("all of it").p4_device_config.len() > LONG);
}
