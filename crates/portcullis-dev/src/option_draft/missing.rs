//! Which options of a program our profile does not list, and what that means for a call that uses one.

use std::fmt::Write as _;

use portcullis_core::profile::{Form, OtherOptions, built_in};
use portcullis_settings::profile_draft::{Draft, DraftOption, DraftValue};

use super::acting::hints;
use super::sources::ProgramName;

/// An option that a program has and its profile does not list.
#[derive(Debug)]
pub(crate) struct MissingOption<'a> {
    option: &'a DraftOption,
    /// What it may do.
    hints: Vec<&'static str>,
    /// Whether a call with it is taken as one without.
    is_passed_over: bool,
}

impl MissingOption<'_> {
    /// Says whether a call with the option may do more than anybody sees.
    pub(crate) fn is_urgent(&self) -> bool {
        self.is_passed_over && !self.hints.is_empty()
    }
}

/// Finds the form of a program or subcommand, with those around it; `None` if there is no profile.
fn forms(name: &ProgramName) -> Option<Vec<Form<'static>>> {
    let (_, profile) = built_in().find(|(listed, _)| *listed == name.program)?;
    let mut forms = vec![profile.form];
    let mut words = name.subcommand.join(" ");
    while !words.is_empty() {
        let inner = forms.last()?.subcommands().find(|(listed, _)| {
            words == *listed || words.strip_prefix(listed).is_some_and(|rest| rest.starts_with(' '))
        })?;
        words = words.get(inner.0.len()..)?.trim_start().to_owned();
        forms.push(inner.1);
    }
    Some(forms)
}

/// Returns all forms below one, itself included.
fn all_forms<'a>(form: Form<'a>, all: &mut Vec<Form<'a>>) {
    all.push(form);
    for (_, inner) in form.subcommands() {
        all_forms(inner, all);
    }
}

/// Lists the options that the texts about a program name and its profile does not, those to be looked at first in front;
/// `None` if there is no profile. The page of a program with subcommands is about all of them.
pub(crate) fn missing<'a>(name: &ProgramName, draft: &'a Draft) -> Option<Vec<MissingOption<'a>>> {
    let around = forms(name)?;
    let own = *around.last()?;
    let mut listing = around.clone();
    all_forms(own, &mut listing);
    let is_listed = |spelling: &String| {
        listing.iter().any(|form| form.options().any(|flag| flag.spellings().any(|known| known == *spelling)))
    };
    let mut all: Vec<MissingOption<'a>> = draft
        .options
        .iter()
        .filter(|option| !option.spellings.iter().any(is_listed))
        .map(|option| MissingOption {
            option,
            hints: hints(option),
            is_passed_over: own.other_options == OtherOptions::Harmless
                && option.value != DraftValue::Required
                && own.reader.is_empty(),
        })
        .collect();
    all.sort_by_key(|missing| (!missing.is_urgent(), missing.hints.is_empty(), missing.is_passed_over));
    Some(all)
}

/// Writes what is missing as lines: what happens today, what the option may do, how it is written, what it is said to do.
pub(crate) fn report(title: &str, missing: &[MissingOption<'_>]) -> String {
    let mut out = format!("{title}: {} not listed\n", missing.len());
    for one in missing {
        let today = if one.is_passed_over { "passed" } else { "asked" };
        let value = match one.option.value {
            DraftValue::None => "",
            DraftValue::Required => " =",
            DraftValue::Attached => " =?",
        };
        let spelled = one.option.spellings.join(" ");
        let about: String = one.option.about.chars().take(80).collect();
        let _ = writeln!(out, "  {today:6} {:14} {spelled}{value}  {about}", one.hints.join(","));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_settings::profile_draft::of_help;

    #[test]
    fn what_a_profile_does_not_list_is_missing() {
        let draft = of_help("  -a, --archive  x\n  --zz-output=FILE  write there\n  --zz-width  columns\n");
        let name = ProgramName::of("rsync").unwrap();
        let missing = missing(&name, &draft).unwrap();
        let text = report("rsync", &missing);
        assert!(
            text.starts_with("rsync: 2 not listed\n  asked  write          --zz-output =  write there\n"),
            "{text}"
        );
        assert!(!text.contains("--archive"), "{text}");
        assert!(super::missing(&ProgramName::of("no-such-program").unwrap(), &draft).is_none());
    }

    #[test]
    fn a_subcommand_is_held_against_its_own_form() {
        let draft = of_help("  -m, --message <text>  x\n  --zz-new  y\n");
        let missing = missing(&ProgramName::of("git/commit").unwrap(), &draft).unwrap();
        assert_eq!(missing.len(), 1);
    }
}
