//! Warnings of the kernel, as facts: what a health check reads.

use crate::evidence::{Evidence, Name, Stamp};
use crate::kernel_log::bytes::text;
use memchr::memmem;

/// From this level on a message is a warning or worse.
const WARNING: u8 = 4;
/// More are counted, not kept.
const KEPT: usize = 100;
const TROUBLE: [&[u8]; 5] = [b"WARNING: ", b"BUG: ", b"Oops", b"general protection fault", b"Kernel panic"];

/// The warnings so far; of a stack trace only the line that says what it is about.
#[derive(Debug, Default)]
pub struct Warnings {
    count: u64,
    kept: Vec<String>,
    in_trace: bool,
}

impl Warnings {
    /// Looks at one message.
    #[inline]
    pub fn line(&mut self, stamp: &Stamp, line: &[u8]) {
        let leveled = stamp.level.is_some_and(|level| level <= WARNING) && !line.is_empty();
        let trouble = match line.first() {
            Some(b'W' | b'B' | b'O' | b'g' | b'K') => TROUBLE.iter().any(|trouble| line.starts_with(trouble)),
            Some(b'-') => {
                if line.starts_with(b"---[ end ") {
                    self.in_trace = false;
                    return;
                }
                if memmem::find(line, b"[ cut here ]").is_some() {
                    self.in_trace = true;
                    return;
                }
                false
            }
            _ => false,
        };
        if trouble || (leveled && !self.in_trace) {
            self.count += 1;
            if self.kept.len() < KEPT {
                self.kept.push(text(&line[..line.len().min(500)]));
            }
        }
    }

    /// Writes them as facts.
    pub fn finish(self, evidence: &mut Evidence) {
        if self.count == 0 {
            return;
        }
        evidence.facts.push((Name::Borrowed("kernel.warnings"), self.count.to_string()));
        for (at, warning) in self.kept.into_iter().enumerate() {
            evidence.facts.push((Name::Owned(format!("kernel.warning.{}", at + 1)), warning));
        }
    }
}
