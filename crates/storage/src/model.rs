//! What a request costs on the disk that the model describes (`docs/reference/formats/storage-model.md`).

use serde::Deserialize;

const NS_PER_S: u128 = 1_000_000_000;

/// What a request of one kind costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Nanoseconds until the first byte moves.
    pub latency_ns: u64,
    /// The same where the request continues the one before.
    pub sequential_latency_ns: u64,
    /// Bytes of a second.
    pub bandwidth: u64,
}

/// A disk that serves one request after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Reads.
    pub read: Cost,
    /// Writes.
    pub write: Cost,
    /// Nanoseconds until what was written is safe.
    pub flush_ns: u64,
    /// How many bytes behind a read the disk has read ahead at most.
    pub read_ahead: u64,
    /// Bytes of a second that were read ahead and only have to be transferred.
    pub interface: u64,
}

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The disk's data goes to the guest.
    Read,
    /// The guest's data goes to the disk.
    Write,
    /// What was written has to be safe.
    Flush,
}

impl Kind {
    /// The letter that it has in the log.
    pub fn letter(self) -> char {
        match self {
            Self::Read => 'R',
            Self::Write => 'W',
            Self::Flush => 'F',
        }
    }
}

/// A request of the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What it is.
    pub kind: Kind,
    /// Where it begins on the disk, in bytes.
    pub start: u64,
    /// How much it moves.
    pub bytes: u64,
}

/// The disk: what it does, and when it is free.
#[derive(Debug)]
pub struct Disk {
    model: Model,
    free_ns: u64,
    /// Where the last read and the last write ended.
    read_end: Option<u64>,
    write_end: Option<u64>,
}

impl Disk {
    /// A disk that did nothing yet.
    pub fn new(model: Model) -> Self {
        Self { model, free_ns: 0, read_end: None, write_end: None }
    }

    /// The instant at which a request that comes now is done.
    pub fn serve(&mut self, request: Request, now_ns: u64) -> u64 {
        let begins = now_ns.max(self.free_ns);
        let end = request.start + request.bytes;
        let cost = match request.kind {
            Kind::Flush => self.model.flush_ns,
            Kind::Write => {
                let sequential = self.write_end.replace(end) == Some(request.start);
                latency(self.model.write, sequential) + transfer(request.bytes, self.model.write.bandwidth)
            }
            Kind::Read => {
                let sequential = self.read_end.replace(end) == Some(request.start);
                let ahead = if sequential { self.read_ahead(begins).min(request.bytes) } else { 0 };
                latency(self.model.read, sequential)
                    + transfer(request.bytes - ahead, self.model.read.bandwidth)
                    + transfer(ahead, self.model.interface)
            }
        };
        self.free_ns = begins + cost;
        self.free_ns
    }

    // What the disk has read ahead since it is free.
    fn read_ahead(&self, now_ns: u64) -> u64 {
        let read = u128::from(now_ns - self.free_ns) * u128::from(self.model.read.bandwidth) / NS_PER_S;
        self.model.read_ahead.min(u64::try_from(read).unwrap_or(u64::MAX))
    }
}

fn latency(cost: Cost, sequential: bool) -> u64 {
    if sequential {
        cost.sequential_latency_ns
    } else {
        cost.latency_ns
    }
}

fn transfer(bytes: u64, bandwidth: u64) -> u64 {
    u64::try_from(u128::from(bytes) * NS_PER_S / u128::from(bandwidth.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(read_ahead: u64) -> Model {
        let cost = |latency_ns, sequential_latency_ns, bandwidth| Cost { latency_ns, sequential_latency_ns, bandwidth };
        Model {
            read: cost(100_000, 40_000, 100_000_000),
            write: cost(200_000, 200_000, 50_000_000),
            flush_ns: 1_000_000,
            read_ahead,
            interface: 400_000_000,
        }
    }

    fn read(start: u64, bytes: u64) -> Request {
        Request { kind: Kind::Read, start, bytes }
    }

    #[test]
    fn a_read_costs_its_latency_and_its_bytes() {
        let mut disk = Disk::new(model(0));
        assert_eq!(disk.serve(read(0, 4096), 1_000), 1_000 + 100_000 + 40_960);
    }

    #[test]
    fn a_read_that_continues_costs_the_sequential_latency() {
        let mut disk = Disk::new(model(0));
        let done = disk.serve(read(8192, 4096), 0);
        assert_eq!(disk.serve(read(12_288, 4096), done), done + 40_000 + 40_960);
        assert_eq!(disk.serve(read(0, 4096), 10_000_000), 10_000_000 + 100_000 + 40_960);
    }

    #[test]
    fn a_request_waits_for_the_one_before() {
        let mut disk = Disk::new(model(0));
        let done = disk.serve(read(0, 4096), 0);
        assert_eq!(disk.serve(Request { kind: Kind::Flush, start: 0, bytes: 0 }, 10), done + 1_000_000);
    }

    #[test]
    fn what_was_read_ahead_is_only_transferred() {
        let mut disk = Disk::new(model(8192));
        let done = disk.serve(read(0, 4096), 0);
        // In 20,480 ns the disk reads 2,048 bytes.
        assert_eq!(disk.serve(read(4096, 4096), done + 20_480), done + 20_480 + 40_000 + 20_480 + 5_120);
    }

    #[test]
    fn no_more_is_read_ahead_than_the_disk_can_hold() {
        let mut disk = Disk::new(model(1024));
        let done = disk.serve(read(0, 4096), 0);
        let now = done + 1_000_000_000;
        assert_eq!(disk.serve(read(4096, 4096), now), now + 40_000 + 30_720 + 2_560);
    }

    #[test]
    fn writes_and_reads_have_places_of_their_own() {
        let mut disk = Disk::new(model(0));
        disk.serve(read(0, 4096), 0);
        let write = Request { kind: Kind::Write, start: 4096, bytes: 500 };
        assert_eq!(disk.serve(write, 1_000_000), 1_000_000 + 200_000 + 10_000);
        assert_eq!(disk.serve(read(4096, 4096), 2_000_000), 2_000_000 + 40_000 + 40_960);
    }
}
