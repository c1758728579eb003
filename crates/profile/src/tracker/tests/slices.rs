//! Slices of time: their edges, and that their sums are the tree at each edge.

use super::*;
use crate::recording::Instant;
use crate::slices::{by_end, edge_after, merged, NodeRow, STEP_NS};
use crate::turns::{turns, Turn};
use crate::userspace::Spent;
use firstlight_schema::CodeKind;

const MS: u64 = 1_000_000;

fn ends(recording: &Recording) -> Vec<(u64, u64)> {
    recording.slices.iter().map(|slice| (slice.end.instructions, slice.end.idle_ns)).collect()
}

/// What a function did in each slice: calls and instructions.
fn of(recording: &Recording, function: &str) -> Vec<(u64, u64)> {
    let is = |node: NodeId| recording.functions[recording.nodes[node as usize].function as usize].name == function;
    let sum = |rows: &[NodeRow]| {
        let rows = rows.iter().filter(|row| is(row.node));
        rows.fold((0, 0), |sum, row| (sum.0 + row.calls, sum.1 + row.self_instructions))
    };
    recording.slices.iter().map(|slice| sum(&slice.rows)).collect()
}

#[test]
fn a_stretch_is_divided_where_the_clock_reaches_an_edge_and_its_entry_is_in_the_first_part() {
    let mut boot = Boot::started();
    boot.call("work", 0x8ff8, 4 * MS);
    boot.ret("work", 0x8ff8, 31 * MS);
    let recording = boot.end(MS);
    assert_eq!(ends(&recording), [(10 * MS, 0), (20 * MS, 0), (30 * MS, 0), (36 * MS, 0)]);
    assert_eq!(of(&recording, "work"), [(1, 6 * MS), (0, 10 * MS), (0, 10 * MS), (0, 5 * MS)]);
    assert_eq!(of(&recording, "start_kernel"), [(1, 4 * MS), (0, 0), (0, 0), (0, MS)]);
}

#[test]
fn an_edge_in_the_middle_of_idling_is_a_cut_there() {
    let mut boot = Boot::started();
    let now = boot.pass(12 * MS);
    boot.tracker.idle(29 * MS, now);
    let now = boot.pass(MS);
    boot.tracker.idle(29 * MS, now);
    let recording = boot.end(7 * MS);
    let at = |instructions, idle| (instructions * MS, idle * MS);
    assert_eq!(ends(&recording), [at(10, 0), at(12, 8), at(12, 18), at(12, 28), at(20, 29)]);
    assert_eq!(of(&recording, "start_kernel"), [(1, 10 * MS), (0, 2 * MS), (0, 0), (0, 0), (0, 8 * MS)]);
}

#[test]
fn idling_up_to_an_edge_ends_the_slice_there() {
    let mut boot = Boot::started();
    let now = boot.pass(3 * MS);
    boot.tracker.idle(7 * MS, now);
    let recording = boot.end(MS);
    assert_eq!(ends(&recording), [(3 * MS, 7 * MS), (4 * MS, 7 * MS)]);
}

#[test]
fn an_instruction_that_takes_longer_than_a_nanosecond_ends_a_slice_at_its_end() {
    let symbols = SymbolTable::parse(KERNEL);
    let watch = Watch { icount_shift: 10, ..Watch::default() };
    let tracker = Tracker::new(&symbols, watch);
    let mut boot = Boot { tracker, symbols, now: 0 };
    boot.pass(20_000);
    let recording = boot.end(0);
    assert_eq!(ends(&recording), [(9_766, 0), (19_532, 0), (20_000, 0)]);
    const { assert!((9_765 << 10) < STEP_NS && (9_766 << 10) >= STEP_NS) };
}

#[test]
fn a_phase_ends_a_slice() {
    let mut boot = Boot::started();
    let now = boot.pass(4 * MS);
    boot.tracker.mark("lunch", MarkSource::Guest, "", now);
    let recording = boot.end(MS);
    assert_eq!(ends(&recording), [(4 * MS, 0), (5 * MS, 0)]);
    let phases: Vec<&str> =
        recording.slices.iter().map(|slice| recording.marks[slice.mark as usize].mark.as_str()).collect();
    assert_eq!(phases, ["kernel_entry", "lunch"]);
}

