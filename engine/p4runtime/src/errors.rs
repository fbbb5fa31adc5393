//! Failures of requests, and how they travel: a gRPC status for the request, an error message for each
//! update.

use prost::Message;
use tonic::{Code, Status};

use p4cc_exec::control::ControlError;

use crate::proto::google::rpc;
use crate::proto::p4::v1 as p4;

/// A status travels in HTTP/2 headers, of which gRPC clients take 8 KiB by default; longer text is cut.
const MAX_STATUS_TEXT_BYTES: usize = 5_000;
/// What every gRPC client takes of a status: beyond, it reports RESOURCE_EXHAUSTED and nothing else.
const METADATA_BYTES: usize = 8_192;
/// What a client that was set up for batches takes beyond that for each
/// update (P4Runtime "gRPC Metadata Maximum Size").
const METADATA_BYTES_PER_UPDATE: usize = 100;
/// What gRPC's C core announces where nobody changed its limit: twice what it takes for certain.
const ANNOUNCED_BY_DEFAULT: usize = 16_384;
/// Members of a batch that are kept for its status, and those of them whose texts are.
const MAX_KEPT: usize = 1 << 16;
const MAX_KEPT_TEXTS: usize = 1 << 12;
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

/// How many bytes of metadata a client takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataLimit {
    /// It did not say: what every client takes.
    #[default]
    Standard,
    /// It said that it has no limit of its own: what P4Runtime advises clients to take.
    Advised,
    /// It takes so many.
    Bytes(usize),
}

impl MetadataLimit {
    /// Of a client that announces so many bytes (HTTP/2's SETTINGS_MAX_HEADER_LIST_SIZE). gRPC's C core takes
    /// only four fifths of them for certain, and half of its default.
    pub fn announced(bytes: usize) -> Self {
        if bytes <= ANNOUNCED_BY_DEFAULT {
            return Self::Bytes(bytes.min(METADATA_BYTES));
        }
        Self::Bytes(bytes / 5 * 4)
    }

