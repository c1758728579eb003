//! A file of packets: one sequence, its names interned, its clock stated once.

use super::wire::{varint, Message};
use crate::ExportError;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The sequence that every packet is of.
const SEQUENCE: u64 = 1;
/// The clock of a trace's own time; what the boot's clock really is, stands in the description of its first track.
const BOOTTIME: u64 = 6;
const CLEARED: u64 = 1;
const NEEDED: u64 = 2;
const FLUSH_BYTES: usize = 1 << 20;

/// The fields of `TracePacket` that are written.
mod field {
    pub(super) const CLOCK_SNAPSHOT: u64 = 6;
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const INTERNED_DATA: u64 = 12;
    pub(super) const SEQUENCE_FLAGS: u64 = 13;
    pub(super) const TIMESTAMP_CLOCK: u64 = 58;
    pub(super) const DEFAULTS: u64 = 59;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
    pub(super) const FIRST_ON_SEQUENCE: u64 = 87;
}

/// Writes packets.
pub(super) struct Packets {
    path: PathBuf,
    file: File,
    bytes: Vec<u8>,
    packet: Message,
}

impl Packets {
    /// Begins the file with what holds for the whole sequence.
    pub(super) fn begin(path: &Path) -> Result<Self, ExportError> {
        let file = File::create(path).map_err(|error| ExportError::Write { path: path.to_owned(), error })?;
        let mut packets = Self { path: path.to_owned(), file, bytes: Vec::new(), packet: Message::default() };
        packets.packet.uint(field::SEQUENCE, SEQUENCE);
        packets.packet.uint(field::SEQUENCE_FLAGS, CLEARED | NEEDED);
        packets.packet.uint(field::FIRST_ON_SEQUENCE, 1);
        packets.packet.message(field::DEFAULTS, |defaults| defaults.uint(58, BOOTTIME));
        packets.close()?;
        packets.packet.uint(field::SEQUENCE, SEQUENCE);
        packets.packet.uint(field::TIMESTAMP, 0);
        packets.packet.uint(field::TIMESTAMP_CLOCK, BOOTTIME);
        packets.packet.message(field::CLOCK_SNAPSHOT, |snapshot| {
            snapshot.message(1, |clock| {
                clock.uint(1, BOOTTIME);
                clock.uint(2, 0);
            });
            snapshot.uint(2, BOOTTIME);
        });
        packets.close()?;
        Ok(packets)
    }

    /// A `TrackDescriptor`.
    pub(super) fn track(&mut self, fill: impl FnOnce(&mut Message)) -> Result<(), ExportError> {
        self.packet.uint(field::SEQUENCE, SEQUENCE);
        self.packet.uint(field::SEQUENCE_FLAGS, NEEDED);
        self.packet.message(field::TRACK_DESCRIPTOR, fill);
        self.close()
    }

    /// Some entries of `InternedData`.
    pub(super) fn interned(&mut self, entries: &Message) -> Result<(), ExportError> {
        self.packet.uint(field::SEQUENCE, SEQUENCE);
        self.packet.uint(field::SEQUENCE_FLAGS, NEEDED);
        self.packet.raw(field::INTERNED_DATA, &entries.bytes);
        self.close()
    }

    /// A `TrackEvent` at a time.
    pub(super) fn event(&mut self, time: u64, event: &Message) -> Result<(), ExportError> {
        self.packet.uint(field::TIMESTAMP, time);
        self.packet.uint(field::SEQUENCE, SEQUENCE);
        self.packet.uint(field::SEQUENCE_FLAGS, NEEDED);
        self.packet.raw(field::TRACK_EVENT, &event.bytes);
        self.close()
    }

    fn close(&mut self) -> Result<(), ExportError> {
        // `Trace.packet`
        self.bytes.push(0x0a);
        varint(&mut self.bytes, self.packet.bytes.len() as u64);
        self.bytes.extend_from_slice(&self.packet.bytes);
        self.packet.bytes.clear();
        if self.bytes.len() >= FLUSH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ExportError> {
        let written: io::Result<()> = self.file.write_all(&self.bytes);
        self.bytes.clear();
        written.map_err(|error| ExportError::Write { path: self.path.clone(), error })
    }

    /// Writes what is left.
    pub(super) fn end(mut self) -> Result<(), ExportError> {
        self.flush()
    }
}
