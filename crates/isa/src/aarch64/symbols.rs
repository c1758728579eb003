//! How control passes through the functions of an arm64 kernel, by their names.

use crate::Class;

// The names are those of arch/arm64/kernel/entry.S: since Linux 5.13 by the exception level, its stack and its width; before
// that by the level alone. What else stands in the section of the entry code is a label.
pub(super) fn class(name: &str) -> Option<Class> {
    Some(match name {
        "cpu_switch_to" => Class::Switch,
        "vectors" | "tramp_vectors" | "__bp_harden_el1_vectors" => Class::Stub,
        "__bad_stack" => Class::Exception,
        _ => return entry(name),
    })
}

fn entry(name: &str) -> Option<Class> {
    let (level, rest) = name.split_at_checked(3)?;
    let rest = rest.strip_suffix("_compat").unwrap_or(rest);
    let what = ["t_64_", "h_64_", "t_32_", "_"].into_iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    Some(match (level, what) {
        ("el0" | "el1", "irq" | "fiq") => Class::Interrupt,
        ("el0", "sync") => Class::Syscall,
        ("el1", "sync") | ("el0" | "el1", "error") => Class::Exception,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_both_levels_and_of_older_kernels_are_known() {
        for name in ["el1h_64_irq", "el0t_64_irq", "el0t_32_fiq", "el1t_64_irq", "el1_irq", "el0_irq_compat"] {
            assert_eq!(class(name), Some(Class::Interrupt), "{name}");
        }
        for name in ["el0t_64_sync", "el0t_32_sync", "el0_sync", "el0_sync_compat"] {
            assert_eq!(class(name), Some(Class::Syscall), "{name}");
        }
        for name in ["el1h_64_sync", "el1t_64_error", "el0t_64_error", "el1_sync"] {
            assert_eq!(class(name), Some(Class::Exception), "{name}");
        }
    }

    #[test]
    fn handlers_in_c_are_functions() {
        for name in ["el1h_64_sync_handler", "el0_svc", "el1_abort", "el0_da", "el", "vfs_read", "elevator_init"] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
