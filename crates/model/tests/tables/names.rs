//! What functions are called in the tables of a recording.

use crate::{texts, SymbolTable, Tracker};
use firstlight_model::profile_tables::{convert, NoFiles};
use firstlight_profile::code::{Code, Shape};
use firstlight_profile::recording::State;
use firstlight_profile::tracker::{Watch, UNKNOWN};
use std::path::Path;

const KERNEL: &str = "\
1000 T _text
1000 T do_one_initcall
1100 t type_show
1200 t type_show
1300 t type_show.cold
1400 t mode_show
1500 t mode_show
1600 T _etext
";

/// Enters these functions one after another from the caller of initcalls.
fn converted(entered: &[u32], bundle: &Path) {
    let mut tracker = Tracker::new(&SymbolTable::parse(KERNEL), Watch::default());
    tracker.kernel(0);
    tracker.call(UNKNOWN, 0x8ff8, 0);
    tracker.entry(0, 0);
    for (function, now) in entered.iter().zip((10..).step_by(10)) {
        tracker.call(0, 0x8ff0, now);
        tracker.entry(*function, now);
        tracker.ret(*function, 0x8ff0, now + 5);
    }
    let range = 0xffff_ffff_c000_0000..0xffff_ffff_c000_0040;
    let init = Code {
        entry: range.start,
        range,
        name: "nfit_init".to_owned(),
        module: "nfit".to_owned(),
        shape: Shape::Function,
    };
    let init = tracker.loaded(&init);
    tracker.call(0, 0x8ff0, 200);
    tracker.enter_loaded(init, 200);
    tracker.ret(init, 0x8ff0, 240);
    let mut file = Vec::new();
    tracker.snapshot(State::Ready, &[], 300).write(&mut file).expect("writes");
    let profile = bundle.join("profile.flp");
    std::fs::write(&profile, file).expect("written");
    convert(&profile, None, None, &NoFiles, bundle).expect("converts");
}

#[test]
fn functions_that_share_a_name_are_told_apart_by_where_they_stand() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(&[1, 2, 3, 4], bundle.path());
    let names: Vec<String> = texts("calls", 2, bundle.path()).into_iter().flatten().collect();
    for name in ["type_show@1100", "type_show@1200", "type_show.cold", "mode_show"] {
        assert_eq!(names.iter().filter(|known| *known == name).count(), 1, "{name} in {names:?}");
    }
}

#[test]
fn code_of_a_module_has_its_name_and_its_module_and_so_has_its_initcall() {
    let bundle = tempfile::tempdir().expect("a directory");
    converted(&[], bundle.path());
    let own = Some("nfit_init".to_owned());
    let row = texts("calls", 2, bundle.path()).iter().position(|name| *name == own).expect("a context");
    assert_eq!(texts("calls", 3, bundle.path())[row].as_deref(), Some("nfit"));
    let kinds = texts("spans", 2, bundle.path());
    let span = kinds.iter().position(|kind| kind.as_deref() == Some("initcall")).expect("an initcall");
    assert_eq!(texts("spans", 3, bundle.path())[span], own);
    assert_eq!(texts("spans", 14, bundle.path())[span].as_deref(), Some(r#"{"module":"nfit"}"#));
}
