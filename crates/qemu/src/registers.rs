//! The guest's general registers, where QEMU keeps them.
//!
//! Translated code writes registers back at the end of each block, so at a block's first instruction QEMU's own array is up to date; in
//! the middle of a block it is not. The array is found by asking QEMU's debugger interface for every register once, and looking for the
//! answers side by side in the processor's object.

use crate::{cpu, symbol};
use std::ffi::{c_int, c_void, CStr};

// `ArchCPU` with its `CPUState` in front is smaller than this in 7.2 and in 10.0.
const CPU_BYTES: usize = 64 * 1024;
const WORD_BYTES: usize = 8;

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
    array: *const u8,
    number: usize,
    bytes: usize,
}

impl Registers {
    /// Looks for the registers of a processor, while it is about to execute the first instruction of a block.
    ///
    /// `read` names QEMU's function for debuggers; `order` has the debugger's numbers in the order of QEMU's array, below zero for a word
    /// that is none of them, and a register has so many `bytes`, four or eight. None where QEMU lacks what is needed, or the answers stand at more places than one.
    pub fn find(index: u32, read: &[&CStr], order: &[i32], bytes: usize) -> Option<Self> {
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
        let mut wanted = Vec::new();
        for register in order {
            if *register < 0 {
                wanted.push(None);
                continue;
            }
            let answer = new();
            let length = read(cpu, answer, *register);
            // SAFETY: GLib made the array, and it holds as many bytes as it says.
            let value = unsafe { std::slice::from_raw_parts((*answer).data, (*answer).length as usize) }.to_vec();
            free(answer, 1);
            if length != bytes as c_int || value.len() != bytes {
                return None;
            }
            wanted.push(Some(value));
        }
        // SAFETY: it lies within the object, which lives as long as QEMU does; its thread is the one that runs this.
        let object = unsafe { std::slice::from_raw_parts(cpu.cast::<u8>().cast_const(), CPU_BYTES) };
        let mut places = (0..CPU_BYTES - wanted.len() * bytes - WORD_BYTES).step_by(bytes);
        let is_word = |place: usize, value: &Option<Vec<u8>>| match value {
            Some(value) => object.get(place..place + bytes) == Some(value),
            None => true,
        };
        let mut holds = places
            .by_ref()
            .filter(|at| wanted.iter().enumerate().all(|(index, value)| is_word(at + index * bytes, value)));
        let place = holds.next().filter(|_| holds.next().is_none())?;
        // SAFETY: as above.
        Some(Self { array: unsafe { object.as_ptr().add(place) }, number: order.len(), bytes })
    }

    /// The registers of another processor: they stand at the same place of its object.
    pub fn on(&self, own: u32, other: u32) -> Option<Self> {
        let (own, other) = (cpu(own)?.cast::<u8>(), cpu(other)?.cast::<u8>());
        let place = self.array as usize - own as usize;
        Some(Self { array: other.cast_const().wrapping_add(place), ..*self })
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
            true => Register {
                word: unsafe { self.array.add(place * self.bytes) },
                mask: if self.bytes < WORD_BYTES { u64::MAX >> (8 * (WORD_BYTES - self.bytes)) } else { u64::MAX },
            },
            false => Register::default(),
        }
    }
}

static ZERO: u64 = 0;

/// One register of a processor, which is zero where it was not found.
#[derive(Debug, Clone, Copy)]
pub struct Register {
    /// Where eight bytes can be read.
    word: *const u8,
    /// Those bits of them that are the register's.
    mask: u64,
}

impl Default for Register {
    fn default() -> Self {
        Self { word: (&raw const ZERO).cast(), mask: u64::MAX }
    }
}

impl Register {
    /// Its value; to be asked at the first instruction of a block.
    #[inline]
    pub fn get(self) -> u64 {
        // SAFETY: it points into the processor's object, which lives as long as QEMU does, or to the zero.
        unsafe { self.word.cast::<u64>().read_unaligned() & self.mask }
    }
}