/// Something that happens, how many steps of 100 us pass before, and how long the clock idles there.
fn happenings() -> impl Strategy<Value = Vec<(Event, u64, u64)>> {
    proptest::collection::vec((event(), 0_u64..200, prop_oneof![3 => Just(0), 1 => 0_u64..300]), 0..120)
}

/// Plays what happens up to this instant of the clock; with copies as a loaded host takes them.
fn played(events: &[(Event, u64, u64)], copies: bool, until: u64) -> (Boot, u64) {
    let mut boot = Boot::new();
    let mut idled = 0;
    for (number, (event, after, idles)) in events.iter().enumerate() {
        if boot.now + after * 100_000 + idled >= until {
            break;
        }
        let now = boot.pass(after * 100_000);
        if now + idled + idles * 100_000 >= until {
            boot.tracker.idle(until - now, now);
            return (boot, until - now);
        }
        idled += idles * 100_000;
        boot.tracker.idle(idled, now);
        boot.happen(event.clone());
        if copies && number % 3 == 0 {
            boot.tracker.snapshot(State::Running, &[], now).write(Vec::new()).expect("writes");
        }
    }
    (boot, idled)
}

/// Instructions and idle time of all threads in each slice.
fn of_threads(recording: &Recording) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0); by_end(&recording.slices).count()];
    for (slice, _, Turn { spent, idle_ns }) in turns(recording) {
        let sum = &mut sums[slice as usize];
        *sum = (sum.0 + spent.user + spent.kernel + spent.interrupts, sum.1 + idle_ns);
    }
    sums
}

#[test]
fn a_run_that_crosses_an_edge_is_divided_there_also_in_user_mode_and_within_a_block() {
    let mut boot = Boot::new();
    boot.tracker.follow_user_code();
    boot.pass(2 * MS);
    assert!(boot.leave(0));
    let file = boot.tracker.code_source(CodeKind::File, Some("/bin/true"), 10);
    let [first, second] = [0x10, 0x20].map(|offset| boot.tracker.code_block(file, offset));
    let now = boot.now;
    boot.tracker.user_block(first, 9 * MS, now);
    let now = boot.pass(9 * MS);
    boot.tracker.user_block(second, 20 * MS, now);
    boot.enter("entry_SYSCALL_64", 20 * MS);
    let row = boot.tracker.system_call("read", [0; 3], None, boot.now);
    let now = boot.pass(4 * MS);
    assert_eq!(boot.tracker.returns_from_call(now), Some(row));
    boot.leave(0);
    boot.tracker.user_block(first, 9 * MS, now);
    let recording = boot.end(MS);
    let modes: Vec<[u64; 2]> =
        turns(&recording).iter().map(|(.., turn)| [turn.spent.user, turn.spent.kernel]).collect();
    assert_eq!(modes, [[8 * MS, 2 * MS], [10 * MS, 0], [10 * MS, 0], [2 * MS, 4 * MS]]);
    let code: Vec<Vec<(u32, u64)>> = recording
        .slices
        .iter()
        .map(|slice| slice.code.iter().map(|row| (row.block, row.instructions)).collect())
        .collect();
    let expected = [
        vec![(first, 8 * MS)],
        vec![(first, MS), (second, 9 * MS)],
        vec![(second, 10 * MS)],
        vec![(first, MS), (second, MS)],
    ];
    assert_eq!(code, expected);
    assert_eq!(recording.processes.calls[row].kernel_before, 2 * MS);
}

#[test]
fn what_ran_before_the_kernel_is_no_threads() {
    let symbols = SymbolTable::parse(KERNEL);
    let mut boot = Boot { tracker: Tracker::new(&symbols, Watch::default()), symbols, now: 0 };
    boot.pass(13 * MS);
    boot.tracker.kernel(13 * MS);
    let recording = boot.end(8 * MS);
    assert_eq!(of_threads(&recording), [(0, 0), (0, 0), (7 * MS, 0), (MS, 0)]);
    assert_eq!(recording.running.runs[0].spent.kernel, 8 * MS);
}

