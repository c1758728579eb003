//! Code that was loaded while the boot ran: modules, BPF programs, trampolines.

use super::stack::Role;
use super::Tracker;
use crate::code::Code;
use crate::recording::Function;
use crate::tree::{FunctionId, Kind};

impl Tracker {
    /// The number of a piece of code by its name and address; the same one whenever the same code is loaded there again.
    pub fn loaded(&mut self, code: &Code) -> FunctionId {
        // The form of `/proc/kallsyms`.
        let name = format!("{}\t[{}]", code.name, code.module);
        let functions = &mut self.functions;
        *self.loaded.entry((code.range.start, name)).or_insert_with_key(|(address, name)| {
            functions.push(Function { name: name.clone(), address: *address });
            (functions.len() - 1) as FunctionId
        })
    }

    /// The first instruction of a function of a module is about to be executed.
    pub fn enter_loaded(&mut self, function: FunctionId, now: u64) {
        if self.enter(function, now) {
            self.watch_module_initcall(function, now);
        }
    }

    /// A block of loaded code without functions of its own is about to be executed, wherever in it that stands.
    pub fn inside_loaded(&mut self, function: FunctionId, now: u64) {
        match (self.pending.take(), self.stack.frames.last()) {
            (Some(sp), _) => {
                self.push(function, Kind::Function, sp, Role::Call, now);
                self.watch_module_initcall(function, now);
            }
            (None, Some(top)) if top.function != function && top.role != Role::Entry => self.tail(function, now),
            _ => {}
        }
    }
}
