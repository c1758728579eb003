//! What holds of function graphs and function logs, whatever is in them.
#![expect(clippy::unwrap_used, reason = "a test stops where it is surprised")]

use firstlight_formats::evidence::{Evidence, ProblemKind};
use firstlight_formats::format::Input;
use firstlight_formats::registry::{by_name, READERS};
use std::collections::BTreeMap;
use std::fmt::Write;

fn read(format: &str, text: &str) -> Evidence {
    let mut bytes = text.as_bytes();
    by_name(format).unwrap().read(Input { name: "record", bytes: &mut bytes, nested: &READERS }).unwrap().remove(0)
}

/// The same numbers each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % limit
    }
}

/// A trace of several tasks on several processors, line by line, and the durations of its outermost calls together.
fn graph(dice: &mut Dice, lines: usize) -> (String, i64) {
    let mut text = "# tracer: function_graph\n".to_owned();
    let mut stacks: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 4];
    let (mut now, mut roots) = (1_000_000_u64, 0);
    let mut line = |now: u64, task: usize, duration: &str, depth: usize, body: &str| {
        let (seconds, micros) = (now / 1_000_000, now % 1_000_000);
        let indent = "  ".repeat(depth);
        writeln!(
            text,
            "{seconds:5}.{micros:06} |   {})   task-{task:<4} | {duration:>13} |  {indent}{body}",
            task % 2,
            task = task
        )
        .unwrap();
    };
    for number in 0..lines {
        now += 1 + dice.below(50);
        let task = dice.below(4) as usize;
        let stack = &mut stacks[task];
        let depth = stack.len();
        match dice.below(3) {
            0 if depth < 30 => {
                let function = dice.below(5);
                line(now, task + 1, "", depth, &format!("f{function}() {{"));
                stack.push((function, now));
            }
            1 if depth > 0 => {
                let (function, start) = stack.pop().unwrap();
                let tail = if number % 2 == 0 { format!(" /* f{function} */") } else { String::new() };
                line(now, task + 1, &format!("{}.000 us", now - start), depth - 1, &format!("}}{tail}"));
                if depth == 1 {
                    roots += (now - start) as i64 * 1000;
                }
            }
            _ => {
                line(now, task + 1, "0.250 us", depth, "leaf();");
                if depth == 0 {
                    roots += 250;
                }
            }
        }
    }
    for (task, stack) in stacks.iter_mut().enumerate() {
        while let Some((_, start)) = stack.pop() {
            now += 1;
            line(now, task + 1, &format!("{}.000 us", now - start), stack.len(), "}");
            if stack.is_empty() {
                roots += (now - start) as i64 * 1000;
            }
        }
    }
    (text, roots)
}

#[test]
fn self_of_all_rows_is_the_duration_of_the_outermost_calls() {
    for seed in 0..20 {
        let (text, roots) = graph(&mut Dice(seed), 2000);
        let evidence = read("function-graph", &text);
        let own: i64 = evidence.calls.unwrap().nodes.iter().filter_map(|node| node.self_ns).sum();
        assert_eq!(own, roots, "seed {seed}");
        assert_eq!(evidence.problems, [], "seed {seed}");
    }
}

#[test]
fn a_lost_tail_leaves_the_calls_open_and_takes_no_time_away() {
    let (text, _) = graph(&mut Dice(7), 2000);
    let lines: Vec<&str> = text.lines().collect();
    let whole = read("function-graph", &text).calls.unwrap();
    for end in [10, 100, 1000, 1999] {
        let evidence = read("function-graph", &(lines[..end].join("\n") + "\n"));
        let calls = evidence.calls.unwrap();
        assert!(calls.nodes.iter().all(|node| node.self_ns >= Some(0)), "what is bounded is not negative");
        let count = |nodes: &[firstlight_formats::evidence::CallNode]| nodes.iter().map(|node| node.calls).sum::<u64>();
        assert!(count(&calls.nodes) <= count(&whole.nodes));
    }
}

#[test]
fn spans_are_bounded_and_the_longest_stay() {
    let mut text = "# tracer: function_graph\n".to_owned();
    for number in 0..250_000_u64 {
        let duration = number % 5000;
        writeln!(text, "{:5}.{:06} |   0)  a-1  | {duration}.000 us |  f();", number / 100, number % 100 * 10_000)
            .unwrap();
    }
    let evidence = read("function-graph", &text);
    let threshold: i64 =
        evidence.facts.iter().find(|(name, _)| name == "trace.span_threshold_ns").unwrap().1.parse().unwrap();
    let long = (0..250_000_i64).filter(|number| number % 5000 * 1000 >= threshold).count();
    assert!(threshold > 0 && evidence.spans.len() <= 100_000);
    assert_eq!(evidence.spans.len(), long);
}

