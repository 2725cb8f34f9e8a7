//! Golden trees: `test_data/ok/*.sh` is understood, `test_data/err/*.sh` is not, and beside each stands its tree.
//!
//! `UPDATE_GOLDEN=1 cargo test -p portcullis-shell golden` writes the trees anew.
#![expect(clippy::disallowed_methods, reason = "golden files are files")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use portcullis_shell::parse;

use crate::dump::dump;

fn check(folder: &str, clear: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data").join(folder);
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut scripts: Vec<PathBuf> = Vec::new();
    let mut trees: BTreeSet<PathBuf> = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("sh") => scripts.push(path),
            Some("tree") => drop(trees.insert(path)),
            _ => panic!("{} is neither a script nor a tree", path.display()),
        }
    }
    scripts.sort();
    assert!(scripts.len() >= 10, "{} has few scripts", folder.display());
    for script in &scripts {
        let text = std::fs::read_to_string(script).expect("the script can be read");
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let parsed = parse(text);
        assert_eq!(parsed.is_clear(), clear, "{}: {:?}", script.display(), parsed.errors);
        let golden = script.with_extension("tree");
        let found = dump(&parsed);
        if update {
            std::fs::write(&golden, &found).expect("the tree can be written");
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(
            found,
            expected,
            "{}: run with UPDATE_GOLDEN=1 and look at the difference",
            script.display()
        );
        trees.remove(&golden);
    }
    assert!(trees.is_empty(), "trees without a script: {trees:?}");
}

#[test]
fn valid_scripts_give_their_golden_trees() {
    check("ok", true);
}

#[test]
fn broken_scripts_keep_what_stands_before_the_error() {
    check("err", false);
}
