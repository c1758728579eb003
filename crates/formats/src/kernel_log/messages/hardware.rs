//! What the kernel says of the machine that it runs on.

use crate::kernel_log::bytes::text;

/// Vendors of several words whose last word is no sign of a company.
const VENDORS: [&str; 8] = [
    "To Be Filled By O.E.M.",
    "To be filled by O.E.M.",
    "System manufacturer",
    "Default string",
    "Amazon EC2",
    "Google Compute Engine",
    "OpenStack Foundation",
    "Red Hat",
];

/// The last words of companies' names, without dots and commas.
const COMPANIES: [&str; 15] = [
    "inc",
    "incorporated",
    "ltd",
    "limited",
    "corp",
    "corporation",
    "co",
    "company",
    "gmbh",
    "ag",
    "llc",
    "srl",
    "bv",
    "technologies",
    "electronics",
];
/// A company's name has no more words.
const WORDS_OF_A_VENDOR: usize = 8;

/// The facts of a message about the machine; empty when it is none.
///
/// * `DMI: VENDOR PRODUCT/BOARD, BIOS VERSION DATE`: `dmi_format_ids` of `drivers/firmware/dmi_scan.c`. A blank is all that
///   stands between vendor and product: the vendor ends with the sign of a company, or is one word.
/// * `Machine model: MODEL`: `drivers/of/fdt.c`, with the prefix `OF: fdt: ` since 4.4. `MIPS: machine is MODEL`.
/// * `Hardware name: `: the first or the second, in warnings (`dump_stack_set_arch_desc`).
/// * `efi: EFI vVERSION by VENDOR`: `drivers/firmware/efi/efi.c`.
pub fn hardware(line: &[u8]) -> Vec<(&'static str, String)> {
    let after = |words: &[u8]| line.strip_prefix(words).map(|rest| text(rest.trim_ascii()));
    match line.first() {
        Some(b'D') => after(b"DMI: ").map(|said| dmi(&said)),
        Some(b'H') => after(b"Hardware name: ").map(|said| named(&said)),
        Some(b'M') => after(b"Machine model: ").or_else(|| after(b"MIPS: machine is ")).map(model),
        Some(b'O') => after(b"OF: fdt: Machine model: ").or_else(|| after(b"OF: fdt:Machine model: ")).map(model),
        Some(b'e' | b'E') => after(b"efi: EFI v").or_else(|| after(b"EFI v")).map(|said| efi(&said)),
        _ => None,
    }
    .unwrap_or_default()
}

fn model(said: String) -> Vec<(&'static str, String)> {
    if said.is_empty() {
        return Vec::new();
    }
    vec![("device_tree.model", said)]
}

fn named(said: &str) -> Vec<(&'static str, String)> {
    if said.contains(", BIOS ") {
        return dmi(said);
    }
    // Without ` (DT)` it is the machine description's name in the kernel's sources.
    said.strip_suffix(" (DT)").map_or_else(Vec::new, |name| model(name.trim().to_owned()))
}

fn dmi(said: &str) -> Vec<(&'static str, String)> {
    let Some((machine, bios)) = said.rsplit_once(", BIOS ") else { return Vec::new() };
    let (product, board) = machine.rsplit_once('/').unwrap_or((machine, ""));
    let (vendor, product) = vendor_and_product(product);
    let (version, date) = match bios.trim().rsplit_once(' ') {
        Some((version, date)) if is_date(date) => (version, date),
        None if is_date(bios.trim()) => ("", bios),
        _ => (bios, ""),
    };
    let facts = [
        ("dmi.vendor", vendor),
        ("dmi.product", product),
        ("dmi.board", board),
        ("dmi.bios_version", version),
        ("dmi.bios_date", date),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.trim().is_empty())
        .map(|(fact, value)| (fact, value.trim().to_owned()))
        .collect()
}

/// `MM/DD/YYYY`, as SMBIOS prescribes.
fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            2 | 5 => byte == b'/',
            _ => byte.is_ascii_digit(),
        })
}

