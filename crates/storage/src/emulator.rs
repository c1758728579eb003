//! What the disk needs of QEMU beside the plugin interface: its lock, a timer of the virtual clock, and a gate for requests.
//!
//! QEMU answers a disk's requests when the host has its data, at an instant that differs from boot to boot. Here all requests wait:
//! the devices' block layer stays in a drained section (`bdrv_drain_all_begin`), in which QEMU queues what a device asks for. A
//! timer of the virtual clock opens the gate at the instant that the model says, closes it again, and closing waits for the host.
//! So a request is done at one instant of the guest, whenever the host had its data. `block/io.c`, `block/block-backend.c`
//! (`blk_wait_while_drained`) and `util/qemu-timer.c` have these functions, in 7.2 and in 10.0.
#![allow(unsafe_code)]

use firstlight_qemu::{function, symbol, PhysicalMemory};
use std::ffi::{c_char, c_int, c_void, CStr};

const CLOCK_VIRTUAL: c_int = 1;
const SCALE_NS: c_int = 1;
// `QEMUTimer` has 48 bytes in 7.2 and in 10.0.
const TIMER_BYTES: usize = 512;

type Lock = extern "C" fn(*const c_char, c_int);
type Unlock = extern "C" fn();
type IsLocked = extern "C" fn() -> bool;
type Section = extern "C" fn();
type Resolve = extern "C" fn(*const c_char, *mut bool) -> *mut c_void;
type RingAddress = extern "C" fn(*mut c_void, c_int) -> u64;
type RingLength = extern "C" fn(*mut c_void, c_int) -> c_int;
type InitTimer = extern "C" fn(*mut c_void, *mut c_void, c_int, c_int, c_int, OnTimer, *mut c_void);
type SetTimer = extern "C" fn(*mut c_void, i64);
type ClockNow = extern "C" fn(c_int) -> i64;

/// Called when the timer's instant has come.
pub type OnTimer = extern "C" fn(*mut c_void);

/// QEMU's big lock: with it no other thread changes devices or runs timers.
#[derive(Debug, Clone, Copy)]
pub struct BigLock {
    lock: Lock,
    unlock: Unlock,
    is_locked: IsLocked,
}

impl BigLock {
    fn load() -> Result<Self, &'static str> {
        // It had another name before 9.0.
        if symbol(c"bql_lock_impl").is_some() {
            return Ok(Self {
                lock: function!(c"bql_lock_impl")?,
                unlock: function!(c"bql_unlock")?,
                is_locked: function!(c"bql_locked")?,
            });
        }
        Ok(Self {
            lock: function!(c"qemu_mutex_lock_iothread_impl")?,
            unlock: function!(c"qemu_mutex_unlock_iothread")?,
            is_locked: function!(c"qemu_mutex_iothread_locked")?,
        })
    }

    /// Runs something with the lock, which the thread may hold already.
    pub fn with<T>(self, run: impl FnOnce() -> T) -> T {
        if (self.is_locked)() {
            return run();
        }
        (self.lock)(c"firstlight-storage".as_ptr(), 0);
        let result = run();
        (self.unlock)();
        result
    }
}

/// QEMU's functions.
#[derive(Debug)]
pub struct Emulator {
    /// Its lock.
    pub big_lock: BigLock,
    /// The guest's memory.
    pub memory: PhysicalMemory,
    close: Section,
    open: Section,
    resolve: Resolve,
    descriptors: RingAddress,
    available: RingAddress,
    used: RingAddress,
    length: RingLength,
    init_timer: InitTimer,
    set_timer: SetTimer,
    now: ClockNow,
    timer: Box<[u64; TIMER_BYTES / 8]>,
}

/// The rings of the disk's queue, as the guest set them up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rings {
    /// Where the descriptors are.
    pub descriptors: u64,
    /// Where the guest says which are new.
    pub available: u64,
    /// Where the device says which are done.
    pub used: u64,
    /// Entries of each.
    pub length: u16,
}

impl Emulator {
    /// Looks every function up.
    ///
    /// # Errors
    ///
    /// The name of the first one that this QEMU does not have.
    pub fn load() -> Result<Self, &'static str> {
        Ok(Self {
            memory: PhysicalMemory::find().ok_or("cpu_physical_memory_rw")?,
            big_lock: BigLock::load()?,
            close: function!(c"bdrv_drain_all_begin")?,
            open: function!(c"bdrv_drain_all_end")?,
            resolve: function!(c"object_resolve_path")?,
            descriptors: function!(c"virtio_queue_get_desc_addr")?,
            available: function!(c"virtio_queue_get_avail_addr")?,
            used: function!(c"virtio_queue_get_used_addr")?,
            length: function!(c"virtio_queue_get_num")?,
            init_timer: function!(c"timer_init_full")?,
            set_timer: function!(c"timer_mod_ns")?,
            now: function!(c"qemu_clock_get_ns")?,
            timer: Box::new([0; TIMER_BYTES / 8]),
        })
    }

    /// Lets requests wait from now on.
    pub fn close_gate(&self) {
        (self.close)();
    }

    /// Serves the requests that wait, and returns when all of them are done.
    pub fn serve(&self) {
        (self.open)();
        (self.close)();
    }

    /// The device at a path of QEMU's object tree.
    pub fn device(&self, path: &CStr) -> Option<*mut c_void> {
        let mut ambiguous = false;
        Some((self.resolve)(path.as_ptr(), &raw mut ambiguous)).filter(|device| !device.is_null())
    }

    /// The first queue of a virtio device; none until a driver has set it up.
    pub fn rings(&self, device: *mut c_void) -> Option<Rings> {
        let available = (self.available)(device, 0);
        let length = u16::try_from((self.length)(device, 0)).ok().filter(|length| *length > 0)?;
        (available != 0).then(|| Rings {
            descriptors: (self.descriptors)(device, 0),
            available,
            used: (self.used)(device, 0),
            length,
        })
    }

    /// Prepares the timer. To be called once, with the lock.
    pub fn prepare_timer(&mut self, callback: OnTimer) {
        // The group of timers of QEMU's main loop, and no attributes.
        let none = std::ptr::null_mut();
        (self.init_timer)(self.timer.as_mut_ptr().cast(), none, CLOCK_VIRTUAL, SCALE_NS, 0, callback, none);
    }

    /// Sets the timer to an instant of the virtual clock. To be called with the lock.
    pub fn set_timer(&mut self, due_ns: u64) {
        (self.set_timer)(self.timer.as_mut_ptr().cast(), i64::try_from(due_ns).unwrap_or(i64::MAX));
    }

    /// The virtual clock: only right after an access to a device, or from a timer.
    pub fn now_ns(&self) -> u64 {
        u64::try_from((self.now)(CLOCK_VIRTUAL)).unwrap_or(0)
    }

    /// A number of two bytes in the guest's memory.
    pub fn half(&self, address: u64) -> u16 {
        let mut bytes = [0; 2];
        self.memory.read(address, &mut bytes);
        u16::from_le_bytes(bytes)
    }
}
