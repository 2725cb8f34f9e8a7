//! The command line: which commands there are, and what happens when it is wrong.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};

use crate::command_group::with_groups;
use crate::commands::{
    allow, auto_mode, check, completions, deny, doctor, eval, explain, grants, hook, init, log, man, mcp,
    mcp_proxy, memory, modes, policy, profiles, questions, replay, retry, rules, schema, serve, settings,
    stats, store, tokens, trust, uninstall,
};
#[cfg(target_os = "linux")]
use crate::commands::{run, runs};
use portcullis_gate::judge::ConfiguredConsultants;

use crate::exit_code::{ExitCode, report_failure};
use portcullis_core::visible;
use portcullis_gate::Failure;
use portcullis_output::terminal::{print, print_error};

const ABOUT: &str = "Answers allow, deny or ask before an agent's tool call runs, and says why";

const AFTER_HELP: &str = "\
Examples:
  portcullis check 'git push --force origin main'
  portcullis check --mode acceptEdits --tool Write --input '{\"file_path\":\"src/lib.rs\",\"content\":\"\"}'
  portcullis allow --last
  portcullis rules add allow 'Bash(cargo test:*)'
  portcullis rules lint
  portcullis explain PC007

Exit codes:
  0 allow or done, 1 findings or worse, 2 deny, 3 ask, 64 wrong usage, 70 internal failure";

#[derive(Debug, Parser)]
#[command(name = "portcullis", version, about = ABOUT, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::InitArgs),
    Doctor(doctor::DoctorArgs),
    Uninstall(uninstall::UninstallArgs),
    Check(check::CheckArgs),
    Eval(eval::EvalArgs),
    Explain(explain::ExplainArgs),
    AutoMode(auto_mode::AutoModeArgs),
    Replay(replay::ReplayArgs),
    Log(log::LogArgs),
    Stats(stats::StatsArgs),
    #[command(alias = "approvals")]
    Questions(questions::QuestionsArgs),
    Allow(allow::AllowArgs),
    Deny(deny::DenyArgs),
    Grants(grants::GrantsArgs),
    Memory(memory::MemoryArgs),
    #[command(hide = true)]
    Retry(retry::RetryArgs),
    #[cfg(target_os = "linux")]
    Run(run::RunArgs),
    #[cfg(target_os = "linux")]
    Runs(runs::RunsArgs),
    Rules(rules::RulesArgs),
    Modes(modes::ModesArgs),
    Profiles(profiles::ProfilesArgs),
    Trust(trust::TrustArgs),
    Settings(settings::SettingsArgs),
    Schema(schema::SchemaArgs),
    Hook(hook::HookArgs),
    Serve(serve::ServeArgs),
    Tokens(tokens::TokensArgs),
    Store(store::StoreArgs),
    Policy(policy::PolicyArgs),
    Mcp(mcp::McpArgs),
    McpProxy(mcp_proxy::McpProxyArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Init(arguments) => init::run(&arguments),
            Self::Doctor(arguments) => doctor::run(&arguments),
            Self::Uninstall(arguments) => uninstall::run(&arguments),
            Self::Check(arguments) => check::run(&arguments),
            Self::Eval(arguments) => eval::run(&arguments),
            Self::Explain(arguments) => explain::run(&arguments),
            Self::AutoMode(arguments) => auto_mode::run(&arguments),
            Self::Replay(arguments) => replay::run(&arguments),
            Self::Log(arguments) => log::run(&arguments),
            Self::Stats(arguments) => stats::run(&arguments),
            Self::Questions(arguments) => questions::run(&arguments),
            Self::Allow(arguments) => allow::run(&arguments),
            Self::Deny(arguments) => deny::run(&arguments),
            Self::Grants(arguments) => grants::run(&arguments),
            Self::Memory(arguments) => memory::run(&arguments),
            Self::Retry(arguments) => retry::run(&arguments),
            #[cfg(target_os = "linux")]
            Self::Run(arguments) => run::run(&arguments),
            #[cfg(target_os = "linux")]
            Self::Runs(arguments) => runs::run(&arguments),
            Self::Rules(arguments) => rules::run(arguments),
            Self::Modes(arguments) => modes::run(&arguments),
            Self::Profiles(arguments) => profiles::run(arguments),
            Self::Trust(arguments) => trust::run(arguments),
            Self::Settings(arguments) => settings::run(arguments),
            Self::Schema(arguments) => schema::run(&arguments),
            Self::Hook(arguments) => {
                portcullis_hook::run(arguments.into_words(), Some(&ConfiguredConsultants))
            }
            Self::Serve(arguments) => serve::run(arguments),
            Self::Tokens(arguments) => tokens::run(&arguments),
            Self::Store(arguments) => store::run(&arguments),
            Self::Policy(arguments) => policy::run(&arguments),
            Self::Mcp(arguments) => mcp::run(&arguments),
            Self::McpProxy(arguments) => mcp_proxy::run(&arguments),
            Self::Completions(arguments) => completions::run(&arguments, Cli::command()),
            Self::Man(arguments) => man::run(&arguments, Cli::command()),
        }
    }
}

/// Parses the arguments, the program's name first, and runs the command.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let matches = with_groups(Cli::command()).try_get_matches_from(arguments);
    let outcome = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli.command.run(),
        Err(error) => explain_error(&error),
    };
    outcome.unwrap_or_else(|failure| report_failure(&failure))
}

/// Prints the help or the version that was asked for, or says what is wrong with the command line.
fn explain_error(error: &clap::Error) -> Result<ExitCode, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print(&error.render().ansi().to_string())?;
            Ok(ExitCode::Success)
        }
        _ => {
            // The message repeats what was typed, so it is shown plain and made visible.
            let text = error.render().to_string();
            let lines: Vec<_> = text.lines().map(visible).collect();
            print_error(&format!("{}\n", lines.join("\n")));
            Ok(ExitCode::Usage)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_summary_and_examples() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            assert!(command.get_about().is_some(), "{path} has no summary");
            if command.get_subcommands().next().is_none() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Examples:\n  portcullis"), "{path} has no examples");
            }
            for subcommand in command.get_subcommands() {
                check(subcommand, &path);
            }
        }
        check(&Cli::command(), "");
    }
}
