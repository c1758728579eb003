//! Names of system calls by number: each architecture has its own table.

use syscalls::{aarch64, arm, riscv64, x86, x86_64};

/// Whose numbers of system calls are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallTable {
    /// 64-bit programs of x86.
    X86_64,
    /// 32-bit programs of x86.
    X86,
    /// 64-bit programs of Arm.
    Aarch64,
    /// 32-bit programs of Arm.
    Arm,
    /// 64-bit programs of RISC-V.
    Riscv64,
}

impl CallTable {
    /// The table that an audit record means by `arch=` (`AUDIT_ARCH_*` of linux/audit.h).
    ///
    /// ```
    /// use firstlight_isa::system_calls::CallTable;
    /// assert_eq!(CallTable::of_audit(0xc000_003e), Some(CallTable::X86_64));
    /// ```
    pub const fn of_audit(arch: u32) -> Option<Self> {
        match arch {
            0xc000_003e => Some(Self::X86_64),
            0x4000_0003 => Some(Self::X86),
            0xc000_00b7 => Some(Self::Aarch64),
            0x4000_0028 => Some(Self::Arm),
            0xc000_00f3 => Some(Self::Riscv64),
            _ => None,
        }
    }

    /// The table of a machine as `uname -m` names it.
    ///
    /// ```
    /// use firstlight_isa::system_calls::CallTable;
    /// assert_eq!(CallTable::of_machine("aarch64"), Some(CallTable::Aarch64));
    /// ```
    pub fn of_machine(machine: &str) -> Option<Self> {
        match machine {
            "x86_64" => Some(Self::X86_64),
            "i386" | "i486" | "i586" | "i686" => Some(Self::X86),
            "aarch64" | "arm64" => Some(Self::Aarch64),
            "riscv64" => Some(Self::Riscv64),
            _ if machine.starts_with("armv") => Some(Self::Arm),
            _ => None,
        }
    }
}

/// The name of a system call.
///
/// ```
/// use firstlight_isa::system_calls::{name_of, CallTable};
/// assert_eq!(name_of(CallTable::X86_64, 257), Some("openat"));
/// assert_eq!(name_of(CallTable::Aarch64, 56), Some("openat"));
/// assert_eq!(name_of(CallTable::Aarch64, 79), Some("newfstatat"));
/// assert_eq!(name_of(CallTable::X86, 99_999), None);
/// ```
pub fn name_of(table: CallTable, number: u64) -> Option<&'static str> {
    let number = usize::try_from(number).ok()?;
    match table {
        CallTable::X86_64 => x86_64::Sysno::new(number).map(|call| call.name()),
        CallTable::X86 => x86::Sysno::new(number).map(|call| call.name()),
        CallTable::Aarch64 => aarch64::Sysno::new(number).map(|call| generic(call.name())),
        CallTable::Arm => arm::Sysno::new(number).map(|call| call.name()),
        CallTable::Riscv64 => riscv64::Sysno::new(number).map(|call| generic(call.name())),
    }
}

// The names of include/uapi/asm-generic/unistd.h on processors of 64 bits, where the table has the one for both sizes.
fn generic(name: &'static str) -> &'static str {
    if name == "fstatat" {
        return "newfstatat";
    }
    name
}
