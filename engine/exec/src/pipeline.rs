//! A compiled program, with its native code once that is made.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use p4cc_ir::verify::{self, Violation};
use p4cc_ir::{FuncId, Program, V1Model};

use crate::compile;
use crate::native::{Locals, Native, NativeError};
use crate::op::Code;
use crate::tna_pipelines::{self, Half, HalfId};
use crate::v1_pipelines::V1Pipelines;

/// A compiled program: immutable, shared by `Arc` or by clone.
#[derive(Clone, Debug)]
pub struct Pipeline {
    program: Arc<Program>,
    code: Arc<Code>,
    /// Of a v1model program.
    v1_pipelines: Option<Arc<V1Pipelines>>,
    /// Of a TNA program.
    halves: Arc<[Half]>,
    /// Made at its first use.
    native: Arc<OnceLock<Result<Native, NativeError>>>,
    /// Packets that switches took before they had native code.
    interpreted: Arc<AtomicU32>,
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
        let architecture = &program.architecture;
        let v1_pipelines = architecture.v1model().map(|v1| Arc::new(V1Pipelines::new(&program, &code, v1)));
        let halves = architecture.tna().map(|tna| tna_pipelines::of(&program, &code, tna).into());
        let halves = halves.unwrap_or_default();
        let (native, interpreted) = Default::default();
        Ok(Pipeline { program, code, v1_pipelines, halves, native, interpreted })
    }

    /// The program it was made from.
    #[inline]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Entry points and metadata of a v1model program.
    pub fn v1model(&self) -> Option<&V1Model> {
        self.program.architecture.v1model()
    }

    /// The ingress and egress pipeline of a v1model program.
    #[inline]
    pub fn v1_pipelines(&self) -> Option<&V1Pipelines> {
        self.v1_pipelines.as_deref()
    }

    /// Halves of a TNA program.
    pub(crate) fn halves(&self) -> &[Half] {
        &self.halves
    }

    /// Whether a half of a TNA program may make a request to the architecture: a copy, a digest, a log.
    pub fn makes_requests(&self, half: HalfId) -> bool {
        self.halves.get(half.index()).is_none_or(|half| half.makes_requests)
    }

    /// Native code for the program; the first call makes it, which takes some milliseconds.
    ///
    /// # Errors
    /// Why there is none; the interpreter runs the program then.
    #[inline]
    pub fn native(&self) -> Result<&Native, &NativeError> {
        self.native.get_or_init(|| Native::compile(self, Locals::InRegisters)).as_ref()
    }

    /// Makes native code on the thread of the caller, unless it is there: the switches of the program take
    /// it from their next packet on. False if `is_cancelled` ended the work between two functions; then there
    /// is none, as before. A failure is kept: [`Self::native_error`].
    pub fn make_native(&self, is_cancelled: &dyn Fn() -> bool) -> bool {
        if self.native.get().is_some() {
            return true;
        }
        match Native::compile_unless(self, Locals::InRegisters, is_cancelled) {
            Err(NativeError::Cancelled) => false,
            made => {
                // Another thread may have been faster; its code is the same.
                let _ = self.native.set(made);
                self.made_native().is_none_or(|native| native.make_blocks(is_cancelled).is_ok())
            }
        }
    }

    /// Native code, if it was made already.
    #[inline]
    pub fn made_native(&self) -> Option<&Native> {
        self.native.get()?.as_ref().ok()
    }

    /// Whether native code was made already.
    #[inline]
    pub fn has_native(&self) -> bool {
        self.made_native().is_some()
    }

    /// Counts a packet that the interpreter takes, whichever
    /// switch it is of, while there may yet be native code.
    pub fn count_interpreted(&self) {
        self.interpreted.fetch_add(1, Ordering::Relaxed);
    }

    /// Packets counted so far, but for those of the last moment on other threads.
    #[inline]
    pub fn interpreted(&self) -> u32 {
        self.interpreted.load(Ordering::Relaxed)
    }

    /// Why there is no native code, if that could not be made.
    pub fn native_error(&self) -> Option<&NativeError> {
        self.native.get().and_then(|made| made.as_ref().err())
    }

    /// Native code that keeps local variables in the frame, where a test can see them.
    ///
    /// # Errors
    /// As [`Self::native`].
    #[cfg(feature = "testing")]
    pub fn native_with_locals(&self) -> Result<Native, NativeError> {
        Native::compile(self, Locals::InFrame)
    }

    /// The same program without its native code: what that code itself keeps.
    pub(crate) fn bare(&self) -> Pipeline {
        Pipeline { native: Arc::default(), ..self.clone() }
    }

    #[inline]
    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// Address of a function; past the code if there is none, where a run ends at once.
    pub(crate) fn entry(&self, func: FuncId) -> u32 {
        self.code.entries.get(func.index()).copied().unwrap_or(u32::MAX)
    }
}