fn vendor_and_product(said: &str) -> (&str, &str) {
    // An empty vendor leaves the blank behind it.
    if said.starts_with(' ') {
        return ("", said);
    }
    for vendor in VENDORS {
        if let Some(product) = said.strip_prefix(vendor).filter(|rest| rest.starts_with(' ')) {
            return (vendor, product);
        }
    }
    let mut end = None;
    let mut place = 0;
    for word in said.split(' ').take(WORDS_OF_A_VENDOR) {
        // Signs of several companies follow one another: `Co., Ltd.`.
        let signs = word.split([',', '.']).filter(|sign| !sign.is_empty());
        let is_sign = signs.clone().count() > 0
            && signs.clone().any(|sign| COMPANIES.iter().any(|known| known.eq_ignore_ascii_case(sign)));
        place += word.len();
        if is_sign {
            end = Some(place);
        } else if end.is_some() {
            break;
        }
        place += 1;
    }
    match end.or_else(|| said.find(' ')) {
        Some(end) => said.split_at(end),
        None => ("", said),
    }
}

fn efi(said: &str) -> Vec<(&'static str, String)> {
    let (version, vendor) = said.split_once(" by ").unwrap_or((said, ""));
    if !version.starts_with(|first: char| first.is_ascii_digit()) {
        return Vec::new();
    }
    let mut facts = vec![("efi.version", version.trim().to_owned())];
    if !vendor.trim().is_empty() {
        facts.push(("efi.vendor", vendor.trim().to_owned()));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendor_ends_with_the_sign_of_a_company() {
        for (said, vendor, product) in [
            ("Dell Inc. XPS 13 9360", "Dell Inc.", "XPS 13 9360"),
            ("LENOVO 20BWS0H200", "LENOVO", "20BWS0H200"),
            ("QEMU Standard PC (i440FX + PIIX, 1996)", "QEMU", "Standard PC (i440FX + PIIX, 1996)"),
            ("Gigabyte Technology Co., Ltd. X570 AORUS ELITE", "Gigabyte Technology Co., Ltd.", "X570 AORUS ELITE"),
            ("Micro-Star International Co.,Ltd. MS-7C91", "Micro-Star International Co.,Ltd.", "MS-7C91"),
            ("SAMSUNG ELECTRONICS CO., LTD. 900X3C", "SAMSUNG ELECTRONICS CO., LTD.", "900X3C"),
            ("ASUSTeK COMPUTER INC. X555LAB", "ASUSTeK COMPUTER INC.", "X555LAB"),
            ("VMware, Inc. VMware Virtual Platform", "VMware, Inc.", "VMware Virtual Platform"),
            ("Red Hat KVM", "Red Hat", "KVM"),
            ("innotek GmbH VirtualBox", "innotek GmbH", "VirtualBox"),
            ("Acme", "", "Acme"),
            (" Widget", "", "Widget"),
        ] {
            let (found, rest) = vendor_and_product(said);
            assert_eq!((found, rest.trim()), (vendor, product), "{said}");
        }
    }

    #[test]
    fn a_board_and_a_date_may_lack() {
        let found = dmi("Acme Gadget, BIOS rel-1.16.2-0-gea1b7a0 custom");
        assert_eq!(
            found,
            [
                ("dmi.vendor", "Acme".to_owned()),
                ("dmi.product", "Gadget".to_owned()),
                ("dmi.bios_version", "rel-1.16.2-0-gea1b7a0 custom".to_owned()),
            ]
        );
        assert_eq!(dmi(" /, BIOS 04/01/2014"), [("dmi.bios_date", "04/01/2014".to_owned())]);
        assert!(dmi("not present or invalid.").is_empty());
    }

    #[test]
    fn warnings_name_the_machine_too() {
        let found = hardware(b"Hardware name: Acme Inc. Gadget/G1, BIOS 1.2 04/01/2014");
        assert_eq!(found[1], ("dmi.product", "Gadget".to_owned()));
        assert_eq!(
            hardware(b"Hardware name: Acme Board Rev 1.1 (DT)"),
            [("device_tree.model", "Acme Board Rev 1.1".to_owned())]
        );
        assert!(hardware(b"Hardware name: Generic DT based system").is_empty());
    }
}