proptest! {
    #[test]
    fn threads_in_a_slice_sum_to_the_slice_and_over_all_slices_to_their_runs(events in happenings()) {
        let recording = played(&events, false, u64::MAX).0.end(0);
        let mut before = Instant::default();
        let mut expected = Vec::new();
        for (_, parts) in by_end(&recording.slices) {
            let end = parts[0].end;
            expected.push((end.instructions - before.instructions, end.idle_ns - before.idle_ns));
            before = end;
        }
        prop_assert_eq!(of_threads(&recording), expected);
        let mut tasks = vec![[0_u64; 3]; recording.running.user.len()];
        let figures = |spent: Spent| [spent.user, spent.kernel, spent.interrupts];
        for (_, task, turn) in turns(&recording) {
            for (sum, figure) in tasks[task as usize].iter_mut().zip(figures(turn.spent)) {
                *sum += figure;
            }
        }
        for run in &recording.running.runs {
            for (sum, figure) in tasks[run.task as usize].iter_mut().zip(figures(run.spent)) {
                *sum -= figure;
            }
        }
        prop_assert!(tasks.iter().all(|left| *left == [0; 3]));
    }

    #[test]
    fn slices_sum_to_the_tree_and_in_each_phase_to_the_phase(events in happenings()) {
        let (boot, _) = played(&events, false, u64::MAX);
        let recording = boot.end(0);
        for mark in 0..recording.marks.len() as u32 {
            let slices = recording.slices.iter().filter(|slice| slice.mark == mark);
            let phase = recording.phases.iter().filter(|row| row.mark == mark);
            let phase = phase.map(|row| NodeRow { node: row.node, calls: row.calls, self_instructions: row.self_instructions });
            prop_assert_eq!(merged(slices.flat_map(|slice| slice.rows.clone())), merged(phase));
        }
        let all = merged(recording.slices.iter().flat_map(|slice| slice.rows.clone()));
        let nodes = recording.nodes.iter().enumerate().filter(|(_, node)| node.calls + node.self_instructions > 0);
        let tree = nodes.map(|(index, node)| NodeRow { node: index as NodeId, calls: node.calls, self_instructions: node.self_instructions });
        prop_assert_eq!(all, tree.collect::<Vec<_>>());
        prop_assert_eq!(recording.slices.last().expect("one is open").end, recording.end);
    }

    #[test]
    fn every_edge_of_the_grid_is_a_cut(events in happenings()) {
        let recording = played(&events, false, u64::MAX).0.end(0);
        let clock: Vec<u64> = recording.slices.iter().map(|slice| slice.end.instructions + slice.end.idle_ns).collect();
        prop_assert!(clock.is_sorted());
        let mut edge = edge_after(0);
        while edge <= clock.last().copied().unwrap_or(0) {
            prop_assert!(clock.contains(&edge));
            edge = edge_after(edge);
        }
    }

    #[test]
    fn copies_of_a_boot_under_way_cut_nothing(events in happenings()) {
        let (with, without) = (played(&events, true, u64::MAX).0.end(0), played(&events, false, u64::MAX).0.end(0));
        prop_assert_eq!(with.slices, without.slices);
    }

    #[test]
    fn the_slices_up_to_an_edge_are_the_tree_of_a_recording_that_ends_there(events in happenings(), edge in 1_u64..60) {
        let until = edge * STEP_NS;
        let whole = played(&events, false, u64::MAX).0.end(0);
        // What happens at the edge itself comes after it: a mark there ends a slice of no length.
        let reached = whole.slices.iter().position(|slice| slice.end.instructions + slice.end.idle_ns >= until);
        if whole.end.instructions + whole.end.idle_ns > until {
            let (boot, idled) = played(&events, false, until);
            let rest = until - idled - boot.now;
            let part = boot.end(rest);
            let before = &whole.slices[..=reached.expect("the whole goes beyond the edge")];
            let sum = merged(before.iter().flat_map(|slice| slice.rows.clone()));
            let nodes = part.nodes.iter().enumerate().filter(|(_, node)| node.calls + node.self_instructions > 0);
            let tree = nodes.map(|(index, node)| NodeRow { node: index as NodeId, calls: node.calls, self_instructions: node.self_instructions });
            prop_assert_eq!(sum, tree.collect::<Vec<_>>());
        }
    }
}
