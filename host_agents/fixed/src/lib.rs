//! Runs C headers for their tests: the arithmetic in `include/p4cc_fixed.h` and the senders of
//! `host_agents/linux`, which the kernel runs as eBPF.
//!
//! A test compiles a small C program around a header with the system's `cc` and exchanges 64-bit words with
//! it over pipes. The header is the only implementation: Rust keeps no copy that could differ, and no foreign
//! function is called.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The folder of `p4cc_fixed.h`.
#[must_use]
pub fn include_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// A running C program that answers words with words.
#[derive(Debug)]
pub struct Program {
    child: Child,
    // Closed before the program is waited for.
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Compiles `source` into `folder` and starts it; undefined behaviour ends the program.
    ///
    /// # Errors
    /// No `cc`, a source with an error or a warning, or a program that does not start.
    pub fn build(source: &Path, includes: &[PathBuf], folder: &Path) -> io::Result<Self> {
        let name = source.file_stem().unwrap_or_default();
        let program = folder.join(name).with_extension(std::process::id().to_string());
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]);
        compiler.args(["-fsanitize=undefined", "-fno-sanitize-recover=all"]);
        includes.iter().for_each(|include| {
            compiler.arg("-I").arg(include);
        });
        let output = compiler.arg("-o").arg(&program).arg(source).output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        // The running program needs its file no longer.
        std::fs::remove_file(&program)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(io::Error::other("a pipe is missing"));
        };
        Ok(Self { child, input: Some(BufWriter::new(input)), output: BufReader::new(output) })
    }

    /// Sends `words` and reads `count` words back.
    ///
    /// # Errors
    /// The program has ended.
    pub fn call(&mut self, words: &[u64], count: usize) -> io::Result<Vec<u64>> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        words.iter().try_for_each(|word| input.write_all(&word.to_ne_bytes()))?;
        input.flush()?;
        let mut word = [0; 8];
        (0..count).map(|_| self.output.read_exact(&mut word).map(|()| u64::from_ne_bytes(word))).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.input.take());
        // The program ends with its input; there is nothing to do about one that does not.
        let _ = self.child.wait();
    }
}
