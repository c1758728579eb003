//! The head of an uncompressed kernel (`Image`), of the architectures that have one.

use crate::{Flow, Isa};

/// Where in the head the sign of the architecture stands.
const SIGN_AT: usize = 0x38;
/// Where it has the size of the image in memory.
const SIZE_AT: usize = 16;

/// Where the code begins, if these bytes at this address are a head with this sign.
///
/// The first instruction jumps there; or the second one, at `second`, where the first is the sign of an EFI program.
pub fn entry<I: Isa>(head: &[u8], address: u64, sign: &[u8], second: usize) -> Option<u64> {
    if head.get(SIGN_AT..SIGN_AT + sign.len()) != Some(sign) {
        return None;
    }
    let flow = |at: usize| Some(I::flow(head.get(at..at + I::LONGEST_INSTRUCTION as usize)?, address + at as u64));
    [0, second].into_iter().find_map(|at| match flow(at)? {
        Flow::Jump(target) => Some(target),
        _ => None,
    })
}

/// Bytes of the image in memory, with its unset data; none where the head does not say it.
pub fn bytes(head: &[u8]) -> Option<u64> {
    let bytes = head.get(SIZE_AT..SIZE_AT + 8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?)).filter(|bytes| *bytes > 0)
}
