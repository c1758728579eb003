//! Lines of programs between those of the kernel, whose stamps may be of another clock.

use crate::counts::counted;
use crate::evidence::{Evidence, ProblemKind};

/// A line is out of order by more than a processor or a console delays it.
const OUT_OF_ORDER_NS: i64 = 500_000_000;
/// A clock that is fitted less closely gives its lines no times.
const UNCERTAIN_NS: i64 = 100_000_000;
/// Fewer lines show no clock.
const FEWEST: usize = 3;

/// A program's line: where it is in the log, its own stamp, and the kernel's stamps around it.
#[derive(Debug, Clone, Copy)]
struct Line {
    row: usize,
    time_ns: i64,
    before_ns: i64,
    after_ns: Option<i64>,
}

impl Line {
    fn is_in_order(&self) -> bool {
        let after = self.after_ns.unwrap_or(i64::MAX);
        self.time_ns >= self.before_ns.saturating_sub(OUT_OF_ORDER_NS)
            && self.time_ns <= after.saturating_add(OUT_OF_ORDER_NS)
    }
}

/// The lines of programs so far.
#[derive(Debug, Default)]
pub(super) struct Processes {
    lines: Vec<Line>,
    /// From this one on no line of the kernel has followed.
    open: usize,
}

impl Processes {
    pub(super) fn line(&mut self, row: usize, time_ns: i64, before_ns: i64) {
        self.lines.push(Line { row, time_ns, before_ns, after_ns: None });
    }

    /// A line of the kernel follows.
    #[inline]
    pub(super) fn kernel(&mut self, time_ns: i64) {
        for line in self.lines.get_mut(self.open..).into_iter().flatten() {
            line.after_ns = Some(time_ns);
        }
        self.open = self.lines.len();
    }

    /// Where most of the lines are out of order, their clock is another one: they are shown by the kernel's, as far ahead or
    /// behind as the stamps around them show.
    pub(super) fn finish(mut self, boot: &mut Evidence) {
        // A driver may number its devices as a program its processes: `IOAPIC[0]: `. Its lines are in order.
        let name = |line: &Line| {
            let text = boot.log.get(line.row).map_or("", |(_, text)| text);
            text.split_once('[').map_or(text, |(name, _)| name).to_owned()
        };
        let mut odd: Vec<String> = self.lines.iter().filter(|line| !line.is_in_order()).map(&name).collect();
        odd.sort_unstable();
        odd.dedup();
        self.lines.retain(|line| odd.binary_search(&name(line)).is_ok());
        let odd = self.lines.iter().filter(|line| !line.is_in_order()).count();
        if odd < FEWEST || odd * 2 < self.lines.iter().filter(|line| line.after_ns.is_some()).count() {
            return;
        }
        // Each line was printed between its neighbours, so that it bounds how far its clock is ahead: all of them together.
        let lowest = self.lines.iter().filter_map(|line| Some(line.time_ns.saturating_sub(line.after_ns?))).max();
        let highest = self.lines.iter().map(|line| line.time_ns.saturating_sub(line.before_ns)).min();
        let bounds = lowest
            .zip(highest)
            .map(|(low, high)| (low.saturating_add(high) / 2, high.saturating_sub(low).saturating_abs() / 2));
        let ahead = bounds.filter(|(_, uncertainty)| *uncertainty <= UNCERTAIN_NS);
        for line in &self.lines {
            boot.log.set_time_ns(line.row, ahead.map(|(ahead, _)| line.time_ns.saturating_sub(ahead)));
        }
        let first = self.lines.first().and_then(|line| boot.log.get(line.row)).map(|(stamp, _)| stamp.line);
        let count = self.lines.len();
        let detail = match ahead {
            Some((ahead, uncertainty)) => counted(count, &format!("# line[|s] of programs [has|have] stamps of another clock, which is {:.3} s {} the kernel's, as the lines around [it|them] show, to {:.3} s: [it is|they are] shown by the kernel's clock", ahead.saturating_abs() as f64 / 1e9, if ahead < 0 { "behind" } else { "ahead of" }, uncertainty as f64 / 1e9)),
            None => counted(count, "# line[|s] of programs [has|have] stamps of another clock, and too few lines of the kernel are around [it|them] to fit it: [it has|they have] no times here"),
        };
        boot.problem(ProblemKind::ClockJump, first, detail);
    }
}
