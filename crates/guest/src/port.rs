//! The second serial port in raw mode, without changes of the data.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::termios::{isatty, tcdrain, tcgetattr, tcsetattr, OptionalActions};

use crate::error::{Context, Result};

/// An open port. Dropping it loses what was not flushed; `finish` waits until all of it is on the line.
pub struct Port(BufWriter<File>);

impl Port {
    /// Opens the port; a terminal is put into raw mode.
    pub fn open(path: &Path) -> Result<Self> {
        // `O_NOCTTY`: the first process must not come under a terminal's signals. The write end of a port that has no
        // carrier would block without CLOCAL, which the kernel sets for serial ports at boot.
        let flags = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap_or_default();
        let file = OpenOptions::new().write(true).read(true).custom_flags(flags).open(path).context("open", path)?;
        if isatty(&file) {
            let mut attributes = tcgetattr(&file).context("configure", path)?;
            attributes.make_raw();
            tcsetattr(&file, OptionalActions::Now, &attributes).context("configure", path)?;
        }
        Ok(Self(BufWriter::with_capacity(1 << 16, file)))
    }

    /// Writes out everything and waits until it has left.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()?;
        if isatty(self.0.get_ref()) {
            tcdrain(self.0.get_ref())?;
        }
        Ok(())
    }
}

impl Write for Port {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
