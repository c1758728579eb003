//! How fast a record is read: `cargo run --release -p firstlight-formats --example read_rate -- FILE [--grow BYTES] [--times N] [--json]`.
//!
//! Reads the file as recognised and prints megabytes and lines per second of CPU time (user and system, of the one thread
//! there is) from a text in memory to its evidence: median and best of N readings (5). With `--grow` the middle of a kernel log is repeated, its stamps moved on, until the text
//! has that many bytes: a large log with the mixture of lines of a real one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark stops where it is surprised")]

use firstlight_formats::format::{Head, Input, HEAD_BYTES};
use firstlight_formats::registry::{recognise, READERS};

/// Ticks per second of `/proc/self/stat`: `USER_HZ`, which is 100 on every architecture that Firstlight runs on.
const USER_HZ: f64 = 100.0;

fn cpu_seconds() -> f64 {
    // The scheduler's own figure is in nanoseconds; where the kernel has none, ticks serve.
    if let Ok(text) = std::fs::read_to_string("/proc/self/schedstat") {
        if let Some(ns) =
            text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).filter(|&ns| ns > 0.0)
        {
            return ns / 1e9;
        }
    }
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / USER_HZ
}

/// Repeats the middle eight tenths of a log with `[seconds.micros]` stamps, each time later by what they take.
fn grow(text: &[u8], bytes: usize) -> Vec<u8> {
    let lines: Vec<(f64, &[u8])> = text
        .split_inclusive(|&byte| byte == b'\n')
        .filter_map(|line| {
            let inside = line.strip_prefix(b"[")?;
            let end = inside.iter().position(|&byte| byte == b']')?;
            Some((std::str::from_utf8(&inside[..end]).ok()?.trim().parse().ok()?, &inside[end + 1..]))
        })
        .collect();
    let middle = &lines[lines.len() / 10..lines.len() * 9 / 10];
    let length = middle.last().unwrap().0 - middle.first().unwrap().0 + 1e-6;
    let mut grown = text[..text.len() / 10].to_vec();
    grown.truncate(grown.iter().rposition(|&byte| byte == b'\n').unwrap() + 1);
    for round in 0.. {
        for (time, rest) in middle {
            grown.extend_from_slice(format!("[{:12.6}]", time + f64::from(round) * length).as_bytes());
            grown.extend_from_slice(rest);
        }
        if grown.len() >= bytes {
            break;
        }
    }
    grown
}

fn main() {
    let (mut file, mut bytes, mut times, mut json) = (None, None, 5, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--grow" => bytes = arguments.next().unwrap().parse().ok(),
            "--json" => json = true,
            "--times" => times = arguments.next().unwrap().parse().unwrap(),
            _ => file = Some(argument),
        }
    }
    let Some(file) = file else { panic!("usage: read_rate FILE [--grow BYTES] [--times N] [--json]") };
    let mut text = std::fs::read(&file).unwrap();
    if let Some(bytes) = bytes {
        text = grow(&text, bytes);
    }
    let lines = memchr::memchr_iter(b'\n', &text).count() as f64;
    let megabytes = text.len() as f64 / 1e6;
    let format = recognise(&Head { name: &file, bytes: &text[..text.len().min(HEAD_BYTES)] }).unwrap();
    if !json {
        println!("{}: {megabytes:.1} MB, {lines} lines, read as {}", file, format.name());
    }
    let mut seconds: Vec<f64> = (0..times)
        .map(|_| {
            let before = cpu_seconds();
            let mut input: &[u8] = &text;
            let read = format.read(Input { name: &file, bytes: &mut input, nested: &READERS }).unwrap();
            let took = cpu_seconds() - before;
            let spans: usize = read.iter().map(|boot| boot.spans.len()).sum();
            let kept: usize = read.iter().map(|boot| boot.log.len()).sum();
            if !json {
                println!("  {took:.3} s of CPU, {:.0} MB/s; {kept} lines kept, {spans} spans", megabytes / took);
            }
            took
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    if json {
        println!(
            "{{\"format\":\"{}\",\"bytes\":{},\"lines\":{lines},\"cpu_s\":{seconds:?}}}",
            format.name(),
            text.len()
        );
        return;
    }
    for (name, seconds) in [("median", seconds[seconds.len() / 2]), ("best", seconds[0])] {
        let (megabytes, lines) = (megabytes / seconds, lines / seconds / 1e6);
        println!("{name}: {megabytes:.0} MB and {lines:.2} million lines per CPU second");
    }
}
