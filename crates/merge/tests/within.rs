//! Records that stand within something else.
#![expect(clippy::unwrap_used, reason = "a test stops where it is surprised")]

use firstlight_formats::evidence::{Evidence, ProblemKind, SpanKind};
use firstlight_merge::boot_selection::boots;
use firstlight_merge::record::{Read, Record};

const LOG: [&str; 4] = [
    "[    0.000000] Linux version 6.1.0 (a@b) (gcc 12) #1 SMP",
    "[    0.400000] clocksource: Switched to clocksource tsc",
    "[    1.100000] Freeing unused kernel image memory: 2048K",
    "[    1.200000] Run /init as init process",
];

fn read(name: &str, text: &str) -> Read {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    Record { path, file: format!("raw/{name}"), name: name.to_owned(), forced: None }.read()
}

fn only(read: &Read) -> &Evidence {
    let [one] = read.outcome.as_deref().unwrap() else { unreachable!("one record") };
    one
}

#[test]
fn a_log_is_found_in_quotes_pages_and_strings() {
    let quoted: String = LOG.map(|line| format!("> > {line}\n")).concat();
    let mail = format!("From: a@b\nSubject: slow boot\n\nOn Monday it was:\n{quoted}\nregards\n");
    let page =
        format!("<html><body>\n<p>log</p>\n<pre>\n{}\n</pre></body></html>\n", LOG.join("\n").replace('>', "&gt;"));
    let json = format!("{{\"id\": 7, \"log\": \"{}\\n\"}}", LOG.join("\\n"));
    let array = format!("[\"{}\"]", LOG.join("\",\n\""));
    let fenced = format!("# slow\n\n```\n{}\n```\n", LOG.map(|line| format!("    {line}")).join("\n"));
    let behind = |front: &str, end: &str| LOG.map(|line| format!("{front}{line}{end}\n")).concat();
    for (name, text) in [
        ("mail.txt", mail),
        ("page.html", page),
        ("job.json", json),
        ("lines.json", array),
        ("issue.md", fenced),
        ("grep.txt", behind("logs/dmesg.txt:12:", "")),
        ("rfc5424.log", behind("<6>1 2024-05-01T10:00:00Z box kernel - - - ", "")),
        ("chat.txt", behind("12:00 < bob> ", "")),
        ("table.csv", format!("n,line\n{}", behind("7,\"", "\""))),
    ] {
        let found = read(name, &text);
        let evidence = only(&found);
        let times: Vec<i64> = evidence.log.iter().filter_map(|(stamp, _)| stamp.time_ns).collect();
        assert_eq!(times, [0, 400_000_000, 1_100_000_000, 1_200_000_000], "{name}");
        let kernel = evidence.log.iter().find(|(stamp, _)| stamp.time_ns == Some(1_200_000_000)).unwrap();
        assert_eq!(kernel.1, "Run /init as init process", "{name}");
        let left_out = evidence.problems.iter().filter(|problem| problem.kind == ProblemKind::Embedded).count();
        assert_eq!(left_out, 1, "{name}: {:?}", evidence.problems);
    }
}

#[test]
fn a_kernel_far_from_the_beginning_is_found() {
    let before: String = (0..4000).map(|number| format!("[INFO ]  step {number} of the firmware\n")).collect();
    let found = read("console.txt", &format!("{before}{}\n", LOG.join("\n")));
    let evidence = only(&found);
    assert_eq!(evidence.log.iter().filter(|(stamp, _)| stamp.time_ns.is_some()).count(), LOG.len());
    assert!(!evidence.problems.iter().any(|problem| problem.kind == ProblemKind::LostHead), "{:?}", evidence.problems);
    assert_eq!(boots(&found).len(), 1);
}

#[test]
fn a_kernel_behind_the_lines_of_loaders_is_a_console() {
    let steps: String = (0..39).map(|step| format!("B - {:>9} - step_{step}, Start\n", 1000 * (step + 1))).collect();
    let sbl = format!("Format: Log Type - Time(microsec) - Message - Optional Info\n{steps}");
    let tegra: String = (0..40).map(|step| format!("[0000.{step:03}] [TegraBoot] step {step}\n")).collect();
    let between: String =
        (0..2000).map(|number| format!("step {number} of another loader, without a time\n")).collect();
    for (loader, log) in [(&sbl, &LOG[..]), (&tegra, &LOG[..]), (&sbl, &LOG[1..])] {
        let found = read("console.log", &format!("{loader}{between}{}\n", log.join("\n")));
        let evidence = found.outcome.as_deref().unwrap();
        let formats: Vec<&str> = evidence.iter().map(|evidence| evidence.format.name).collect();
        let kernel = evidence.iter().find(|evidence| evidence.log.iter().any(|(_, text)| LOG[3].ends_with(text)));
        assert!(kernel.is_some(), "{formats:?} {log:?}");
        assert!(evidence.iter().any(|evidence| evidence.spans.iter().any(|span| span.kind == SpanKind::Firmware)));
    }
    let alone = read("console.log", &format!("{sbl}{between}"));
    assert_eq!(only(&alone).format.name, "loader-stages");
}

