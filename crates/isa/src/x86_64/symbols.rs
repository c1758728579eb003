//! How control passes through the functions of an x86_64 kernel, by their names.

use crate::Class;

// The names are those of arch/x86/entry/*.S, arch/x86/kernel/head_64.S and arch/x86/lib/retpoline.S.
pub(super) fn class(name: &str) -> Option<Class> {
    Some(match name {
        "__switch_to_asm" => Class::Switch,
        "irq_entries_start" | "spurious_entries_start" | "early_idt_handler_array" => Class::Stub,
        "early_idt_handler_common" | "vc_no_ghcb" => Class::Exception,
        "asm_exc_nmi" | "asm_exc_nmi_noist" | "asm_common_interrupt" | "asm_spurious_interrupt" => Class::Interrupt,
        "asm_load_gs_index" | "asm_cpu_bringup_and_idle" => Class::Plain,
        "entry_SYSCALL_64" | "entry_SYSCALL_compat" | "entry_SYSENTER_compat" | "entry_INT80_compat" => Class::Syscall,
        "asm_int80_emulation" => Class::Syscall,
        // Called, and return: functions in spite of where they stand.
        "error_entry" | "paranoid_entry" | "xen_error_entry" | "entry_ibpb" | "write_ibpb" => Class::Plain,
        // Before Linux 5.8: it takes its return address along to the stack of interrupts.
        "interrupt_entry" => Class::Plain,
        // Behind the trampoline that page table isolation had up to Linux 4.19.
        "entry_SYSCALL_64_stage2" => Class::Syscall,
        _ if is_vector_before_5_8(name) => Class::Interrupt,
        _ if name.starts_with("asm_sysvec_") => Class::Interrupt,
        _ if name.starts_with("asm_exc_") || name.starts_with("asm_xenpv_exc_") => Class::Exception,
        _ if is_thunk(name) => Class::Thunk,
        _ => return None,
    })
}

// `apicinterrupt` made them up to Linux 5.7. Their code stands in the section of the handlers or in that of the entries.
fn is_vector_before_5_8(name: &str) -> bool {
    const VECTORS: [&str; 13] = [
        "apic_timer_interrupt",
        "call_function_interrupt",
        "call_function_single_interrupt",
        "deferred_error_interrupt",
        "error_interrupt",
        "irq_move_cleanup_interrupt",
        "irq_work_interrupt",
        "reboot_interrupt",
        "reschedule_interrupt",
        "spurious_interrupt",
        "thermal_interrupt",
        "threshold_interrupt",
        "x86_platform_ipi",
    ];
    VECTORS.contains(&name.strip_prefix("trace_").unwrap_or(name))
}

// The entry code up to Linux 5.7 has names that a function elsewhere may have as well.
pub(super) fn entry_class(name: &str) -> Option<Class> {
    Some(match name.strip_prefix("trace_").unwrap_or(name) {
        "common_interrupt" | "common_spurious" | "nmi" | "uv_bau_message_intr1" => Class::Interrupt,
        _ if name.starts_with("kvm_posted_intr_") || name.ends_with("_callback_vector") => Class::Interrupt,
        "hyperv_reenlightenment_vector" => Class::Interrupt,
        "divide_error"
        | "overflow"
        | "bounds"
        | "invalid_op"
        | "device_not_available"
        | "double_fault"
        | "coprocessor_segment_overrun"
        | "invalid_TSS"
        | "segment_not_present"
        | "spurious_interrupt_bug"
        | "coprocessor_error"
        | "alignment_check"
        | "simd_coprocessor_error"
        | "debug"
        | "int3"
        | "stack_segment"
        | "general_protection"
        | "page_fault"
        | "async_page_fault"
        | "machine_check" => Class::Exception,
        _ => return None,
    })
}

// Those that stand alone, or in a kernel whose section has no bounds: `srso_alias_*` has to lie at a place that its
// mitigation dictates.
fn is_thunk(name: &str) -> bool {
    ["__x86_indirect_", "__x86_return_", "__SCT__"].iter().any(|prefix| name.starts_with(prefix))
        || ["srso_", "retbleed_", "its_", "zen_", "call_depth_", "entry_"].iter().any(|prefix| name.starts_with(prefix))
            && ["_return_thunk", "_untrain_ret", "_safe_ret"].iter().any(|suffix| name.ends_with(suffix))
}
