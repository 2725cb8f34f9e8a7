//! Every example of every command profile, run through the survey and the effects.

use std::fs;
use std::path::Path;

use portcullis_analysis::command_effects::{Dialect, WrongExample, wrong_examples};
use portcullis_analysis::profile::{CompiledProfile, ProfileExample, Profiles};
use portcullis_analysis::{profile, reader};

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

fn wrong_of(folder: &str, dialect: Dialect) -> Vec<String> {
    let mut wrong = Vec::new();
    for (file, profile) in profiles(folder) {
        for WrongExample { example, found } in wrong_examples(&profile, Profiles::BUILT_IN, dialect) {
            let ProfileExample { command, effects, .. } = example;
            wrong.push(format!("{file}: {command}\n  expected {effects:?}\n  found    {found:?}"));
        }
    }
    wrong
}

#[test]
fn every_example_of_a_command_has_the_effects_it_says() {
    let wrong = wrong_of("commands", Dialect::Bash);
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_of_a_cmdlet_has_the_effects_it_says() {
    let wrong = wrong_of("cmdlets", Dialect::PowerShell);
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_reader_a_profile_names_exists() {
    fn forms(form: profile::Form<'_>) -> Vec<profile::Form<'_>> {
        let mut all = vec![form];
        all.extend(form.subcommands().flat_map(|(_, form)| forms(form)));
        all
    }
    let readers = profile::built_in().flat_map(|(_, profile)| forms(profile.form)).map(|form| form.reader);
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