#[test]
fn a_kernel_without_its_first_line_is_found_behind_a_loader_and_before_much_else() {
    let before: String = (0..1500).map(|number| format!("Loading step {number} of the firmware\n")).collect();
    let after: String = (0..1500).map(|number| format!("words {number} of a program\n")).collect();
    let kernel: String = (0..20).map(|number| format!("[    2.{number:06}] widget {number}: ready\n")).collect();
    let text =
        |kernel: &str| format!("{before}Welcome to GRUB!\n> menu\n{kernel}[    3.100000] {}\n{after}", &LOG[3][15..]);
    let found = read("console.txt", &text(&kernel));
    let evidence = only(&found);
    assert_eq!(evidence.log.iter().filter(|(stamp, _)| stamp.time_ns.is_some()).count(), 21);
    assert!(!evidence.problems.iter().any(|problem| problem.kind == ProblemKind::Embedded), "{:?}", evidence.problems);
    let untimed = evidence.problems.iter().find(|problem| problem.kind == ProblemKind::Untimed).unwrap();
    assert!(untimed.detail.starts_with("only 21 lines have a time of 3023"), "{}", untimed.detail);
    let few = read("console.txt", &text(&kernel[..120])).outcome.unwrap_err().to_string();
    assert!(few.contains("GRUB") && !few.contains("no line of a kernel"), "{few}");
}

#[test]
fn a_refusal_says_what_is_inside() {
    let refused = |name: &str, text: &str| read(name, text).outcome.unwrap_err().to_string();
    let loader = "U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)\nHit any key to stop autoboot:  0 \n=> \n";
    assert!(refused("u-boot.txt", loader).contains("boot loader (U-Boot, line 1)"));
    let one = "a.log:7:[    0.000000] Linux version 6.1.0 (a@b)\nand\nthree\nother\nlines\n";
    assert!(refused("grep.txt", one).contains("a message of a kernel (line 1"), "{}", refused("grep.txt", one));
    assert!(refused("page.html", "<html><body>nothing here</body></html>\n").contains("a web page"));
    assert!(refused("a.json", "{\"a\": \"nothing\"}\n").contains("JSON"));
    assert!(refused("journal.txt", "urt. 30 10:00:06 box systemd[1]: Started a.\n").contains("`urt.`"));
}

#[test]
fn entities_of_a_page_are_read_by_number_too() {
    let log = LOG.map(|line| format!("{line}\n")).concat();
    let page =
        format!("<html><body><pre>\n{log}[    1.300000] governor &#x27;fair&#39; &apos;&#62;\n</pre></body></html>\n");
    let found = read("page.html", &page);
    let (_, last) = only(&found).log.iter().last().unwrap();
    assert_eq!(last, "governor 'fair' '>");
}

#[test]
fn dates_and_lines_without_stamps_are_found_in_quotes_and_strings() {
    let dates = "> 2026-01-02T03:04:01,000000+00:00 Linux version 6.1.0 (a@b)\n> 2026-01-02T03:04:01,400000+00:00 widget: ready\n\
                 > 2026-01-02T03:04:02,100000+00:00 Run /init as init process\n";
    let found = read("mail.txt", &format!("On Monday it was:\n{dates}\nregards\n"));
    assert_eq!(only(&found).log.iter().filter(|(stamp, _)| stamp.time_ns.is_some()).count(), 3);
    let bare = "Linux version 6.1.0 (a@b) (gcc 12) #1 SMP\\nCommand line: quiet\\ncalling  a_init+0x0/0x1 @ 1\\n\
                initcall a_init+0x0/0x1 returned 0 after 3 usecs\\n";
    let found = read("job.json", &format!("{{\"job\": 7, \"log\": \"{bare}\"}}"));
    assert_eq!(only(&found).spans.len(), 1);
    let told = read("system.json", "{\"system\": \"Linux version 6.1.0\", \"node\": \"box\"}");
    assert!(told.outcome.is_err(), "a report about a system is not a log");
}

