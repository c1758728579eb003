//! The status file: one line that the launcher reads while the boot runs.

use serde::Serialize;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const WIDTH: usize = 1024;

/// What the line says.
#[derive(Debug, Serialize)]
pub struct Status<'a> {
    pub state: &'a str,
    pub phase: &'a str,
    pub instructions: u64,
    pub virtual_ns: u64,
    pub idle_ns: u64,
    pub detail: &'a str,
}

/// The file it stands in.
pub struct StatusFile(Option<File>);

impl StatusFile {
    pub fn create(path: &Path) -> Self {
        Self(File::create(path).ok())
    }

    /// Rewrites the line. A status that cannot be written is no reason to end a boot.
    pub fn write(&self, status: &Status<'_>) {
        let Some(file) = &self.0 else { return };
        let Ok(mut line) = serde_json::to_string(status) else { return };
        line.truncate(WIDTH - 1);
        let _ = file.write_all_at(format!("{line:<0$}\n", WIDTH - 1).as_bytes(), 0);
    }
}
