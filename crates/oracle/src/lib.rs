//! The oracle: a second observer of a boot, which shares no mechanism with the recorder.
//!
//! Instructions and entries are counted by address, by counters that QEMU's translated code adds to. Stacks are followed
//! by the stack pointer, and where there is a link register by that too, both read from the processor's state at the start of
//! each block. No call and no return is decoded, no memory access is watched, and no code of the recorder is used. `docs/design/oracle.md` says what each rule is.
//!
//! Unsafe code is confined to [`ffi`].

mod aarch64;
pub mod architecture;
pub mod architectures;
pub mod config;
pub mod console;
mod ffi;
pub mod kind;
mod riscv64;
pub mod session;
pub mod stacks;
pub mod tables;
pub mod text;
mod x86_64;
