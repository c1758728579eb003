//! The guest's general registers, where QEMU keeps them.
//!
//! Translated code writes registers back at the end of each block, so at a block's first instruction QEMU's own array is up to date; in
//! the middle of a block it is not. The array is found by asking QEMU's debugger interface for every register once, and looking for the
//! answers side by side in the processor's object.

use crate::{cpu, symbol};
use std::ffi::{c_int, c_void, CStr};

// `ArchCPU` with its `CPUState` in front is smaller than this in 7.2 and in 10.0.
const CPU_BYTES: usize = 64 * 1024;

// `GByteArray` of GLib.
#[repr(C)]
struct Bytes {
    data: *mut u8,
    length: u32,
}

type NewBytes = extern "C" fn() -> *mut Bytes;
type FreeBytes = extern "C" fn(*mut Bytes, c_int) -> *mut u8;
type ReadRegister = extern "C" fn(*mut c_void, *mut Bytes, c_int) -> c_int;

/// The words of a processor's object: its registers are among them.
pub fn words(index: u32) -> Option<Vec<u64>> {
    let cpu = cpu(index)?.cast::<u64>();
    // SAFETY: the offsets lie within the object, which lives as long as QEMU does; its thread is the one that runs this.
    Some((0..CPU_BYTES / 8).map(|at| unsafe { cpu.add(at).read() }).collect())
}

/// The general registers of a processor.
#[derive(Debug, Clone, Copy)]
pub struct Registers {
    array: *const u64,
    number: usize,
}

impl Registers {
    /// Looks for the registers of a processor, while it is about to execute the first instruction of a block.
    ///
    /// `read` names QEMU's function for debuggers; `order` has the debugger's numbers in the order of QEMU's array. None where
    /// QEMU lacks what is needed, or the answers stand at more places than one.
    pub fn find(index: u32, read: &[&CStr], order: &[i32]) -> Option<Self> {
        let cpu = cpu(index)?;
        let read = read.iter().find_map(|name| symbol(name))?;
        let new = symbol(c"g_byte_array_new")?;
        let free = symbol(c"g_byte_array_free")?;
        // SAFETY: `int x86_cpu_gdb_read_register(CPUState *, GByteArray *, int)` and its like, and GLib's functions, in every version.
        let (read, new, free) = unsafe {
            (
                std::mem::transmute::<*mut c_void, ReadRegister>(read),
                std::mem::transmute::<*mut c_void, NewBytes>(new),
                std::mem::transmute::<*mut c_void, FreeBytes>(free),
            )
        };
        let value = |register: i32| {
            let bytes = new();
            let length = read(cpu, bytes, register);
            // SAFETY: GLib made the array, and it holds as many bytes as it says.
            let value = unsafe {
                let full = length == 8 && (*bytes).length == 8;
                full.then(|| (*bytes).data.cast::<u64>().read_unaligned())
            };
            free(bytes, 1);
            value
        };
        let wanted: Vec<u64> = order.iter().map(|register| value(*register)).collect::<Option<_>>()?;
        let words = CPU_BYTES / 8 - wanted.len();
        // SAFETY: the offsets lie within the object, which lives as long as QEMU does; its thread is the one that runs this.
        let word = |at: usize| unsafe { cpu.cast::<u64>().add(at).read() };
        let holds = |at: &usize| wanted.iter().enumerate().all(|(offset, value)| word(at + offset) == *value);
        let mut places = (0..words).filter(holds);
        let place = places.next().filter(|_| places.next().is_none())?;
        // SAFETY: as above.
        Some(Self { array: unsafe { cpu.cast::<u64>().cast_const().add(place) }, number: wanted.len() })
    }

    /// The registers of another processor: they stand at the same place of its object.
    pub fn on(&self, own: u32, other: u32) -> Option<Self> {
        let (own, other) = (cpu(own)?.cast::<u8>(), cpu(other)?.cast::<u8>());
        let place = self.array.cast::<u8>() as usize - own as usize;
        Some(Self { array: other.cast_const().wrapping_add(place).cast(), number: self.number })
    }

    /// A register, by its place in the array; to be asked at the first instruction of a block.
    #[inline]
    pub fn get(&self, place: usize) -> u64 {
        self.register(place).get()
    }

    /// Where one register stands, by its place in the array.
    #[inline]
    pub fn register(&self, place: usize) -> Register {
        match place < self.number {
            // SAFETY: the place lies within the array.
            true => Register(unsafe { self.array.add(place) }),
            false => Register::default(),
        }
    }
}

static ZERO: u64 = 0;

/// One register of a processor, which is zero where it was not found.
#[derive(Debug, Clone, Copy)]
pub struct Register(*const u64);

impl Default for Register {
    fn default() -> Self {
        Self(&raw const ZERO)
    }
}

impl Register {
    /// Its value; to be asked at the first instruction of a block.
    #[inline]
    pub fn get(self) -> u64 {
        // SAFETY: it points into the array, which lives as long as QEMU does, or to the zero.
        unsafe { *self.0 }
    }
}
