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

/// Whether every boot has such a message.
pub fn is_boot_message(text: &[u8]) -> bool {
    BOOT.iter().any(|words| text.starts_with(words))
}
