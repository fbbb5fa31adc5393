//! The bytes of a device config, told apart by content, and the program they hold.
//!
//! P4-16 source text is text. A serialized `P4DeviceConfig` holds control bytes, which text does not, and
//! wraps either kind. BMv2's JSON starts with a brace, which a P4 program never does.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use p4cc_compile::Strict;
use p4cc_exec::Pipeline;
use p4cc_ir::Program;
use p4cc_syntax::{Diagnostic, Memory, Options, Severity, Source};
use parking_lot::Mutex;
use prost::Message;

use crate::binding;
use crate::catalog::Catalog;
use crate::errors::Failure;
use crate::p4info::p4info;
use crate::proto::p4::config::v1::P4Info;
use crate::server::work::Cancel;
use crate::sizes;

/// The name that diagnostics give to a source without `#line` markers.
const SOURCE_NAME: &str = "device_config.p4";

/// Stratum's and PI's envelope; only the payload matters here.
#[derive(Clone, PartialEq, Message)]
struct P4DeviceConfig {
    #[prost(bytes = "vec", tag = "3")]
    device_data: Vec<u8>,
}

/// A program ready to run, and how a controller sees it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) catalog: Catalog,
    pub(crate) pipeline: Arc<Pipeline>,
    /// The controller's, or the program's own.
    pub(crate) p4info: P4Info,
}

/// The bytes of a device config, and of the P4Info that came with it.
type Key = (Vec<u8>, Option<Vec<u8>>);

/// Programs in use, by the bytes that they came from. Switches of one network run one program, and share its
/// code: the time to make it and, packet by packet, the processor's caches.
static IN_USE: Mutex<BTreeMap<Key, Weak<Loaded>>> = Mutex::new(BTreeMap::new());

/// The program that a device config holds, seen as a P4Info says or, without one, as its own does: read now,
/// or the one that another switch got from the same bytes.
///
/// # Errors
/// The program cannot be used, or nobody waits for it any more.
pub(crate) fn load(
    device_config: &[u8],
    given: Option<&P4Info>,
    cancel: &Cancel,
) -> Result<Arc<Loaded>, Failure> {
    let key = (device_config.to_vec(), given.map(Message::encode_to_vec));
    let known = IN_USE.lock().get(&key).and_then(Weak::upgrade);
    if let Some(loaded) = known {
        return Ok(loaded);
    }
    let loaded = Arc::new(read(device_config, given, cancel)?);
    if loaded.catalog.has_translations() {
        return Ok(loaded);
    }
    let mut in_use = IN_USE.lock();
    in_use.retain(|_, program| program.strong_count() > 0);
    in_use.insert(key, Arc::downgrade(&loaded));
    Ok(loaded)
}

fn read(device_config: &[u8], given: Option<&P4Info>, cancel: &Cancel) -> Result<Loaded, Failure> {
    let text = text(device_config)?;
    let is_json = p4cc_bmv2json::is_document(text);
    let mut program = if is_json { read_json(text, cancel)? } else { compile(text, cancel)? };
    cancel.check()?;
    let p4info = match given {
        Some(given) => given.clone(),
        None => p4info(&program).map_err(|error| Failure::invalid(error.to_string()))?,
    };
    sizes::apply(&mut program, &p4info, cancel.budget())?;
    if is_json {
        binding::value_set_kinds(&mut program, &p4info);
    }
    let program = Arc::new(program);
    let catalog = Catalog::new(Arc::clone(&program), &p4info)?;
    cancel.check()?;
    let pipeline = Pipeline::compile(program).map_err(|error| Failure::invalid(error.to_string()))?;
    Ok(Loaded { catalog, pipeline: Arc::new(pipeline), p4info })
}

/// The program's text, out of its envelope if it is in one.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Failure> {
    if let Some(text) = as_text(bytes)? {
        return Ok(text);
    }
    Err(Failure::invalid(
        "the device config is neither P4-16 source text nor BMv2 JSON, nor a serialized P4DeviceConfig that holds \
         one of them; is it truncated?",
    ))
}

/// The text, if the bytes are text or an envelope around text.
fn as_text(bytes: &[u8]) -> Result<Option<&str>, Failure> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(|c: char| c.is_control() && !c.is_whitespace()) => Some(text),
        _ => payload(bytes).and_then(|payload| std::str::from_utf8(payload).ok()),
    };
    let Some(text) = text else { return Ok(None) };
    if text.trim_start().is_empty() {
        return Err(Failure::invalid(
            "the device config is empty; give the program as P4-16 source or as BMv2 JSON",
        ));
    }
    Ok(Some(text))
}

/// The payload of an envelope, borrowed from it.
fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let data = P4DeviceConfig::decode(bytes).ok()?.device_data;
    let at = bytes.windows(data.len().max(1)).rposition(|window| window == data)?;
    (!data.is_empty()).then(|| &bytes[at..at + data.len()])
}

