//! `portcullis auto-mode defaults`: the built-in rules, as JSON that can be copied into settings.

use clap::Args;
use portcullis_classifier::prompt::{PromptList, PromptLists, label_of};
use serde_json::{Map, Value, json};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::print;

/// Print the built-in rules of the classifier as JSON
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis auto-mode defaults
  portcullis auto-mode defaults --label 'Remote'

In settings, an entry `$defaults` stands for the whole built-in list.
A list without it replaces that list.

Exit codes: 0 done, 64 wrong usage")]
pub(crate) struct DefaultsArgs {
    /// Only rules whose label begins so
    #[arg(long, value_name = "PREFIX")]
    label: Option<String>,
}

pub(super) fn run(arguments: &DefaultsArgs) -> Result<ExitCode, Failure> {
    print(&format!("{:#}\n", lists(&PromptLists::built_in(), arguments.label.as_deref())))?;
    Ok(ExitCode::Success)
}

/// Makes the object of the four lists, under the names they have in settings.
pub(super) fn lists(sections: &PromptLists, prefix: Option<&str>) -> Value {
    let prefix = prefix.unwrap_or_default().to_lowercase();
    let is_wanted = |entry: &&String| label_of(entry).to_lowercase().starts_with(&prefix);
    let list = |section: PromptList| -> Value {
        json!(sections.list(section).iter().filter(is_wanted).collect::<Vec<_>>())
    };
    let lists = PromptList::ALL.into_iter().map(|section| (section.as_str().to_owned(), list(section)));
    Value::Object(lists.collect::<Map<_, _>>())
}
