//! How control passes through the functions of a kernel for mips64el, by their names.

use crate::Class;

/// Symbols within entry code (arch/mips/kernel/scall64-*.S, genex.S), and the end of code that the kernel generates (arch/mips/mm/tlb-funcs.S).
pub(super) const INSIDE: &[&str] = &[
    "syscall_common",
    "syscall_trace_entry",
    "n32_syscall_trace_entry",
    "trace_a_syscall",
    "illegal_syscall",
    "n64_syscall_exit",
    "o32_syscall_exit",
    "not_n32_scall",
    "not_o32_scall",
    "load_a4",
    "load_a5",
    "load_a6",
    "load_a7",
    "loads_done",
    "bad_stack",
    "bad_stack_a4",
    "bad_stack_a5",
    "bad_stack_a6",
    "bad_stack_a7",
    "docheck",
    "isrdhwr",
    "ejtag_return",
    "handle_tlbl_end",
    "ftrace_call",
    "ftrace_graph_call",
];

// The names are those of arch/mips/kernel/genex.S, entry.S and scall64-*.S, and arch/mips/mm/tlbex-fault.S and tlb-funcs.S.
pub(super) fn class(name: &str) -> Option<Class> {
    Some(match name {
        "resume" => Class::Switch,
        // What functions call at their beginning where the compiler counts calls; it puts their return address back into the register.
        "_mcount" | "ftrace_caller" | "ftrace_stub" => Class::Thunk,
        "handle_sys" => Class::Syscall,
        "handle_int" | "except_vec_vi_handler" | "nmi_handler" => Class::Interrupt,
        // They run into `handle_int`, or jump behind the copy of a vector.
        "rollback_handle_int" | "except_vec_vi" | "rollback_except_vec_vi" | "except_vec_nmi" => Class::Stub,
        "handle_tlbm" | "handle_tlbs" | "handle_tlbl" | "handle_ri_rdhwr" | "handle_ri_rdhwr_tlbp" => Class::Exception,
        "ejtag_debug_handler" => Class::Exception,
        // A refill or a change of the table of pages that finds no page, and system calls of other kinds of programs.
        "tlb_do_page_fault_0" | "tlb_do_page_fault_1" | "handle_sysn32" | "handle_sys64" => Class::Label,
        "ret_from_exception"
        | "ret_from_irq"
        | "__ret_from_irq"
        | "resume_userspace_check"
        | "resume_userspace"
        | "resume_kernel"
        | "restore_all"
        | "restore_partial"
        | "work_pending"
        | "work_resched"
        | "work_notifysig"
        | "syscall_exit"
        | "syscall_exit_partial"
        | "syscall_exit_work" => Class::Label,
        _ => return handler(name),
    })
}

// Of each kind of exception: its entry, and a label behind what saves the registers (`BUILD_HANDLER`).
fn handler(name: &str) -> Option<Class> {
    const KINDS: &[&str] = &[
        "adel", "ades", "ibe", "dbe", "bp", "ri", "cpu", "ov", "tr", "msa_fpe", "fpe", "ftlb", "gsexc", "msa", "mdmx",
        "watch", "mcheck", "mt", "dsp", "reserved",
    ];
    let kind = name.strip_prefix("handle_")?;
    match kind.strip_suffix("_int") {
        Some(kind) => KINDS.contains(&kind).then_some(Class::Label),
        None => KINDS.contains(&kind).then_some(Class::Exception),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_known_with_the_labels_behind_them() {
        for name in ["handle_int", "except_vec_vi_handler", "nmi_handler"] {
            assert_eq!(class(name), Some(Class::Interrupt), "{name}");
        }
        for name in ["handle_adel", "handle_ri", "handle_tlbl", "handle_reserved", "handle_ri_rdhwr"] {
            assert_eq!(class(name), Some(Class::Exception), "{name}");
        }
        for name in ["handle_adel_int", "handle_reserved_int", "handle_sys64", "tlb_do_page_fault_0", "restore_all"] {
            assert_eq!(class(name), Some(Class::Label), "{name}");
        }
        assert_eq!(class("handle_sys"), Some(Class::Syscall));
        assert_eq!(class("rollback_handle_int"), Some(Class::Stub));
        assert_eq!(class("resume"), Some(Class::Switch));
        assert_eq!(class("_mcount"), Some(Class::Thunk));
    }

    #[test]
    fn other_functions_are_none_of_them() {
        for name in ["handle_mm_fault", "handle_irq_event", "resume_console", "do_page_fault", "ret_from_fork"] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
