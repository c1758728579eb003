//! Logs of an installer, whose daemon starts long after the kernel: it reads the kernel's buffer at once, and stamps what is in it
//! with the time at which it does.

use super::dates;
use crate::counts::counted;
use crate::evidence::{Evidence, Grade, ProblemKind, Span};
use crate::systemd::stated_stages::stages_before;
use firstlight_schema::ReasonCode;

/// The lines of a buffer follow each other more closely.
const AT_ONCE_NS: i64 = 50_000_000;
/// One of so many lines shows whether an installer wrote a log.
const WITHIN: usize = 20;

/// Whether an installer wrote a log, by its beginning.
pub(super) fn is_of_installer(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n').take(WITHIN).any(|line| dates::of_installer(line).is_some())
}

/// Takes the times off the lines that were in the kernel's buffer, and off what they show; the manager's sum of the start, which
/// came when that was over, says where the stages lie.
pub(super) fn take_times_off(boot: &mut Evidence) {
    let (mut until, mut lines, mut version) = (None, 0, false);
    for (stamp, text) in boot.log.iter() {
        if let Some(time) = stamp.time_ns {
            if until.is_some_and(|until| time < until || time.saturating_sub(until) > AT_ONCE_NS) {
                break;
            }
            until = Some(time);
        }
        version |= text.starts_with("Linux version ");
        lines += 1;
    }
    let Some(until) = until.filter(|_| version) else { return };
    (0..lines).for_each(|place| boot.log.set_time_ns(place, None));
    boot.marks.retain(|mark| mark.time_ns > until);
    for place in 0..boot.spans.len() {
        boot.spans.change(place, |span| {
            if span.start_ns.or(span.end_ns).is_none_or(|time| time > until) {
                return span;
            }
            Span { start_ns: None, end_ns: None, duration_ns: None, ..span }
                .graded(Grade::Unknown, ReasonCode::JournalReadLate)
        });
    }
    let detail = counted(lines as u64, "# line[|s] [has|have] the time at which a daemon read the kernel's buffer, not [its|their] own: [it has|they have] none here, and no phase begins or ends with [it|them]");
    boot.problem(ProblemKind::Untimed, Some(boot.first_line), detail);
    let sum = boot.log.iter().find_map(|(stamp, text)| {
        let message = text.strip_prefix("systemd:").filter(|message| message.starts_with("Startup finished in "))?;
        Some((message.to_owned(), stamp.line, stamp.time_ns?))
    });
    if let Some((message, line, time_ns)) = sum {
        stages_before(&message, line, time_ns, boot);
    }
}
