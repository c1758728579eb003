//! The plugin's beginning, and what QEMU asks of it outside of blocks.
#![allow(unsafe_code)]

use crate::api::Block;
use crate::config::{Config, ConfigError};
use crate::session::Session;
use crate::shared::{keep, recording};
use crate::status::{Status, StatusFile};
use crate::translate;
use firstlight_isa::{Aarch64, Arm, Isa, Mips64el, Ppc64le, Riscv64, X86_64};
use firstlight_qemu::config;
use std::ffi::c_void;

firstlight_qemu::plugin!("firstlight", begin);

fn begin(id: u64, target: String, arguments: &[String]) -> Result<(), ConfigError> {
    let config = config::<Config>(arguments)?;
    let installed = match target.as_str() {
        Aarch64::NAME => install::<Aarch64>(id, config),
        Arm::NAME => install::<Arm>(id, config),
        Mips64el::NAME => install::<Mips64el>(id, config),
        Ppc64le::NAME => install::<Ppc64le>(id, config),
        Riscv64::NAME => install::<Riscv64>(id, config),
        X86_64::NAME => install::<X86_64>(id, config),
        _ => Err((StatusFile::create(&config.status), ConfigError::Target(target))),
    };
    installed.map_err(|(status, error)| {
        let detail = error.to_string();
        status.write(&Status {
            state: "error",
            phase: "",
            instructions: 0,
            virtual_ns: 0,
            idle_ns: 0,
            detail: &detail,
        });
        error
    })
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
