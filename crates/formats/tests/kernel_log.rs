//! What holds of every kernel log, however it was cut, torn or mixed.
#![expect(clippy::unwrap_used, reason = "a test stops where it is surprised")]

use firstlight_formats::evidence::{Evidence, ProblemKind};
use firstlight_formats::format::{Head, Input, HEAD_BYTES};
use firstlight_formats::registry::{by_name, recognise, READERS};
use firstlight_formats::FormatError;

const FORMATS: [&str; 10] = [
    "printk",
    "serial",
    "grabserial",
    "kmsg",
    "dmesg-json",
    "lava",
    "pm-graph",
    "pm-graph-result",
    "grab-boot-data",
    "host-stamped",
];

fn read(format: &str, bytes: &[u8]) -> Result<Vec<Evidence>, FormatError> {
    let mut input = bytes;
    by_name(format).unwrap().read(Input { name: "log", bytes: &mut input, nested: &READERS })
}

/// The excerpts on the pages are small logs with every trap in them.
fn excerpts() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/formats/records");
    let pages =
        ["printk", "initcall", "probe", "async", "kmsg", "dmesg-json", "serial", "grabserial", "lava", "pm-graph"];
    let mut found = Vec::new();
    for page in pages.iter().chain(&["grab-boot-data", "host-stamped"]) {
        let text = std::fs::read_to_string(folder.join(format!("{page}.md"))).unwrap();
        for block in text.split("```record ").skip(1) {
            let body = block.split("\n```").next().unwrap();
            found.push(body.split_once('\n').unwrap().1.as_bytes().to_vec());
        }
    }
    assert!(found.len() > 20);
    found
}

/// A small generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// A log of initcalls on several tasks, with callers, 300 lines.
fn several_tasks() -> String {
    let mut text = String::from("[    0.000000][    T0] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP\n");
    for call in 0..150 {
        let (task, at) = (100 + call % 3, 1_000_003 + call * 1_237);
        text += &format!(
            "[{:5}.{:06}][ T{task}] calling  f{call}_init+0x0/0x10 [m{call}] @ {task}\n",
            at / 1_000_000,
            at % 1_000_000
        );
        let at = at + 1_100;
        text += &format!(
            "[{:5}.{:06}][ T{task}] initcall f{call}_init+0x0/0x10 [m{call}] returned 0 after 1098 usecs\n",
            at / 1_000_000,
            at % 1_000_000
        );
    }
    text
}

#[test]
fn a_cut_log_is_the_beginning_of_the_whole() {
    let text = several_tasks();
    let whole = read("printk", text.as_bytes()).unwrap().remove(0);
    for end in (60..text.len()).step_by(7) {
        let cut = read("printk", &text.as_bytes()[..end]).unwrap().remove(0);
        // Every line but the last one is there, and as it was.
        let lines = text[..end].matches('\n').count();
        assert!(cut.log.len() >= lines);
        for line in 0..lines {
            assert_eq!(cut.log.get(line), whole.log.get(line));
        }
        // So is every call that has returned; those that have not stay open.
        let returned = text[..end].matches(" usecs\n").count();
        for (at, span) in cut.spans.iter().enumerate().take(returned) {
            let then = whole.spans.get(at).unwrap();
            assert_eq!((span.name, span.duration_ns), (then.name, then.duration_ns), "cut at {end}");
        }
        let open = cut.spans.iter().filter(|span| span.end_ns.is_none()).count();
        let open_ended = [ProblemKind::Unfinished, ProblemKind::NeverReturned];
        let said = cut.problems.iter().any(|problem| open_ended.contains(&problem.kind));
        assert_eq!(open > 0, said, "cut at {end}");
        let ended = text.as_bytes()[end - 1] == b'\n';
        assert_eq!(cut.problems.iter().any(|problem| problem.kind == ProblemKind::Cut), !ended);
    }
}

