//! P4 programs: compilation, diagnostics, and what is made of a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use p4cc_compile::{Lacking, Strict, Unit};
use p4cc_syntax::{FileSystem, Options, Severity, Source};
use prost::Message;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::stf::StfReport;

/// One finding of the compiler.
#[pyclass(frozen, get_all, module = "p4cc._engine", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct Diagnostic {
    file: String,
    line: u32,
    column: u32,
    severity: &'static str,
    message: String,
    help: Option<String>,
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self) -> String {
        format!("{}:{}:{}: {}: {}", self.file, self.line, self.column, self.severity, self.message)
    }
}

/// What a program without errors is made into.
struct Made {
    /// What a controller sees; none of a source for no architecture that is known here.
    p4info: Option<Info>,
    /// What runs, or what the source lacks for it.
    runnable: Result<Runnable, Lacking>,
}

/// P4Info in both forms.
struct Info {
    text: String,
    bytes: Vec<u8>,
}

/// What a switch runs.
struct Runnable {
    ir_text: String,
    device_config: String,
    program: Arc<p4cc_ir::Program>,
}

/// A compiled program.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct Program {
    name: String,
    diagnostics: Vec<Diagnostic>,
    rendered: String,
    made: Option<Made>,
    /// Declarations by name, with file and line; none of BMv2 JSON.
    declared: Vec<(String, String, u32)>,
}

impl Program {
    fn made(&self, py: Python<'_>) -> PyResult<&Made> {
        self.made.as_ref().ok_or_else(|| errors::not_compiled(py, &self.name, &self.rendered))
    }

    fn runnable(&self, py: Python<'_>) -> PyResult<&Runnable> {
        self.made(py)?.runnable.as_ref().map_err(|lacking| errors::lacking(py, &self.name, lacking))
    }

    /// P4Info, or what the source lacks for it.
    fn info(&self, py: Python<'_>) -> PyResult<&Info> {
        let made = self.made(py)?;
        match (&made.p4info, &made.runnable) {
            (Some(info), _) => Ok(info),
            (None, Err(lacking)) => Err(errors::lacking(py, &self.name, lacking)),
            (None, Ok(_)) => Err(errors::not_compiled(py, &self.name, "a program that runs without P4Info")),
        }
    }
}

#[pymethods]
impl Program {
    #[getter]
    fn ok(&self) -> bool {
        self.made.is_some()
    }

