//! Architectures with a link register: calls, returns and switches that touch no memory.
//!
//! At the first instruction of a function the link register has the return address and the stack pointer is that of the
//! caller. At the instruction behind the call the stack pointer is the same again. So the two are the key of a frame: what is
//! entered by the key of the frame on top was jumped to, what is entered by any other was called; and control that comes to
//! the return address of the frame on top with its stack pointer has returned. No call and no return is an event of its own.

use super::stack::{on_one_stack, Frame, Key, Role};
use super::{Request, Tracker, UNKNOWN};
use crate::tree::{FunctionId, Kind, ROOT};
use firstlight_isa::{Class, Isa};

/// Set in the address of a pending call that leaves its return address in another register: return addresses are even.
const ELSEWHERE: u64 = 1;

/// The registers of a call: at the first instruction of the function, or behind the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The stack pointer.
    pub sp: u64,
    /// The return address: at a function's entry from the link register, and behind a call the address of the instruction.
    pub address: u64,
}

impl Link {
    #[inline]
    fn key(self) -> Key {
        Key { sp: self.sp, link: self.address as u32 }
    }
}

impl<I: Isa> Tracker<I> {
    /// A call through a register, or to code that begins no known function: control comes back to `address`. What is entered
    /// next has to show the same address in its link register.
    pub fn links(&mut self, address: u64) {
        self.current.pending = Some(address);
    }

    /// The same of a call that leaves its return address in another register: what it enters shows none.
    pub fn links_elsewhere(&mut self, address: u64) {
        self.current.pending = Some(address | ELSEWHERE);
    }

    /// The first instruction of a function is about to be executed. `site` says which function holds the call.
    pub fn entry_linked(
        &mut self,
        function: FunctionId,
        link: Link,
        site: impl FnOnce() -> FunctionId,
        now: u64,
    ) -> Request {
        if self.enter_linked(function, link, site, now) && self.timeline.watches(function) {
            return self.watched(function, now);
        }
        Request::None
    }

    /// As [`Self::entry_linked`], for a function that is not watched. Says whether it was entered anew.
    #[inline]
    pub fn enter_linked(
        &mut self,
        function: FunctionId,
        link: Link,
        site: impl FnOnce() -> FunctionId,
        now: u64,
    ) -> bool {
        if self.current.pending.is_some() || self.current.first_of_task {
            self.confirm(link);
        }
        let key = link.key();
        match self.current.stack.frames.last() {
            // Calls nest downwards.
            Some(top) if top.sp > key.sp => {}
            Some(top) if top.key() == key => return self.jumped_linked(function, now),
            Some(_) => {
                self.overtaken_linked(key, site, now);
                if self.current.stack.frames.last().is_some_and(|top| top.key() == key) {
                    return self.jumped_linked(function, now);
                }
            }
            None => {
                self.charge(now);
                self.current.node = ROOT;
                self.push(function, Kind::Task, key, Role::Call, now);
                return true;
            }
        }
        self.push(function, Kind::Function, key, Role::Call, now);
        true
    }

    /// A function was entered in front of its local entry, which is about to be executed: that is not a second entry.
    pub fn nears_local_entry(&mut self, function: FunctionId) {
        self.current.padded = Some(function);
    }

    // Entered by the key of the frame on top: by a jump in tail position, a loop to its own start, or a fault's second try.
    fn jumped_linked(&mut self, function: FunctionId, now: u64) -> bool {
        if self.current.stack.frames.last().is_some_and(|top| top.function == function) {
            self.again(function);
            return false;
        }
        self.tail(function, now);
        true
    }

    #[cold]
    fn confirm(&mut self, link: Link) {
        if let Some(address) = self.current.pending.take().filter(|address| address & ELSEWHERE == 0) {
            self.registers_checked(address as u32 == link.address as u32);
        }
        if std::mem::take(&mut self.current.first_of_task) {
            // What a new task begins with is entered by the return of the function that switched to it.
            self.counts.popped += self.current.stack.frames.len() as u64;
            self.current.stack.frames.clear();
        }
    }