fn read_json(text: &str, cancel: &Cancel) -> Result<Program, Failure> {
    let (program, errors) = p4cc_bmv2json::read_within(text, cancel.budget());
    cancel.check()?;
    program.ok_or_else(|| {
        let lines: String = errors.iter().map(|error| format!("\n{error}")).collect();
        Failure::invalid(format!("the BMv2 JSON cannot be used:{lines}"))
    })
}

fn compile(text: &str, cancel: &Cancel) -> Result<Program, Failure> {
    let options = Options { budget: cancel.budget().clone(), ..Options::default() };
    let (source, mut found) = Source::from_text(SOURCE_NAME, text, &Memory::default(), &options);
    cancel.check()?;
    let (tree, syntax) = p4cc_syntax::parse_within(&source, cancel.budget());
    cancel.check()?;
    found.extend(syntax);
    if has_errors(&found) {
        return Err(refused(&source, &found));
    }
    let (program, diagnostics) = p4cc_compile::compile_within(&tree, Strict::Off, cancel.budget());
    cancel.check()?;
    found.extend(diagnostics);
    program.filter(|_| !has_errors(&found)).ok_or_else(|| refused(&source, &found))
}

fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

fn refused(source: &Source, found: &[Diagnostic]) -> Failure {
    let errors: Vec<Diagnostic> = found.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    let count = errors.len();
    let plural = if count == 1 { "" } else { "s" };
    let rendered = source.render(&errors, false);
    Failure::invalid(format!("the program does not compile, {count} error{plural}:\n{rendered}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    fn loaded(config: &[u8], given: Option<&P4Info>) -> Result<Arc<Loaded>, Failure> {
        load(config, given, &Cancel::default())
    }

    fn envelope(data: &[u8]) -> Vec<u8> {
        P4DeviceConfig { device_data: data.to_vec() }.encode_to_vec()
    }

    #[test]
    fn text_and_envelopes_are_told_apart() {
        for held in ["control c() { apply {} }\n\t// ä", " {\"header_types\": []}"] {
            assert_eq!(text(held.as_bytes()).unwrap(), held);
            assert_eq!(text(&envelope(held.as_bytes())).unwrap(), held);
        }
    }

    #[test]
    fn json_is_read_bare_and_in_an_envelope() {
        let json = include_str!("../../filetests/cases/bmv2/tables.json");
        for config in [json.as_bytes().to_vec(), envelope(json.as_bytes())] {
            let loaded = loaded(&config, None).unwrap();
            assert!(loaded.catalog.tables().count() > 0);
        }
        let failure = loaded(b"{\"header_types\": 3}", None).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        assert!(failure.message.contains("pipelines"), "{}", failure.message);
    }

    #[test]
    fn equal_bytes_are_one_program_while_it_is_in_use() {
        let json = include_str!("../../filetests/cases/bmv2/tables.json");
        // Bytes that no other test gives.
        let config = format!("{json}\n\n");
        let first = loaded(config.as_bytes(), None).unwrap();
        assert!(Arc::ptr_eq(&first, &loaded(config.as_bytes(), None).unwrap()));
        assert!(!Arc::ptr_eq(&first, &loaded(json.as_bytes(), None).unwrap()));
        let gone = Arc::downgrade(&first);
        drop(first);
        assert!(gone.upgrade().is_none(), "nothing keeps a program that no switch runs");
        loaded(config.as_bytes(), None).unwrap();
    }

    #[test]
    fn nothing_is_compiled_for_a_call_that_has_ended() {
        let cancel = Cancel::default();
        cancel.cancel();
        let program = include_bytes!("../tests/grpc/registers.p4");
        assert_eq!(load(program, None, &cancel).unwrap_err().code, Code::Cancelled);
        assert!(load(program, None, &Cancel::default()).is_ok());
    }

    #[test]
    fn sizes_of_a_p4info_count_towards_the_bound_on_state() {
        let program = include_str!("../tests/grpc/registers.p4");
        let program = program.replace("// registers", "register<bit<2048>>(16) r;");
        let mut info = loaded(program.as_bytes(), None).unwrap().p4info.clone();
        info.registers[0].size = 17;
        assert!(loaded(program.as_bytes(), Some(&info)).is_ok());
        info.registers[0].size = 1 << 24;
        let failure = loaded(program.as_bytes(), Some(&info)).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        assert!(failure.message.contains("needs 4294967296 bytes of"), "{}", failure.message);
    }

    #[test]
    fn a_program_without_main_is_refused() {
        let failure = loaded(include_bytes!("../../../tests/p4runtime/no_main.p4"), None).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        for part in ["no `main`", "13", "V1Switch(...) main;"] {
            assert!(failure.message.contains(part), "{part} in {}", failure.message);
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        let code = |bytes: &[u8]| text(bytes).unwrap_err().code;
        assert_eq!(code(b" \n"), Code::InvalidArgument);
        assert_eq!(code(&[0xff, 0x00, 0x1a]), Code::InvalidArgument);
        let mut truncated = envelope(b"parser p() {}");
        truncated.truncate(6);
        assert_eq!(code(&truncated), Code::InvalidArgument);
    }
}
