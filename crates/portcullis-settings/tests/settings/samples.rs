//! C11: samples. Valid files load without a word; invalid samples hold one mistake each and stand in one file a topic,
//! with the report below each.
//!
//! `UPDATE_GOLDEN=1` writes the reports anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use portcullis_testkit::{GoldenFile, is_updating};
use pretty_assertions::assert_eq;
use serde_json::Value;

use portcullis_settings::{KEYS, settings_schema};

use crate::schema::conforms;
use crate::world::World;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

fn valid_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder("valid")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
}

/// Makes a world with a sample in the place that its name begins with: `user.…`, `policy.…`, `project-claude.…`.
fn world_of(name: &str, text: &str) -> World {
    let (place, _) = name.split_once('.').unwrap();
    World::with(&[(place, text)])
}

#[test]
fn valid_samples_load_without_a_word_and_conform_to_the_schema() {
    let schema: Value = serde_json::from_str(&settings_schema()).unwrap();
    let mut checked = 0;
    for sample in valid_files() {
        assert!(has_extension(&sample, &["json", "jsonc"]), "{} is not a sample", sample.display());
        let text = fs::read_to_string(&sample).unwrap();
        let name = sample.file_name().unwrap().to_str().unwrap();
        let loaded = world_of(name, &text).load_trusted();
        assert_eq!(loaded.problems, [], "{}", sample.display());
        let is_ours = !name.contains("claude");
        if has_extension(&sample, &["json"]) && is_ours {
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(conforms(&schema, &schema, &value), Ok(()), "{}", sample.display());
            checked += 1;
        }
    }
    assert!(checked >= 3);
}

#[test]
fn invalid_samples_give_the_report_below_them() {
    for mut file in GoldenFile::read_folder(folder("invalid")).unwrap() {
        for case in &mut file.cases {
            let world = world_of(&case.name, case.find("sample").unwrap());
            let loaded = world.load_trusted();
            let root = world.path("").to_str().unwrap().to_owned();
            let report: String = loaded
                .problems
                .iter()
                .map(ToString::to_string)
                .chain(loaded.ignored.iter().map(ToString::to_string))
                .map(|text| text.replace(&root, "/") + "\n")
                .collect();
            if is_updating() {
                case.set("text", "report", &report);
            }
            assert_eq!(case.find("report"), Some(report.as_str()), "{}", case.name);
            let reported = loaded.problems.len() + loaded.ignored.len();
            assert_eq!(reported, 1, "{} must hold one mistake", case.name);
        }
        file.update().unwrap();
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
    for sample in valid_files() {
        if let Ok(value) = serde_json::from_str(&fs::read_to_string(&sample).unwrap()) {
            collect_paths("", &value, &mut valid);
        }
    }
    let files = GoldenFile::read_folder(folder("invalid")).unwrap();
    let cases = files.iter().flat_map(|file| &file.cases);
    let reports: String = cases.filter_map(|case| case.find("report")).collect();
    for key in KEYS {
        assert!(valid.contains(key.path), "no valid sample sets {}", key.path);
        let named = reports.contains(&format!("`{}`", key.path));
        assert!(named, "no invalid sample gets {} wrong", key.path);
    }
}