#[test]
fn lost_records_close_only_their_own_processor() {
    let text = "    1.000000 |   0)  a-1  |               |  f() {\n    1.000001 |   1)  b-2  |               |  g() {\n\
                CPU:0 [LOST 5 EVENTS]\n    1.000100 |   1)  b-2  |   99.000 us   |  }\n    1.000200 |   0)  a-1  |   1.000 us    |  h();\n";
    let evidence = read("function-graph", text);
    let kinds: Vec<ProblemKind> = evidence.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Lost, ProblemKind::Unfinished]);
    assert_eq!(evidence.problems[0].lost, Some(5));
}

/// A log with recursion, calls without an end and callers that were never entered, and its rows.
fn log(dice: &mut Dice) -> (String, Vec<(String, String, i64)>) {
    let mut text =
        " Entry      Delta      PID            Function              Called At\n--------   --------\n".to_owned();
    let mut rows = Vec::new();
    for number in 0..1500 {
        let (function, caller) = (format!("f{}", dice.below(12)), format!("f{}", dice.below(14)));
        let delta = match dice.below(20) {
            0 => -1,
            _ => dice.below(900) as i64,
        };
        writeln!(text, "{:8} {delta:8} {:7} {function} {caller}+0x10", number * 7, dice.below(3)).unwrap();
        rows.push((function, caller, delta));
    }
    (text, rows)
}

#[test]
fn the_table_counts_as_kd_does() {
    for seed in 0..20 {
        let (text, rows) = log(&mut Dice(seed));
        let table = read("kft", &text).kd;
        let mut seen: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
        let mut callees: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for (function, caller, delta) in &rows {
            let row = seen.entry(function).or_default();
            (row.0, row.1) = (row.0 + 1, row.1 + delta);
            if let Some(caller_row) = seen.get_mut(caller.as_str()) {
                caller_row.2 += if *delta == -1 { 0 } else { *delta };
                *callees.entry((caller, function)).or_default() += 1;
            }
        }
        assert_eq!(table.len(), seen.len());
        assert!(table.windows(2).all(|pair| pair[0].time_us >= pair[1].time_us));
        for row in &table {
            let (count, time, sub) = seen[row.function.as_str()];
            assert_eq!((row.count, row.time_us, row.sub_time_us), (count, time, Some(sub)));
            assert_eq!(row.average_us, Some(if time == -1 { -1 } else { time.div_euclid(count) }));
            assert_eq!(row.local_us, Some(if time == -1 { -1 } else { time - sub }));
            let largest =
                callees.keys().filter(|(caller, _)| *caller == row.function).map(|(_, callee)| seen[callee].1).max();
            let most = row.max_sub.as_deref();
            assert_eq!(most.map(|callee| seen[callee].1), largest);
            assert_eq!(row.max_sub_count, Some(most.map_or(0, |callee| callees[&(row.function.as_str(), callee)])));
        }
    }
}

#[test]
fn recursion_counts_once_in_the_tree_and_at_each_level_in_the_table() {
    let text = "Entry Delta\n--------\n0 100 1 walk main+0x1\n10 60 1 walk walk+0x1\n20 30 1 walk walk+0x1\n";
    let evidence = read("kft", text);
    assert_eq!(evidence.kd[0].time_us, 190);
    assert_eq!(evidence.calls.unwrap().nodes.iter().filter_map(|node| node.self_ns).sum::<i64>(), 100_000);
}

#[test]
fn a_call_without_end_lasts_as_long_as_its_caller_or_the_log() {
    let text = "Entry Delta\n--------\n0 -1 1 start none+0x1\n10 50 1 init start+0x1\n20 -1 1 lost init+0x1\n200 100 1 late start+0x1\n";
    let evidence = read("kft", text);
    let calls = evidence.calls.unwrap();
    let own: BTreeMap<&str, Option<i64>> =
        calls.nodes.iter().map(|node| (calls.functions[node.function as usize].0.as_str(), node.self_ns)).collect();
    let known = ["start", "init", "lost", "late"].map(|function| own[function]);
    assert_eq!(known, [Some(150_000), Some(10_000), Some(40_000), Some(100_000)]);
}

#[test]
fn many_calls_without_end_do_not_take_quadratic_work() {
    let mut text = "Entry Delta\n--------\n".to_owned();
    for number in 0..50_000 {
        writeln!(text, "{number} -1 1 f{} f{}+0x1", number % 50, (number + 49) % 50).unwrap();
    }
    let evidence = read("kft", &text);
    assert_eq!(evidence.understood, 50_000);
    assert!(evidence.problems.iter().any(|problem| problem.kind == ProblemKind::Implausible), "the depth is bounded");
}
