//! How control passes through the functions of a riscv64 kernel, by their names.

use crate::Class;

// The names are those of arch/riscv/kernel/entry.S, whose code lies in no section of its own. Every interrupt, exception and
// system call enters by the same function; what it calls says which it was.
pub(super) fn class(name: &str) -> Option<Class> {
    Some(match name {
        "__switch_to" => Class::Switch,
        "handle_exception" => Class::Exception,
        // Entered from there by a jump, or up to Linux 6.6 by the return of the handler.
        "ret_from_exception"
        | "restore_all"
        | "ret_from_syscall"
        | "ret_from_syscall_rejected"
        | "resume_userspace" => Class::Label,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_and_its_way_back_are_known() {
        assert_eq!(class("handle_exception"), Some(Class::Exception));
        assert_eq!(class("ret_from_exception"), Some(Class::Label));
        assert_eq!(class("__switch_to"), Some(Class::Switch));
        assert_eq!(class("do_irq"), None);
    }
}
