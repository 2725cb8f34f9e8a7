//! Every example of every command profile, run through the survey and the effects.

use std::fs;
use std::path::Path;

use portcullis_analysis::command_effects::{effects, power_shell_layout};
use portcullis_analysis::effect::Effect;
use portcullis_analysis::profile::{CompiledProfile, ProfileExample};
use portcullis_analysis::{Surroundings, profile, reader, survey};

const DIRECTORY: &str = "/code/app";
const HOME: &str = "/home/me";

/// Returns every profile of a folder of `data/` with the name of its file.
#[expect(clippy::disallowed_methods, reason = "the examples stand in the data files")]
fn profiles(folder: &str) -> Vec<(String, CompiledProfile)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(folder);
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let compiled = profile::compile(&fs::read_to_string(&file).unwrap()).unwrap();
        all.extend(compiled.into_iter().map(|profile| (name.clone(), profile)));
    }
    all
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
    for (file, profile) in profiles(folder) {
        for ProfileExample { command, effects: mut expected, .. } in profile.examples {
            expected.sort();
            let found = effects_of(&command);
            if found != expected {
                wrong.push(format!("{file}: {command}\n  expected {expected:?}\n  found    {found:?}"));
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
fn programs_with_the_same_body_share_one_entry() {
    for folder in ["commands", "cmdlets"] {
        let mut bodies: Vec<CompiledProfile> = Vec::new();
        for (file, profile) in profiles(folder) {
            let mut body = profile.clone();
            body.names.clear();
            body.examples.clear();
            let name = &profile.names[0].name;
            assert!(!bodies.contains(&body), "{file}: the body of `{name}` stands elsewhere too");
            bodies.push(body);
        }
    }
}

#[test]
fn at_least_three_thousand_programs_have_a_profile() {
    let count: usize = ["commands", "cmdlets"]
        .iter()
        .flat_map(|folder| profiles(folder))
        .map(|(_, profile)| profile.names.len())
        .sum();
    assert!(count >= 3000, "{count}");
}
