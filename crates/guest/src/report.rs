//! The report's format: named records with byte counts. `docs/reference/formats/guest-report.md` specifies it.

use std::io::{self, Write};

/// Writes records to a port or a buffer.
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Starts a report.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"firstlight-report 1\n")?;
        Ok(Self { out })
    }

    /// Writes one record. Its name is one of the fixed names of the format.
    pub fn record(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        debug_assert!(name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')));
        writeln!(self.out, "{name} {}", bytes.len())?;
        self.out.write_all(bytes)?;
        self.out.write_all(b"\n")
    }

    /// Ends the report and gives back what it was written to.
    pub fn end(mut self) -> io::Result<W> {
        self.record("end", b"")?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_specified_bytes() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.record("memory", b"MemTotal: 1 kB\n").unwrap();
        writer.record("kernel.config", &[0x1f, 0x8b, 0x0a]).unwrap();
        let bytes = writer.end().unwrap();
        let expected = b"firstlight-report 1\nmemory 15\nMemTotal: 1 kB\n\nkernel.config 3\n\x1f\x8b\x0a\nend 0\n\n";
        assert_eq!(bytes, expected);
    }
}
