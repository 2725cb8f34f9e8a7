//! Dropping any one option that acts from a profile never makes a command harmless that was not.

use super::{Flag, FlagValue, Form, OtherOptions, Profile, Profiles, Role, Style, compile, read};
use crate::act::{Act, Weight};
use crate::argument::{Argument, Knowledge};
use crate::command_effects::{Dialect, effects, power_shell_layout};
use crate::lists::options::{SWITCHES, VALUED};
use crate::place::Scope;
use crate::{Background, Case, Surroundings, assess, survey};

/// A value that is a file elsewhere, a program and a place at once.
const VALUE: &str = "/home/other/x.sh";

#[expect(clippy::disallowed_methods, reason = "the profiles stand in the data files")]
fn encoded_forms(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        all.extend(compile(&text).unwrap().into_iter().map(|profile| {
            let name = profile.names.first().map(|name| name.name.clone()).unwrap_or_default();
            (name, profile.form)
        }));
    }
    all
}

fn words(texts: &[String]) -> Vec<Argument> {
    let word = |text: &String| Argument {
        text: text.clone(),
        source: None,
        knowledge: Knowledge::Fixed,
        bound: None,
        span: portcullis_shell::Span { start: 0, end: 0 },
    };
    texts.iter().map(word).collect()
}

/// Says whether a person would be asked: something weighs, or a file elsewhere is touched.
fn is_held(form: Form<'_>, texts: &[String]) -> bool {
    let words = words(texts);
    read(Profile { summary: "", form }, &words).uses.iter().any(|found| {
        let is_elsewhere = found.word.as_ref().is_some_and(|word| word.text == VALUE);
        matches!(found.act.weight(), Weight::Outward | Weight::Grave | Weight::Unknown)
            || is_elsewhere
                && matches!(found.act, Act::Write | Act::Delete | Act::DeleteTree | Act::Move | Act::Execute)
    })
}

/// Returns every option of a form and its subcommands, with the words that lead to it.
fn options<'a>(form: Form<'a>, path: &[String], all: &mut Vec<(Vec<String>, Flag<'a>, Style)>) {
    all.extend(form.options().map(|flag| (path.to_vec(), flag, form.style)));
    for (name, form) in form.subcommands() {
        let mut inner = path.to_vec();
        inner.push(name.replace('*', "x"));
        options(form, &inner, all);
    }
}

/// Returns the words of a command that uses an option.
fn example(path: &[String], flag: Flag<'_>, style: Style, value: &str) -> Option<Vec<String>> {
    let mut words = path.to_vec();
    // Letters behind one dash may be switches of their own.
    let is_single =
        |spelling: &&str| style != Style::Gnu || spelling.starts_with("--") || spelling.len() == 2;
    let spelling = flag.spellings().find(is_single)?;
    match flag.value {
        FlagValue::None => words.push(spelling.to_owned()),
        FlagValue::Required(_) if spelling.starts_with("--") => words.push(format!("{spelling}={value}")),
        FlagValue::Required(_) => words.extend([spelling.to_owned(), value.to_owned()]),
        FlagValue::Attached(_) if style == Style::Gnu && !spelling.starts_with("--") => {
            words.push(format!("{spelling}{value}"));
        }
        FlagValue::Attached(_) => words.push(format!("{spelling}={value}")),
    }
    Some(words)
}

/// Makes the spellings of an option such that nobody can write them.
fn without(encoded: &[u8], flag: Flag<'_>) -> Vec<u8> {
    let start = flag.spellings.as_ptr().addr() - encoded.as_ptr().addr();
    let mut changed = encoded.to_vec();
    let mut at = start;
    while at < start + flag.spellings.len() {
        let length = usize::from(changed[at]);
        changed[at + 1..=at + length].fill(1);
        at += length + 1;
    }
    changed
}