    // A call stands at or above the frame on top: that one has ended, and its return was not seen. Code that is careful with the
    // stack may call without a place on it: then the call is in the function on top. So does entry code behind the end of a system call, where a
    // new task jumps to.
    #[cold]
    fn overtaken_linked(&mut self, key: Key, site: impl FnOnce() -> FunctionId, now: u64) {
        let mut site = Some(site);
        while let Some(top) = self.current.stack.frames.last().copied() {
            let ends = top.role != Role::Entry && top.sp <= key.sp && on_one_stack::<I>(top.sp, key.sp);
            if !ends || top.key() == key {
                return;
            }
            let own = top.sp == key.sp
                && site.take().map(|site| site()).is_some_and(|site| site == top.function || self.is_entry_code(site));
            if own {
                return;
            }
            self.counts.lost_returns += 1;
            self.doubt(top.node);
            self.drop_to(self.current.stack.frames.len() - 1, now);
        }
    }

    /// A block behind a call is about to be executed: by the return from that call, or by a jump inside of the function.
    /// `site` says which function it is.
    #[inline]
    pub fn returned_linked(&mut self, link: Link, site: FunctionId, now: u64) {
        let key = link.key();
        if let Some(pending) = self.current.pending.take() {
            if self.called_inside(pending, link, site, now) {
                return;
            }
        }
        match self.current.stack.frames.last() {
            Some(top) if top.key() == key && top.role == Role::Call => {
                self.plain_returns += 1;
                self.charge(now);
                self.current.stack.frames.pop();
                while self.current.stack.frames.last().is_some_and(|frame| frame.key() == key) {
                    self.close_top(now);
                }
                self.current.node = self.context();
            }
            _ => self.returned_elsewhere(key, site, now),
        }
    }

    // Something was called, and what runs is not a function's beginning and not behind that call: a trampoline has called the function at
    // whose beginning it was called itself, behind that place.
    #[cold]
    fn called_inside(&mut self, pending: u64, link: Link, site: FunctionId, now: u64) -> bool {
        let elsewhere = pending & ELSEWHERE == 0 && pending as u32 != link.address as u32;
        let by_generated = self.current.stack.frames.last().is_some_and(|top| self.is_generated(top.function));
        let is_inside = elsewhere && by_generated && site != UNKNOWN;
        if is_inside {
            self.follow(site).inside += 1;
            self.push(site, Kind::Function, Key { sp: link.sp, link: pending as u32 }, Role::Call, now);
        }
        is_inside
    }

    /// A block of code without a symbol, behind a call, is about to be executed: by the return from that call if the frame on top says so.
    /// That code calls parts of its own, too, which have no frames.
    pub fn returned_nameless(&mut self, link: Link, now: u64) {
        if self.current.stack.frames.last().is_some_and(|top| top.key() == link.key() && top.role == Role::Call) {
            self.returned_linked(link, UNKNOWN, now);
        }
    }

    /// A block of entry code is about to be executed, perhaps by the return of a function that it had jumped to. Such a function may
    /// go elsewhere than its link register says (`vfp_support_entry` of 32-bit Arm): what entry code called has ended where that
    /// runs again.
    pub fn returned_to_entry(&mut self, link: Link, now: u64) {
        let Some(top) = self.current.stack.frames.last().filter(|top| top.role == Role::Call) else { return };
        if top.key() == link.key() {
            return self.returned_linked(link, UNKNOWN, now);
        }
        let called = self.current.stack.frames.iter().rev().take_while(|frame| frame.key() == top.key()).count();
        let below = self.current.stack.frames.len() - called;
        if below.checked_sub(1).is_some_and(|entry| self.current.stack.frames[entry].role == Role::Entry) {
            self.counts.returns += 1;
            self.drop_to(below, now);
        }
    }