    fn bytes(self, members: usize) -> usize {
        match self {
            Self::Standard => METADATA_BYTES,
            Self::Advised => METADATA_BYTES + METADATA_BYTES_PER_UPDATE * members,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// What became of the members of a batch, in order: of a very long one the first members, and how many
/// failed.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    kept: Vec<Result<(), Failure>>,
    count: usize,
    failed: usize,
    /// The first failure and its place.
    first: Option<(usize, String)>,
}

impl Outcomes {
    /// Adds what became of the next member.
    pub fn push(&mut self, outcome: Result<(), Failure>) {
        if let Err(failure) = &outcome {
            self.failed += 1;
            self.first.get_or_insert_with(|| (self.count, failure.message.clone()));
        }
        if self.kept.len() < MAX_KEPT {
            let has_text = self.kept.len() < MAX_KEPT_TEXTS;
            let text = |failure: Failure| if has_text { failure } else { Failure::new(failure.code, "") };
            self.kept.push(outcome.map_err(text));
        }
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The status of the batch: OK when all succeeded, else UNKNOWN with one error message for each member,
    /// in order. Texts are cut to what the client takes. Where even the codes are too long, the last members
    /// are left out, and the message says so.
    ///
    /// # Errors
    /// Some member failed.
    pub fn status<E: UpdateError>(&self, limit: MetadataLimit) -> Result<(), Status> {
        if self.failed == 0 {
            return Ok(());
        }
        let limit = limit.bytes(self.count);
        let fits = |members, text_bytes| header_bytes(&self.status_of::<E>(members, text_bytes)) <= limit;
        let members = self.told_without_texts::<E>(limit);
        let text_bytes = if members < self.count {
            0
        } else {
            largest(MAX_UPDATE_TEXT_BYTES, |bytes| fits(members, bytes))
        };
        let status = self.status_of::<E>(members, text_bytes);
        let message = status.message.clone();
        Err(Status::with_details(Code::Unknown, message, status.encode_to_vec().into()))
    }

    /// How many members fit without their texts. Their messages are made once and only as far as they can
    /// fit, as a batch may have very many.
    fn told_without_texts<E: UpdateError>(&self, limit: usize) -> usize {
        let mut bytes = vec![0];
        for result in &self.kept {
            let before = bytes.last().copied().unwrap_or(0);
            if before > limit {
                break;
            }
            let detail = detail::<E>(result, 0).encoded_len();
            // One byte is the tag of the field.
            bytes.push(before + 1 + prost::length_delimiter_len(detail) + detail);
        }
        largest(bytes.len() - 1, |members| {
            let message = self.message_of(members, 0);
            let bare = rpc::Status { code: Code::Unknown as i32, message, details: Vec::new() };
            header_bytes_with(&bare, bytes[members]) <= limit
        })
    }

    /// The status that tells of so many members, with texts of so many bytes at most.
    fn status_of<E: UpdateError>(&self, members: usize, text_bytes: usize) -> rpc::Status {
        let details = self.kept[..members].iter().map(|result| detail::<E>(result, text_bytes)).collect();
        rpc::Status { code: Code::Unknown as i32, message: self.message_of(members, text_bytes), details }
    }

    /// The text of that status.
    fn message_of(&self, members: usize, text_bytes: usize) -> String {
        let Self { count, failed, .. } = self;
        let (place, first) = self.first.as_ref().map_or((0, ""), |(place, text)| (*place, text.as_str()));
        let first = shorten(first, text_bytes.max(FIRST_TEXT_BYTES));
        if members < *count {
            let left_out = count - members;
            format!(
                "{failed} of {count} failed; details of {left_out} are left out, as the client takes no more metadata: send \
                 smaller batches or raise its grpc.max_metadata_size; the first that failed is number {place}, from 0: {first}"
            )
        } else {
            format!("{failed} of {count} failed; the first: {first}")
        }
    }
}

impl FromIterator<Result<(), Failure>> for Outcomes {
    fn from_iter<I: IntoIterator<Item = Result<(), Failure>>>(outcomes: I) -> Self {
        let mut all = Self::default();
        outcomes.into_iter().for_each(|outcome| all.push(outcome));
        all
    }
}

/// The largest number up to `most` that fits, where what is smaller fits too; 0 where none does.
fn largest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    if fits(most) {
        return most;
    }
    let (mut fit, mut above) = (0, most);
    while above - fit > 1 {
        let middle = fit + (above - fit) / 2;
        if fits(middle) { fit = middle } else { above = middle }
    }
    fit
}

/// What a status counts among the headers: its text twice, once within the details, which are Base64.
fn header_bytes(status: &rpc::Status) -> usize {
    header_bytes_with(status, 0)
}

/// The same of a status with so many more bytes of details.
fn header_bytes_with(status: &rpc::Status, details: usize) -> usize {
    let text: usize = status.message.chars().map(wire_bytes).sum();
    OTHER_HEADER_BYTES + text + (status.encoded_len() + details).div_ceil(3) * 4
}

/// What became of one member.
fn detail<E: UpdateError>(result: &Result<(), Failure>, text_bytes: usize) -> prost_types::Any {
    let error = match result {
        Ok(()) => E::new(0, String::new()),
        Err(failure) => E::new(failure.code as i32, shorten(&failure.message, text_bytes)),
    };
    prost_types::Any { type_url: E::TYPE_URL.to_owned(), value: error.encode_to_vec() }
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

/// Bytes of a character in a header, where those outside of printable ASCII take three each, and so do those
/// that the gRPC library encodes besides: blanks among them.
fn wire_bytes(c: char) -> usize {
    if ('!'..='~').contains(&c) && !"\"#%<>`?{}".contains(c) { 1 } else { 3 * c.len_utf8() }
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

    fn status(outcomes: &Outcomes, limit: MetadataLimit) -> (String, Vec<p4::Error>) {
        let status = outcomes.status::<p4::Error>(limit).unwrap_err();
        assert_eq!(status.code(), Code::Unknown);
        let decoded = rpc::Status::decode(status.details()).unwrap();
        let bytes = limit.bytes(outcomes.count());
        assert!(header_bytes(&decoded) <= bytes, "{} above {bytes}", header_bytes(&decoded));
        let error = |any: &prost_types::Any| p4::Error::decode(any.value.as_slice()).unwrap();
        (status.message().to_owned(), decoded.details.iter().map(error).collect())
    }

    #[test]
    fn a_batch_reports_every_member_in_order() {
        let results = [Ok(()), Err(Failure::not_found("no table 7")), Ok(())];
        let (_, errors) = status(&results.into_iter().collect(), MetadataLimit::Standard);
        let codes: Vec<i32> = errors.iter().map(|error| error.canonical_code).collect();
        assert_eq!(codes, [0, Code::NotFound as i32, 0]);
        let good: Outcomes = [Ok(()), Ok(())].into_iter().collect();
        assert!(good.status::<p4::Error>(MetadataLimit::Standard).is_ok());
    }

    #[test]
    fn the_headers_of_a_status_count_no_more_than_was_reckoned() {
        for text in ["a b c d e f ".repeat(20), "<\"#%`?{}>~ä\n".repeat(20), "plain".repeat(40)] {
            for count in [1, 100, 5_000] {
                let outcomes: Outcomes = (0..count).map(|_| Err(Failure::not_found(text.clone()))).collect();
                let status = outcomes.status::<p4::Error>(MetadataLimit::Standard).unwrap_err();
                let headers = status.into_http::<tonic::body::Body>().into_parts().0.headers;
                // As HPACK counts (RFC 7541, section 4.1); `:status` and `date` come on top.
                let bytes: usize =
                    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
                assert!(bytes + 107 <= METADATA_BYTES, "{bytes} bytes, {count} of {text:.20}");
            }
        }
    }

    #[test]
    fn large_batches_keep_every_code_and_their_texts_yield() {
        let big = MetadataLimit::announced(1 << 20);
        let (standard, advised) = (MetadataLimit::Standard, MetadataLimit::Advised);
        for (count, limit) in [(1, standard), (60, standard), (130, standard), (400, advised), (400, big)] {
            let text = "a text of a length that is usual, which names place, cause and remedy ä".repeat(4);
            let (_, errors) =
                status(&(0..count).map(|_| Err(Failure::not_found(text.clone()))).collect(), limit);
            assert_eq!(errors.len(), count);
            assert!(errors.iter().all(|error| error.canonical_code == Code::NotFound as i32));
            assert_eq!(errors[0].message == text, count == 1 || limit == big, "{count}");
        }
    }

    #[test]
    fn what_a_standard_client_does_not_take_is_left_out_and_counted() {
        let announced = MetadataLimit::announced(ANNOUNCED_BY_DEFAULT);
        for limit in [MetadataLimit::Standard, announced] {
            let failing = |at| if at < 4_000 { Ok(()) } else { Err(Failure::not_found(format!("no {at}"))) };
            let (message, errors) = status(&(0..100_000).map(failing).collect(), limit);
            assert!((100..400).contains(&errors.len()), "{}", errors.len());
            let left_out = format!("details of {} are left out", 100_000 - errors.len());
            for part in ["96000 of 100000 failed", &left_out, "number 4000", "no 4000"] {
                assert!(message.contains(part), "{part} in {message}");
            }
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
