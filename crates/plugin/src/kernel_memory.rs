//! The kernel's memory by its own page table, whatever address space is current.

use firstlight_isa::{Area, DirectMap, Isa, KernelTable, Paging, Userspace};
use firstlight_profile::SymbolTable;
use firstlight_qemu::{words, PhysicalMemory, Translation};
use std::ops::Range;

/// The bytes of the smallest page.
pub const PAGE_BYTES: u64 = 4096;
/// The largest physical memory of x86_64's direct map (`mm.rst`).
const DIRECT_MAP_BYTES: u64 = 1 << 46;
/// More memory than a guest has, and less than the smallest direct map of riscv64 (vm-layout.rst).
const MEMORY_BYTES: u64 = 1 << 36;
/// Of a register with the address of a page table: the address.
const TABLE_ADDRESS: u64 = 0x0000_ffff_ffff_f000;

/// What the search for the kernel's page table needs.
#[derive(Debug, Clone)]
pub struct Sight {
    /// Where the kernel's image lies in memory, where that was seen.
    pub image: Option<Range<u64>>,
    /// Addresses that the kernel's page table maps, among them one of memory that the kernel has allocated.
    pub mapped: Vec<u64>,
}

/// The kernel's page table.
#[derive(Debug, Clone, Copy)]
struct Table {
    root: u64,
    paging: Paging,
}

/// Addresses at which physical memory is mapped, and what is to be added to get there.
#[derive(Debug, Clone)]
struct Direct {
    addresses: Range<u64>,
    distance: u64,
}

/// The kernel's memory.
#[derive(Debug, Clone)]
pub struct KernelMemory {
    physical: PhysicalMemory,
    userspace: &'static Userspace,
    table: Option<Table>,
    image: Option<Range<u64>>,
    /// Where all physical memory is mapped, once that was compared with the page table.
    direct: Option<Direct>,
}

impl KernelMemory {
    /// None where QEMU, the architecture or the kernel's symbols lack what is needed.
    pub fn find<I: Isa>(symbols: &SymbolTable<I>) -> Option<Self> {
        let userspace = I::USERSPACE?;
        let table = match userspace.kernel_table {
            KernelTable::Symbol(names, paging) => {
                let root = names.iter().find_map(|name| symbols.address(name))?;
                Some(Table { root: root.wrapping_sub(I::IMAGE_OFFSET?), paging })
            }
            KernelTable::Register(_) | KernelTable::Image { .. } => None,
        };
        Some(Self { physical: PhysicalMemory::find()?, userspace, table, image: None, direct: None })
    }

    /// Finds the kernel's page table if it is in a processor register, and the area that maps all physical memory. Later reads in
    /// that area need no page walk. Call it in kernel mode once the page table is complete. Returns whether a table was found.
    pub fn look<I: Isa>(&mut self, cpu: u32, symbols: &SymbolTable<I>, sight: &Sight) -> bool {
        self.image.clone_from(&sight.image);
        match self.userspace.kernel_table {
            KernelTable::Register(forms) if self.table.is_none() => {
                self.table = self.table_of_register(cpu, forms, sight);
            }
            KernelTable::Image { table, head, forms } if self.table.is_none() => {
                let address = |names: &[&str]| names.iter().find_map(|name| symbols.address(name));
                let distance = address(table).zip(address(head)).map(|(table, head)| table.wrapping_sub(head));
                let root =
                    distance.zip(sight.image.as_ref()).map(|(distance, image)| image.start.wrapping_add(distance));
                self.table = root.and_then(|root| self.table_that_fits(cpu, forms, &[root], sight));
            }
            _ => {}
        }
        let Some(Table { root, paging }) = self.table else { return false };
        let direct = match self.userspace.direct_map {
            DirectMap::Area(place) => area(&place, symbols, |at| self.word(at)).map(|start| Direct {
                addresses: start..start.saturating_add(DIRECT_MAP_BYTES),
                distance: 0_u64.wrapping_sub(start),
            }),
            DirectMap::LowerHalf => {
                let start = paging.kernel_half();
                let addresses = start..start + (1 << (paging.address_bits - 1));
                let known =
                    sight.mapped.iter().filter(|at| addresses.contains(at)).find_map(|at| Some((*at, self.walk(*at)?)));
                known.map(|(at, physical)| Direct { addresses, distance: physical.wrapping_sub(at) })
            }
            DirectMap::Memory(place) => area(&place, symbols, |at| self.word(at)).and_then(|start| {
                let addresses = start..start.saturating_add(MEMORY_BYTES);
                let mut known = sight.mapped.iter().filter(|at| addresses.contains(at));
                let (at, physical) = known.find_map(|at| Some((*at, self.walk(*at)?)))?;
                Some(Direct { addresses, distance: physical.wrapping_sub(at) })
            }),
        };
        let is_there = |direct: &Direct| self.walk(root.wrapping_sub(direct.distance)) == Some(root);
        self.direct = direct.filter(is_there);
        true
    }