#[test]
fn a_log_is_found_in_numbered_lines() {
    for (name, text) in [
        ("cat-n.txt", (1..).zip(LOG).map(|(number, line)| format!("{number:6}\t{line}\n")).collect::<String>()),
        ("grep-n.txt", (1..).zip(LOG).map(|(number, line)| format!("{number}:{line}\n")).collect()),
    ] {
        let found = read(name, &text);
        let evidence = only(&found);
        assert_eq!(evidence.log.len(), LOG.len(), "{name}");
        assert_eq!(evidence.marks.last().map(|mark| mark.time_ns), Some(1_200_000_000), "{name}");
    }
}

#[test]
fn lines_may_end_with_carriage_returns_alone() {
    let found = read("terminal.log", &LOG.map(|line| format!("{line}\r")).concat());
    let evidence = only(&found);
    assert_eq!(evidence.log.len(), LOG.len());
    assert_eq!(evidence.marks.last().map(|mark| mark.time_ns), Some(1_200_000_000));
}

/// What a page has as a log's lines: their texts.
fn lines(read: &Read) -> Vec<String> {
    let cut = only(read).problems.iter().any(|problem| problem.kind == ProblemKind::Cut);
    assert!(!cut, "the end of an element ends its line");
    only(read).log.iter().map(|(_, text)| text.to_owned()).collect()
}

const TEXTS: [&str; 4] = [
    "Linux version 6.1.0 (a@b) (gcc 12) #1 SMP",
    "clocksource: Switched to clocksource tsc",
    "Freeing unused kernel image memory: 2048K",
    "Run /init as init process",
];

#[test]
fn all_preformatted_blocks_of_a_page_are_read() {
    let log = LOG.join("\n");
    let halves = format!(
        "<html><body><p>first</p><pre>{}\n{}</pre><p>second</p><pre>{}\n{}</pre></body></html>",
        LOG[0], LOG[1], LOG[2], LOG[3]
    );
    assert_eq!(lines(&read("halves.html", &halves)), TEXTS);
    let two =
        format!("<html><body><p>before</p><PRE>{log}</PRE><p>after</p><pre class=\"log\">\n{log}</pre></body></html>");
    assert_eq!(boots(&read("two.html", &two)).len(), 2);
}

#[test]
fn a_page_may_have_an_element_for_each_line() {
    let rows: String = (1..)
        .zip(LOG)
        .map(|(number, line)| {
            format!("<tr><td class=\"n\">{number}</td><td class=\"c\"><span>{line}</span></td></tr>\n")
        })
        .collect();
    let numbers: String = (1..=LOG.len()).map(|number| format!("{number}\n")).collect();
    for (name, page) in [
        ("table.html", format!("<html><body><table>{rows}</table></body></html>")),
        (
            "blocks.html",
            format!("<html><body>{}</body></html>", LOG.map(|line| format!("<pre>{line}</pre>\n")).concat()),
        ),
        ("breaks.html", format!("<html><body><div>{}</div></body></html>", LOG.join("<br/>\n"))),
        (
            "columns.html",
            format!(
                "<html><table><tr><td><pre>{numbers}</pre></td><td><pre>{}</pre></td></tr></table></html>",
                LOG.join("\n")
            ),
        ),
    ] {
        assert_eq!(lines(&read(name, &page)), TEXTS, "{name}");
    }
}

#[test]
fn what_a_page_does_not_show_is_no_part_of_its_log() {
    let style = ".a { color: red }\n".repeat(600);
    let page = format!(
        "<!DOCTYPE html><html><head><title>bug</title><style>{style}</style></head><body>\n<h1>Bug</h1><pre>{}</pre></body>\n",
        LOG.join("\n")
    );
    assert_eq!(lines(&read("page.html", &page)), TEXTS);
    let page = format!(
        "<html><style>{style}</style><script>if (a < b) {{}}</script><!-- \n --><p>{}</html>",
        LOG.join("<br>")
    );
    assert_eq!(lines(&read("shown.html", &page)), TEXTS);
    let page = format!("<html><pre>{}\n[    1.3] mailto <jo@example.org></pre></html>", LOG.join("\n"));
    assert_eq!(lines(&read("address.html", &page))[4], "mailto <jo@example.org>");
}

#[test]
fn a_string_of_json_may_hold_json() {
    let inner = format!("{{\"text\": \"{}\"}}", LOG.join("\\n"));
    let quoted = inner.replace('\\', "\\\\").replace('"', "\\\"");
    let found = read("deep.json", &format!("{{\"a\": {{\"b\": [\"x\", {{\"dmesg\": \"{quoted}\"}}]}}}}"));
    assert_eq!(lines(&found).iter().filter(|line| TEXTS.contains(&line.as_str())).count(), TEXTS.len());
}
