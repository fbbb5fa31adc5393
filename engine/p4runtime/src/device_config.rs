//! The bytes of a device config, told apart by content, and the program they hold.
//!
//! P4-16 source text is text. A serialized `P4DeviceConfig` holds control bytes, which text does not, and wraps either
//! kind. BMv2's JSON starts with a brace, which a P4 program never does.

use std::sync::Arc;

use p4cc_exec::Pipeline;
use p4cc_syntax::{Diagnostic, Memory, Options, Severity, Source};
use prost::Message;

use crate::catalog::Catalog;
use crate::errors::Failure;

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
}

/// Compiles the program that a device config holds.
pub(crate) fn load(device_config: &[u8]) -> Result<Loaded, Failure> {
    compile(source_text(device_config)?)
}

fn source_text(bytes: &[u8]) -> Result<&str, Failure> {
    if let Some(text) = as_text(bytes)? {
        return Ok(text);
    }
    Err(Failure::invalid(
        "the device config is neither P4-16 source text nor a serialized P4DeviceConfig that holds it; \
         is it truncated?",
    ))
}

/// The text, if the bytes are text or an envelope around text.
fn as_text(bytes: &[u8]) -> Result<Option<&str>, Failure> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(|c: char| c.is_control() && !c.is_whitespace()) => Some(text),
        _ => payload(bytes).and_then(|payload| std::str::from_utf8(payload).ok()),
    };
    let Some(text) = text else { return Ok(None) };
    match text.trim_start().chars().next() {
        None => Err(Failure::invalid("the device config is empty; give the P4-16 source of the program")),
        Some('{') => Err(Failure::unimplemented(
            "BMv2 JSON is not supported yet as device config; give the program's P4-16 source instead",
        )),
        Some(_) => Ok(Some(text)),
    }
}

/// The payload of an envelope, borrowed from it.
fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let data = P4DeviceConfig::decode(bytes).ok()?.device_data;
    let at = bytes.windows(data.len().max(1)).rposition(|window| window == data)?;
    (!data.is_empty()).then(|| &bytes[at..at + data.len()])
}

fn compile(text: &str) -> Result<Loaded, Failure> {
    let (source, mut found) = Source::from_text(SOURCE_NAME, text, &Memory::default(), &Options::default());
    let (tree, syntax) = p4cc_syntax::parse(&source);
    found.extend(syntax);
    if has_errors(&found) {
        return Err(refused(&source, &found));
    }
    let (program, diagnostics) = p4cc_ir::compile(&tree);
    found.extend(diagnostics);
    let Some(program) = program.filter(|_| !has_errors(&found)) else {
        return Err(refused(&source, &found));
    };
    let program = Arc::new(program);
    let catalog = Catalog::new(Arc::clone(&program)).map_err(|error| Failure::invalid(error.to_string()))?;
    let pipeline = Pipeline::compile(program).map_err(|error| Failure::invalid(error.to_string()))?;
    Ok(Loaded { catalog, pipeline: Arc::new(pipeline) })
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

    #[test]
    fn text_and_envelopes_are_told_apart() {
        let text = "control c() { apply {} }\n\t// ä";
        assert_eq!(source_text(text.as_bytes()).unwrap(), text);
        let envelope = P4DeviceConfig { device_data: text.as_bytes().to_vec() }.encode_to_vec();
        assert_eq!(source_text(&envelope).unwrap(), text);
    }

    #[test]
    fn what_is_neither_is_refused_with_its_own_code() {
        let code = |bytes: &[u8]| source_text(bytes).unwrap_err().code;
        assert_eq!(code(b"  {\"header_types\": []}"), Code::Unimplemented);
        assert_eq!(
            code(&P4DeviceConfig { device_data: b"{}".to_vec() }.encode_to_vec()),
            Code::Unimplemented
        );
        assert_eq!(code(b" \n"), Code::InvalidArgument);
        assert_eq!(code(&[0xff, 0x00, 0x1a]), Code::InvalidArgument);
        let mut truncated = P4DeviceConfig { device_data: b"parser p() {}".to_vec() }.encode_to_vec();
        truncated.truncate(6);
        assert_eq!(code(&truncated), Code::InvalidArgument);
    }
}
