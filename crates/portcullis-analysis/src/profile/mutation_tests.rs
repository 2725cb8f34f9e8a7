//! Dropping any one option that acts from a profile never makes a command harmless that was not.

use super::{Flag, FlagValue, Form, OtherOptions, Profile, Role, Style, Twist, compile, read};
use crate::act::{Act, Weight};
use crate::argument::{Argument, Knowledge};
use crate::lists::options::{SWITCHES, VALUED};

/// A value that is a file elsewhere, a program and a place at once.
const VALUE: &str = "/home/other/x.sh";

#[expect(clippy::disallowed_methods, reason = "the profiles stand in the data files")]
fn encoded_forms() -> Vec<(String, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/commands");
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
fn example(path: &[String], flag: Flag<'_>, style: Style) -> Option<Vec<String>> {
    let mut words = path.to_vec();
    // Letters behind one dash may be switches of their own.
    let is_single =
        |spelling: &&str| style != Style::Gnu || spelling.starts_with("--") || spelling.len() == 2;
    let spelling = flag.spellings().find(is_single)?;
    match flag.value {
        FlagValue::None => words.push(spelling.to_owned()),
        FlagValue::Required(_) if spelling.starts_with("--") => words.push(format!("{spelling}={VALUE}")),
        FlagValue::Required(_) => words.extend([spelling.to_owned(), VALUE.to_owned()]),
        FlagValue::Attached(_) if style == Style::Gnu && !spelling.starts_with("--") => {
            words.push(format!("{spelling}{VALUE}"));
        }
        FlagValue::Attached(_) => words.push(format!("{spelling}={VALUE}")),
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

/// Says whether a form on the way to an option lists one of its spellings too.
fn is_listed_around(form: Form<'_>, path: &[String], flag: Flag<'_>) -> bool {
    let lists = |form: Form<'_>| {
        form.options().any(|other| flag.spellings().any(|spelling| other.is_spelled(spelling, false)))
    };
    let mut form = form;
    for name in path {
        if lists(form) {
            return true;
        }
        let Some((_, inner)) = form.subcommands().find(|(listed, _)| listed.replace('*', "x") == *name)
        else {
            return false;
        };
        form = inner;
    }
    lists(form)
}

#[test]
fn no_option_that_acts_is_needed_to_hold_a_command() {
    let mut wrong = Vec::new();
    for (name, encoded) in encoded_forms() {
        let mut all = Vec::new();
        options(Form::of(&encoded), &[], &mut all);
        for (path, flag, style) in all {
            let Some(words) = example(&path, flag, style) else { continue };
            let is_question = matches!(flag.twist, Twist::Dry | Twist::Rest);
            if !is_question && is_held(Form::of(&encoded), &words) {
                let changed = without(&encoded, flag);
                // A table around it may list the same spelling.
                if !is_held(Form::of(&changed), &words) && !is_listed_around(Form::of(&changed), &path, flag)
                {
                    wrong.push(format!("{name} {}", words.join(" ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_option_that_acts_counts_as_one_that_means_the_same_everywhere() {
    let mut wrong = Vec::new();
    for (name, encoded) in encoded_forms() {
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
    for (name, encoded) in encoded_forms() {
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
