//! Records of several machines.

use crate::made::{kernel, record, LINES};
use firstlight_formats::evidence::Evidence;
use firstlight_merge::machines::machine_conflicts;
use firstlight_merge::merge_any;

fn on(facts: &[(&'static str, &str)]) -> Evidence {
    let mut log = kernel(&LINES);
    log.facts = facts.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
    log
}

#[test]
fn another_architecture_or_host_is_a_conflict_and_another_spelling_is_none() {
    let reads = |one: &[(&'static str, &str)], other: &[(&'static str, &str)]| {
        let reads = [record("one", vec![on(one)]), record("other", vec![on(other)])];
        machine_conflicts(&reads, &[Some(0); 2]).into_iter().map(|found| found.fact).collect::<Vec<_>>()
    };
    let x86 = ("system.architecture", "x86");
    assert_eq!(reads(&[x86], &[("system.architecture", "aarch64")]), ["system.architecture"]);
    assert_eq!(reads(&[x86], &[("system.architecture", "x86-64")]), [""; 0]);
    let host = ("system.hostname", "box");
    assert_eq!(reads(&[host], &[("system.hostname", "phone")]), ["system.hostname"]);
    assert_eq!(reads(&[host], &[("system.hostname", "box.example.org")]), [""; 0]);
    assert_eq!(reads(&[host], &[("system.hostname", "localhost")]), [""; 0]);
    assert_eq!(reads(&[x86], &[host]), [""; 0]);
    assert_eq!(reads(&[host], &[("system.hostname", "192.168.1.7")]), [""; 0]);
}

#[test]
fn another_model_is_a_conflict_and_a_part_of_the_same_is_none() {
    let reads = |one: &[(&'static str, &str)], other: &[(&'static str, &str)]| {
        let reads = [record("one", vec![on(one)]), record("other", vec![on(other)])];
        machine_conflicts(&reads, &[Some(0); 2]).into_iter().map(|found| found.fact).collect::<Vec<_>>()
    };
    let laptop = [("dmi.vendor", "LENOVO"), ("dmi.product", "20XW")];
    assert_eq!(reads(&laptop, &[("dmi.vendor", "Dell Inc."), ("dmi.product", "PowerEdge R740")]), ["dmi.product"]);
    assert_eq!(reads(&laptop, &[("dmi.product", "Lenovo  20XW")]), [""; 0]);
    assert_eq!(reads(&laptop, &[("dmi.product", "20XW")]), [""; 0]);
    assert_eq!(reads(&laptop, &[("dmi.bios_version", "N32")]), [""; 0]);
    let board = ("device_tree.model", "Acme Board Rev 1.1");
    assert_eq!(reads(&[board], &[("device_tree.model", "Acme Widget")]), ["device_tree.model"]);
    assert_eq!(reads(&[board], &[("device_tree.model", "Acme Board")]), [""; 0]);
}

#[test]
fn what_is_merged_all_the_same_stands_in_the_evidence() {
    let one = on(&[("system.architecture", "x86"), ("kernel.release", "6.1.0")]);
    let other = on(&[("system.architecture", "arm64"), ("kernel.release", "5.4.0")]);
    let reads = [record("one", vec![one]), record("other", vec![other])];
    let directory = tempfile::tempdir().unwrap();
    let merged = merge_any(&reads, &[Some(0); 2], true, &[], directory.path()).unwrap();
    let subjects: Vec<&str> = merged.contradictions.iter().map(|found| found.what.as_str()).collect();
    assert!(subjects.contains(&"which machine this is, by `system.architecture`"), "{subjects:?}");
    assert!(!merged.warnings.iter().any(|warning| warning.contains("left out")), "{:?}", merged.warnings);
    let missing = &merged.completeness.missing;
    assert!(missing.iter().any(|what| what.starts_with("the records are of several machines")), "{missing:?}");
}
