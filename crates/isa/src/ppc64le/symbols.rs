//! How control passes through the functions of a kernel for ppc64le, by their names.

use crate::Class;

/// Symbols within the functions that call the firmware's runtime (`enter_rtas`, arch/powerpc/kernel/entry_64.S, rtas_entry.S) and that
/// copy the kernel (`__after_prom_start`, head_64.S); and ends of sections where a function begins.
pub(super) const INSIDE: &[&str] =
    &["__enter_rtas", "rtas_return_loc", "rtas_restore_regs", "p_end", "p_toc", "__end_soft_masked"];

// The names are those of arch/powerpc/kernel/exceptions-64s.S and interrupt_64.S. A vector jumps to what is common to all of its kind: from
// real mode to code that switches to virtual mode and runs into that of virtual mode, which is the entry.
pub(super) fn class(name: &str) -> Option<Class> {
    Some(match name {
        "_switch" => Class::Switch,
        // What functions call at their beginning where the compiler counts calls; it puts their return address back into the register.
        "_mcount" => Class::Thunk,
        "system_call_common" | "system_call_vectored_common" | "system_call_vectored_sigill" => Class::Syscall,
        "system_call_common_real" | "system_call_vectored_tramp" | "system_call_vectored_sigill_tramp" => Class::Stub,
        // Behind an entry: a timer's interrupt that the kernel has masked goes on as the watchdog's (`soft_nmi_common`).
        "masked_interrupt"
        | "masked_Hinterrupt"
        | "syscall_restart"
        | "denorm_assist"
        | "denorm_done"
        | "mce_deliver"
        | "machine_check_idle_common"
        | "unrecoverable_mce"
        | "kvm_interrupt"
        | "kvm_hcall"
        | "soft_nmi_common" => Class::Label,
        _ => return by_pattern(name),
    })
}

fn by_pattern(name: &str) -> Option<Class> {
    const STUBS: [&str; 4] = ["exc_real_", "exc_virt_", "tramp_real_", "tramp_virt_"];
    const LABELS: [&str; 3] = ["interrupt_return_", "fast_interrupt_return_", "syscall_vectored_"];
    // What the kernel calls or jumps to against speculation, around entries.
    const BARRIERS: [&str; 2] = ["stf_barrier_fallback", "flush_fallback"];
    if STUBS.iter().any(|prefix| name.starts_with(prefix)) {
        return Some(Class::Stub);
    }
    if LABELS.iter().any(|prefix| name.starts_with(prefix)) || BARRIERS.iter().any(|suffix| name.ends_with(suffix)) {
        return Some(Class::Label);
    }
    // The linker's, of calls that are too far for one instruction.
    if name.contains(".plt_branch.") || name.contains(".long_branch.") {
        return Some(Class::Thunk);
    }
    let (what, ends) = name.split_once("_common")?;
    let class = entry(what)?;
    match ends {
        "_virt" => Some(class),
        "" | "_real" if is_real_only(what) => Some(class),
        "" | "_real" => Some(Class::Stub),
        _ => None,
    }
}

// These enter virtual mode in their own code.
fn is_real_only(what: &str) -> bool {
    matches!(what, "system_reset" | "machine_check" | "machine_check_early" | "hmi_exception_early")
}

fn entry(what: &str) -> Option<Class> {
    Some(match what {
        "hardware_interrupt"
        | "decrementer"
        | "hdecrementer"
        | "doorbell_super"
        | "h_doorbell"
        | "h_virt_irq"
        | "performance_monitor"
        | "system_reset"
        | "machine_check"
        | "machine_check_early"
        | "hmi_exception"
        | "hmi_exception_early" => Class::Interrupt,
        "data_access"
        | "data_access_slb"
        | "instruction_access"
        | "instruction_access_slb"
        | "alignment"
        | "program_check"
        | "fp_unavailable"
        | "single_step"
        | "h_data_storage"
        | "h_instr_storage"
        | "emulation_assist"
        | "altivec_unavailable"
        | "vsx_unavailable"
        | "facility_unavailable"
        | "h_facility_unavailable"
        | "instruction_breakpoint"
        | "denorm_exception"
        | "altivec_assist" => Class::Exception,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_virtual_mode_are_known() {
        for name in ["hardware_interrupt_common_virt", "decrementer_common_virt", "system_reset_common"] {
            assert_eq!(class(name), Some(Class::Interrupt), "{name}");
        }
        for name in ["data_access_common_virt", "program_check_common_virt", "fp_unavailable_common_virt"] {
            assert_eq!(class(name), Some(Class::Exception), "{name}");
        }
        for name in ["system_call_common", "system_call_vectored_common", "system_call_vectored_sigill"] {
            assert_eq!(class(name), Some(Class::Syscall), "{name}");
        }
    }

    #[test]
    fn vectors_and_what_real_mode_runs_first_lead_to_them() {
        for name in [
            "exc_virt_0x4500_hardware_interrupt",
            "exc_real_0x900_decrementer",
            "exc_virt_0x3000_system_call_vectored",
            "system_call_vectored_tramp",
            "system_call_vectored_sigill_tramp",
            "tramp_virt_facility_unavailable",
            "decrementer_common",
            "decrementer_common_real",
            "system_call_common_real",
        ] {
            assert_eq!(class(name), Some(Class::Stub), "{name}");
        }
    }

    #[test]
    fn what_follows_an_entry_belongs_to_it() {
        for name in [
            "interrupt_return_srr",
            "interrupt_return_srr_user",
            "interrupt_return_hsrr_kernel_restart",
            "fast_interrupt_return_srr",
            "syscall_vectored_common_restart",
            "syscall_restart",
            "masked_interrupt",
            "soft_nmi_common",
            "rfi_flush_fallback",
            "entry_flush_fallback",
            "stf_barrier_fallback",
        ] {
            assert_eq!(class(name), Some(Class::Label), "{name}");
        }
    }

    #[test]
    fn thunks_and_the_switch_are_known() {
        assert_eq!(class("_mcount"), Some(Class::Thunk));
        assert_eq!(class("0000006d.plt_branch.memblock_alloc_try_nid"), Some(Class::Thunk));
        assert_eq!(class("_switch"), Some(Class::Switch));
    }

    #[test]
    fn other_functions_are_none_of_them() {
        for name in [
            "__switch_to",
            "system_call_exception",
            "interrupt_exit_user_prepare",
            "ret_from_kernel_thread",
            "enable_machine_check",
            "find_common_virt",
            "flush_branch_caches",
            "timer_interrupt",
        ] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
