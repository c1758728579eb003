//! The kernel's memory by its own page table, whatever address space is current.

use firstlight_isa::{Area, Isa, Userspace};
use firstlight_profile::SymbolTable;
use firstlight_qemu::PhysicalMemory;

/// The bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
/// The largest physical memory of x86_64's direct map (`mm.rst`).
const DIRECT_MAP_BYTES: u64 = 1 << 46;

/// The kernel's memory.
#[derive(Debug, Clone, Copy)]
pub struct KernelMemory {
    physical: PhysicalMemory,
    userspace: &'static Userspace,
    root: u64,
    /// Where all physical memory is mapped, once that was compared with the page table.
    direct: Option<u64>,
}

impl KernelMemory {
    /// None where QEMU, the architecture or the kernel's symbols lack what is needed.
    pub fn find<I: Isa>(symbols: &SymbolTable<I>) -> Option<Self> {
        let userspace = I::USERSPACE?;
        let root = userspace.page_table.iter().find_map(|name| symbols.address(name))?;
        Some(Self {
            physical: PhysicalMemory::find()?,
            userspace,
            root: root.wrapping_sub(I::IMAGE_OFFSET?),
            direct: None,
        })
    }

    /// Looks for the area that maps all physical memory: what stands there is read without a walk from then on. To be called when
    /// the kernel's page table is complete.
    pub fn find_direct_map<I: Isa>(&mut self, symbols: &SymbolTable<I>) {
        let start = area(&self.userspace.direct_map, symbols, |at| self.word(at));
        let is_there = |start: &u64| self.translate(start.wrapping_add(self.root)) == Some(self.root);
        self.direct = start.filter(is_there);
    }

    /// The physical address behind an address of the kernel's.
    pub fn translate(&self, address: u64) -> Option<u64> {
        let direct = self.direct.and_then(|start| address.checked_sub(start)).filter(|at| *at < DIRECT_MAP_BYTES);
        direct.or_else(|| self.walk(address))
    }

    fn walk(&self, address: u64) -> Option<u64> {
        (self.userspace.translate)(self.root, address, &mut |at| Some(self.physical_word(at)))
    }

    /// The word at a physical address.
    pub fn physical_word(&self, address: u64) -> u64 {
        let mut word = [0; 8];
        self.physical.read(address, &mut word);
        u64::from_le_bytes(word)
    }

    /// Fills the buffer with what stands at `address`; false where that is not mapped.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let mut at = address;
        let mut rest = buffer;
        while !rest.is_empty() {
            let within = (PAGE_BYTES - at % PAGE_BYTES) as usize;
            let (now, later) = rest.split_at_mut(within.min(rest.len()));
            let Some(physical) = self.translate(at) else { return false };
            self.physical.read(physical, now);
            at = at.wrapping_add(now.len() as u64);
            rest = later;
        }
        true
    }

    /// The word at an address.
    pub fn word(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.read(address, &mut word).then(|| u64::from_le_bytes(word))
    }

    /// The half word at an address.
    pub fn half(&self, address: u64) -> Option<u32> {
        let mut half = [0; 4];
        self.read(address, &mut half).then(|| u32::from_le_bytes(half))
    }

    /// The text at an address, up to a NUL or so many bytes.
    pub fn text(&self, address: u64, longest: usize) -> Option<String> {
        text(longest, address, |at, buffer| self.read(at, buffer))
    }
}

/// Where an area of the kernel's memory begins; `word` reads that memory.
pub fn area<I: Isa>(area: &Area, symbols: &SymbolTable<I>, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    symbols.address(area.symbol).map_or(Some(area.address), word)
}

/// The text that `read` finds at an address, up to a NUL or so many bytes. What is no UTF-8 is replaced.
pub fn text(longest: usize, address: u64, read: impl Fn(u64, &mut [u8]) -> bool) -> Option<String> {
    let mut bytes = Vec::new();
    let mut at = address;
    while bytes.len() < longest {
        // No further than the page: the next one may not be there.
        let length = (PAGE_BYTES - at % PAGE_BYTES).min(64) as usize;
        let mut piece = vec![0; length];
        if !read(at, &mut piece) {
            return None;
        }
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            bytes.extend_from_slice(&piece[..end]);
            break;
        }
        bytes.extend_from_slice(&piece);
        at = at.wrapping_add(length as u64);
    }
    bytes.truncate(longest);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
