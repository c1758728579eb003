//! Blocks and instructions, and the callbacks at them.

use crate::{function, symbol, version};
use std::ffi::{c_int, c_void};

/// A block that is being translated.
#[repr(C)]
#[derive(Debug)]
pub struct Block(c_void);

/// One of its instructions.
#[repr(C)]
#[derive(Debug)]
pub struct Instruction(c_void);

/// Called when a block is translated.
pub type OnTranslation = extern "C" fn(id: u64, block: *mut Block);
/// Called when a block or an instruction is about to be executed.
pub type OnExecution = extern "C" fn(vcpu: u32, data: *mut c_void);
/// Called when QEMU ends.
pub type OnExit = extern "C" fn(id: u64, data: *mut c_void);

// The smallest page of any architecture.
const PAGE_BYTES: u64 = 4096;

/// The callback reads no registers (`QEMU_PLUGIN_CB_NO_REGS`).
pub const NO_REGISTERS: c_int = 0;

/// The functions for blocks and instructions.
#[derive(Debug)]
pub struct Interface {
    /// The interface's version, as the plugin told QEMU.
    pub version: c_int,
    register_translation: extern "C" fn(u64, OnTranslation),
    register_exit: extern "C" fn(u64, OnExit, *mut c_void),
    block_length: extern "C" fn(*const Block) -> usize,
    block_address: extern "C" fn(*const Block) -> u64,
    block_instruction: extern "C" fn(*const Block, usize) -> *mut Instruction,
    instruction_size: extern "C" fn(*const Instruction) -> usize,
    instruction_address: extern "C" fn(*const Instruction) -> u64,
    instruction_place: extern "C" fn(*const Instruction) -> *const u8,
    instruction_data: *mut c_void,
    on_block: extern "C" fn(*mut Block, OnExecution, c_int, *mut c_void),
    on_instruction: extern "C" fn(*mut Instruction, OnExecution, c_int, *mut c_void),
}

impl Interface {
    /// Looks every function up.
    ///
    /// # Errors
    ///
    /// The name of the first function that QEMU does not have.
    pub fn load() -> Result<Self, &'static str> {
        Ok(Self {
            version: version(),
            register_translation: function!(c"qemu_plugin_register_vcpu_tb_trans_cb")?,
            register_exit: function!(c"qemu_plugin_register_atexit_cb")?,
            block_length: function!(c"qemu_plugin_tb_n_insns")?,
            block_address: function!(c"qemu_plugin_tb_vaddr")?,
            block_instruction: function!(c"qemu_plugin_tb_get_insn")?,
            instruction_size: function!(c"qemu_plugin_insn_size")?,
            instruction_address: function!(c"qemu_plugin_insn_vaddr")?,
            instruction_place: function!(c"qemu_plugin_insn_haddr")?,
            instruction_data: symbol(c"qemu_plugin_insn_data").ok_or("qemu_plugin_insn_data")?,
            on_block: function!(c"qemu_plugin_register_vcpu_tb_exec_cb")?,
            on_instruction: function!(c"qemu_plugin_register_vcpu_insn_exec_cb")?,
        })
    }

    /// Registers a callback for each translation of a block.
    pub fn register_translation(&self, id: u64, callback: OnTranslation) {
        (self.register_translation)(id, callback);
    }

    /// Registers a callback for QEMU's end.
    pub fn register_exit(&self, id: u64, callback: OnExit) {
        (self.register_exit)(id, callback, std::ptr::null_mut());
    }

    /// Where a block begins.
    pub fn address(&self, block: *mut Block) -> u64 {
        (self.block_address)(block)
    }

    /// How many instructions a block has.
    pub fn length(&self, block: *mut Block) -> usize {
        (self.block_length)(block)
    }

    /// One of a block's instructions.
    pub fn instruction(&self, block: *mut Block, index: usize) -> *mut Instruction {
        (self.block_instruction)(block, index)
    }

    /// Bytes of an instruction.
    pub fn size(&self, instruction: *mut Instruction) -> usize {
        (self.instruction_size)(instruction)
    }

    /// Where an instruction stands.
    pub fn instruction_address(&self, instruction: *mut Instruction) -> u64 {
        (self.instruction_address)(instruction)
    }

    /// The `N` bytes in front of an instruction, where they lie in the same page of the guest's memory.
    pub fn bytes_before<const N: usize>(&self, instruction: *mut Instruction) -> Option<[u8; N]> {
        let place = (self.instruction_place)(instruction);
        if place.is_null() || self.instruction_address(instruction) % PAGE_BYTES < N as u64 {
            return None;
        }
        // SAFETY: QEMU says where it has the instruction in its own memory, and a page of the guest's is one piece there.
        Some(unsafe { place.sub(N).cast::<[u8; N]>().read_unaligned() })
    }

    /// The instruction's bytes, at most 16. The longest instruction of any architecture has fewer.
    pub fn bytes<'a>(&self, instruction: *mut Instruction, buffer: &'a mut [u8; 16]) -> &'a [u8] {
        let size = self.size(instruction).min(buffer.len());
        if self.version >= 3 {
            // SAFETY: from version 3 on this is the function's signature; it writes at most `size` bytes.
            let copy: extern "C" fn(*const Instruction, *mut c_void, usize) -> usize =
                unsafe { std::mem::transmute(self.instruction_data) };
            copy(instruction, buffer.as_mut_ptr().cast(), size);
        } else {
            // SAFETY: before version 3 the function returns a pointer to the instruction's `size` bytes.
            unsafe {
                let at: extern "C" fn(*const Instruction) -> *const u8 = std::mem::transmute(self.instruction_data);
                std::ptr::copy_nonoverlapping(at(instruction), buffer.as_mut_ptr(), size);
            }
        }
        &buffer[..size]
    }

    /// Registers a callback for each execution of a block.
    pub fn on_block(&self, block: *mut Block, callback: OnExecution, data: *mut c_void) {
        (self.on_block)(block, callback, NO_REGISTERS, data);
    }

    /// Registers a callback for each execution of an instruction.
    pub fn on_instruction(&self, instruction: *mut Instruction, callback: OnExecution, data: *mut c_void) {
        (self.on_instruction)(instruction, callback, NO_REGISTERS, data);
    }
}
