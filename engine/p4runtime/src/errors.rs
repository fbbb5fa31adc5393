//! Failures of requests, and how they travel: a gRPC status for the request, a `p4.v1.Error` for each update.

use prost::Message;
use tonic::{Code, Status};

use p4cc_exec::control::ControlError;

use crate::proto::google::rpc;
use crate::proto::p4::v1 as p4;

/// A status travels in HTTP/2 headers, of which gRPC clients take 8 KiB; P4Runtime's guidelines allow 100 bytes an
/// update. Longer text is cut.
const MAX_STATUS_TEXT_BYTES: usize = 5_000;
const MIN_UPDATE_TEXT_BYTES: usize = 160;
const ERROR_TYPE_URL: &str = "type.googleapis.com/p4.v1.Error";

/// Why a request, an update or a stream message was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    pub(crate) fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(Code::OutOfRange, message)
    }

    pub(crate) fn denied(message: impl Into<String>) -> Self {
        Self::new(Code::PermissionDenied, message)
    }

    pub(crate) fn precondition(message: impl Into<String>) -> Self {
        Self::new(Code::FailedPrecondition, message)
    }

    pub(crate) fn exhausted(message: impl Into<String>) -> Self {
        Self::new(Code::ResourceExhausted, message)
    }

    pub(crate) fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    pub(crate) fn status(self) -> Status {
        Status::new(self.code, cut(self.message, MAX_STATUS_TEXT_BYTES))
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::InvalidArgument(message) => Self::invalid(message),
            ControlError::NotFound(message) => Self::not_found(message),
            ControlError::AlreadyExists(message) => Self::new(Code::AlreadyExists, message),
            ControlError::PermissionDenied(message) => Self::denied(message),
            ControlError::ResourceExhausted(message) => Self::exhausted(message),
            ControlError::OutOfRange(message) => Self::out_of_range(message),
            ControlError::FailedPrecondition(message) => Self::precondition(message),
            ControlError::Unimplemented(message) => Self::unimplemented(message),
        }
    }
}

/// The status of a batch: OK when all succeeded, else UNKNOWN with one `p4.v1.Error` for each member, in order.
///
/// # Errors
/// Some member failed.
pub(crate) fn batch_status(results: &[Result<(), Failure>]) -> Result<(), Status> {
    let failed = results.iter().filter(|result| result.is_err()).count();
    let Some(first) = results.iter().find_map(|result| result.as_ref().err()) else { return Ok(()) };
    let text_bytes = MIN_UPDATE_TEXT_BYTES.max(MAX_STATUS_TEXT_BYTES / 2 / failed);
    let details = results
        .iter()
        .map(|result| {
            let error = match result {
                Ok(()) => p4::Error::default(),
                Err(failure) => p4::Error {
                    canonical_code: failure.code as i32,
                    message: cut(failure.message.clone(), text_bytes),
                    ..Default::default()
                },
            };
            prost_types::Any { type_url: ERROR_TYPE_URL.to_owned(), value: error.encode_to_vec() }
        })
        .collect();
    let count = results.len();
    let message = cut(format!("{failed} of {count} failed; the first: {}", first.message), text_bytes);
    let status = rpc::Status { code: Code::Unknown as i32, message: message.clone(), details };
    Err(Status::with_details(Code::Unknown, message, status.encode_to_vec().into()))
}

/// Cuts text by its length on the wire, where bytes outside of printable ASCII take three.
fn cut(mut text: String, max_bytes: usize) -> String {
    let mut bytes = 0;
    let over = text.char_indices().find(|(_, c)| {
        bytes += if (' '..='~').contains(c) && *c != '%' { 1 } else { 3 * c.len_utf8() };
        bytes > max_bytes
    });
    if let Some((at, _)) = over {
        text.truncate(at);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_reports_every_member_in_order() {
        let results = [Ok(()), Err(Failure::not_found("no table 7")), Ok(())];
        let status = batch_status(&results).unwrap_err();
        assert_eq!(status.code(), Code::Unknown);
        let details = rpc::Status::decode(status.details()).unwrap().details;
        let codes: Vec<i32> = details
            .iter()
            .map(|any| p4::Error::decode(any.value.as_slice()).unwrap().canonical_code)
            .collect();
        assert_eq!(codes, [0, Code::NotFound as i32, 0]);
        assert!(batch_status(&[Ok(()), Ok(())]).is_ok());
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(cut("abcdef".to_owned(), 3), "abc...");
        assert_eq!(cut("aää".to_owned(), 8), "aä...");
        assert_eq!(cut("abc".to_owned(), 3), "abc");
    }
}
