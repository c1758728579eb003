//! QEMU's plugin interface: what it offers, and how a plugin gets its configuration.
//!
//! The recorder's plugin, the oracle and the disk with a model use it. It decides nothing: it declares QEMU's functions and passes on what they say.
//!
//! Debian ships no header for the interface, and its versions differ, so every function is looked up by name when the plugin is
//! loaded. The declarations follow `include/qemu/qemu-plugin.h` of QEMU 7.2 and 10.0.
#![allow(unsafe_code)]

mod counters;
mod files;
mod interface;
mod memory;
mod registers;
mod turns;

pub use counters::Counters;
pub use files::{config, read, FileError};
pub use interface::{Block, Instruction, Interface, OnExecution, OnExit, OnTranslation, NO_REGISTERS};
pub use memory::{cpu, Memory, PhysicalMemory, Translation};
pub use registers::{words, Register, Registers};
pub use turns::Turns;

use std::ffi::{c_char, c_int, c_void, CStr};

/// The address of a symbol of the running program, if it has it.
pub fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: dlsym only reads the name, which ends in NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The function of QEMU's of this name, with the type that the place of use has; else an error with the name.
#[macro_export]
macro_rules! function {
    ($name:literal) => {
        match $crate::symbol($name) {
            Some(address) => {
                // SAFETY: the type at the place of use is that of QEMU's header for this name.
                #[allow(clippy::missing_transmute_annotations, reason = "the type stands at the place of use")]
                let function = unsafe { std::mem::transmute::<*mut std::ffi::c_void, _>(address) };
                Ok(function)
            }
            None => Err($crate::name_of($name)),
        }
    };
}

/// A name as text.
pub fn name_of(name: &'static CStr) -> &'static str {
    name.to_str().unwrap_or("a function")
}

/// The newest interface version that both this crate and the running QEMU speak.
pub fn version() -> c_int {
    let has = |name: &CStr| symbol(name).is_some();
    match () {
        () if has(c"qemu_plugin_translate_vaddr") => 5,
        () if has(c"qemu_plugin_read_memory_vaddr") => 4,
        () if has(c"qemu_plugin_insn_data") && has(c"qemu_plugin_register_vcpu_tb_exec_cond_cb") => 3,
        () if has(c"qemu_plugin_scoreboard_new") => 2,
        () => 1,
    }
}

/// Declares what QEMU's loader looks up in a plugin: the version of the interface that it wants, and where it begins.
///
/// `plugin!(NAME, BEGIN)`: *NAME* stands in front of the message when *BEGIN* fails, a function of the plugin's number, of QEMU's
/// name of the processor, and of the arguments.
#[macro_export]
macro_rules! plugin {
    ($name:literal, $begin:path) => {
        /// What QEMU's loader reads to learn which version of the interface the plugin wants.
        #[no_mangle]
        pub static mut qemu_plugin_version: std::ffi::c_int = 1;

        // The loader calls constructors inside `dlopen`, before it reads the version.
        #[used]
        #[link_section = ".init_array"]
        static CHOOSE_VERSION: extern "C" fn() = choose_version;

        extern "C" fn choose_version() {
            // SAFETY: runs once, before anybody can read the variable.
            unsafe { qemu_plugin_version = $crate::version() };
        }

        /// Called by QEMU when it loads the plugin.
        ///
        /// # Safety
        ///
        /// As QEMU calls it: `info` describes the emulator, and `argv` holds `argc` strings.
        #[no_mangle]
        pub unsafe extern "C" fn qemu_plugin_install(
            id: u64,
            info: *const $crate::Info,
            argc: std::ffi::c_int,
            argv: *const *const std::ffi::c_char,
        ) -> std::ffi::c_int {
            // SAFETY: the caller's promise.
            let (target, arguments) = unsafe { ($crate::target(info), $crate::arguments(argc, argv)) };
            match $begin(id, target, &arguments) {
                Ok(()) => 0,
                Err(error) => {
                    eprintln!("{}: {error}", $name);
                    1
                }
            }
        }
    };
}

/// The beginning of what QEMU says of itself (`qemu_info_t`), the same in every version.
#[repr(C)]
#[derive(Debug)]
pub struct Info {
    target: *const c_char,
}

/// QEMU's name of the processor that it emulates.
///
/// # Safety
///
/// `info` must be what QEMU passes to a plugin: its first member is a string that ends in NUL.
pub unsafe fn target(info: *const Info) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr((*info).target) }.to_string_lossy().into_owned()
}

/// The `KEY=VALUE` arguments given behind `-plugin FILE,`.
///
/// # Safety
///
/// `argv` must hold `argc` pointers to strings that end in NUL, as QEMU passes them.
pub unsafe fn arguments(argc: c_int, argv: *const *const c_char) -> Vec<String> {
    (0..usize::try_from(argc).unwrap_or(0))
        // SAFETY: the caller's promise.
        .map(|index| unsafe { CStr::from_ptr(*argv.add(index)) }.to_string_lossy().into_owned())
        .collect()
}