    #[getter]
    fn diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics.clone()
    }

    #[getter]
    fn rendered(&self) -> &str {
        &self.rendered
    }

    /// Names of tables, actions, states and other declarations, with file and line.
    #[getter]
    fn declared(&self) -> Vec<(String, String, u32)> {
        self.declared.clone()
    }

    /// Whether it is for an architecture that is known here, so that there is P4Info.
    #[getter]
    fn has_p4info(&self) -> bool {
        self.made.as_ref().is_some_and(|made| made.p4info.is_some())
    }

    fn p4info_text(&self, py: Python<'_>) -> PyResult<&str> {
        Ok(&self.info(py)?.text)
    }

    fn p4info_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.info(py)?.bytes))
    }

    fn ir_text(&self, py: Python<'_>) -> PyResult<&str> {
        Ok(&self.runnable(py)?.ir_text)
    }

    /// bf-rt.json of a program for the chip.
    fn bfrt_text(&self, py: Python<'_>) -> PyResult<String> {
        let program = &self.runnable(py)?.program;
        let schema = p4cc_bfrt::schema::of_program(program, p4cc_bfrt::schema::chip_of(program))
            .map_err(|error| errors::no_schema(py, &self.name, &error.to_string()))?;
        Ok(p4cc_bfrt::schema::json::text(&schema))
    }

    /// The program as BMv2 JSON: as it was read, or as p4c's back end for its architecture would write it.
    fn bmv2_json(&self, py: Python<'_>) -> PyResult<String> {
        let Runnable { device_config, program, .. } = self.runnable(py)?;
        if p4cc_bmv2json::is_document(device_config) {
            return Ok(device_config.clone());
        }
        let document =
            p4cc_bmv2json::write(program).map_err(|error| errors::not_written(py, &self.name, &error))?;
        Ok(format!("{document:#}\n"))
    }

    fn device_config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.runnable(py)?.device_config.as_bytes()))
    }

    /// The header types by name, each with name, kind and width of its fields in wire order.
    fn header_types(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<HeaderField>)>> {
        let types = &self.runnable(py)?.program.header_types;
        Ok(types
            .iter()
            .map(|one| (one.name.clone(), one.fields.iter().map(header_field).collect()))
            .collect())
    }

    /// The parser as JSON.
    fn parser_json(&self, py: Python<'_>) -> PyResult<String> {
        Ok(crate::parser::parser_json(&self.runnable(py)?.program))
    }

    #[pyo3(signature = (test, back_end = None))]
    fn run_stf(&self, py: Python<'_>, test: &str, back_end: Option<&str>) -> PyResult<StfReport> {
        let program = &self.runnable(py)?.program;
        let choice = back_end.map(str::parse).transpose().map_err(PyValueError::new_err)?.unwrap_or_default();
        Ok(StfReport::new(py.detach(|| p4cc_stf::run(program, test, choice))))
    }

    /// What the packets of a test do, as JSON; ValueError if the text is no test.
    fn trace_stf(&self, py: Python<'_>, test: &str) -> PyResult<String> {
        let program = &self.runnable(py)?.program;
        let traced = py.detach(|| p4cc_stf::trace(program, test)).map_err(PyValueError::new_err)?;
        serde_json::to_string(&traced).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Name, kind and width in bits.
type HeaderField = (String, &'static str, u32);

fn header_field(field: &p4cc_ir::HeaderField) -> HeaderField {
    let kind = match field.ty {
        p4cc_ir::VarType::Bool => "bool",
        p4cc_ir::VarType::Bit(_) => "bit",
        p4cc_ir::VarType::Int(_) => "int",
        p4cc_ir::VarType::Varbit(_) => "varbit",
    };
    (field.name.clone(), kind, field.ty.width())
}

/// Compiles a file: P4-16 source, or BMv2 JSON, told apart by content.
#[pyfunction]
#[pyo3(signature = (path, include_dirs = Vec::new(), defines = BTreeMap::new(), strict = "off"))]
pub(crate) fn compile_p4(
    py: Python<'_>,
    path: PathBuf,
    include_dirs: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    strict: &str,
) -> PyResult<Program> {
    let options = options(include_dirs, defines);
    let strict = rules(strict)?;
    let name = path.display().to_string();
    Ok(py.detach(|| match document(&path) {
        Some(text) => read_json(&name, text),
        None => compile(&name, Source::load(&path, &options), strict),
    }))
}

/// The rules that an option asks for.
fn rules(strict: &str) -> PyResult<Strict> {
    strict.parse().map_err(PyValueError::new_err)
}

/// The text of a file that holds BMv2 JSON. Of a file that cannot be read the compiler says why.
fn document(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().filter(|text| p4cc_bmv2json::is_document(text))
}

/// Compiles source text, or reads BMv2 JSON.
#[pyfunction]
#[pyo3(signature = (name, text, include_dirs = Vec::new(), defines = BTreeMap::new(), strict = "off"))]
pub(crate) fn compile_p4_text(
    py: Python<'_>,
    name: &str,
    text: &str,
    include_dirs: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    strict: &str,
) -> PyResult<Program> {
    let options = options(include_dirs, defines);
    let strict = rules(strict)?;
    Ok(py.detach(|| match p4cc_bmv2json::is_document(text) {
        true => read_json(name, text.to_owned()),
        false => compile(name, Source::from_text(name, text, &FileSystem, &options), strict),
    }))
}

fn options(include_dirs: Vec<PathBuf>, defines: BTreeMap<String, String>) -> Options {
    Options { include_dirs, defines: defines.into_iter().collect(), ..Options::default() }
}

fn compile(
    name: &str,
    (source, mut found): (Source, Vec<p4cc_syntax::Diagnostic>),
    strict: Strict,
) -> Program {
    let failed = |found: &[p4cc_syntax::Diagnostic]| found.iter().any(|one| one.severity == Severity::Error);
    let (mut unit, mut declared) = (None, Vec::new());
    strict.enforce(&mut found);
    if !failed(&found) {
        let budget = p4cc_budget::Budget::default();
        let (tree, syntax) = p4cc_syntax::parse_within(&source, &budget);
        found.extend(syntax);
        strict.enforce(&mut found);
        if !failed(&found) {
            let (compiled, checks) = p4cc_compile::compile_unit_within(&tree, strict, &budget);
            found.extend(checks);
            unit = compiled.filter(|_| !failed(&found));
            declared = places(&source, &tree);
        }
    }
    let rendered = source.render(&found, false);
    let diagnostics = found.iter().map(|one| diagnostic(source.machine(one))).collect();
    let program = finish(name, unit, diagnostics, rendered, || source.to_self_contained());
    Program { declared, ..program }
}

/// Declarations in the user's files.
fn places(source: &Source, tree: &p4cc_syntax::ast::Program) -> Vec<(String, String, u32)> {
    let place = |(name, span)| {
        let at = source.locate(span);
        p4cc_syntax::builtin_file(&at.file).is_none().then_some((name, at.file, at.line))
    };
    p4cc_syntax::declared(tree).into_iter().filter_map(place).collect()
}

/// Reads BMv2 JSON. Its places are paths in the document, not lines.
fn read_json(name: &str, text: String) -> Program {
    let (program, errors) = p4cc_bmv2json::read(&text);
    let mut rendered = String::new();
    let mut diagnostics = Vec::new();
    for error in errors {
        rendered.push_str(&format!("{name}: error: {error}\n"));
        let message = format!("{}: {}", error.path, error.cause);
        diagnostics.push(failure(name, message, Some(error.remedy)));
    }
    finish(name, program.map(|program| Unit::Program(Box::new(program))), diagnostics, rendered, || text)
}

fn finish(
    name: &str,
    unit: Option<Unit>,
    mut diagnostics: Vec<Diagnostic>,
    mut rendered: String,
    device_config: impl FnOnce() -> String,
) -> Program {
    let made = unit.and_then(|unit| match make(unit, device_config) {
        Ok(made) => Some(made),
        Err(message) => {
            rendered.push_str(&format!("{name}: error: {message}\n"));
            diagnostics.push(failure(name, message, None));
            None
        }
    });
    Program { name: name.to_owned(), diagnostics, rendered, made, declared: Vec::new() }
}

fn failure(name: &str, message: String, help: Option<String>) -> Diagnostic {
    Diagnostic { file: name.to_owned(), line: 1, column: 1, severity: "error", message, help }
}

fn make(unit: Unit, device_config: impl FnOnce() -> String) -> Result<Made, String> {
    let info = match &unit {
        Unit::Program(program) => Some(p4cc_p4runtime::p4info(program)),
        Unit::Library(library) => Some(p4cc_p4runtime::library_p4info(library)),
        Unit::Checked(_) => None,
    };
    let info = info.transpose().map_err(|error| error.to_string())?;
    let runnable = match unit {
        Unit::Program(program) => Ok(Runnable {
            ir_text: p4cc_ir::text::to_text(&program),
            device_config: device_config(),
            program: Arc::from(program),
        }),
        Unit::Library(_) => Err(Lacking::Main),
        Unit::Checked(lacking) => Err(lacking),
    };
    let p4info = info.map(|info| -> Result<Info, String> {
        let text = p4cc_p4runtime::p4info_text(&info).map_err(|error| error.to_string())?;
        Ok(Info { text, bytes: info.encode_to_vec() })
    });
    Ok(Made { p4info: p4info.transpose()?, runnable })
}

fn diagnostic(one: p4cc_syntax::MachineDiagnostic) -> Diagnostic {
    Diagnostic {
        file: one.file,
        line: one.line,
        column: one.column,
        severity: match one.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        message: one.message,
        help: Some(one.help).filter(|help| !help.is_empty()),
    }
}
