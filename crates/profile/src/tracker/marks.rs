//! What a tracker does when something to look out for happens: marks, initcalls, console lines, idle intervals.

use super::stack::Role;
use super::timeline::{INITCALL, LEAVING, MARK, PANIC, READY, RENAME};
use super::{Request, Tracker};
use crate::recording::{Instant, Line, Mark, State};
use crate::tree::FunctionId;
use firstlight_isa::Isa;
use firstlight_schema::{vocabulary, MarkSource};

impl<I: Isa> Tracker<I> {
    /// Records a mark, and begins the phase of that name. A mark is given once; later ones are passed over.
    pub fn mark(&mut self, mark: &str, source: MarkSource, detail: &str, now: u64) {
        if self.timeline.has_mark(mark) {
            return;
        }
        self.charge(now);
        let at = self.timeline.instant(now);
        // What was entered in a phase without length belongs to the next one.
        if self.timeline.marks.last().is_none_or(|last| last.at != at) {
            self.timeline.close_phase(&mut self.tree);
            self.cut(now);
        }
        let (mark, source, detail) = (mark.to_owned(), source.name().to_owned(), detail.to_owned());
        self.timeline.marks.push(Mark { mark, at, source, detail });
    }

    /// The name of the current phase: that of the last mark.
    pub fn phase(&self) -> &str {
        self.timeline.marks.last().map_or("", |mark| mark.mark.as_str())
    }

    /// The virtual clock has idled this many nanoseconds in all.
    pub fn idle(&mut self, idle_ns: u64, now: u64) {
        if idle_ns > self.timeline.idle_ns {
            if self.timeline.reaches_edge(idle_ns, now) {
                // What was executed before it idled comes first.
                self.charge(now.max(self.since));
                while let Some(idle_ns) = self.timeline.idle_to_edge(idle_ns, now) {
                    self.timeline.idle_ns = idle_ns;
                    self.cut(now);
                }
            }
            self.timeline.idle_ns = idle_ns;
            self.edge = self.timeline.edge();
            self.timeline.idles.push(Instant { instructions: now, idle_ns });
        }
    }

    /// A console line's first byte, at `offset` of the console's file, was sent.
    pub fn line(&mut self, offset: u64, now: u64) {
        let at = self.timeline.instant(now);
        self.timeline.lines.push(Line { offset, at });
    }

    /// Whether this function calls initcalls and none is known: a moment to look for them, and for [`Self::know_initcalls`].
    pub fn lacks_initcalls(&self, function: FunctionId) -> bool {
        !self.timeline.knows_initcalls() && self.timeline.calls_initcalls(function)
    }

    /// The initcalls with their levels, where the kernel's symbols do not say them.
    pub fn know_initcalls(&mut self, initcalls: Vec<(FunctionId, &'static str)>) {
        self.timeline.know_initcalls(initcalls);
    }

    /// The first instruction in user mode.
    pub fn user_start(&mut self, now: u64) {
        self.mark(vocabulary::Mark::UserStart.name(), MarkSource::Function, "first return to user mode", now);
    }

    pub(super) fn watched(&mut self, function: FunctionId, now: u64) -> Request {
        let flags = self.timeline.flags[function as usize];
        let mut request = Request::None;
        if flags & MARK != 0 {
            request = self.function_mark(function, now);
        }
        if flags & INITCALL != 0 && self.parent_calls_initcalls() {
            let level = self.timeline.level(function);
            let mark = format!("initcall_{level}");
            if level != "console" && !self.timeline.has_mark(&mark) {
                let name = self.functions[function as usize].name.clone();
                self.mark(&mark, MarkSource::Function, &name, now);
                request = Request::NewPhase;
            }
            self.watch_top(function, level, now);
        }
        if flags & RENAME != 0 {
            self.current.stack.named = false;
            request = Request::Renames;
        }
        if flags & LEAVING != 0 && !self.current.stack.named {
            request = Request::NameTask;
        }
        if flags & PANIC != 0 {
            self.mark(vocabulary::Mark::Panic.name(), MarkSource::Function, "panic", now);
            request = Request::Freeze(State::Panic);
        }
        if flags & READY != 0 {
            let name = self.functions[function as usize].name.clone();
            self.mark(vocabulary::Mark::Ready.name(), MarkSource::Function, &name, now);
            request = Request::Freeze(State::Ready);
        }
        request
    }

    fn function_mark(&mut self, function: FunctionId, now: u64) -> Request {
        let marks: Vec<String> =
            self.timeline.mark_of.iter().filter(|(id, _)| *id == function).map(|(_, mark)| mark.clone()).collect();
        let name = self.functions[function as usize].name.clone();
        let before = self.timeline.marks.len();
        for mark in marks {
            self.mark(&mark, MarkSource::Function, &name, now);
        }
        if self.timeline.marks.len() > before {
            Request::NewPhase
        } else {
            Request::None
        }
    }

    fn parent_calls_initcalls(&self) -> bool {
        let frames = &self.current.stack.frames;
        frames.len() >= 2 && self.timeline.calls_initcalls(frames[frames.len() - 2].function)
    }

    /// A module's initcall has no symbol that shows it: it is what `do_one_initcall` calls outside the kernel's image.
    pub(super) fn watch_module_initcall(&mut self, function: FunctionId, now: u64) {
        if self.parent_calls_initcalls() {
            self.watch_top(function, "module", now);
        }
    }

    fn watch_top(&mut self, function: FunctionId, level: &str, now: u64) {
        let span = self.timeline.start_span(function, level, self.current.stack.task, now);
        if let Some(top) = self.current.stack.frames.last_mut().filter(|top| top.role == Role::Call) {
            top.role = Role::Watched;
            self.current.stack.spans.push(span);
        }
    }
}
