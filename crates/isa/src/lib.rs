//! Processor architectures, as far as following a kernel's control flow needs them.
//!
//! [`Isa`] is the trait; each architecture is one module that implements it ([`x86_64`], [`aarch64`]). Everything that uses the trait takes
//! it as a type, so the compiler makes a copy of the tracker for each architecture and no event pays for the choice.
//! [`guest`] is the part that programs inside the guest need. `docs/design/architectures.md` describes how to add one.

// Inline assembly of this architecture is not stable yet; `make/cross-guest.sh` allows it.
#![cfg_attr(target_arch = "mips64", feature(asm_experimental_arch))]

pub mod aarch64;
pub mod arm;
#[cfg(feature = "decode")]
mod class;
#[cfg(feature = "decode")]
mod flow;
#[cfg(feature = "guest")]
pub mod guest;
#[cfg(feature = "guest")]
mod guest_marks;
#[cfg(feature = "decode")]
mod image_head;
#[cfg(feature = "decode")]
mod isa;
#[cfg(feature = "decode")]
mod linked;
pub mod mips64el;
pub mod ppc64le;
pub mod riscv64;
#[cfg(feature = "system-calls")]
pub mod system_calls;
#[cfg(feature = "decode")]
pub mod userspace;
pub mod x86_64;

#[cfg(feature = "decode")]
pub use self::{
    aarch64::Aarch64,
    arm::Arm,
    class::Class,
    flow::Flow,
    isa::FixedCode,
    isa::Isa,
    isa::ThunkSection,
    linked::Linked,
    mips64el::Mips64el,
    ppc64le::Ppc64le,
    riscv64::Riscv64,
    userspace::{
        Area, CallNumber, DirectMap, KernelTable, PageArray, Paging, RegisterFile, RegisterWidth, Userspace,
        BETWEEN_REGISTERS,
    },
    x86_64::X86_64,
};
