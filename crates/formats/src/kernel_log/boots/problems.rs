//! What is wrong with a boot as its log shows it.

use super::{Boots, Jumps, FIRST_LINES};
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, ProblemKind};

impl Boots {
    pub(super) fn problems(&self, boot: &mut Evidence) {
        if let Some(first) = self.first_kernel.filter(|_| !self.by_sequence) {
            // A version at the zero of the clock, or in a log without times, is the kernel's first line.
            let at_zero = |time: Option<i64>| time.is_none_or(|time| time == 0);
            let lost = |(at, time): (u64, Option<i64>)| at > FIRST_LINES && !at_zero(time);
            if self.version_at.map_or(!(self.booting_at_first && at_zero(first.time_ns)), lost) {
                let detail = match first.time_ns {
                    Some(_) if boot.clock == Clock::Realtime => "its first line is not the kernel's first".to_owned(),
                    Some(time) => format!("it begins at {:.6}, after the kernel's first line", time as f64 / 1e9),
                    None => "it begins after the kernel's first line".to_owned(),
                };
                boot.problem(
                    ProblemKind::LostHead,
                    Some(first.line),
                    detail + ": what came before is unknown, not zero",
                );
            }
        }
        if let Some((dropped, line)) = self.replayed {
            let detail = counted(
                dropped,
                "# line[|s] stand[s|] there again, because a console was enabled late; the first [is|are] kept",
            );
            boot.problem(ProblemKind::Replay, Some(line), detail);
        }
        self.doubled.problem(boot);
        if self.jumps.count > 0 {
            let Jumps { count, first, from, to } = &self.jumps;
            let (from, to) = (*from as f64 / 1e9, *to as f64 / 1e9);
            let times = counted(*count, "[once|# times, first]");
            let detail = format!("the stamps jump back {times} from {from:.6} to {to:.6}");
            boot.problem(ProblemKind::ClockJump, Some(*first), detail);
        }
        if let Some((count, line)) = self.replaced {
            let detail = counted(count, "# line[|s] [is|are] not UTF-8; what is not was replaced");
            boot.problem(ProblemKind::Encoding, Some(line), detail);
        }
    }
}
