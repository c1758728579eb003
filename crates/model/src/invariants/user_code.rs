//! What must hold of user code.

use super::{Concern, Invariant};
use firstlight_profile::recording::Recording;

/// Each thread's blocks execute what the thread executed in user mode; nothing where user code was not followed. Blocks are counted
/// where they begin, user mode where the kernel is left and entered.
pub fn of_user_code(recording: &Recording) -> Option<Invariant> {
    let code = &recording.processes.code;
    if !code.followed {
        return None;
    }
    let mut by_task = vec![(0_u64, 0_u64); recording.running.user.len()];
    for run in &recording.running.runs {
        by_task[run.task as usize].0 += run.spent.user;
    }
    for row in &code.rows {
        by_task[row.task as usize].1 += row.instructions;
    }
    let wrong = by_task.iter().filter(|(ran, counted)| ran != counted).count() as u64;
    let placed: u64 = code.rows.iter().map(|row| row.instructions).sum();
    Some(Invariant {
        name: "user_functions_partition_user_mode",
        holds: wrong == 0 && code.unplaced == 0,
        value: wrong + code.unplaced,
        limit: Some(0),
        concerns: Concern::Processes,
        functions: vec![],
        figures: vec![
            ("instructions", placed),
            ("user_instructions", by_task.iter().map(|(ran, _)| ran).sum()),
            ("wrong_threads", wrong),
            ("outside_blocks", code.unplaced),
            ("blocks", code.blocks.len() as u64),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstlight_profile::recording::State;
    use firstlight_profile::tracker::Watch;
    use firstlight_profile::{isa::X86_64, SymbolTable, Tracker};
    use firstlight_schema::CodeKind;

    /// One task runs two blocks of a program, and the kernel between them.
    fn recorded() -> Recording {
        let symbols = SymbolTable::<X86_64>::parse(
            "1000 T _text\n1000 T __entry_text_start\n1000 T entry_SYSCALL_64\n1040 T __entry_text_end\n1100 T _etext\n",
        );
        let mut tracker = Tracker::new(&symbols, Watch::default());
        tracker.follow_user_code();
        tracker.kernel(100);
        tracker.leave_kernel(200);
        let file = tracker.code_source(CodeKind::File, Some("/bin/true"), 10);
        let [first, second] = [0x10, 0x20].map(|offset| tracker.code_block(file, offset));
        tracker.user_block(first, 5, 200);
        tracker.user_block(second, 3, 205);
        tracker.special(0, 208);
        tracker.leave_kernel(250);
        tracker.user_block(first, 5, 250);
        let mut file = Vec::new();
        tracker.snapshot(State::Ready, &[], 252).write(&mut file).expect("writes");
        Recording::decode(&file).expect("decodes")
    }

    fn holds(recording: &Recording) -> Option<bool> {
        of_user_code(recording).map(|invariant| invariant.holds)
    }

    #[test]
    fn the_blocks_of_a_sound_recording_add_up() {
        let recording = recorded();
        let rows: Vec<_> = recording.processes.code.rows.iter().map(|row| (row.block, row.instructions)).collect();
        assert_eq!(rows, [(1, 7), (2, 3)]);
        assert_eq!(holds(&recording), Some(true));
    }

    #[test]
    fn a_recording_without_user_code_has_nothing_to_hold() {
        let mut recording = recorded();
        recording.processes.code.followed = false;
        assert_eq!(holds(&recording), None);
    }

    #[test]
    fn an_instruction_that_no_block_has_is_found() {
        let mut recording = recorded();
        recording.processes.code.rows[0].instructions -= 1;
        assert_eq!(holds(&recording), Some(false));
    }

    #[test]
    fn code_that_was_executed_outside_of_all_blocks_is_found() {
        let mut recording = recorded();
        recording.processes.code.unplaced = 2;
        assert_eq!(holds(&recording), Some(false));
    }
}