#[test]
fn calls_of_several_processors_keep_their_own_ends() {
    // Every return is moved past the beginnings of the next two calls, which are of other tasks.
    let text = several_tasks();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let mut mixed = vec![text.lines().next().unwrap()];
    for three in lines.chunks(6) {
        for order in [0, 2, 4, 3, 1, 5] {
            mixed.extend(three.get(order));
        }
    }
    let found = read("printk", (mixed.join("\n") + "\n").as_bytes()).unwrap().remove(0);
    assert_eq!(found.spans.len(), 150);
    for span in &found.spans {
        assert_eq!(span.end_ns.unwrap() - span.start_ns.unwrap(), 1_100_000, "{}", span.name);
    }
}

#[test]
fn whatever_is_cut_torn_or_injected_nothing_panics() {
    let mut numbers = Numbers(1);
    let injected: [&[u8]; 14] = [
        b"\0",
        b"\x1b[31m",
        b"\x1b]0;",
        b"\xff\xfe",
        b"\r",
        b"\n",
        b"[",
        b"[99999999999999999999.999999] ",
        b"calling  ",
        b"initcall ",
        b" returned -9223372036854775808 after 99999999999999999999 usecs",
        b"probe of  returned 0 after 1 usecs\n",
        b"Linux version 99999999999999999999.1\n",
        b"9223372036854775807.999999999",
    ];
    for excerpt in excerpts() {
        for round in 0..60 {
            let mut bytes = excerpt.clone();
            for _ in 0..=round % 4 {
                let at = numbers.below(bytes.len());
                match numbers.below(4) {
                    0 => bytes.truncate(at),
                    1 => {
                        let what = injected[numbers.below(injected.len())];
                        bytes.splice(at..at, what.iter().copied());
                    }
                    2 => {
                        let end = (at + numbers.below(40)).min(bytes.len());
                        bytes.drain(at..end);
                    }
                    _ => {
                        let from = numbers.below(bytes.len());
                        let piece = bytes[from..(from + 80).min(bytes.len())].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
            }
            let _ = recognise(&Head { name: "log", bytes: &bytes[..bytes.len().min(HEAD_BYTES)] });
            for format in FORMATS {
                if let Ok(read) = read(format, &bytes) {
                    assert!(!read.is_empty(), "{format}: an empty answer");
                    for boot in &read {
                        for span in &boot.spans {
                            assert!(span.parent.is_none_or(|parent| parent < boot.spans.len()));
                            assert!(!span.reason.is_empty() || span.grade.name() == "good", "{format}: {span:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn many_open_calls_and_a_huge_line_take_no_time_of_their_square() {
    let mut text = String::from("[    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP\n");
    for call in 0..200_000 {
        text += &format!("[    1.000000] calling  f{call}_init+0x0/0x10 @ 1\n");
    }
    text += &"[    1.0".repeat(300_000);
    text += "\n[    2.000000] console [ttyS0] enabled\n[    1.000000] calling  f1_init+0x0/0x10 @ 1\n";
    text += &"[    1.000000] nothing\n".repeat(50_000);
    let found = read("printk", text.as_bytes()).unwrap().remove(0);
    assert!(found.spans.len() >= 200_000);
    assert!(found.problems.iter().any(|problem| problem.kind == ProblemKind::Unfinished));
}

#[test]
fn text_of_other_kinds_is_no_kernel_log() {
    let others: [&[u8]; 4] = [
        b"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\">\n<text>[    0.1] init</text>\n</svg>\n",
        b"# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n 0)   0.412 us    |    take_lock();\n",
        b"Startup finished in 1.2s (kernel) + 800ms (userspace) = 2.0s\n",
        b"Mark    Elapsed  Stage\n0 0 reset\n",
    ];
    for bytes in others {
        let name = recognise(&Head { name: "x", bytes }).map_or("", |format| format.name());
        assert!(!FORMATS.contains(&name), "read as {name}");
    }
}