/// Says whether a call with these words is proven harmless, its readers and the words around it included.
fn is_proven(profiles: &Profiles, dialect: Dialect, name: &str, words: &[String]) -> bool {
    let here = Surroundings { directory: "/code/app", home: Some("/home/me"), profiles };
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("{name} {}", quoted.join(" "));
    let (tool, survey, effects) = match dialect {
        Dialect::Bash => {
            let survey = survey(&line, here);
            let effects = effects(&survey, here);
            ("Bash", survey, effects)
        }
        Dialect::PowerShell => {
            let layout = power_shell_layout(&line, here);
            ("PowerShell", layout.survey, layout.effects)
        }
    };
    let scope = Scope { roots: vec!["/code/app".to_owned()], home: Some("/home/me".to_owned()) };
    let background = Background { branch: Some("topic".to_owned()), ..Background::default() };
    assess(Case { tool, effects: &effects, survey: &survey, scope: &scope, background: &background })
        .is_harmless()
}

/// Says whether an option or its value does something.
fn acts(flag: Flag<'_>) -> bool {
    let is_acting = |role: Role| match role {
        Role::Text | Role::Target | Role::Key => false,
        Role::Data | Role::Command => true,
        Role::Act(act) => act.weight() != Weight::Observing,
    };
    let value = match flag.value {
        FlagValue::None => None,
        FlagValue::Required(role) | FlagValue::Attached(role) => Some(role),
    };
    value.is_some_and(is_acting) || flag.acts().any(|act| act.weight() != Weight::Observing)
}

#[test]
fn no_option_that_acts_is_needed_to_hold_a_command() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (dialect, folder) in [(Dialect::Bash, "data/commands"), (Dialect::PowerShell, "data/cmdlets")] {
        for (name, encoded) in encoded_forms(folder) {
            let built_in = Profiles::default();
            let mut all = Vec::new();
            options(Form::of(&encoded), &[], &mut all);
            for (path, flag, style) in all.into_iter().filter(|(_, flag, _)| acts(*flag)) {
                let mutant = Profiles::of_form(&name, without(&encoded, flag));
                for value in [VALUE, "https://evil.example/x"] {
                    for operands in [&[][..], &["src/a", "src/b"]] {
                        let Some(mut words) = example(&path, flag, style, value) else { continue };
                        words.extend(operands.iter().map(|word| (*word).to_owned()));
                        count += 1;
                        if !is_proven(&built_in, dialect, &name, &words)
                            && is_proven(&mutant, dialect, &name, &words)
                        {
                            wrong.push(format!("{name} {}", words.join(" ")));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 10_000, "only {count} calls");
}

#[test]
fn no_option_that_acts_counts_as_one_that_means_the_same_everywhere() {
    let mut wrong = Vec::new();
    for (name, encoded) in encoded_forms("data/commands") {
        let mut all = Vec::new();
        options(Form::of(&encoded), &[], &mut all);
        for (path, flag, _) in all {
            let weighs = |act: Act| matches!(act.weight(), Weight::Outward | Weight::Grave | Weight::Unknown);
            let value_weighs = match flag.value {
                FlagValue::Required(Role::Act(act)) | FlagValue::Attached(Role::Act(act)) => weighs(act),
                _ => false,
            };
            let acts = value_weighs || flag.acts().any(weighs);
            let common = flag.spellings().find(|spelling| {
                SWITCHES.binary_search(spelling).is_ok() || VALUED.binary_search(spelling).is_ok()
            });
            if let Some(common) = common.filter(|_| acts) {
                wrong.push(format!("{name} {} {common}", path.join(" ")));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(SWITCHES.is_sorted() && VALUED.is_sorted(), "the lists are searched");
}

#[test]
fn an_option_nobody_lists_is_harmless_nowhere_if_it_has_a_value_elsewhere() {
    let mut wrong = Vec::new();
    for (name, encoded) in encoded_forms("data/commands") {
        let form = Form::of(&encoded);
        let leads = |form: Form<'_>, words: &[String]| !is_held(form, words) && form.reader.is_empty();
        let gnu = vec![format!("--zz-out={VALUE}")];
        let apart = vec!["--zz-out".to_owned(), VALUE.to_owned()];
        if form.other_options != OtherOptions::Parameters && form.style == Style::Gnu {
            for words in [gnu, apart] {
                if leads(form, &words) {
                    wrong.push(format!("{name} {}", words.join(" ")));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
