//! Which driver probes which device, as `drivers/base/dd.c` logs it with dynamic debug (`dyndbg="file drivers/base/dd.c +p"`).

use super::suppliers::{device, waits_for};
use super::Interpreter;
use crate::evidence::spans::Row;
use crate::evidence::{Evidence, Spans};
use crate::kernel_log::bytes::{split, text};
use std::collections::BTreeMap;

/// Driver and bus by device; the last that was logged.
#[derive(Debug, Default)]
pub struct Drivers(BTreeMap<String, (String, String)>);

impl Drivers {
    fn set(&mut self, device: &[u8], driver: &[u8], bus: &[u8]) {
        if !device.is_empty() && !driver.is_empty() {
            let (known_driver, known_bus) = self.0.entry(text(device)).or_default();
            *known_driver = text(driver);
            if !bus.is_empty() {
                *known_bus = text(bus);
            }
        }
    }

    /// Gives a probe the names that are known of its device.
    pub fn name(&self, row: &mut Row, spans: &mut Spans) {
        if self.0.is_empty() {
            return;
        }
        let Some((driver, bus)) = self.0.get(spans.texts.get(row.name)) else { return };
        spans.attach(row, "driver", driver.as_bytes());
        if !bus.is_empty() {
            spans.attach(row, "bus", bus.as_bytes());
        }
    }
}

/// Reads what follows `bus: '`: `BUS': really_probe: probing driver DRIVER with device DEVICE`, and the like.
pub fn of_bus(drivers: &mut Drivers, rest: &[u8]) -> bool {
    let Some((bus, rest)) = split(rest, b"': ") else { return false };
    let Some((_, what)) = split(rest.trim_ascii_end(), b": ") else { return false };
    let found = if let Some(rest) = what.strip_prefix(b"probing driver ") {
        split(rest, b" with device ").map(|(driver, device)| (device, driver))
    } else if let Some(rest) = what.strip_prefix(b"matched device ") {
        split(rest, b" with driver ")
    } else if let Some(rest) = what.strip_prefix(b"bound device ") {
        split(rest, b" to driver ")
    } else {
        None
    };
    let Some((device, driver)) = found else { return false };
    drivers.set(device, driver, bus);
    true
}

/// Reads what follows `driver: '`: `DRIVER': driver_bound: bound to device 'DEVICE'`.
pub fn bound(drivers: &mut Drivers, rest: &[u8]) -> bool {
    let found = split(rest.trim_ascii_end(), b"': driver_bound: bound to device '");
    let Some((driver, device)) = found.and_then(|(driver, device)| Some((driver, device.strip_suffix(b"'")?))) else {
        return false;
    };
    drivers.set(device, driver, b"");
    true
}

/// `BUS DEVICE: Driver DRIVER requests probe deferral`, `BUS DEVICE: probe deferral - supplier X not ready`.
pub fn put_off(all: &mut Interpreter, line: &[u8], evidence: &mut Evidence) -> bool {
    if let Some((who, driver)) = split(line, b": Driver ") {
        let Some(driver) = driver.trim_ascii_end().strip_suffix(b" requests probe deferral") else { return false };
        all.probes.drivers.set(device(who), driver, b"");
        return true;
    }
    let Some((who, reason)) = split(line, b": probe deferral - ") else { return false };
    waits_for(&text(device(who)), &text(reason.trim_ascii_end()), evidence);
    true
}
