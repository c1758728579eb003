//! The plugin's beginning, and what QEMU asks of it outside of blocks.
#![allow(unsafe_code)]

use crate::api::Block;
use crate::config::{Config, ConfigError};
use crate::session::Session;
use crate::shared::{keep, recording};
use crate::status::{Status, StatusFile};
use crate::translate;
use firstlight_isa::{Aarch64, Arm, Isa, Riscv64, X86_64};
use firstlight_qemu::{arguments, config, target, Info};
use std::ffi::{c_char, c_int, c_void};

/// Called by QEMU when it loads the plugin.
///
/// # Safety
///
/// As QEMU calls it: `info` describes the emulator, and `argv` holds `argc` strings.
#[no_mangle]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    info: *const Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    let (target, arguments) = unsafe { (target(info), arguments(argc, argv)) };
    let config = match config::<Config>(&arguments) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("firstlight: {error}");
            return 1;
        }
    };
    let installed = match target.as_str() {
        Aarch64::NAME => install::<Aarch64>(id, config),
        Arm::NAME => install::<Arm>(id, config),
        Riscv64::NAME => install::<Riscv64>(id, config),
        X86_64::NAME => install::<X86_64>(id, config),
        _ => Err((StatusFile::create(&config.status), ConfigError::Target(target))),
    };
    match installed {
        Ok(()) => 0,
        Err((status, error)) => {
            let detail = error.to_string();
            status.write(&Status {
                state: "error",
                phase: "",
                instructions: 0,
                virtual_ns: 0,
                idle_ns: 0,
                detail: &detail,
            });
            eprintln!("firstlight: {error}");
            1
        }
    }
}

fn install<I: Isa>(id: u64, config: Config) -> Result<(), (StatusFile, ConfigError)> {
    let session = Session::<I>::new(config)?;
    session.api.register_translation(id, on_translation::<I>);
    session.api.register_exit(id, on_exit::<I>);
    keep(session);
    Ok(())
}

extern "C" fn on_translation<I: Isa>(_id: u64, block: *mut Block) {
    if let Some(session) = recording::<I>() {
        session.turn_of_translation();
        if let Some(equal) = session.clock.at_translation() {
            // Where a loader polls, QEMU cuts blocks at other places when the host interrupts it: how many are translated says
            // nothing of the boot.
            if !equal || !session.polls() {
                session.tracker.clock_checked(equal);
            }
        }
        translate::block(session, block);
    }
}

extern "C" fn on_exit<I: Isa>(_id: u64, _data: *mut c_void) {
    if let Some(session) = recording::<I>() {
        session.stop();
    }
}
