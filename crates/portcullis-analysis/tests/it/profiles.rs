//! Every example of every command profile, run through the survey and the effects.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_analysis::effect::{Effect, effects, power_shell_layout};
use portcullis_analysis::{Surroundings, profile, reader, survey};
use toml::{Table, Value};

const DIRECTORY: &str = "/code/app";
const HOME: &str = "/home/me";

#[expect(clippy::disallowed_methods, reason = "the examples stand in the data files")]
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

#[expect(clippy::disallowed_methods, reason = "the examples stand in the data files")]
fn table(file: &Path) -> Table {
    fs::read_to_string(file).unwrap().parse().unwrap()
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).cloned().unwrap_or_default();
    list.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn shown(effect: &Effect) -> String {
    let written = effect.target.written();
    let name = effect.act.name();
    if written.is_empty() { name.to_owned() } else { format!("{name} {written}") }
}

/// Returns the effects of a command line as examples write them, sorted, without repetition.
fn effects_of(command: &str) -> Vec<String> {
    let survey = survey(command, Surroundings { directory: DIRECTORY, home: Some(HOME) });
    listed(&effects(&survey, Some(HOME)))
}

/// Returns the effects of a PowerShell command line as examples write them, sorted, without repetition.
fn power_shell_effects_of(command: &str) -> Vec<String> {
    let here = Surroundings { directory: DIRECTORY, home: Some(HOME) };
    listed(&power_shell_layout(command, here).effects)
}

fn listed(effects: &[Effect]) -> Vec<String> {
    let mut all: Vec<String> = effects.iter().map(shown).collect();
    all.sort();
    all.dedup();
    all
}

fn wrong_examples(folder: &str, effects_of: fn(&str) -> Vec<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for file in files(folder) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for example in table(&file).get("example").and_then(Value::as_array).unwrap() {
            let command = example.get("command").and_then(Value::as_str).unwrap();
            let mut expected = texts(example.get("effects"));
            expected.sort();
            let found = effects_of(command);
            if found != expected {
                wrong.push(format!("{name}: {command}\n  expected {expected:?}\n  found    {found:?}"));
            }
        }
    }
    wrong
}

#[test]
fn every_example_of_a_command_has_the_effects_it_says() {
    let wrong = wrong_examples("commands", effects_of);
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_of_a_cmdlet_has_the_effects_it_says() {
    let wrong = wrong_examples("cmdlets", power_shell_effects_of);
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_reader_a_profile_names_exists() {
    fn forms(form: profile::Form) -> Vec<profile::Form> {
        let mut all = vec![form];
        all.extend(form.subcommands().flat_map(|(_, form)| forms(form)));
        all
    }
    let readers = profile::all().flat_map(|profile| forms(profile.form)).map(|form| form.reader);
    let readers = readers.filter(|reader| !reader.is_empty());
    let unknown: Vec<&str> = readers.filter(|reader| !reader::is_known(reader)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}

#[test]
fn at_least_three_hundred_programs_have_a_profile() {
    let count = files("commands").len();
    assert!(count >= 300, "{count}");
}
