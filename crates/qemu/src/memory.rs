//! A processor of QEMU's, and the guest's memory: as the processor has it mapped now, and by physical addresses.

use crate::{function, symbol};
use std::ffi::{c_int, c_void};

type ReadWrite = extern "C" fn(*mut c_void, u64, *mut c_void, usize, bool) -> c_int;

/// QEMU's object for a processor (`CPUState`); none where there is none yet.
pub fn cpu(index: u32) -> Option<*mut c_void> {
    let address = symbol(c"qemu_get_cpu")?;
    // SAFETY: `CPUState *qemu_get_cpu(int)` in every version from 7.2 on.
    let get: extern "C" fn(c_int) -> *mut c_void = unsafe { std::mem::transmute(address) };
    Some(get(c_int::try_from(index).ok()?)).filter(|cpu| !cpu.is_null())
}

/// The memory as a processor has it mapped now.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    cpu: *mut c_void,
    access: ReadWrite,
}

impl Memory {
    /// None when QEMU lacks what is needed. To be asked once there is a processor.
    pub fn of(index: u32) -> Option<Self> {
        let access: Result<ReadWrite, _> = function!(c"cpu_memory_rw_debug");
        Some(Self { cpu: cpu(index)?, access: access.ok()? })
    }

    /// Fills the buffer with what stands at `address`; false where that is not mapped. It changes nothing in the guest.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        (self.access)(self.cpu, address, buffer.as_mut_ptr().cast(), buffer.len(), false) == 0
    }
}

type PageOf = extern "C" fn(*mut c_void, u64) -> u64;

/// Where a processor has a virtual address, as its own page tables and mode are now.
#[derive(Debug, Clone, Copy)]
pub struct Translation {
    cpu: *mut c_void,
    page: PageOf,
}

impl Translation {
    /// None when QEMU lacks what is needed. To be asked once there is a processor.
    pub fn of(index: u32) -> Option<Self> {
        // `hwaddr cpu_get_phys_page_debug(CPUState *, vaddr)` in every version from 7.2 on.
        let page: Result<PageOf, _> = function!(c"cpu_get_phys_page_debug");
        Some(Self { cpu: cpu(index)?, page: page.ok()? })
    }

    /// The physical address of the page that begins at this address; none where nothing is mapped.
    pub fn page(&self, address: u64) -> Option<u64> {
        Some((self.page)(self.cpu, address)).filter(|page| *page != u64::MAX)
    }
}

type ReadWritePhysical = extern "C" fn(u64, *mut c_void, u64, bool);
type IsDevice = extern "C" fn(u64) -> bool;

/// The memory by physical addresses, whatever is mapped.
#[derive(Debug, Clone, Copy)]
pub struct PhysicalMemory {
    access: ReadWritePhysical,
    is_device: Option<IsDevice>,
}

impl PhysicalMemory {
    /// None when QEMU lacks what is needed.
    pub fn find() -> Option<Self> {
        let access: Result<ReadWritePhysical, _> = function!(c"cpu_physical_memory_rw");
        let is_device: Result<IsDevice, _> = function!(c"cpu_physical_memory_is_io");
        Some(Self { access: access.ok()?, is_device: is_device.ok() })
    }

    /// Whether memory is at this address, and no device: reading that may change it. False where QEMU does not say it.
    pub fn is_memory(&self, address: u64) -> bool {
        self.is_device.is_some_and(|is_device| !is_device(address))
    }

    /// Fills the buffer with what stands at `address`. Where there is no memory, what is read means nothing.
    pub fn read(&self, address: u64, buffer: &mut [u8]) {
        (self.access)(address, buffer.as_mut_ptr().cast(), buffer.len() as u64, false);
    }
}
