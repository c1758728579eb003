//! The kernel's entry code: interrupts, exceptions and system calls, and the ways back.

use super::mode::Mode;
use super::stack::{Frame, Interrupted, Key, Redirect, Role};
use super::{Request, Tracker, DEEPEST};
use crate::tree::{FunctionId, Kind, ROOT};
use firstlight_isa::{Class, Isa};

impl<I: Isa> Tracker<I> {
    /// The first instruction of a function of another class than [`Class::Plain`] and [`Class::Cold`].
    pub fn special(&mut self, function: FunctionId, now: u64) -> Request {
        match self.classes[function as usize] {
            Class::Stub => {
                // A stub of several blocks begins once: all of it is the entry's.
                if !std::mem::replace(&mut self.current.in_stub, true) {
                    self.charge(now);
                    self.settle_mode(now);
                }
            }
            Class::Exception if self.goes_on_in(function) => self.follow(function).again += 1,
            Class::Interrupt => self.enter_kernel(function, Kind::Interrupt, now),
            Class::Exception => self.enter_kernel(function, Kind::Exception, now),
            Class::Syscall => {
                // It comes from user mode only: frames that are still there were left without our seeing it.
                if !self.current.stack.frames.is_empty() {
                    self.charge(now);
                    self.abandon_all();
                }
                self.enter_kernel(function, Kind::Syscall, now);
            }
            Class::Label => {
                if self.timeline.watches(function) {
                    return self.watched(function, now);
                }
                if let Some(sp) = self.current.pending.take().filter(|_| I::LINKED.is_none()) {
                    self.push(function, Kind::Function, Key::at(sp), Role::Call, now);
                }
            }
            Class::Thunk => {}
            Class::Switch => {
                self.current.switching = true;
                return self.entry(function, now);
            }
            Class::Plain => return self.entry(function, now),
            Class::Cold => self.cold(function, now),
        }
        Request::None
    }

    // Whether an entry on top has jumped to this one, which goes on with the same exception: no stub leads to it.
    fn goes_on_in(&self, function: FunctionId) -> bool {
        let Some(top) = self.current.stack.frames.last().filter(|top| top.role == Role::Entry) else { return false };
        let name = |function: FunctionId| self.functions.get(function as usize).map(|function| function.name.as_str());
        !self.current.in_stub
            && I::GOES_ON.iter().any(|(from, to)| name(top.function) == Some(*from) && name(function) == Some(*to))
    }

    pub(super) fn enter_kernel(&mut self, function: FunctionId, kind: Kind, now: u64) {
        if !std::mem::take(&mut self.current.in_stub) {
            self.charge(now);
            self.settle_mode(now);
        }
        if self.current.stack.frames.len() >= DEEPEST {
            self.abandon_all();
        }
        let redirected = self.current.redirected.take().is_some();
        let pending = self.current.pending.take();
        let padded = self.current.padded.take();
        self.current.stack.interrupted.push(Interrupted {
            pending,
            redirected,
            padded,
            in_user: self.current.in_user,
            mode: self.current.stack.mode,
        });
        self.current.stack.mode = self.current.stack.mode.of_entry(kind);
        let parent = match kind {
            Kind::Interrupt => self.rows.interrupts,
            Kind::Exception if !self.current.in_user => self.current.node,
            _ => ROOT,
        };
        let node = self.tree.child(parent, function, kind);
        self.tree.enter(node);
        self.counts.pushed += 1;
        self.current.stack.frames.push(Frame::new(Key::NONE, node, function, Role::Entry));
        self.current.node = node;
        self.current.in_user = false;
        self.entries += 1;
        self.counts.interrupts += u64::from(kind != Kind::Syscall);
    }

    /// An `iret` or `sysret` of the entry code: back to what it interrupted. True when that is user mode.
    pub fn leave_kernel(&mut self, now: u64) -> bool {
        self.charge(now);
        self.settle_mode(now);
        self.current.pending = None;
        self.current.redirected = None;
        self.current.last_left = now;
        let entry = self.current.stack.frames.iter().rposition(|frame| frame.role == Role::Entry);
        let interrupted = entry.and_then(|_| self.current.stack.interrupted.last().copied());
        let interrupt =
            entry.is_some_and(|place| self.tree.node(self.current.stack.frames[place].node).kind == Kind::Interrupt);
        self.drop_to(entry.unwrap_or(0), now);
        match interrupted {
            Some(Interrupted { pending, redirected, padded, in_user, mode }) => {
                self.current.stack.mode = mode;
                self.current.pending = pending;
                self.current.padded = padded;
                self.current.redirected = redirected.then_some(Redirect::Interrupted);
                self.current.in_user = in_user;
            }
            // A task's first way out of the kernel.
            None => {
                self.current.in_user = true;
                self.current.stack.mode = Mode::User;
            }
        }
        if self.current.stack.mode == Mode::User {
            self.reaches_user_code(now);
        }
        if self.current.stack.frames.is_empty() && self.current.in_user {
            self.current.node = self.current.stack.user;
            if !interrupt {
                // The program goes on where the interrupt came: that is not a new entry.
                self.tree.enter(self.current.node);
            }
        }
        self.current.in_user
    }
}
