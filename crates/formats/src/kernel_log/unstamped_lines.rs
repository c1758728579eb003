//! Lines of a console that are not the kernel's: firmware and boot loaders before it, userspace after it.

use memchr::memmem;

/// What a line of a serial console without a timestamp means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A firmware or boot loader says its name: it has just begun.
    Banner(&'static str),
    /// A loader hands over to the kernel.
    HandOver,
    /// The kernel is being unpacked.
    Decompression,
    /// Somebody may log in.
    Login,
}

/// How coreboot writes its levels (`src/commonlib/include/commonlib/loglevel.h`), padded to five letters.
const LEVELS: [&[u8; 5]; 9] =
    [b"EMERG", b"ALERT", b"CRIT ", b"ERROR", b"WARN ", b"NOTE ", b"INFO ", b"DEBUG", b"SPEW "];

const BANNERS: [(&[u8], &str); 20] = [
    (b"U-Boot SPL ", "U-Boot SPL"),
    (b"U-Boot TPL ", "U-Boot TPL"),
    (b"U-Boot 1", "U-Boot"),
    (b"U-Boot 2", "U-Boot"),
    (b"coreboot-", "coreboot"),
    (b"SeaBIOS (version ", "SeaBIOS"),
    (b"GNU GRUB  version ", "GRUB"),
    (b"Welcome to GRUB", "GRUB"),
    (b"NOTICE:  BL1: ", "TF-A BL1"),
    (b"NOTICE:  BL2: ", "TF-A BL2"),
    (b"NOTICE:  BL31: ", "TF-A BL31"),
    (b"OpenSBI v", "OpenSBI"),
    (b"barebox 20", "barebox"),
    (b"UEFI firmware (version ", "UEFI"),
    (b"Jetson UEFI firmware (version ", "UEFI"),
    (b"Format: Log Type - Time(microsec)", "Qualcomm SBL"),
    (b"Android Bootloader - UART_DM", "LK"),
    (b"[0] welcome to lk", "LK"),
    (b"Intel Slim Bootloader", "Slim Bootloader"),
    (b"====================Os Loader", "Slim Bootloader"),
];

/// A line without the level that coreboot puts in front of it: `[NOTE ]  `, and without its colour where a program has written the
/// escape as `^[[1m`.
fn without_level(line: &[u8]) -> &[u8] {
    let colour = line
        .strip_prefix(b"^[[")
        .and_then(|rest| Some(rest.split_at(rest.iter().take(8).position(|&byte| byte == b'm')? + 1)));
    let line = colour.map_or(line, |(_, rest)| rest);
    let level = line.strip_prefix(b"[").and_then(|inside| inside.split_first_chunk::<6>());
    let level = level.filter(|(level, _)| level[5] == b']' && LEVELS.iter().any(|known| level.starts_with(*known)));
    level.map_or(line, |(_, text)| text.trim_ascii_start())
}

/// What a line without a timestamp means, if it is known.
pub fn sign(line: &[u8]) -> Option<Sign> {
    let line = without_level(line.trim_ascii_start());
    match line.first()? {
        b'U' | b'c' | b'S' | b'G' | b'W' | b'N' | b'O' | b'b' | b'J' | b'F' | b'I' | b'=' | b'A' | b'[' => {
            if let Some((_, name)) = BANNERS.iter().find(|(words, _)| line.starts_with(words)) {
                // coreboot's handler of system management interrupts prints its name late, also while a kernel runs.
                let begins = memmem::find(line, b" smm starting ").is_none();
                return begins.then_some(Sign::Banner(name));
            }
        }
        _ => {}
    }
    if line.starts_with(b"Starting kernel ...") || line.starts_with(b"Loading Linux ") {
        return Some(Sign::HandOver);
    }
    if line.starts_with(b"Uncompressing Linux...") || line.starts_with(b"Decompressing Linux...") {
        return Some(Sign::Decompression);
    }
    let end = line.trim_ascii_end();
    let prompt = end == b"login:" || end.ends_with(b" login:") && end.len() < 80;
    prompt.then_some(Sign::Login)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coreboot_greets_behind_its_level_and_not_from_an_interrupt() {
        let greets = Some(Sign::Banner("coreboot"));
        for (line, expected) in [
            ("coreboot-4.19 Fri Dec 17 06:46:03 UTC 2021 bootblock starting (log level: 8)...", greets),
            ("[NOTE ]  coreboot-4.19 Fri Dec 17 06:46:03 UTC 2021 bootblock starting (log level: 8)...", greets),
            ("[INFO ]  coreboot-4.19 Fri Dec 17 06:46:03 UTC 2021 romstage starting (log level: 8)...", greets),
            (
                "^[[1m[NOTE ]  coreboot-4.19 Fri Dec 17 06:46:03 UTC 2021 bootblock starting (log level: 8)...^[[0m",
                greets,
            ),
            ("[NOTES]  coreboot-4.19 Fri Dec 17 06:46:03 UTC 2021 bootblock starting (log level: 8)...", None),
            ("coreboot-4.19 Fri Dec 17 06:46:03 UTC 2021 smm starting (log level: 8)...", None),
            ("[INFO ]  CBFS: Found 'fallback/ramstage' @0x80 size 0x1234", None),
            ("[", None),
        ] {
            assert_eq!(sign(line.as_bytes()), expected, "{line}");
        }
    }
}
