//! Lines of several records.

use crate::made::{boot, kernel, record, LINES, MS};
use firstlight_formats::evidence::Clock;

#[test]
fn lines_of_two_records_stand_in_order_of_time_each_once() {
    let journal = [(15, "an application spoke"), (20, "second thing happened"), (95, "nothing more")];
    let mut journal = kernel(&journal);
    journal.clock = Clock::Monotonic;
    let boot = boot(&[record("dmesg", vec![kernel(&LINES)]), record("journal", vec![journal])]);
    let (texts, times) = (boot.texts("log", 3), boot.integers("log", 1));
    let told: Vec<(i64, String)> =
        times.into_iter().zip(texts).map(|(at, text)| (at.unwrap() / MS, text.unwrap())).collect();
    let expected: Vec<(i64, String)> = [
        (0, "first thing happened"),
        (5, "an application spoke"),
        (10, "second thing happened"),
        (20, "third thing happened"),
        (80, "last thing happened"),
        (85, "nothing more"),
    ]
    .map(|(at, text)| (at, text.to_owned()))
    .to_vec();
    assert_eq!(told, expected);
}
