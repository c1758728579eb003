//! What the kernel's messages say, whatever carried them: initcalls, probes, asynchronous bodies, marks, facts.
//!
//! Every reader that meets lines of the kernel hands them to an [`Interpreter`], in their order, and finishes it.

mod asynchronous;
mod drivers;
mod figure;
mod hardware;
mod initcalls;
mod marks;
mod old_initcalls;
mod pairs;
mod probes;
pub mod programs;
mod rows;
mod startup;
mod steps;
mod suppliers;
mod traced_initcalls;
mod trust;
mod warnings;

use super::bytes::number;
use crate::counts::counted;
use crate::evidence::{Evidence, Problem, ProblemKind, Stamp};
use memchr::memmem;
use pairs::Pairs;

/// Reads the messages of one boot, and judges them once all are known.
///
/// ```
/// use firstlight_formats::evidence::{Clock, Evidence, Stamp};
/// use firstlight_formats::kernel_log::messages::Interpreter;
/// let mut evidence = Evidence { clock: Clock::Printk, ..Evidence::default() };
/// let mut interpreter = Interpreter::new();
/// let at = |line, us: i64| Stamp { line, time_ns: Some(us * 1000), ..Stamp::default() };
/// interpreter.line(&at(1, 700_001), b"calling  gizmo_init+0x0/0x58 @ 1", &mut evidence);
/// interpreter.line(&at(2, 703_100), b"initcall gizmo_init+0x0/0x58 returned -19 after 3098 usecs", &mut evidence);
/// interpreter.finish(&mut evidence);
/// let call = evidence.spans.get(0).unwrap();
/// assert_eq!((call.name, call.duration_ns, call.grade.name()), ("gizmo_init", Some(3_098_000), "exact"));
/// ```
#[derive(Debug)]
pub struct Interpreter {
    pairs: Pairs,
    initcalls: initcalls::Initcalls,
    probes: probes::Probes,
    marks: marks::Marks,
    warnings: warnings::Warnings,
    trust: trust::Trust,
    torn: Option<(u64, u64, String)>,
    dropped: Option<(u64, u64)>,
    understood: u64,
    last_ns: Option<i64>,
    pending: memmem::Finder<'static>,
    put_off: memmem::Finder<'static>,
    call: memmem::Finder<'static>,
}

impl Default for Interpreter {
    fn default() -> Self {
        Self {
            pairs: Pairs::default(),
            initcalls: initcalls::Initcalls::default(),
            probes: probes::Probes::default(),
            marks: marks::Marks::default(),
            warnings: warnings::Warnings::default(),
            trust: trust::Trust::default(),
            torn: None,
            dropped: None,
            understood: 0,
            last_ns: None,
            pending: memmem::Finder::new(b"deferred probe "),
            put_off: memmem::Finder::new(b"probe deferral"),
            call: memmem::Finder::new(b"call"),
        }
    }
}

impl Interpreter {
    /// One that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many messages said something.
    pub fn understood(&self) -> u64 {
        self.understood
    }

    /// Reads one message, without what stands before it. It is not written to the evidence's log.
    #[inline]
    pub fn line(&mut self, stamp: &Stamp, text: &[u8], evidence: &mut Evidence) {
        if let Some(time) = stamp.time_ns {
            self.trust.at(time);
            self.last_ns = self.last_ns.max(Some(time));
        }
        let known = match text.first() {
            Some(b'c') if text.starts_with(b"calling  ") => self.calling(stamp, text, evidence),
            Some(b'i') if text.starts_with(b"initcall ") => self.returned(stamp, text, evidence),
            Some(b'p') if text.starts_with(b"probe of ") => {
                probes::returned(self, stamp, text, evidence) || self.torn(stamp, text)
            }
            Some(b'a') if text.starts_with(b"async_") => asynchronous::line(self, stamp, text, evidence),
            Some(b'*') if text.starts_with(b"** ") => self.dropped(stamp, text),
            _ => self.other(stamp, text, evidence),
        };
        self.understood += u64::from(known);
    }

    /// Reads a line that is not a message of the kernel: it may be the first sign of userspace.
    pub fn program(&mut self, text: &[u8], evidence: &mut Evidence) {
        self.marks.program(text, evidence);
    }

