//! What a call is about, by the kind of its tool: parsed and analysed once, whatever policy it is decided by later.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use portcullis_analysis::command_effects::{effects, runs_what_it_writes, written_texts};
use portcullis_analysis::effect::{Act, Effect, Target};
use portcullis_analysis::tool_call::FILE_FIELDS;
use portcullis_analysis::{Opacity, PossibleFile, Surroundings, Survey, possible_files};
use portcullis_shell::Span;

use super::reading;
use super::source::of_invocation;
use crate::call::ToolCall;
use crate::context::Context;
use crate::rule::host_of;
use crate::tool::ToolKind;

/// What a call is about.
#[derive(Debug, Clone)]
pub(crate) enum CallSubject {
    /// A bash command line.
    Shell(Box<Shell>),
    /// A PowerShell command line, which is not parsed.
    PowerShell(String),
    /// Files that are read or written, as the effects of the call say.
    Files,
    /// A URL and its host, if it has one that is understood.
    Fetch { host: Option<String> },
    /// Nothing the core looks into.
    Other,
    /// The input lacks what the tool needs.
    Malformed(String),
}

/// A surveyed command line.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) text: String,
    pub(crate) survey: Survey,
    /// What its commands do.
    pub(crate) effects: Vec<Effect>,
    /// The files that it fills with a text that is known to the letter.
    pub(crate) texts: BTreeMap<String, String>,
    /// What `~` stands for; `None` where that is not known.
    home: Option<String>,
    possible_files: OnceLock<Vec<Vec<PossibleFile>>>,
}

impl CallSubject {
    pub(super) fn of(call: &ToolCall, context: &Context) -> Self {
        match call.kind() {
            ToolKind::Shell => match call.command() {
                Some(command) => Self::Shell(Box::new(Shell::of(command, context))),
                None => Self::Malformed("the input has no text field `command`".to_owned()),
            },
            ToolKind::PowerShell => match call.command() {
                Some(command) => Self::PowerShell(command.to_owned()),
                None => Self::Malformed("the input has no text field `command`".to_owned()),
            },
            ToolKind::Read | ToolKind::Edit => Self::of_file(call),
            ToolKind::Fetch => match call.input().text("url") {
                Some(url) => Self::Fetch { host: host_of(url) },
                None => Self::Malformed("the input has no text field `url`".to_owned()),
            },
            ToolKind::Agent | ToolKind::Internal | ToolKind::Mcp | ToolKind::Other => Self::Other,
        }
    }

    fn of_file(call: &ToolCall) -> Self {
        let mut names_file = matches!(call.tool(), "Glob" | "Grep");
        for field in FILE_FIELDS {
            let Some(value) = call.input().field(field) else { continue };
            names_file = true;
            if value.as_text().is_none_or(|text| text.is_empty() || text.contains('\0')) {
                return Self::Malformed(format!("the field `{field}` is not a path"));
            }
        }
        if names_file { Self::Files } else { Self::Malformed("the input names no file".to_owned()) }
    }

    /// Returns the command line, if it is one of bash.
    pub(crate) fn shell(&self) -> Option<&Shell> {
        match self {
            Self::Shell(shell) => Some(shell),
            Self::PowerShell(_) | Self::Files | Self::Fetch { .. } | Self::Other | Self::Malformed(_) => None,
        }
    }
}

impl Shell {
    fn of(command: &str, context: &Context) -> Self {
        let surroundings = context.surroundings();
        let mut survey = reading::survey_command(command, surroundings);
        // Where the line gives `~` another meaning, nobody knows what it stands for.
        let home = surroundings.home.filter(|_| !may_set_home(command));
        let surroundings = Surroundings { home, ..surroundings };
        let mut effects = effects(&survey, surroundings);
        let texts = written_texts(&survey, &effects);
        // A rule for a script speaks of the script that was there before.
        if let Some(span) = runs_what_it_writes(&effects, &BTreeMap::new()) {
            let why = "it runs a file that the same command line writes".to_owned();
            survey.opacities.push(Opacity { span, why });
        }
        if let Some(span) = runs_what_it_writes(&effects, &texts) {
            let why = "it runs a file that the same command line writes".to_owned();
            effects.push(Effect::of_call(Act::Unknown, Target::Name(why), span));
        }
        let home = home.map(str::to_owned);
        Self { text: command.to_owned(), survey, effects, texts, home, possible_files: OnceLock::new() }
    }

    /// Returns what one of the commands does.
    pub(crate) fn effects_of(&self, place: usize) -> &[Effect] {
        of_invocation(&self.effects, place)
    }

    /// Returns the span of the first opacity.
    pub(crate) fn first_opacity(&self) -> Option<(Span, &str)> {
        self.survey.opacities.first().map(|opacity| (opacity.span, opacity.why.as_str()))
    }

    /// Returns for each invocation the files that it may touch although nothing says so. They matter only to a rule that
    /// restrains paths and to code that nobody reads, so they are worked out when somebody asks.
    pub(crate) fn possible_files(&self) -> &[Vec<PossibleFile>] {
        self.possible_files.get_or_init(|| {
            let invocations = self.survey.invocations.iter().enumerate();
            let files = invocations.map(|(place, invocation)| {
                possible_files(invocation, self.effects_of(place), self.home.as_deref())
            });
            files.collect()
        })
    }
}

/// Says whether a command line names the variable `HOME` other than to expand it, or to ask for it in code:
/// `process.env.HOME`, `getenv("HOME")`.
fn may_set_home(command: &str) -> bool {
    command.match_indices("HOME").any(|(at, _)| {
        let before = command.get(..at).unwrap_or_default();
        let unquoted = before.trim_end_matches('\\').trim_end_matches(['"', '\'']).trim_end_matches('\\');
        let is_asked = unquoted.len() < before.len() && unquoted.ends_with(['(', '[']);
        let last = before.chars().next_back();
        !is_asked && last.is_none_or(|letter| !letter.is_ascii_alphanumeric() && !"_${.".contains(letter))
    })
}
