//! Returns: which frames they end, and what becomes of the others.

use super::stack::{on_one_stack, Frame, Key, Role, ANY};
use super::Tracker;
use crate::tree::FunctionId;
use firstlight_isa::{Class, Isa};

impl<I: Isa> Tracker<I> {
    /// A return instruction in `site` read its address from `sp`.
    #[inline]
    pub fn ret(&mut self, site: FunctionId, sp: u64, now: u64) {
        match self.current.stack.frames.last() {
            Some(top)
                if top.sp == sp
                    && top.role == Role::Call
                    && self.current.pending.is_none()
                    && self.current.redirected.is_none() =>
            {
                // Added to the counts of returns and of frames popped in the end.
                self.plain_returns += 1;
                self.charge(now);
                self.current.stack.frames.pop();
                while self.current.stack.frames.last().is_some_and(|frame| frame.sp == sp) {
                    self.close_top(now);
                }
                self.current.node = self.context();
                self.current.last_return = now;
                self.current.returned_from = Some(sp);
            }
            _ => self.return_elsewhere(site, sp, now),
        }
    }

    pub(super) fn return_elsewhere(&mut self, site: FunctionId, sp: u64, now: u64) {
        if self.current.last_return == now {
            // One access reported twice: two returns cannot be one instruction.
            return;
        }
        self.current.last_return = now;
        self.current.returned_from = None;
        if self.current.redirected.is_some() && self.is_on_its_way(site) {
            self.current.redirected = None;
            // A retpoline's jump: it called itself, wrote its target over the return address, and returns to that.
            return;
        }
        let in_thunk = self.classes.get(site as usize) == Some(&Class::Thunk);
        match self.current.pending {
            // A trampoline that went nowhere.
            Some(pending) if pending == sp => {
                self.current.pending = None;
                return;
            }
            _ => self.settle(site, now),
        }
        let Some(top) = self.current.stack.frames.last().copied() else {
            self.counts.unmatched_returns += 1;
            return;
        };
        let own = in_thunk || top.function == site;
        if own && self.returns_inside(top, sp) {
            return;
        }
        if let Some(index) = self.current.stack.holding(Key::at(sp)) {
            self.unwind_to(index, own, now);
            self.current.returned_from = Some(sp);
        } else if top.role != Role::Entry
            && (top.sp == ANY || top.function == site || self.moved_its_stack(top, sp, own))
        {
            // The first frames of a task, or a function that moved the stack under itself.
            self.counts.returns += 1;
            let same = |frame: &&Frame| frame.sp == top.sp && frame.role != Role::Entry;
            let run = match self.current.emulated.take() {
                Some(length) if length == self.current.stack.frames.len() => 1,
                _ => self.current.stack.frames.iter().rev().take_while(same).count(),
            };
            self.drop_to(self.current.stack.frames.len() - run, now);
        } else if self.suspended.contains_key(&sp) {
            self.resume(sp, now);
            self.ret(site, sp, now);
        } else {
            self.counts.unmatched_returns += 1;
            self.doubt(top.node);
        }
    }

    // The function on top returns from code that it called inside itself.
    fn returns_inside(&self, top: Frame, sp: u64) -> bool {
        let below = sp < top.sp && on_one_stack::<I>(sp, top.sp);
        below && self.followed.get(top.function as usize).is_some_and(|followed| followed.calls_inside)
    }

    // `error_entry` takes its return address along when it makes room for registers above it.
    fn moved_its_stack(&self, top: Frame, sp: u64, own: bool) -> bool {
        own && sp < top.sp && on_one_stack::<I>(sp, top.sp)
    }

    // A return by an address that a frame further down left: the frames above it have ended without a return.
    fn unwind_to(&mut self, index: usize, own: bool, now: u64) {
        let Some(Frame { sp, .. }) = self.current.stack.frames.get(index).copied() else { return };
        self.counts.returns += 1;
        let above: Vec<Frame> =
            self.current.stack.frames.iter().skip(index).filter(|frame| frame.sp != sp).copied().collect();
        if own && above.iter().all(|frame| frame.sp.wrapping_add(I::RETURN_SLOT_BYTES) == sp) {
            self.counts.discarded_addresses += u64::from(!above.is_empty());
            for frame in &above {
                self.follow(frame.function).discards += 1;
            }
        } else {
            self.counts.unwinds += 1;
            self.counts.unwound_frames += above.len() as u64;
            for frame in &above {
                self.doubt(frame.node);
            }
        }
        let first = self.current.stack.frames.iter().take(index).rev().take_while(|frame| frame.sp == sp).count();
        self.drop_to(index - first, now);
    }

    pub(super) fn close_top(&mut self, now: u64) {
        if let Some(frame) = self.current.stack.frames.pop() {
            self.counts.popped += 1;
            match frame.role {
                Role::Call => {}
                Role::Watched => {
                    if let Some(span) = self.current.stack.spans.pop() {
                        self.timeline.end_span(span, now);
                    }
                }
                Role::Entry => {
                    self.current.stack.interrupted.pop();
                }
            }
        }
    }

    pub(super) fn drop_to(&mut self, length: usize, now: u64) {
        self.charge(now);
        while self.current.stack.frames.len() > length {
            self.close_top(now);
        }
        self.current.node = self.context();
    }

    pub(super) fn abandon_all(&mut self) {
        self.counts.abandoned_frames += self.current.stack.frames.len() as u64;
        self.current.stack.frames.clear();
        self.current.stack.interrupted.clear();
        self.current.stack.spans.clear();
        self.current.node = self.rows.unknown;
    }
}
