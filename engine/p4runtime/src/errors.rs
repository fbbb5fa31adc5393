//! Failures of requests, and how they travel: a gRPC status for the request, an error message for each
//! update.

use prost::Message;
use tonic::{Code, Status};

use p4cc_exec::control::ControlError;

use crate::proto::google::rpc;
use crate::proto::p4::v1 as p4;

/// A status travels in HTTP/2 headers, of which gRPC clients take 8 KiB by default; longer text is cut.
const MAX_STATUS_TEXT_BYTES: usize = 5_000;
/// What clients take of a batch's status by default, and what each
/// update may add to it (P4Runtime "gRPC Metadata Maximum Size").
const METADATA_BYTES: usize = 8_192;
const METADATA_BYTES_PER_UPDATE: usize = 100;
/// What the headers count beside the two texts of the status:
/// their names, those of the others, HPACK's share of each.
const OTHER_HEADER_BYTES: usize = 384;
/// The longest text of one update, and the shortest: below it says nothing and is left out.
const MAX_UPDATE_TEXT_BYTES: usize = 2_000;
const MIN_UPDATE_TEXT_BYTES: usize = 8;
/// The first failure is told whole up to this length, whatever the others are cut to.
const FIRST_TEXT_BYTES: usize = 240;

/// The message that tells what became of one update; a protocol's own.
pub trait UpdateError: Message {
    /// Its name, as `google.protobuf.Any` gives it.
    const TYPE_URL: &'static str;

    /// The message for a code and text; code 0 is success.
    fn new(canonical_code: i32, message: String) -> Self;
}

impl UpdateError for p4::Error {
    const TYPE_URL: &'static str = "type.googleapis.com/p4.v1.Error";

    fn new(canonical_code: i32, message: String) -> Self {
        Self { canonical_code, message, ..Self::default() }
    }
}

/// Why a request, an update or a stream message was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Kind.
    pub code: Code,
    /// Place, cause and remedy.
    pub message: String,
}

impl Failure {
    /// A failure of any kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// What was given is malformed.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// What it names is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// An index past the end.
    pub fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(Code::OutOfRange, message)
    }

    /// It may not be changed.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(Code::PermissionDenied, message)
    }

    /// Valid, but not now.
    pub fn precondition(message: impl Into<String>) -> Self {
        Self::new(Code::FailedPrecondition, message)
    }

    /// Something is full.
    pub fn exhausted(message: impl Into<String>) -> Self {
        Self::new(Code::ResourceExhausted, message)
    }

    /// It cannot be done here.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// The failure as the status of a request, its text cut to what clients take.
    pub fn status(self) -> Status {
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

/// The status of a batch: OK when all succeeded, else UNKNOWN with one error message for each member, in
/// order. Texts are cut to what a client takes; codes never are.
///
/// # Errors
/// Some member failed.
pub fn batch_status<E: UpdateError>(results: &[Result<(), Failure>]) -> Result<(), Status> {
    if results.iter().all(Result::is_ok) {
        return Ok(());
    }
    let bare = header_bytes(&status_of::<E>(results, 0));
    let limit = match bare <= METADATA_BYTES {
        true => METADATA_BYTES,
        false => METADATA_BYTES + METADATA_BYTES_PER_UPDATE * results.len(),
    };
    let (mut fits, mut above) = (0, MAX_UPDATE_TEXT_BYTES + 1);
    while above - fits > 1 {
        let middle = fits + (above - fits) / 2;
        if header_bytes(&status_of::<E>(results, middle)) <= limit { fits = middle } else { above = middle }
    }
    let status = status_of::<E>(results, fits);
    let message = status.message.clone();
    Err(Status::with_details(Code::Unknown, message, status.encode_to_vec().into()))
}

/// The status of a batch with texts of so many bytes at most.
fn status_of<E: UpdateError>(results: &[Result<(), Failure>], text_bytes: usize) -> rpc::Status {
    let failed = results.iter().filter(|result| result.is_err()).count();
    let first = results.iter().find_map(|result| result.as_ref().err());
    let details = results.iter().map(|result| {
        let error = match result {
            Ok(()) => E::new(0, String::new()),
            Err(failure) => E::new(failure.code as i32, shorten(&failure.message, text_bytes)),
        };
        prost_types::Any { type_url: E::TYPE_URL.to_owned(), value: error.encode_to_vec() }
    });
    let details = details.collect();
    let (count, first) = (results.len(), first.map_or("", |failure| failure.message.as_str()));
    let message = format!("{failed} of {count} failed; the first: {first}");
    rpc::Status {
        code: Code::Unknown as i32,
        message: cut(message, text_bytes.max(FIRST_TEXT_BYTES)),
        details,
    }
}

/// What a status counts among the headers: its text twice, once within the details, which are Base64.
fn header_bytes(status: &rpc::Status) -> usize {
    let text: usize = status.message.chars().map(wire_bytes).sum();
    OTHER_HEADER_BYTES + text + status.encoded_len().div_ceil(3) * 4
}

/// The start of a text that is too long, ended by an ellipsis within its bytes.
fn shorten(text: &str, max_bytes: usize) -> String {
    const ELLIPSIS: &str = "...";
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    if max_bytes < MIN_UPDATE_TEXT_BYTES {
        return String::new();
    }
    let most = max_bytes - ELLIPSIS.len();
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| *end <= most).last().unwrap_or(0);
    format!("{}{ELLIPSIS}", &text[..end])
}

