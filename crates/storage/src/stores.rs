//! Which instructions may write two bytes to a device: a driver of virtio tells its device so that requests are there.
//!
//! A guest executes few of them, so each is watched; every other instruction runs as without this plugin.

/// Whether an instruction of this processor stores two bytes; true for a processor that is not known.
pub fn may_notify(target: &str, instruction: &[u8]) -> bool {
    match target {
        "x86_64" | "i386" => stores_word_x86(instruction),
        "aarch64" => word(instruction).is_none_or(stores_half_aarch64),
        "riscv64" | "riscv32" => stores_half_riscv(instruction),
        _ => true,
    }
}

// `mov %r16, m16` and `mov $imm16, m16`, with and without a size prefix: in 16-bit code it has none.
fn stores_word_x86(instruction: &[u8]) -> bool {
    let prefixes = [0x66, 0x67, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65];
    let rest = instruction.iter().position(|byte| !prefixes.contains(byte)).unwrap_or(instruction.len());
    let has_size = instruction[..rest].contains(&0x66);
    let mut code = &instruction[rest..];
    if let [0x40..=0x4f, after @ ..] = code {
        code = after;
    }
    matches!(code, [0x89 | 0xc7, modrm, ..] if has_size && modrm >> 6 != 3)
}

fn word(instruction: &[u8]) -> Option<u32> {
    instruction.first_chunk().copied().map(u32::from_le_bytes)
}

// STRH: immediate (scaled; unscaled, before and after), register.
fn stores_half_aarch64(instruction: u32) -> bool {
    instruction & 0xffc0_0000 == 0x7900_0000
        || instruction & 0xffe0_0000 == 0x7800_0000
        || instruction & 0xffe0_0c00 == 0x7820_0800
}

fn stores_half_riscv(instruction: &[u8]) -> bool {
    match word(instruction) {
        Some(instruction) => instruction & 0x707f == 0x1023,
        // C.SH of Zcb.
        None => matches!(instruction, [low, high] if u16::from_le_bytes([*low, *high]) & 0xfc43 == 0x8c00),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_of_two_bytes_are_found_on_x86() {
        assert!(may_notify("x86_64", &[0x66, 0x89, 0x02]));
        assert!(may_notify("x86_64", &[0x66, 0x41, 0x89, 0x45, 0x10]));
        assert!(may_notify("x86_64", &[0x66, 0xc7, 0x07, 0, 0]));
        assert!(!may_notify("x86_64", &[0x66, 0x89, 0xc2]));
        assert!(!may_notify("x86_64", &[0x89, 0x02]));
        assert!(!may_notify("x86_64", &[0x66]));
    }

    #[test]
    fn stores_of_two_bytes_are_found_elsewhere() {
        // strh w1, [x0]; str w1, [x0]; strh w1, [x0], #2; strh w1, [x0, x2]
        assert!(may_notify("aarch64", &0x7900_0001_u32.to_le_bytes()));
        assert!(!may_notify("aarch64", &0xb900_0001_u32.to_le_bytes()));
        assert!(may_notify("aarch64", &0x7800_2401_u32.to_le_bytes()));
        assert!(may_notify("aarch64", &0x7822_6801_u32.to_le_bytes()));
        // sh a1, 0(a0); sw a1, 0(a0)
        assert!(may_notify("riscv64", &0x00b5_1023_u32.to_le_bytes()));
        assert!(!may_notify("riscv64", &0x00b5_2023_u32.to_le_bytes()));
    }
}
