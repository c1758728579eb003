//! The requests in a virtio queue: what the guest asks of the disk, as the virtio specification 1.2, 2.7 and 5.2.6, has it.

use crate::emulator::{Emulator, Rings};
use crate::model::{Kind, Request};

const SECTOR_BYTES: u64 = 512;
const HAS_NEXT: u16 = 1;
const IS_INDIRECT: u16 = 4;
const TYPE_IN: u32 = 0;
const TYPE_OUT: u32 = 1;
const TYPE_FLUSH: u32 = 4;
const HEADER_BYTES: u64 = 16;
const STATUS_BYTES: u64 = 1;
const DESCRIPTOR_BYTES: u64 = 16;

/// How far the requests of a queue are known.
#[derive(Debug, Default)]
pub struct Queue {
    rings: Option<Rings>,
    seen: u16,
}

#[derive(Clone, Copy)]
struct Descriptor {
    address: u64,
    length: u32,
    flags: u16,
    next: u16,
}

impl Queue {
    /// The requests that came since this was called before; nothing for what the device answers without its data.
    pub fn new_requests(&mut self, emulator: &Emulator, rings: Rings) -> Vec<Request> {
        let available = emulator.half(rings.available + 2);
        // A driver that sets the queue up begins at 0; so does one that sets it up again at the same place.
        if self.rings.replace(rings) != Some(rings) || available.wrapping_sub(self.seen) > rings.length {
            self.seen = 0;
        }
        let mut requests = Vec::new();
        while self.seen != available && requests.len() < usize::from(rings.length) {
            let place = u64::from(self.seen % rings.length);
            self.seen = self.seen.wrapping_add(1);
            requests.extend(request(emulator, rings, emulator.half(rings.available + 4 + 2 * place)));
        }
        requests
    }

    /// Whether the device has answered all of them.
    pub fn is_served(&self, emulator: &Emulator) -> bool {
        self.rings.is_none_or(|rings| emulator.half(rings.used + 2) == self.seen)
    }
}

fn descriptor(emulator: &Emulator, table: u64, index: u16) -> Descriptor {
    let mut bytes = [0; DESCRIPTOR_BYTES as usize];
    emulator.memory.read(table + DESCRIPTOR_BYTES * u64::from(index), &mut bytes);
    let [a0, a1, a2, a3, a4, a5, a6, a7, l0, l1, l2, l3, f0, f1, n0, n1] = bytes;
    Descriptor {
        address: u64::from_le_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
        length: u32::from_le_bytes([l0, l1, l2, l3]),
        flags: u16::from_le_bytes([f0, f1]),
        next: u16::from_le_bytes([n0, n1]),
    }
}

fn request(emulator: &Emulator, rings: Rings, head: u16) -> Option<Request> {
    let mut table = rings.descriptors;
    let mut current = descriptor(emulator, table, head);
    if current.flags & IS_INDIRECT != 0 {
        table = current.address;
        current = descriptor(emulator, table, 0);
    }
    let mut header = [0; HEADER_BYTES as usize];
    emulator.memory.read(current.address, &mut header);
    let mut total = u64::from(current.length);
    // A chain is no longer than the specification lets it be; a hostile one may be a circle.
    for _ in 0..u16::MAX {
        if current.flags & HAS_NEXT == 0 {
            break;
        }
        current = descriptor(emulator, table, current.next);
        total += u64::from(current.length);
    }
    let [t0, t1, t2, t3, _, _, _, _, sector @ ..] = header;
    let bytes = total.saturating_sub(HEADER_BYTES + STATUS_BYTES);
    let kind = match u32::from_le_bytes([t0, t1, t2, t3]) {
        TYPE_IN => Kind::Read,
        TYPE_OUT => Kind::Write,
        TYPE_FLUSH => Kind::Flush,
        _ => return None,
    };
    Some(Request { kind, start: u64::from_le_bytes(sector).wrapping_mul(SECTOR_BYTES), bytes })
}
