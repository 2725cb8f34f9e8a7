//! Golden trees: the scripts in `test_data/ok` are understood, those in `test_data/err` are not, and below each stands
//! its tree.
//!
//! `UPDATE_GOLDEN=1 cargo test -p portcullis-shell golden` writes the trees anew.

use std::path::Path;

use portcullis_shell::parse;
use portcullis_testkit::{GoldenFile, is_updating};

use crate::dump::dump;

fn check(folder: &str, clear: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data").join(folder);
    let mut checked = 0;
    for mut file in GoldenFile::read_folder(&folder).unwrap() {
        for case in &mut file.cases {
            let script = case.find("script").unwrap();
            let parsed = parse(script.strip_suffix('\n').unwrap_or(script));
            assert_eq!(parsed.is_clear(), clear, "{}: {:?}", case.name, parsed.errors);
            let found = dump(&parsed);
            if is_updating() {
                case.set("text", "tree", &found);
            }
            let hint = "run with UPDATE_GOLDEN=1 and look at the difference";
            assert_eq!(Some(found.as_str()), case.find("tree"), "{}: {hint}", case.name);
            checked += 1;
        }
        file.update().unwrap();
    }
    assert!(checked >= 10, "{} has few scripts", folder.display());
}

#[test]
fn valid_scripts_give_their_golden_trees() {
    check("ok", true);
}

#[test]
fn broken_scripts_keep_what_stands_before_the_error() {
    check("err", false);
}