    // QEMU's interface for reading this register by name differs between versions. This function tries each word of the processor
    // object as the table's address: the first table is in the kernel's image.
    fn table_of_register(&self, cpu: u32, forms: &[Paging], sight: &Sight) -> Option<Table> {
        let image = sight.image.as_ref()?;
        let mut roots = words(cpu)?;
        roots.iter_mut().for_each(|word| *word &= TABLE_ADDRESS);
        roots.retain(|root| image.contains(root));
        roots.sort_unstable();
        roots.dedup();
        self.table_that_fits(cpu, forms, &roots, sight)
    }

    // The table whose page walk gives the same results as QEMU's own translation. It reads only memory: tables are in memory.
    fn table_that_fits(&self, cpu: u32, forms: &[Paging], roots: &[u64], sight: &Sight) -> Option<Table> {
        let translation = Translation::of(cpu)?;
        let wanted: Vec<(u64, u64)> = sight
            .mapped
            .iter()
            .filter(|at| (**at as i64) < 0)
            .filter_map(|at| {
                // As `struct page` of another form would be: what is compared is whole pages of the smallest size.
                let page = at & !0xfff;
                Some((page, translation.page(page)?))
            })
            .collect();
        let mut read = |at: u64| (at % 8 == 0 && self.physical.is_memory(at)).then(|| self.physical_word(at));
        let mut tables =
            forms.iter().flat_map(|paging| roots.iter().map(|root| Table { root: *root, paging: *paging }));
        tables.find(|Table { root, paging }| {
            let find = |at: u64, read: &mut dyn FnMut(u64) -> Option<u64>| {
                (self.userspace.translate)(*paging, *root, at, read)
            };
            wanted.len() > 1 && wanted.iter().all(|(at, physical)| find(*at, &mut read) == Some(*physical))
        })
    }

    /// Where the kernel's image lies in memory, where that was seen.
    pub fn image(&self) -> Option<&Range<u64>> {
        self.image.as_ref()
    }

    /// The steps of walks through page tables, once the kernel's own was found.
    pub fn paging(&self) -> Option<Paging> {
        self.table.map(|table| table.paging)
    }

    /// The first physical address that the area of all physical memory maps, where that area was found.
    pub fn first_mapped(&self) -> Option<u64> {
        self.direct.as_ref().map(|direct| direct.addresses.start.wrapping_add(direct.distance))
    }

    /// The physical address of the kernel's page table, once it was found.
    pub fn root(&self) -> Option<u64> {
        self.table.map(|table| table.root)
    }

    /// The image lies so much further up in memory than where kernels of this architecture mostly do, and its page table with it.
    pub fn image_moved(&mut self, by: u64) {
        if let Some(table) = &mut self.table {
            table.root = table.root.wrapping_add(by);
        }
    }

    /// The physical address behind an address of the kernel's.
    pub fn translate(&self, address: u64) -> Option<u64> {
        match &self.direct {
            Some(Direct { addresses, distance }) if addresses.contains(&address) => {
                Some(address.wrapping_add(*distance))
            }
            _ => self.walk(address),
        }
    }

    fn walk(&self, address: u64) -> Option<u64> {
        self.walk_from(self.table?.root, address)
    }

    /// The physical address behind an address, by the page table at a physical address.
    pub fn walk_from(&self, root: u64, address: u64) -> Option<u64> {
        (self.userspace.translate)(self.table?.paging, root, address, &mut |at| Some(self.physical_word(at)))
    }

    /// Fills the buffer with what stands at a physical address.
    pub fn read_physical(&self, address: u64, buffer: &mut [u8]) {
        self.physical.read(address, buffer);
    }

    /// The word at a physical address.
    pub fn physical_word(&self, address: u64) -> u64 {
        let mut word = [0; 8];
        self.physical.read(address, &mut word);
        u64::from_le_bytes(word)
    }

    /// Fills the buffer with what stands at `address`; false where that is not mapped.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.read_pages(address, buffer, |at| self.translate(at))
    }

    /// The same of an address of a process, by its page table.
    pub fn read_from(&self, root: u64, address: u64, buffer: &mut [u8]) -> bool {
        self.read_pages(address, buffer, |at| self.walk_from(root, at))
    }

    fn read_pages(&self, address: u64, buffer: &mut [u8], translate: impl Fn(u64) -> Option<u64>) -> bool {
        let mut at = address;
        let mut rest = buffer;
        while !rest.is_empty() {
            let within = (PAGE_BYTES - at % PAGE_BYTES) as usize;
            let (now, later) = rest.split_at_mut(within.min(rest.len()));
            let Some(physical) = translate(at) else { return false };
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

/// The text that `read` finds at an address, up to a NUL or so many bytes. What is not UTF-8 is replaced.
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
