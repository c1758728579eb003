//! The plugin's beginning, and what QEMU asks of it.
#![allow(unsafe_code)]

use crate::config::{Config, ConfigError};
use crate::emulator::Emulator;
use crate::model::Disk;
use crate::queue::Queue;
use crate::stores::may_notify;
use firstlight_qemu::{config, function, Block, Instruction, Interface, NO_REGISTERS};
use std::ffi::{c_int, c_void, CString};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicPtr, Ordering};

type OnAccess = extern "C" fn(u32, u32, u64, *mut c_void);
type RegisterAccess = extern "C" fn(*mut Instruction, OnAccess, c_int, c_int, *mut c_void);
type IsStore = extern "C" fn(u32) -> bool;
type PlaceOf = extern "C" fn(u32, u64) -> *mut c_void;
type IsDevice = extern "C" fn(*mut c_void) -> bool;

const READS_AND_WRITES: c_int = 3;

firstlight_qemu::plugin!("firstlight-storage", begin);

static STORAGE: AtomicPtr<Storage> = AtomicPtr::new(std::ptr::null_mut());

/// The disk of a boot.
struct Storage {
    interface: Interface,
    emulator: Emulator,
    register_access: RegisterAccess,
    is_store: IsStore,
    place_of: PlaceOf,
    is_device: IsDevice,
    target: String,
    disk: Disk,
    queue: Queue,
    log: File,
    path: CString,
    /// QEMU's object of the disk; none before the first block.
    device: Option<*mut c_void>,
    /// When the requests that wait are done; none while none waits.
    due_ns: Option<u64>,
    failed: bool,
}

fn begin(id: u64, target: String, arguments: &[String]) -> Result<(), ConfigError> {
    let storage = Storage::new(target, arguments)?;
    storage.interface.register_translation(id, on_translation);
    STORAGE.store(Box::into_raw(Box::new(storage)), Ordering::Release);
    Ok(())
}

impl Storage {
    fn new(target: String, arguments: &[String]) -> Result<Self, ConfigError> {
        let config: Config = config(arguments)?;
        let log = File::create(&config.log).map_err(|error| ConfigError::Log { path: config.log.clone(), error })?;
        let missing = ConfigError::Missing;
        Ok(Self {
            interface: Interface::load().map_err(missing)?,
            emulator: Emulator::load().map_err(missing)?,
            register_access: function!(c"qemu_plugin_register_vcpu_mem_cb").map_err(missing)?,
            is_store: function!(c"qemu_plugin_mem_is_store").map_err(missing)?,
            place_of: function!(c"qemu_plugin_get_hwaddr").map_err(missing)?,
            is_device: function!(c"qemu_plugin_hwaddr_is_io").map_err(missing)?,
            target,
            disk: Disk::new(config.model),
            queue: Queue::default(),
            log,
            path: CString::new(config.device).unwrap_or_default(),
            device: None,
            due_ns: None,
            failed: false,
        })
    }

    fn start(&mut self) {
        self.device = self.emulator.device(&self.path);
        self.emulator.prepare_timer(on_timer);
        self.emulator.close_gate();
        if self.device.is_none() {
            self.fail("QEMU has no such disk");
        }
    }

    /// The guest wrote to a device: perhaps it told the disk that requests are there.
    fn look(&mut self) {
        let Some(rings) = self.device.and_then(|device| self.emulator.rings(device)) else { return };
        let requests = self.queue.new_requests(&self.emulator, rings);
        if requests.is_empty() {
            return;
        }
        let now = self.emulator.now_ns();
        for request in requests {
            let due = self.disk.serve(request, now);
            self.due_ns = Some(due);
            let letter = request.kind.letter();
            self.write(&format!("{now}\t{due}\t{letter}\t{}\t{}\n", request.start, request.bytes));
        }
        if let Some(due) = self.due_ns {
            self.emulator.set_timer(due);
        }
    }

    /// The requests that wait are due.
    fn serve(&mut self) {
        let Some(due) = self.due_ns.take() else { return };
        let now = self.emulator.now_ns();
        self.emulator.serve();
        if now != due {
            self.fail(&format!("a request was done at {now} ns instead of {due} ns"));
        } else if !self.queue.is_served(&self.emulator) {
            self.fail("QEMU did not answer a request when it was due");
        }
    }

    fn fail(&mut self, what: &str) {
        if !std::mem::replace(&mut self.failed, true) {
            self.write(&format!("error\t{what}\n"));
        }
    }

    fn write(&mut self, line: &str) {
        // One call a line: what is there when QEMU is killed is complete.
        if let Err(error) = self.log.write_all(line.as_bytes()) {
            eprintln!("firstlight-storage: cannot write the log: {error}");
        }
    }
}

// QEMU translates and executes on one thread, and runs timers with its big lock: what changes the disk's state holds that lock.
fn storage() -> Option<&'static mut Storage> {
    // SAFETY: null, or from `install` and never freed.
    unsafe { STORAGE.load(Ordering::Acquire).as_mut() }
}

extern "C" fn on_translation(_id: u64, block: *mut Block) {
    let Some(storage) = storage() else { return };
    if storage.device.is_none() && !storage.failed {
        storage.emulator.big_lock.with(|| storage.start());
    }
    let mut buffer = [0; 16];
    for index in 0..storage.interface.length(block) {
        let instruction = storage.interface.instruction(block, index);
        if may_notify(&storage.target, storage.interface.bytes(instruction, &mut buffer)) {
            (storage.register_access)(instruction, on_access, NO_REGISTERS, READS_AND_WRITES, std::ptr::null_mut());
        }
    }
}

extern "C" fn on_access(_cpu: u32, info: u32, address: u64, _data: *mut c_void) {
    let Some(storage) = storage() else { return };
    if !(storage.is_store)(info) {
        return;
    }
    let place = (storage.place_of)(info, address);
    if !place.is_null() && (storage.is_device)(place) {
        storage.emulator.big_lock.with(|| storage.look());
    }
}

extern "C" fn on_timer(_data: *mut c_void) {
    if let Some(storage) = storage() {
        storage.serve();
    }
}
