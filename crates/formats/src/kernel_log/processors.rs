//! The processor, and the task, that some kernels print between the stamp and the message of every line.
//!
//! A message may begin in the same way, so that the first lines of a log decide together whether it has them.

use super::bytes::{number, unpadded};
use super::prefix::{parse, Time};
use crate::firmware::loader_line::loader_stamp;

/// So many lines with stamps decide, and no fewer than this many at the end of a log.
const DECIDE: usize = 16;
const FEWEST: usize = 3;
/// All but one of so many lines have it.
const NEARLY_ALL: usize = 10;
/// Lines that wait take no more than this.
const MOST_BYTES: usize = 1 << 20;

/// How a log writes the processor in front of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `000: `: the processor, as in kernels with the patches for real time.
    Colon,
    /// `[ 3] `: the processor.
    Brackets,
    /// `c0      1 `: the processor and the process, as in those of Spreadtrum, Marvell and Samsung.
    Process,
}

impl Shape {
    /// That of a text behind a stamp.
    fn of(text: &[u8]) -> Option<Self> {
        [Self::Colon, Self::Brackets, Self::Process].into_iter().find(|shape| shape.message(text).is_some())
    }

    /// The message behind it.
    pub fn message(self, text: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Colon => {
                let (_, rest) = number(text).filter(|(_, rest)| text.len() - rest.len() == 3)?;
                rest.strip_prefix(b": ")
            }
            Self::Brackets => {
                let (_, rest) = number(unpadded(text.strip_prefix(b"[")?))?;
                rest.strip_prefix(b"] ")
            }
            Self::Process => {
                let (_, rest) = number(text.strip_prefix(b"c")?)?;
                let (_, rest) = number(unpadded(rest.strip_prefix(b" ")?))?;
                if rest.is_empty() {
                    Some(rest)
                } else {
                    rest.strip_prefix(b" ")
                }
            }
        }
    }
}

/// A line as it came.
#[derive(Debug)]
pub struct Waiting {
    /// Its number in the file.
    pub number: u64,
    /// When the host received it.
    pub host_ns: Option<i64>,
    /// The line.
    pub bytes: Vec<u8>,
}

/// What becomes of a line.
#[derive(Debug)]
pub enum Step {
    /// It is read now.
    Read,
    /// It waits.
    Waits,
    /// It and those that waited are read now.
    Decided(Vec<Waiting>),
}

/// Whether a log has them, as far as it is known.
#[derive(Debug, Default)]
pub struct Processors {
    known: bool,
    shape: Option<Shape>,
    waiting: Vec<Waiting>,
    bytes: usize,
    stamped: usize,
    with: usize,
}

impl Processors {
    /// What all lines have.
    pub fn shape(&self) -> Option<Shape> {
        self.shape.filter(|_| self.known)
    }

    /// A line.
    pub fn line(&mut self, number: u64, host_ns: Option<i64>, bytes: &[u8]) -> Step {
        if self.known {
            return Step::Read;
        }
        let line = bytes.strip_prefix(b"\r").unwrap_or(bytes);
        let found = parse(line);
        let stamped = matches!(found.time, Some(Time::Kernel(_))) && !found.foreign && loader_stamp(line).is_none();
        if stamped {
            self.shape = self.shape.or_else(|| Shape::of(found.text));
            self.stamped += 1;
            self.with += usize::from(self.shape.is_some_and(|shape| shape.message(found.text).is_some()));
        }
        let Some(_) = self.shape else {
            // The first line with a stamp has nothing in front.
            self.known = stamped;
            return Step::Read;
        };
        self.bytes += bytes.len();
        self.waiting.push(Waiting { number, host_ns, bytes: bytes.to_vec() });
        if self.stamped < DECIDE && self.bytes < MOST_BYTES {
            return Step::Waits;
        }
        Step::Decided(self.finish())
    }

    /// The lines that still wait: no more come.
    pub fn finish(&mut self) -> Vec<Waiting> {
        let nearly = (self.stamped - self.with) * NEARLY_ALL <= self.stamped;
        self.shape = self.shape.filter(|_| self.stamped >= FEWEST && nearly);
        self.known = true;
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_stands_before_the_message() {
        let message = |text: &'static str| {
            Shape::of(text.as_bytes()).map(|shape| {
                let message = shape.message(text.as_bytes()).unwrap_or_default();
                (shape, std::str::from_utf8(message).unwrap_or_default())
            })
        };
        assert_eq!(message("001: widget: ready"), Some((Shape::Colon, "widget: ready")));
        assert_eq!(message("[ 3] widget"), Some((Shape::Brackets, "widget")));
        assert_eq!(message("[12] widget"), Some((Shape::Brackets, "widget")));
        assert_eq!(message("c0      1 widget"), Some((Shape::Process, "widget")));
        assert_eq!(message("c1   1934"), Some((Shape::Process, "")));
        for none in ["0001: w", "1: w", "001 w", "[3]w", "[0x1] w", "[0: swapper: 0] w", "c0 w", "cpu 1 w", ""] {
            assert_eq!(message(none), None, "{none}");
        }
    }

    #[test]
    fn the_first_lines_decide_together() {
        let shape = |lines: &[&str]| {
            let mut processors = Processors::default();
            for (line, number) in lines.iter().zip(1..) {
                processors.line(number, None, line.as_bytes());
            }
            processors.finish();
            processors.shape()
        };
        let line = "[    0.100000] 000: widget";
        assert_eq!(shape(&[line; 3]), Some(Shape::Colon));
        assert_eq!(shape(&[line; 40]), Some(Shape::Colon));
        assert_eq!(shape(&[line; 2]), None);
        assert_eq!(shape(&[line, line, line, "[    0.200000] gizmo"]), None);
        assert_eq!(shape(&["[    0.000000] gizmo", line, line, line, line]), None);
    }
}
