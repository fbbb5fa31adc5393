//! The program that the switch starts with: P4-16 source, or BMv2 JSON, told apart by content.

use std::path::{Path, PathBuf};

use p4cc_compile::Strict;
use p4cc_syntax::{Options, Severity, Source};

/// Reads a program as the device config that a controller would
/// push: JSON as it is, source in one self-contained text.
///
/// # Errors
/// The file cannot be read, an `#include` cannot, or the program breaks a rule that it is held to; the
/// message says where.
pub fn device_config(path: &Path, options: &Options, strict: Strict) -> Result<String, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("program {}: {error}; give BMv2 JSON or P4-16 source", path.display()))?;
    if p4cc_bmv2json::is_document(&text) {
        if strict != Strict::Off {
            let path = path.display();
            return Err(format!("program {path}: --strict applies only to P4-16 source; remove it"));
        }
        return Ok(text);
    }
    let (source, mut found) = Source::load(path, options);
    strict.enforce(&mut found);
    if found.iter().any(|one| one.severity == Severity::Error) {
        return Err(source.render(&found, false));
    }
    if strict != Strict::Off {
        let budget = p4cc_budget::Budget::default();
        let (tree, mut syntax) = p4cc_syntax::parse_within(&source, &budget);
        strict.enforce(&mut syntax);
        if syntax.iter().any(|one| one.severity == Severity::Error) {
            return Err(source.render(&syntax, false));
        }
        let (program, found) = p4cc_compile::compile_within(&tree, strict, &budget);
        if program.is_none() {
            return Err(source.render(&found, false));
        }
    }
    Ok(source.to_self_contained())
}

/// What `-I` and `-D` of the command line ask for.
pub fn options(include: &[PathBuf], define: &[String]) -> Options {
    let defines = define.iter().map(|text| {
        let (name, value) = text.split_once('=').unwrap_or((text, "1"));
        (name.to_owned(), value.to_owned())
    });
    Options { include_dirs: include.to_vec(), defines: defines.collect(), ..Options::default() }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Arc;

    use p4cc_exec::Pipeline;
    use p4cc_syntax::{Memory, Options, Source};

    /// A program that sends every packet out of one port.
    pub(crate) fn to_port(port: u32) -> Arc<Pipeline> {
        let text = format!(
            "#include <core.p4>\n#include <v1model.p4>\nstruct h {{}} struct m {{}}\n\
             parser p(packet_in b, out h x, inout m y, inout standard_metadata_t s) {{\n\
                 state start {{ transition accept; }} }}\n\
             control v(inout h x, inout m y) {{ apply {{}} }}\n\
             control i(inout h x, inout m y, inout standard_metadata_t s) {{ apply {{ s.egress_spec = {port}; }} }}\n\
             control e(inout h x, inout m y, inout standard_metadata_t s) {{ apply {{}} }}\n\
             control d(packet_out b, in h x) {{ apply {{}} }}\n\
             V1Switch(p(), v(), i(), e(), v(), d()) main;\n"
        );
        let (source, found) = Source::from_text("to_port.p4", &text, &Memory::default(), &Options::default());
        assert!(found.is_empty(), "{}", source.render(&found, false));
        let (tree, found) = p4cc_syntax::parse(&source);
        assert!(found.is_empty(), "{}", source.render(&found, false));
        let (program, found) = p4cc_compile::compile(&tree);
        let program = program.unwrap_or_else(|| panic!("{}", source.render(&found, false)));
        Arc::new(Pipeline::compile(Arc::new(program)).expect("a checked program"))
    }
}
