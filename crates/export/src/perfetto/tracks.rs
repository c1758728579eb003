//! The tracks: a process for each group, in it its tracks, a thread for each task of the kernel.

use super::packets::Packets;
use super::wire::Message;
use crate::timeline::{Track, GROUPS};
use crate::ExportError;

/// Where the numbers of the tracks of spans begin; those of groups and of what is not a span lie below.
const FIRST_SPANS: u64 = 1 << 20;
const FIRST_COUNTER: u64 = 1 << 10;
const EXPLICIT_ORDER: u64 = 3;
/// No Linux gives a task such a number, so that a group is not taken for one.
const FIRST_PID: u64 = 1 << 22;

/// What a boot has beside its spans, below the groups of those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Marks,
    Log,
}

impl Beside {
    pub(super) fn uuid(self) -> u64 {
        match self {
            Self::Marks => 100,
            Self::Log => 101,
        }
    }
}

pub(super) const LOG_GROUP: usize = GROUPS.len();
pub(super) const COUNTER_GROUP: usize = GROUPS.len() + 1;

fn group_uuid(group: usize) -> u64 {
    group as u64 + 1
}

/// Describes the root, which gives the groups their order.
pub(super) fn root(packets: &mut Packets) -> Result<(), ExportError> {
    packets.track(|track| {
        track.uint(1, 0);
        track.uint(11, EXPLICIT_ORDER);
    })
}

/// Describes a group as a process.
pub(super) fn group(packets: &mut Packets, group: usize, name: &str, said: &str) -> Result<(), ExportError> {
    packets.track(|track| {
        track.uint(1, group_uuid(group));
        track.text(2, name);
        track.message(3, |process| {
            process.uint(1, FIRST_PID + group as u64);
            process.text(6, name);
        });
        track.uint(11, EXPLICIT_ORDER);
        track.uint(12, group as u64);
        if !said.is_empty() {
            track.text(14, said);
        }
    })
}

fn child(track: &mut Message, uuid: u64, group: usize, name: &str, rank: u64) {
    track.uint(1, uuid);
    track.uint(5, group_uuid(group));
    track.text(2, name);
    track.uint(12, rank);
}

/// Describes the track of marks or of the log.
pub(super) fn beside(packets: &mut Packets, what: Beside) -> Result<(), ExportError> {
    let (group, name) = match what {
        Beside::Marks => (0, "marks"),
        Beside::Log => (LOG_GROUP, "log"),
    };
    packets.track(|track| child(track, what.uuid(), group, name, 0))
}

/// Describes a counter; returns its number.
pub(super) fn counter(packets: &mut Packets, place: usize, name: &str) -> Result<u64, ExportError> {
    let uuid = FIRST_COUNTER + place as u64;
    packets.track(|track| {
        child(track, uuid, COUNTER_GROUP, name, place as u64);
        track.message(8, |counter| {
            let (unit, factor) = match name {
                _ if name.ends_with("_ns") => (1, 1),
                _ if name.ends_with("_us") => (1, 1_000),
                _ if name.ends_with("_bytes") => (3, 1),
                _ if name.ends_with("_kib") || name.ends_with("_kb") => (3, 1024),
                _ => (2, 1),
            };
            counter.uint(3, unit);
            if factor != 1 {
                counter.uint(4, factor);
            }
        });
    })?;
    Ok(uuid)
}

/// Gives every lane of a track a number, and describes it when it is met first.
pub(super) struct Lanes {
    next: u64,
}

impl Lanes {
    pub(super) fn new() -> Self {
        Self { next: FIRST_SPANS }
    }

    /// Describes a lane of *track*, the rank of which is *rank* in its group; returns its number.
    ///
    /// Lanes of one name are shown as one track. A thread has one lane only: what overlaps there stands beside it.
    pub(super) fn describe(
        &mut self,
        packets: &mut Packets,
        track: &Track,
        rank: usize,
        lane: usize,
    ) -> Result<u64, ExportError> {
        let uuid = self.next;
        self.next += 1;
        let task = task_of(track);
        packets.track(|message| match task {
            Some(task) if lane == 0 => {
                message.uint(1, uuid);
                message.message(4, |thread| {
                    thread.uint(1, FIRST_PID + track.group as u64);
                    thread.uint(2, task);
                    thread.text(5, &track.name);
                });
                message.uint(12, rank as u64 + 1);
            }
            Some(_) => child(message, uuid, track.group, &format!("{} (overlapping)", track.name), rank as u64 + 1),
            None => child(message, uuid, track.group, &track.name, rank as u64 + 1),
        })?;
        Ok(uuid)
    }
}

/// The number of the kernel's task that a track stands for.
fn task_of(track: &Track) -> Option<u64> {
    let number = track.name.strip_prefix("task ")?.parse().ok()?;
    (GROUPS.get(track.group)?.0 == "Kernel" && (1..FIRST_PID).contains(&number)).then_some(number)
}
