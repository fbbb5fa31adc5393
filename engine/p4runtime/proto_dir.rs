// Where the .proto files are that this project does not hold. Build scripts include this file.

use std::path::{Path, PathBuf};

/// The folder named by the environment, else the one of finsy in the repository's virtual environment: the
/// first that has a file.
///
/// # Errors
/// What is missing, with the remedy.
pub fn proto_dir(file: &str) -> Result<PathBuf, String> {
    let missing = |cause: &str| {
        format!("{file} is missing: {cause}.\n  remedy: run `make setup`, which installs it with finsy")
    };
    if let Some(dir) = std::env::var_os("P4CC_PROTO_DIR").filter(|dir| !dir.is_empty()) {
        let dir = PathBuf::from(dir);
        return match dir.join(file).is_file() {
            true => Ok(dir),
            false => Err(missing(&format!("P4CC_PROTO_DIR is {}, which does not hold it", dir.display()))),
        };
    }
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let mut pythons: Vec<PathBuf> =
        std::fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    pythons.sort();
    pythons
        .into_iter()
        .map(|python| python.join("site-packages/finsy/proto"))
        .find(|dir| dir.join(file).is_file())
        .ok_or_else(|| missing("P4CC_PROTO_DIR is not set and .venv holds no finsy"))
}
