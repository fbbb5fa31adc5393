//! Epochs of virtual time that controllers ask for.

use std::time::Duration;

use p4cc_units::{Span, Time};
use prost::Message;
use prost_types::Any;
use tonic::Code;

use crate::lab::{Lab, Stream};
use p4::stream_message_request::Update as Said;
use p4::stream_message_response::Update as Told;
use p4cc_p4runtime::proto::p4::v1 as p4;

const DURATION: &str = "type.googleapis.com/google.protobuf.Duration";
const NOT_LONG: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(20);

fn epoch(seconds: i64, nanos: i32) -> Any {
    let value = prost_types::Duration { seconds, nanos }.encode_to_vec();
    Any { type_url: DURATION.to_owned(), value }
}

fn ask(lab: &Lab, stream: &Stream, other: Any) {
    lab.say(stream, Some(Said::Other(other)));
}

/// The code of the error that a stream message is answered with.
fn refused(lab: &Lab, stream: &mut Stream, other: Any) -> Code {
    ask(lab, stream, other);
    match lab.hear(stream) {
        Ok(Told::Error(error)) => Code::from(error.canonical_code),
        other => panic!("no error: {other:?}"),
    }
}

#[test]
fn a_primary_leads_the_time() {
    let (lab, mut stream) = Lab::with_primary();
    lab.lead_by_epochs();
    assert!(lab.take_epoch(NOT_LONG).is_none());
    ask(&lab, &stream, epoch(1, 5));
    let asked = lab.take_epoch(LONG).expect("an epoch");
    assert_eq!(asked.span(), Span::from_ns(1_000_000_005));
    asked.end(Time::from_ns(2_000_000_007));
    match lab.hear(&mut stream) {
        Ok(Told::Other(told)) => assert_eq!(told, epoch(2, 7)),
        other => panic!("{other:?}"),
    }
    let mut beside = lab.open();
    assert_eq!(lab.arbitrate(&mut beside, 0, None), Code::AlreadyExists);
    assert_eq!(refused(&lab, &mut beside, epoch(1, 0)), Code::PermissionDenied);
}

#[test]
fn what_is_no_epoch_is_refused() {
    let (lab, mut stream) = Lab::with_primary();
    assert_eq!(refused(&lab, &mut stream, epoch(1, 0)), Code::Unimplemented, "nobody waits for epochs");
    lab.lead_by_epochs();
    for (seconds, nanos) in [(-1, 0), (0, -1), (0, 1_000_000_000)] {
        assert_eq!(refused(&lab, &mut stream, epoch(seconds, nanos)), Code::InvalidArgument);
    }
    let broken = Any { type_url: DURATION.to_owned(), value: vec![0xff; 7] };
    assert_eq!(refused(&lab, &mut stream, broken), Code::InvalidArgument);
    let other = Any { type_url: "x/y.Z".to_owned(), value: Vec::new() };
    assert_eq!(refused(&lab, &mut stream, other), Code::Unimplemented);
    (0..256).for_each(|_| ask(&lab, &stream, epoch(i64::MAX, 0)));
    assert_eq!(refused(&lab, &mut stream, epoch(0, 1)), Code::ResourceExhausted);
    assert!(lab.take_epoch(LONG).is_some());
}
