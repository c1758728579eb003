//! Lengths in the log, and their units.

/// The step of a stamp, and of a figure in microseconds.
pub const MICROSECOND: i64 = 1_000;
/// The kernel shifts nanoseconds by twenty bits where it means to divide by a million.
pub const MILLISECOND: i64 = 1 << 20;

/// Whose figure a length is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The kernel's, in microseconds.
    Micros,
    /// The kernel's, in what it takes for milliseconds.
    Millis,
    /// There is none: the distance of the stamps.
    Stamps,
}

/// A length in the log, before it is graded.
#[derive(Debug)]
pub struct Measured {
    /// Of which span.
    pub span: u32,
    /// The start that the kernel keeps was overwritten meanwhile.
    pub moved: bool,
    /// Its first line is in the log.
    pub paired: bool,
    /// Whose figure it is.
    pub figure: Figure,
}
