//! The flags of `check`, and the call they describe.

use std::path::PathBuf;

use clap::Args;
use portcullis_core::{Context, Mode, Person, ToolCall, path};

use crate::value_parser::mode_parser;
use portcullis_gate::Failure;
use portcullis_gate::call_input::{call_about, call_with_input};
use portcullis_gate::classifier::ClassifierFlags;
use portcullis_gate::judge::{CallJudge, SessionHistory, consultants_of_command};
use portcullis_gate::standard_input::{InputError, read_whole};
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::shell_quote;

/// Say what would be answered to a tool call, and why
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis check 'git push --force origin main'
  portcullis check --mode plan -- cargo build --release
  portcullis check --tool Edit --input '{\"file_path\":\"/etc/hosts\",\"old_string\":\"\",\"new_string\":\"\"}'
  portcullis check --deny 'Bash(git push:*)' --json 'git -C . push'
  portcullis check --mode auto --said 'force push topic please' 'git push -f origin topic'
  portcullis check --mode auto --transcript session.jsonl --provider anthropic 'npm publish'
  portcullis check --batch < calls.jsonl

One word is taken as the whole command line, several are quoted and joined.
With --batch each line of standard input is {\"id\",\"tool\",\"input\",\"cwd\"?,\"mode\"?} and gets one line of answer.

Exit codes: 0 allow, 2 deny, 3 ask, 64 wrong usage, 70 internal failure
With --batch: 0 every line was answered, 64 a line was not understood")]
pub(crate) struct CheckArgs {
    /// The tool that is called
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    pub(crate) tool: String,
    /// The tool's input as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    pub(crate) input: Option<String>,
    /// The permission mode; settings say which if this does not
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    pub(crate) mode: Option<Mode>,
    /// A further working directory
    #[arg(long = "add-dir", value_name = "DIR")]
    pub(crate) add_dir: Vec<String>,
    /// Nobody can be asked
    #[arg(long)]
    pub(crate) headless: bool,
    /// What the user said before, as a human turn; may be given again
    #[arg(long, value_name = "TEXT")]
    pub(crate) said: Vec<String>,
    /// A file the agent wrote earlier in the session; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) wrote: Vec<String>,
    /// A session file of Claude Code, Codex or Gemini CLI, or our own JSONL: what was said and done before
    #[arg(long, value_name = "FILE", conflicts_with = "batch")]
    pub(crate) transcript: Option<PathBuf>,
    /// The session the call belongs to: its denials are counted, and what a person allowed once counts
    #[arg(long = "session", value_name = "ID")]
    pub(crate) session_id: Option<String>,
    /// Say in plain words what the call does, why that matters and what could go wrong
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true, default_missing_value = "settings", value_parser = ["settings", "offline", "model"])]
    pub(crate) explain: Option<String>,
    #[command(flatten)]
    pub(crate) classifier: ClassifierFlags,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) session: SettingsFlags,
    /// The command of a shell tool, or what another tool is about
    #[arg(trailing_var_arg = true)]
    pub(crate) command: Vec<String>,
}

/// The flags that say what the answer looks like.
#[derive(Debug, Args)]
pub(crate) struct FormArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Show every step, also those that had nothing to say
    #[arg(long)]
    pub(crate) trace: bool,
    /// Answer the calls on standard input, one JSON object a line
    #[arg(long, conflicts_with_all = ["command", "input", "tool", "trace"])]
    pub(crate) batch: bool,
}

impl CheckArgs {
    /// Says whether somebody can be asked.
    pub(crate) fn person(&self) -> Person {
        if self.headless { Person::Absent } else { Person::Present }
    }

    /// Adds to a context what the flags say of the session before the call.
    pub(crate) fn tell(&self, context: &mut Context) {
        context.session.turns.clone_from(&self.said);
        let written = self.wrote.iter().map(|file| (path::join(&context.cwd, file), None));
        context.session.written = written.collect();
    }

    /// Makes the road a call takes.
    pub(crate) fn road<'a>(&'a self, session: &'a SessionSettings) -> CallJudge<'a> {
        CallJudge {
            session,
            arguments: &self.classifier,
            store: session.store(),
            session_id: self.session_id.clone(),
            consultants: Some(consultants_of_command()),
            before_asking: &|time| time,
            fences: None,
        }
    }

    /// Says where the session's past is; a file that is named must be there.
    pub(crate) fn past(&self) -> Result<SessionHistory, Failure> {
        if let Some(file) = &self.transcript
            && !file.is_file()
        {
            return Err(Failure::usage(format!("--transcript: there is no file `{}`", file.display())));
        }
        Ok(SessionHistory { file: self.transcript.clone(), ..SessionHistory::default() })
    }

    /// Makes the call that the flags describe.
    pub(crate) fn call(&self) -> Result<ToolCall, Failure> {
        make_call(&self.tool, self.input.as_deref(), &self.command)
    }
}

/// Makes a call of a tool from its input as JSON, or from the words its main field is made of.
pub(crate) fn make_call(tool: &str, input: Option<&str>, words: &[String]) -> Result<ToolCall, Failure> {
    match (input, words) {
        (Some("-"), _) => call_with_input(tool, &read_stdin()?),
        (Some(text), _) => call_with_input(tool, text.as_bytes()),
        (None, []) => Err(Failure::usage("there is no call to check")
            .with_hint("name a command: portcullis check 'git status', or see portcullis check --help")),
        (None, [text]) => call_about(tool, text),
        (None, several) => call_about(tool, &shell_quote::join(several)),
    }
}

fn read_stdin() -> Result<Vec<u8>, Failure> {
    read_whole().map_err(|error| match error {
        InputError::Unreadable(_) => Failure::internal(error.to_string()),
        InputError::TooLong => Failure::usage(error.to_string()),
    })
}
