//! Which level each initcall belongs to, read from the names the kernel gives its table entries.

/// An initcall's function and level, from a symbol such as `__initcall__kmod_core__391_2229_init_hw_perf_eventsearly`.
///
/// The form is `__initcall__kmod_MODULE__COUNTER_LINE_FUNCTIONID` (`include/linux/init.h`, `__initcall_id`); older
/// kernels write `__initcall_FUNCTIONID`. ID is `early`, a digit, a digit with `s`, or `rootfs`.
///
/// ```
/// use firstlight_profile::initcalls::initcall;
/// let symbol = "__initcall__kmod_core__391_2229_init_hw_perf_eventsearly";
/// assert_eq!(initcall(symbol), Some(("init_hw_perf_events", "early")));
/// assert_eq!(initcall("__initcall_net_dev_init4"), Some(("net_dev_init", "subsys")));
/// assert_eq!(initcall("__initcall4_start"), None);
/// ```
pub fn initcall(symbol: &str) -> Option<(&str, &'static str)> {
    let rest = symbol.strip_prefix("__initcall_")?;
    let with_id = match rest.strip_prefix("_kmod_") {
        Some(kmod) => after_counter(kmod)?,
        None => rest,
    };
    LEVELS.iter().find_map(|(id, level)| with_id.strip_suffix(id).map(|function| (function, *level)))
}

/// The levels in the order in which the kernel runs them (`init/main.c`, `initcall_levels`).
pub const ORDER: [&str; 10] = ["early", "pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device", "late"];

// Longer identifiers first: `4s` must not be read as `s` of some name.
const LEVELS: [(&str, &str); 19] = [
    ("early", "early"),
    ("rootfs", "rootfs"),
    ("con", "console"),
    ("0s", "pure"),
    ("1s", "core"),
    ("2s", "postcore"),
    ("3s", "arch"),
    ("4s", "subsys"),
    ("5s", "fs"),
    ("6s", "device"),
    ("7s", "late"),
    ("0", "pure"),
    ("1", "core"),
    ("2", "postcore"),
    ("3", "arch"),
    ("4", "subsys"),
    ("5", "fs"),
    ("6", "device"),
    ("7", "late"),
];

// MODULE may hold underscores, so the counter and the line are found as the first `__DIGITS_DIGITS_`.
fn after_counter(kmod: &str) -> Option<&str> {
    kmod.match_indices("__").find_map(|(at, _)| {
        let after = kmod[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit());
        let after = after.strip_prefix('_').filter(|_| !kmod[at + 2..].starts_with('_'))?;
        let function = after.trim_start_matches(|c: char| c.is_ascii_digit());
        (function.len() < after.len()).then(|| function.strip_prefix('_')).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_reported() {
        for (symbol, function, level) in [
            ("__initcall__kmod_cpu__331_2331_init_cpu_syscore1", "init_cpu_syscore", "core"),
            ("__initcall__kmod_initramfs__294_736_populate_rootfsrootfs", "populate_rootfs", "rootfs"),
            ("__initcall__kmod_clock__1_2_clk_disable_unused7s", "clk_disable_unused", "late"),
            ("__initcall__kmod_a__b__12_34_f6", "f", "device"),
        ] {
            assert_eq!(initcall(symbol), Some((function, level)), "{symbol}");
        }
    }

    #[test]
    fn other_symbols_are_no_initcalls() {
        assert_eq!(initcall("start_kernel"), None);
        assert_eq!(initcall("__initcall__kmod_"), None);
        assert_eq!(initcall("__initcall__kmod_x__"), None);
    }
}
