//! Lines of a console that are not the kernel's: firmware and boot loaders before it, userspace after it.

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

/// What a line without a timestamp means, if it is known.
pub fn sign(line: &[u8]) -> Option<Sign> {
    let line = line.trim_ascii_start();
    match line.first()? {
        b'U' | b'c' | b'S' | b'G' | b'W' | b'N' | b'O' | b'b' | b'J' | b'F' | b'I' | b'=' | b'A' | b'[' => {
            if let Some((_, name)) = BANNERS.iter().find(|(words, _)| line.starts_with(words)) {
                return Some(Sign::Banner(name));
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
