//! Messages that every boot has.

const BOOT: [&[u8]; 10] = [
    b"Linux version ",
    b"Command line: ",
    b"Kernel command line: ",
    b"Calibrating delay loop",
    b"Freeing unused kernel",
    b"Freeing init memory: ",
    b"Booting Linux on physical CPU",
    b"calling  ",
    b"initcall ",
    b"probe of ",
];

/// What a kernel without a first line says early, after a loader has handed over.
const EARLY: [&[u8]; 10] = [
    b"console [",
    b"Memory: ",
    b"Mount-cache hash table entries: ",
    b"pid_max: ",
    b"devtmpfs: initialized",
    b"bio: create slab <bio-0>",
    b"Switching to clocksource ",
    b"NET: Registered protocol family ",
    b"TCP established hash table entries: ",
    b"io scheduler ",
];

/// Whether a line behind a loader's last one is a kernel's.
pub fn is_early_message(text: &[u8]) -> bool {
    is_boot_message(text) || EARLY.iter().any(|words| text.starts_with(words))
}

/// Whether every boot has such a message.
pub fn is_boot_message(text: &[u8]) -> bool {
    BOOT.iter().any(|words| text.starts_with(words))
}
