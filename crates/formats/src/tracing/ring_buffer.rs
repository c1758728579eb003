//! The kernel's ring buffer as it lies on its pages.

/// How numbers are written on the traced machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) big_endian: bool,
    /// Bytes of a page.
    pub(crate) page: usize,
    /// Bytes of a `long` of the kernel.
    pub(crate) long: usize,
}

impl Machine {
    /// The unsigned number of 1, 2, 4 or 8 bytes at a place.
    pub(crate) fn number(self, bytes: &[u8], at: usize, size: usize) -> Option<u64> {
        let field = bytes.get(at..at.checked_add(size)?)?;
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        matches!(size, 1 | 2 | 4 | 8).then(|| {
            if self.big_endian {
                field.iter().fold(0, fold)
            } else {
                field.iter().rev().fold(0, fold)
            }
        })
    }
}

/// One record of the buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'b> {
    pub(crate) time: u64,
    pub(crate) data: &'b [u8],
    /// Records before it were lost; how many, if that is known (else 0).
    pub(crate) lost: Option<u64>,
}

/// The records of one processor, in order.
#[derive(Debug)]
pub(crate) struct Buffer<'b> {
    machine: Machine,
    bytes: &'b [u8],
    page: usize,
    at: usize,
    end: usize,
    time: u64,
    lost: Option<u64>,
}

impl<'b> Buffer<'b> {
    pub(crate) fn new(machine: Machine, bytes: &'b [u8]) -> Self {
        Self { machine, bytes, page: 0, at: 0, end: 0, time: 0, lost: None }
    }

    // Opens the next page: its time, its length with two flags above, its records.
    fn open(&mut self) -> Option<()> {
        const MISSED: u64 = 1 << 31;
        const COUNTED: u64 = 1 << 30;
        let page = self.bytes.get(self.page..)?;
        let page = page.get(..self.machine.page.min(page.len()))?;
        let header = 8 + self.machine.long;
        self.time = self.machine.number(page, 0, 8)?;
        let commit = self.machine.number(page, 8, self.machine.long)?;
        let length = (commit & 0xf_ffff) as usize;
        let end = header.saturating_add(length).min(page.len());
        if commit & MISSED != 0 {
            let counted = (commit & COUNTED != 0).then(|| self.machine.number(page, end, self.machine.long)).flatten();
            self.lost = Some(counted.unwrap_or(0));
        }
        (self.at, self.end) = (self.page + header, self.page + end);
        self.page = self.page.checked_add(self.machine.page.max(64))?;
        Some(())
    }

    fn word(&mut self) -> Option<u64> {
        let word = self.machine.number(self.bytes.get(..self.end)?, self.at, 4)?;
        self.at += 4;
        Some(word)
    }
}

impl<'b> Iterator for Buffer<'b> {
    type Item = Record<'b>;

    fn next(&mut self) -> Option<Record<'b>> {
        const PADDING: u64 = 29;
        const EXTEND: u64 = 30;
        const STAMP: u64 = 31;
        loop {
            let Some(word) = self.word() else {
                self.open()?;
                continue;
            };
            let (kind, delta) =
                if self.machine.big_endian { (word >> 27, word & 0x7ff_ffff) } else { (word & 31, word >> 5) };
            let length = match kind {
                PADDING if delta == 0 => {
                    self.at = self.end;
                    continue;
                }
                EXTEND | STAMP => {
                    let Some(high) = self.word() else { continue };
                    let value = high << 27 | delta;
                    // A whole stamp has 59 bits; the rest is that of the page.
                    self.time = if kind == EXTEND {
                        self.time.wrapping_add(value)
                    } else {
                        self.time & !((1 << 59) - 1) | value & ((1 << 59) - 1)
                    };
                    continue;
                }
                0 | PADDING => {
                    let Some(length) = self.word() else { continue };
                    (length as usize).saturating_sub(4)
                }
                words => words as usize * 4,
            };
            self.time = self.time.wrapping_add(delta);
            let start = self.at;
            self.at = start.saturating_add(length.next_multiple_of(4)).min(self.end);
            if kind == PADDING {
                continue;
            }
            let Some(data) = self.bytes.get(start..start.saturating_add(length).min(self.end)) else { continue };
            return Some(Record { time: self.time, data, lost: self.lost.take() });
        }
    }
}
