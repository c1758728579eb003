//! Reads ahead in a console with the host's time on each line, until the first timestamp of the kernel shows which clock it has.

use super::prefix::{parse, Time};
use super::text::Text;

/// So much is kept back to see whether the kernel's lines have stamps of their own.
const KEPT: usize = 4 << 20;

struct Waiting {
    number: u64,
    host_ns: Option<i64>,
    line: Vec<u8>,
}

/// Lines that wait for the first stamp.
pub struct Ahead {
    waiting: Option<Vec<Waiting>>,
    kept: usize,
    /// The host's times may be coarser than microseconds.
    coarse: bool,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { waiting: Some(Vec::new()), kept: 0, coarse: false }
    }
}

impl Ahead {
    /// For a host whose times may have any number of decimals.
    pub fn of_any_step() -> Self {
        Self { coarse: true, ..Self::default() }
    }

    /// A line: given on at once when the clock is known.
    pub fn line(&mut self, text: &mut Text, number: u64, host_ns: Option<i64>, line: &[u8]) {
        let Some(waiting) = &mut self.waiting else {
            text.line(number, host_ns, line);
            return;
        };
        // Consoles that send a carriage return behind the line feed.
        let unreturned = line.strip_prefix(b"\r").unwrap_or(line);
        let stamped = matches!(parse(unreturned).time, Some(Time::Kernel(_)));
        self.kept += line.len() + size_of::<Waiting>();
        waiting.push(Waiting { number, host_ns, line: line.to_vec() });
        if stamped || self.kept > KEPT {
            self.give(text, !stamped);
        }
    }

    /// Gives on what still waits: without any stamp the host's clock is the only one.
    pub fn finish(mut self, text: &mut Text) {
        self.give(text, true);
    }

    fn give(&mut self, text: &mut Text, by_host: bool) {
        let Some(waiting) = self.waiting.take() else { return };
        if by_host {
            text.by_host(if self.coarse { step(&waiting) } else { 1_000 });
        }
        for Waiting { number, host_ns, line } in waiting {
            text.line(number, host_ns, &line);
        }
    }
}

/// The smallest step that the host's times show.
fn step(waiting: &[Waiting]) -> i64 {
    let whole = |step: i64| waiting.iter().filter_map(|one| one.host_ns).all(|at| at % step == 0);
    [1_000_000_000, 1_000_000].into_iter().find(|step| whole(*step)).unwrap_or(1_000)
}
