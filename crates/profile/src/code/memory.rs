//! The guest's memory, as far as the names of its code need it.

use firstlight_isa::Isa;

/// Memory that can be read by the addresses the kernel uses. Reading changes nothing in the guest.
pub trait Memory {
    /// The architecture of the processor whose memory it is.
    type Isa: Isa;

    /// Fills the buffer with what stands at `address`; false where that is not mapped.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool;

    /// The word at `address`.
    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0_u8; 8];
        self.read(address, bytes.get_mut(..Self::Isa::WORD_BYTES)?).then(|| u64::from_le_bytes(bytes))
    }

    /// So many bytes from `address` on.
    fn bytes(&self, address: u64, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0_u8; count];
        self.read(address, &mut bytes).then_some(bytes)
    }
}

const PAGE_BYTES: u64 = 4096;
/// More members than any list here has: a chain that is longer is none.
const LONGEST_LIST: usize = 8_192;

/// Whether an address can be one of the kernel's.
pub(super) fn is_kernel<M: Memory>(address: u64) -> bool {
    address >= M::Isa::KERNEL_HALF
}

/// Whether an address begins a page of the kernel's.
pub(super) fn is_page<M: Memory>(address: u64) -> bool {
    is_kernel::<M>(address) && address % PAGE_BYTES == 0
}

/// The word at an offset of some bytes; 0 behind their end.
pub(super) fn word_at(bytes: &[u8], offset: usize) -> u64 {
    let word = bytes.get(offset..offset + 8).and_then(|word| word.try_into().ok());
    u64::from_le_bytes(word.unwrap_or_default())
}

/// The 32-bit word at an offset of some bytes; 0 behind their end.
pub(super) fn half_at(bytes: &[u8], offset: usize) -> u32 {
    let word = bytes.get(offset..offset + 4).and_then(|word| word.try_into().ok());
    u32::from_le_bytes(word.unwrap_or_default())
}

/// The text up to the first zero byte, where it is one of printable ASCII and not empty.
pub(super) fn text_in(bytes: &[u8]) -> Option<&str> {
    let text = bytes.split(|byte| *byte == 0).next().filter(|text| !text.is_empty())?;
    std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// The members of a list of the kernel's (`struct list_head`), from its head on; each is the address of its links.
///
/// Members are added and removed so that a walk forward finds whole ones at any instruction (`list_add_rcu`,
/// `list_del_rcu`): the walk is sound whenever it is made.
pub(super) fn members<M: Memory>(head: u64, memory: &M) -> Vec<u64> {
    let mut found = Vec::new();
    let mut at = memory.word(head);
    while let Some(node) = at.filter(|node| *node != head && is_kernel::<M>(*node) && found.len() < LONGEST_LIST) {
        found.push(node);
        at = memory.word(node);
    }
    found
}

/// Whether something is still a member of its list: what comes next points back to it. What was removed has poison there.
pub(super) fn is_member<M: Memory>(node: u64, memory: &M) -> bool {
    memory.word(node).filter(|next| is_kernel::<M>(*next)).and_then(|next| memory.word(next.wrapping_add(8)))
        == Some(node)
}