    fn calling(&mut self, stamp: &Stamp, text: &[u8], evidence: &mut Evidence) -> bool {
        // `calling  0000:00:02.0+ @ 1234, parent: pci0000:00` is a device that is put to sleep, or woken.
        let of_power = || memmem::find(text, b", parent: ").is_some();
        initcalls::calling(self, stamp, text, evidence) || (!of_power() && self.torn(stamp, text))
    }

    fn returned(&mut self, stamp: &Stamp, text: &[u8], evidence: &mut Evidence) -> bool {
        initcalls::returned(self, stamp, text, evidence) || self.torn(stamp, text)
    }

    fn other(&mut self, stamp: &Stamp, text: &[u8], evidence: &mut Evidence) -> bool {
        match text.first() {
            Some(b'i') if text.starts_with(b"initcall_") => {
                return traced_initcalls::line(self, stamp, &text[9..], evidence);
            }
            Some(b'C') if text.starts_with(b"Calling initcall ") => {
                return old_initcalls::calling_address(self, stamp, &text[17..], evidence) || self.torn(stamp, text);
            }
            Some(b'b') if text.starts_with(b"bus: '") => return drivers::of_bus(&mut self.probes.drivers, &text[6..]),
            Some(b'd') if text.starts_with(b"driver: '") => {
                return drivers::bound(&mut self.probes.drivers, &text[9..])
            }
            _ => {}
        }
        self.warnings.line(stamp, text);
        if self.marks.line(stamp, text, evidence) {
            return true;
        }
        if self.pending.find(text).is_some() && probes::pending(self, stamp, text, evidence) {
            return true;
        }
        if self.put_off.find(text).is_some() && drivers::put_off(self, text, evidence) {
            return true;
        }
        // Another processor may have cut into a line: what belongs to initcalls then stands within it.
        if let Some(at) = self.call.find(text).filter(|&at| at > 0) {
            for (word, back) in [(&b"calling  "[..], 0), (b"initcall ", 4)] {
                let Some(start) = at.checked_sub(back).filter(|&start| start > 0) else { continue };
                let inner = &text[start..];
                // `pci 0000:00:1f.0: calling  quirk_...` is a line of its own, about a fixup, and no torn one.
                if text[..start].ends_with(b": ") {
                    continue;
                }
                if inner.starts_with(word) && inner.contains(&b'+') {
                    let read = match back {
                        0 => initcalls::calling(self, stamp, inner, evidence),
                        _ => initcalls::returned(self, stamp, inner, evidence),
                    };
                    if read {
                        self.torn(stamp, text);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Notes a line that begins like one of those that matter, and does not go on like it.
    fn torn(&mut self, stamp: &Stamp, text: &[u8]) -> bool {
        let (count, _, _) = self.torn.get_or_insert_with(|| {
            let shown = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
            (0, stamp.line, shown)
        });
        *count += 1;
        false
    }

    /// `** 12 printk messages dropped **`, in whatever words the version of the kernel has for it.
    fn dropped(&mut self, stamp: &Stamp, text: &[u8]) -> bool {
        let Some((count, rest)) = number(&text[3..]) else { return false };
        if memmem::find(rest, b"dropped").is_none() {
            return false;
        }
        let (lost, _) = self.dropped.get_or_insert((0, stamp.line));
        *lost = lost.saturating_add(count.unsigned_abs());
        true
    }

    /// Judges what was read, once all of the boot is.
    pub fn finish(mut self, evidence: &mut Evidence) {
        initcalls::finish(&mut self, evidence);
        probes::finish(&mut self, evidence);
        self.pairs.finish(self.last_ns, (self.torn.is_some(), self.dropped.is_some()), evidence);
        let release = self.marks.release();
        self.marks.finish(self.last_ns, evidence);
        self.trust.finish(release, evidence);
        self.warnings.finish(evidence);
        if let Some((count, line, shown)) = self.torn {
            let detail =
                format!("{}{shown}`", counted(count, "# line[|s] about initcalls or probes [is|are] torn, such as `"));
            evidence.problem(ProblemKind::Torn, Some(line), detail);
        }
        if let Some((lost, line)) = self.dropped {
            let detail =
                "the console could not keep up, and dropped messages; the kernel's ring still had them".to_owned();
            evidence.problems.push(Problem { kind: ProblemKind::Lost, detail, line: Some(line), lost: Some(lost) });
        }
    }
}
