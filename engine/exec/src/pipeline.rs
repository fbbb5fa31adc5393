//! A compiled program.

use std::sync::Arc;

use p4cc_ir::verify::{self, Violation};
use p4cc_ir::{Architecture, FuncId, Program, V1Model};

use crate::compile;
use crate::op::Code;

/// A compiled program: immutable, shared by `Arc` or by clone.
#[derive(Clone, Debug)]
pub struct Pipeline {
    program: Arc<Program>,
    code: Arc<Code>,
}

/// The program is not fit to run: a fault of the compiler that made it, not of its source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program `{program}` breaks {} rules of the intermediate representation; the first: {}",
    violations.len(), first(violations))]
pub struct CompileError {
    /// Name of the program.
    pub program: String,
    /// All broken rules.
    pub violations: Vec<Violation>,
}

fn first(violations: &[Violation]) -> String {
    violations.first().map_or_else(String::new, ToString::to_string)
}

impl Pipeline {
    /// Verifies and compiles a program.
    pub fn compile(program: Arc<Program>) -> Result<Pipeline, CompileError> {
        let violations = verify::verify(&program);
        if !violations.is_empty() {
            return Err(CompileError { program: program.name.clone(), violations });
        }
        let code = Arc::new(compile::compile(&program));
        Ok(Pipeline { program, code })
    }

    /// The program it was made from.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Entry points and metadata of a v1model program.
    pub fn v1model(&self) -> Option<&V1Model> {
        match &self.program.architecture {
            Architecture::V1Model(v1model) => Some(v1model),
            Architecture::Psa(_) => None,
        }
    }

    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// Address of a function; past the code if there is none, where a run ends at once.
    pub(crate) fn entry(&self, func: FuncId) -> u32 {
        self.code.entries.get(func.index()).copied().unwrap_or(u32::MAX)
    }
}
