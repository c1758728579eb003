//! Returns: which frames they end, and what becomes of the others.

use super::stack::{Frame, Role, ANY};
use super::Tracker;
use crate::symbols::Class;
use crate::tree::FunctionId;

const WORD: u64 = 8;

impl Tracker {
    /// A return instruction in `site` read its address from `sp`.
    #[inline]
    pub fn ret(&mut self, site: FunctionId, sp: u64, now: u64) {
        match self.stack.frames.last() {
            Some(top) if top.sp == sp && top.role == Role::Call && self.pending.is_none() => {
                // Added to the counts of returns and of frames popped in the end.
                self.plain_returns += 1;
                self.charge(now);
                self.stack.frames.pop();
                while self.stack.frames.last().is_some_and(|frame| frame.sp == sp) {
                    self.close_top(now);
                }
                self.node = self.context();
                self.last_return = now;
            }
            _ => self.return_elsewhere(site, sp, now),
        }
    }

    pub(super) fn return_elsewhere(&mut self, site: FunctionId, sp: u64, now: u64) {
        if self.last_return == now {
            // One access reported twice: two returns cannot be one instruction.
            return;
        }
        self.last_return = now;
        if self.pending == Some(sp) {
            // A trampoline that went nowhere.
            self.pending = None;
            return;
        }
        let below = self.pending.or_else(|| self.stack.frames.last().map(|top| top.sp));
        if below.is_some_and(|below| sp == below.wrapping_sub(WORD)) && self.is_return_thunk(site) {
            // A retpoline's jump: it called itself, wrote its target over the return address, and returns to that.
            return;
        }
        self.settle(site, now);
        let Some(top) = self.stack.frames.last().copied() else {
            self.counts.unmatched_returns += 1;
            return;
        };
        if let Some(index) = self.stack.holding(sp) {
            let above = self.stack.frames.iter().skip(index).filter(|frame| frame.sp != sp).count() as u64;
            self.counts.unwinds += u64::from(above > 0);
            self.counts.unwound_frames += above;
            self.counts.returns += 1;
            let first = self.stack.frames.iter().take(index).rev().take_while(|frame| frame.sp == sp).count();
            self.drop_to(index - first, now);
        } else if top.role != Role::Entry && (top.sp == ANY || top.function == site) {
            // The first frames of a task, or a function that moved the stack under itself.
            self.counts.returns += 1;
            let same = |frame: &&Frame| frame.sp == top.sp && frame.role != Role::Entry;
            let run = self.stack.frames.iter().rev().take_while(same).count();
            self.drop_to(self.stack.frames.len() - run, now);
        } else if self.suspended.contains_key(&sp) {
            self.resume(sp, now);
            self.ret(site, sp, now);
        } else {
            self.counts.unmatched_returns += 1;
        }
    }

    pub(super) fn is_return_thunk(&self, function: FunctionId) -> bool {
        self.classes.get(function as usize) == Some(&Class::ReturnThunk)
    }

    pub(super) fn close_top(&mut self, now: u64) {
        if let Some(frame) = self.stack.frames.pop() {
            self.counts.popped += 1;
            match frame.role {
                Role::Call => {}
                Role::Watched => {
                    if let Some(span) = self.stack.spans.pop() {
                        self.timeline.end_span(span, now);
                    }
                }
                Role::Entry => {
                    self.stack.interrupted.pop();
                }
            }
        }
    }

    pub(super) fn drop_to(&mut self, length: usize, now: u64) {
        self.charge(now);
        while self.stack.frames.len() > length {
            self.close_top(now);
        }
        self.node = self.context();
    }

    pub(super) fn abandon_all(&mut self) {
        self.counts.abandoned_frames += self.stack.frames.len() as u64;
        self.stack.frames.clear();
        self.stack.interrupted.clear();
        self.stack.spans.clear();
        self.node = self.rows.unknown;
    }
}
