//! Facts that the kernel states about itself, as records of the report.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::report::Writer;

/// Files that are reported as they are; one that a kernel does not offer is left out.
const FILES: [(&str, &str); 6] = [
    ("kernel.config", "/proc/config.gz"),
    ("memory", "/proc/meminfo"),
    ("cpu", "/proc/cpuinfo"),
    ("mounts", "/proc/mounts"),
    ("modules", "/proc/modules"),
    ("interrupts", "/proc/interrupts"),
];

/// Files of one line, reported without the line's end.
const LINES: [(&str, &str); 6] = [
    ("kernel.command_line", "/proc/cmdline"),
    ("kernel.tainted", "/proc/sys/kernel/tainted"),
    ("clocksource.current", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("clocksource.available", "/sys/devices/system/clocksource/clocksource0/available_clocksource"),
    ("clockevent.current", "/sys/devices/system/clockevents/clockevent0/current_device"),
    ("entropy.available", "/proc/sys/kernel/random/entropy_avail"),
];

/// Writes every record about the kernel. `stamp` is the time stamp counter one instruction after the ready mark,
/// `clock_ns` CLOCK_MONOTONIC soon after it.
pub fn write_all<W: Write>(report: &mut Writer<W>, stamp: u64, clock_ns: i128) -> io::Result<()> {
    let uname = rustix::system::uname();
    report.record("kernel.release", uname.release().to_bytes())?;
    report.record("kernel.version", uname.version().to_bytes())?;
    report.record("kernel.machine", uname.machine().to_bytes())?;
    report.record("ready.tsc", stamp.to_string().as_bytes())?;
    report.record("kernel.clock_ns", clock_ns.to_string().as_bytes())?;
    for (name, path) in LINES {
        if let Ok(bytes) = fs::read(path) {
            report.record(name, bytes.trim_ascii())?;
        }
    }
    for (name, path) in FILES {
        if let Ok(bytes) = fs::read(path) {
            report.record(name, &bytes)?;
        }
    }
    report.record("devices", devices(Path::new("/sys/bus")).as_bytes())?;
    report.record("module.parameters", module_parameters(Path::new("/sys/module")).as_bytes())?;
    report.record("kmsg", &kernel_log())?;
    report.record("kallsyms.modules", &module_symbols())
}

/// One line per device of each bus, sorted: `BUS<TAB>DEVICE<TAB>DRIVER`.
fn devices(buses: &Path) -> String {
    let mut lines = Vec::new();
    for bus in names(buses) {
        let folder = buses.join(&bus).join("devices");
        for device in names(&folder) {
            let driver = fs::read_link(folder.join(&device).join("driver")).unwrap_or_default();
            let driver = driver.file_name().unwrap_or_default().to_string_lossy().into_owned();
            lines.push(format!("{bus}\t{device}\t{driver}\n"));
        }
    }
    lines.sort_unstable();
    lines.concat()
}

/// One line per parameter that a module, loaded or built in, shows: `MODULE<TAB>PARAMETER`, sorted.
fn module_parameters(modules: &Path) -> String {
    let mut lines = Vec::new();
    for module in names(modules) {
        for parameter in names(&modules.join(&module).join("parameters")) {
            lines.push(format!("{module}\t{parameter}\n"));
        }
    }
    lines.sort_unstable();
    lines.concat()
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The kernel's log to its present end: each read of `/dev/kmsg` gives one record.
fn kernel_log() -> Vec<u8> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let Ok(mut file) = OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg") else {
        return Vec::new();
    };
    let mut log = Vec::new();
    let mut record = [0; 8192];
    loop {
        match file.read(&mut record) {
            Ok(0) => return log,
            Ok(length) => log.extend_from_slice(record.get(..length).unwrap_or_default()),
            // Records were overwritten while we read: the next read continues after them.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(_) => return log,
        }
    }
}

/// The symbols that belong to a module: their lines end in `<TAB>[MODULE]`. Those of riscv64 keep the labels of the compiler, which are
/// most of them and which nothing is called by.
fn module_symbols() -> Vec<u8> {
    symbols_of_modules(&fs::read("/proc/kallsyms").unwrap_or_default())
}

fn symbols_of_modules(all: &[u8]) -> Vec<u8> {
    let is_of_module = |line: &[u8]| line.windows(2).any(|pair| pair == b"\t[");
    let is_label = |line: &[u8]| line.split(|byte| *byte == b' ').nth(2).is_some_and(|name| name.starts_with(b".L"));
    let lines = all.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| is_of_module(line) && !is_label(line)).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn symbols_of_modules_are_listed_without_labels_of_the_compiler() {
        let all = b"1000 T start_kernel\n2000 t .LVL1\t[ext4]\n2000 t ext4_match\t[ext4]\n2008 t .L45\t[ext4]\n";
        assert_eq!(symbols_of_modules(all), b"2000 t ext4_match\t[ext4]\n");
    }

    #[test]
    fn devices_are_listed_by_bus_with_their_driver_sorted() {
        let folder = std::env::temp_dir().join(format!("firstlight-devices-{}", std::process::id()));
        for device in ["pci/devices/0000:00:02.0", "pci/devices/0000:00:01.0", "acpi/devices/PNP0501:00"] {
            fs::create_dir_all(folder.join(device)).unwrap();
        }
        symlink("../../drivers/ahci", folder.join("pci/devices/0000:00:01.0/driver")).unwrap();
        let listed = devices(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(listed, "acpi\tPNP0501:00\t\npci\t0000:00:01.0\tahci\npci\t0000:00:02.0\t\n");
    }

    #[test]
    fn parameters_are_listed_by_module_sorted() {
        let folder = std::env::temp_dir().join(format!("firstlight-parameters-{}", std::process::id()));
        for parameter in
            ["printk/parameters/time", "loop/parameters/max_part", "loop/parameters/max_loop", "xz/holders"]
        {
            fs::create_dir_all(folder.join(parameter)).unwrap();
        }
        let listed = module_parameters(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(listed, "loop\tmax_loop\nloop\tmax_part\nprintk\ttime\n");
    }
}
