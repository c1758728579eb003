//! How control passes through the functions of a kernel for 32-bit Arm, by their names.

use crate::Class;

// The names are those of arch/arm/kernel/entry-armv.S and entry-common.S. What else stands in the section of the entry code is
// a label.
pub(super) fn class(name: &str) -> Option<Class> {
    Some(match name {
        "__switch_to" => Class::Switch,
        // What functions call at their beginning where the compiler counts calls (`-pg`): it takes the return address that they have
        // pushed, so the stack pointer behind that call is another one.
        "__gnu_mcount_nc" => Class::Thunk,
        "vector_swi" | "vector_bhb_loop8_swi" | "vector_bhb_bpiall_swi" => Class::Syscall,
        "__irq_svc" | "__irq_usr" | "__fiq_svc" | "__fiq_abt" | "__fiq_usr" => Class::Interrupt,
        "__dabt_svc" | "__dabt_usr" | "__pabt_svc" | "__pabt_usr" | "__und_svc" | "__und_usr" => Class::Exception,
        "__pabt_invalid" | "__dabt_invalid" | "__irq_invalid" | "__und_invalid" | "__bad_stack" => Class::Exception,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_from_both_modes_are_known() {
        for name in ["__irq_svc", "__irq_usr", "__fiq_usr"] {
            assert_eq!(class(name), Some(Class::Interrupt), "{name}");
        }
        for name in ["__dabt_svc", "__pabt_usr", "__und_svc"] {
            assert_eq!(class(name), Some(Class::Exception), "{name}");
        }
        assert_eq!(class("vector_swi"), Some(Class::Syscall));
        assert_eq!(class("__switch_to"), Some(Class::Switch));
        assert_eq!(class("__gnu_mcount_nc"), Some(Class::Thunk));
    }

    #[test]
    fn other_functions_are_none_of_them() {
        for name in ["ret_fast_syscall", "__und_fault", "do_DataAbort", "call_with_stack", "vector_table"] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
