//! C11: sample files. Valid ones load without a word; invalid ones hold one mistake each, with the report beside them.
//!
//! `UPDATE_GOLDEN=1` writes the reports anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::Value;

use portcullis_settings::{KEYS, settings_schema};

use crate::schema::conforms;
use crate::world::World;

fn files(folder: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
}

/// Loads a sample as the place its name begins with: `user.…`, `policy.…`, `project-claude.…`; else as user settings.
fn world_of(sample: &Path) -> World {
    let name = sample.file_name().unwrap().to_str().unwrap();
    let place = name
        .split('.')
        .next()
        .filter(|first| name.split('.').count() > 2 && !first.is_empty())
        .unwrap_or("user");
    let world = World::new();
    let goal = world.place(place);
    fs::create_dir_all(goal.parent().unwrap()).unwrap();
    fs::copy(sample, goal).unwrap();
    world
}

#[test]
fn valid_samples_load_without_a_word_and_conform_to_the_schema() {
    let schema: Value = serde_json::from_str(&settings_schema()).unwrap();
    let mut checked = 0;
    for sample in files("valid") {
        assert!(has_extension(&sample, &["json", "jsonc"]), "{} is not a sample", sample.display());
        let loaded = world_of(&sample).load_trusted();
        assert_eq!(loaded.problems, [], "{}", sample.display());
        let text = fs::read_to_string(&sample).unwrap();
        let is_ours = !sample.file_name().unwrap().to_str().unwrap().contains("claude");
        if has_extension(&sample, &["json"]) && is_ours {
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(conforms(&schema, &schema, &value), Ok(()), "{}", sample.display());
            checked += 1;
        }
    }
    assert!(checked >= 3);
}

#[test]
fn invalid_samples_give_the_report_beside_them() {
    for sample in files("invalid") {
        if has_extension(&sample, &["expected"]) {
            assert!(sample.with_extension("json").exists(), "{} belongs to no sample", sample.display());
            continue;
        }
        assert!(has_extension(&sample, &["json"]), "{} is not a sample", sample.display());
        let world = world_of(&sample);
        let loaded = world.load_trusted();
        let root = world.path("").to_str().unwrap().to_owned();
        let report: String = loaded
            .problems
            .iter()
            .map(ToString::to_string)
            .chain(loaded.ignored.iter().map(ToString::to_string))
            .map(|text| text.replace(&root, "/") + "\n")
            .collect();
        let expected = sample.with_extension("expected");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &report).unwrap();
        }
        assert_eq!(fs::read_to_string(&expected).unwrap_or_default(), report, "{}", sample.display());
        let told = loaded.problems.len() + loaded.ignored.len();
        assert_eq!(told, 1, "{} must hold one mistake", sample.display());
    }
}

/// Collects the paths of all members of a value.
fn collect_paths(prefix: &str, value: &Value, paths: &mut BTreeSet<String>) {
    for (name, member) in value.as_object().into_iter().flatten() {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        collect_paths(&path, member, paths);
        paths.insert(path);
    }
}

#[test]
fn every_key_is_in_a_valid_sample_and_named_by_an_invalid_one() {
    let mut valid = BTreeSet::new();
    for sample in files("valid") {
        if let Ok(value) = serde_json::from_str(&fs::read_to_string(&sample).unwrap()) {
            collect_paths("", &value, &mut valid);
        }
    }
    let reports: String = files("invalid")
        .iter()
        .filter(|file| has_extension(file, &["expected"]))
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    for key in KEYS {
        assert!(valid.contains(key.path), "no valid sample sets {}", key.path);
        let named = reports.contains(&format!("`{}`", key.path));
        assert!(named, "no invalid sample gets {} wrong", key.path);
    }
}