    fn returned_elsewhere(&mut self, key: Key, site: FunctionId, now: u64) {
        let Some(top) = self.current.stack.frames.last().copied() else { return };
        // Calls nest downwards: on one stack no frame below the one on top has a smaller stack pointer. This is a jump inside a function.
        let is_above = top.sp > key.sp && on_one_stack::<I>(top.sp, key.sp);
        if let Some(index) = (!is_above).then(|| self.current.stack.holding(key)).flatten() {
            self.counts.returns += 1;
            // A function calls the trampoline at its entry; the trampoline may return directly to the caller of that function.
            let is_in_place = |frame: &Frame| frame.sp == key.sp && self.is_generated(frame.function);
            let frames = self.current.stack.frames.iter().skip(index + 1);
            let above: Vec<Frame> = frames.filter(|frame| !is_in_place(frame)).copied().collect();
            self.counts.unwinds += u64::from(!above.is_empty());
            self.counts.unwound_frames += above.len() as u64;
            above.iter().for_each(|frame| self.doubt(frame.node));
            let first =
                self.current.stack.frames.iter().take(index).rev().take_while(|frame| frame.key() == key).count();
            self.drop_to(index - first, now);
        } else if top.role != Role::Entry
            && top.function != site
            && !self.are_one(top.function, site)
            && !self.begins_behind_call(site)
        {
            // Control is in another function than the stack says.
            self.counts.unmatched_returns += 1;
            self.doubt(top.node);
        }
    }

    /// The first instruction of a function of a module is about to be executed.
    pub fn enter_loaded_linked(&mut self, function: FunctionId, link: Link, now: u64) {
        if self.enter_linked(function, link, || UNKNOWN, now) {
            self.watch_module_initcall(function, now);
        }
    }

    // What a new task begins with may jump behind the call of what has served a system call.
    fn begins_behind_call(&self, site: FunctionId) -> bool {
        self.current.stack.frames.len() == 1 && self.is_entry_code(site)
    }

    fn is_entry_code(&self, function: FunctionId) -> bool {
        match self.classes.get(function as usize) {
            Some(Class::Syscall) => true,
            Some(Class::Label) => I::LINKED.is_some_and(|linked| linked.entry_calls_by_jumps),
            _ => false,
        }
    }

    // Code without functions has one row, and the entry code its labels.
    fn are_one(&self, one: FunctionId, other: FunctionId) -> bool {
        self.is_generated(one) && (other == UNKNOWN || self.is_generated(other))
    }

    /// A block of code without functions, loaded or generated, is about to be executed: it is entered by a call that showed no
    /// other function, and by a jump from other code.
    pub fn anywhere_linked(&mut self, function: FunctionId, link: Link, now: u64) {
        let called = self.current.pending.is_some();
        let link = match self.current.pending {
            Some(address) if address & ELSEWHERE != 0 => Link { address: address & !ELSEWHERE, ..link },
            _ => link,
        };
        if called || self.current.first_of_task {
            self.confirm(link);
        }
        if called {
            self.push(function, Kind::Function, link.key(), Role::Call, now);
            self.watch_module_initcall(function, now);
        } else {
            self.enter_anywhere(|tracker, top| tracker.is_generated(top), |_| function, now);
        }
    }

    /// The number of the row of code without a symbol at this address.
    pub fn unknown_linked(&mut self, address: u64, link: Link, now: u64) {
        if self.current.in_user && self.current.stack.frames.is_empty() {
            // The kernel's copy of its entry code for user mode: the entry itself follows.
            self.current.pending = None;
            return;
        }
        let inside = self.current.pending.is_none()
            && self.current.stack.frames.last().is_some_and(|top| self.is_generated(top.function));
        if !inside {
            let function = self.function_at(address);
            self.anywhere_linked(function, link, now);
        }
    }

    /// Code of the kernel's image without a symbol is about to be executed. It belongs to what called it, and no entry shows
    /// the return address of that call.
    pub fn nameless_linked(&mut self) {
        self.current.pending = None;
    }

    /// The function that switches tasks has been entered.
    pub fn switches(&mut self) {
        self.current.switching = true;
    }

    /// In the function that switches tasks the stack of the next one has been taken, after `now` instructions: tasks are named
    /// by where the kernel keeps them.
    pub fn switch_linked(&mut self, left: u64, next: u64, now: u64) {
        if !std::mem::take(&mut self.current.switching) {
            return;
        }
        self.charge(now);
        self.settle_mode(self.since);
        self.counts.switches += 1;
        let ended = self.current.stack.frames.iter().any(|frame| self.timeline.ends_task(frame.function));
        let next = match self.suspended.remove(&next) {
            Some(stack) => stack,
            None => {
                self.current.first_of_task = true;
                self.begin_task()
            }
        };
        self.exchange(next, (!ended).then_some(left));
    }
}