/// Bytes of a character in a header, where those outside of printable ASCII take three each.
fn wire_bytes(c: char) -> usize {
    if (' '..='~').contains(&c) && c != '%' { 1 } else { 3 * c.len_utf8() }
}

/// Cuts text by its length on the wire.
fn cut(mut text: String, max_bytes: usize) -> String {
    let mut bytes = 0;
    let over = text.char_indices().find(|(_, c)| {
        bytes += wire_bytes(*c);
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
        let status = batch_status::<p4::Error>(&results).unwrap_err();
        assert_eq!(status.code(), Code::Unknown);
        let details = rpc::Status::decode(status.details()).unwrap().details;
        let codes: Vec<i32> = details
            .iter()
            .map(|any| p4::Error::decode(any.value.as_slice()).unwrap().canonical_code)
            .collect();
        assert_eq!(codes, [0, Code::NotFound as i32, 0]);
        assert!(batch_status::<p4::Error>(&[Ok(()), Ok(())]).is_ok());
    }

    #[test]
    fn large_batches_keep_every_code_and_their_texts_yield() {
        for (count, limit) in [(1, 8_192), (60, 8_192), (130, 8_192), (400, 8_192 + 100 * 400)] {
            let text = "a text of a length that is usual, which names place, cause and remedy ä".repeat(4);
            let results: Vec<_> = (0..count).map(|_| Err(Failure::not_found(text.clone()))).collect();
            let status = batch_status::<p4::Error>(&results).unwrap_err();
            let decoded = rpc::Status::decode(status.details()).unwrap();
            assert!(header_bytes(&decoded) <= limit, "{count}: {}", header_bytes(&decoded));
            assert_eq!(decoded.details.len(), count);
            let code =
                |any: &prost_types::Any| p4::Error::decode(any.value.as_slice()).unwrap().canonical_code;
            assert!(decoded.details.iter().all(|any| code(any) == Code::NotFound as i32));
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!((shorten("äöü and more", 8).as_str(), shorten("abc", 3).as_str()), ("äö...", "abc"));
        assert_eq!(shorten("a long text", 7), "");
        assert_eq!(cut("abcdef".to_owned(), 3), "abc...");
        assert_eq!(cut("aää".to_owned(), 8), "aä...");
        assert_eq!(cut("abc".to_owned(), 3), "abc");
    }
}
