//! `portcullis init`: registers with the agents of this machine.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use portcullis_core::Mode;
use portcullis_hosts::Host;
use portcullis_hosts::registration::HookCommand;
use portcullis_settings::{ModeChange, SettingsLocations, plan_mode, set_mode};

use crate::commands::replay;
use crate::commands::uninstall::find_hosts;
use crate::exit_code::{ExitCode, report_failure};
use crate::value_parser::mode_parser;
use portcullis_gate::classifier::{ClassifierFlags, has_classifier};
use portcullis_gate::presence::require_no_agent;
use portcullis_gate::session_settings::locations;
use portcullis_gate::text_difference::unified_difference;
use portcullis_gate::{Failure, SessionSettings, SettingsFlags};
use portcullis_install::agent::{Agent, VersionStanding, newest, registrable};
use portcullis_install::codex_trust::{self, KnownHook};
use portcullis_install::ours::Ours;
use portcullis_install::plan::Plan;
use portcullis_install::program::{self, Program};
use portcullis_install::writing::Turn;
use portcullis_output::difference::painted_difference;
use portcullis_output::terminal::{BOLD, HOW_TO_CONFIRM, Painted, confirm, print, print_notes};

/// Register with the agents that are installed, so that they ask before every tool call
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis init --mode auto
  portcullis init claude codex --yes
  portcullis init --dry-run

Auto mode is offered where no mode is named yet; --mode names one.
What will change is said before it is written, with --diff line by line, and what was there is kept in
the state directory; `portcullis uninstall` gives it back, and `portcullis doctor` checks that it works.
At the end your own sessions of the last 30 days are gone through: how much would have been asked.

Exit codes: 0 registered, 64 something was not registered or not confirmed, 70 internal failure")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub(crate) struct InitArgs {
    /// The agents: claude, codex, gemini, opencode, cursor, copilot, qwen, droid, crush, amp, kimi, pi,
    /// cline; all that are installed if none is named
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// Register with every agent, also with those that are not installed
    #[arg(long, conflicts_with = "hosts")]
    all: bool,
    /// The mode sessions start in, in every agent that does not name another: `auto` lets run what is proven harmless
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    mode: Option<Mode>,
    /// Show every change line by line
    #[arg(long)]
    diff: bool,
    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Nobody can be asked where the agents run: what would be asked is denied
    #[arg(long)]
    headless: bool,
    /// Do not go through past sessions at the end
    #[arg(long)]
    no_replay: bool,
    /// The program to register instead of the running one
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

/// An agent with the command it is to start.
struct Subject {
    agent: Agent,
    command: HookCommand,
}

/// Runs the command.
pub(crate) fn run(arguments: &InitArgs) -> Result<ExitCode, Failure> {
    if !arguments.dry_run {
        require_no_agent("change how agents are registered")?;
    }
    let locations = locations(None)?;
    let program = program::find(arguments.program.as_deref(), &locations)?;
    let subjects = subjects(arguments, &program, &locations)?;
    let doubts = program.doubts.iter().map(|doubt| format!("`{}` {doubt}", program.text));
    print_notes(doubts);
    if arguments.mode == Some(Mode::BypassPermissions) {
        let hint = "`--mode auto` runs without questions and still stops what is dangerous";
        return Err(Failure::usage("`init` does not set the mode that bypasses permissions").with_hint(hint));
    }
    let mut init =
        Init { arguments, mode: arguments.mode, locations: &locations, program: &program, failure: None };
    let is_new = init.register(&subjects)?;
    if is_new && init.failure.is_none() && !arguments.no_replay {
        print(&replay::preview(init.mode.unwrap_or(Mode::Auto)).unwrap_or_default())?;
    }
    match init.failure {
        Some(failure) => Err(failure),
        None => Ok(ExitCode::Success),
    }
}

fn subjects(
    arguments: &InitArgs,
    program: &Program,
    locations: &SettingsLocations,
) -> Result<Vec<Subject>, Failure> {
    let hosts =
        if arguments.hosts.is_empty() { registrable().collect() } else { find_hosts(&arguments.hosts)? };
    let is_wanted = |agent: &Agent| arguments.all || !arguments.hosts.is_empty() || agent.is_installed();
    let mut subjects = Vec::new();
    for host in hosts {
        let agent = Agent::look(host, locations)?;
        if is_wanted(&agent) {
            let command = command(&agent, agent.command(program, arguments.headless), locations);
            subjects.push(Subject { agent, command });
        }
    }
    if subjects.is_empty() {
        let names: Vec<&str> = registrable().map(Host::name).collect();
        let hint = format!("name the agents to register with: {}", names.join(", "));
        return Err(Failure::usage("no agent was found on this machine").with_hint(hint));
    }
    Ok(subjects)
}

/// Where the agent does not tell its version, what was registered when it did is not taken back.
fn command(agent: &Agent, command: HookCommand, locations: &SettingsLocations) -> HookCommand {
    if command.host_version.is_some() || !agent.heeds_version(&command) {
        return command;
    }
    let newest = newest(&command);
    if Plan::make(agent, &newest, locations).is_ok_and(|plan| plan.is_empty()) {
        return newest;
    }
    let title = agent.adapter.title;
    print_notes([format!(
        "the version of {title} is not known, so only what every version understands is set up"
    )]);
    command
}

/// Shows what changes line by line.
fn differences(shown: &[(&Subject, Plan)]) -> String {
    let mut out = String::new();
    for (subject, plan) in shown.iter().filter(|(_, plan)| !plan.is_empty()) {
        let title = Painted(BOLD, subject.agent.adapter.title);
        let _ = writeln!(out, "\n{title}\n{}", plan.show());
    }
    out
}

/// One run: what fails for one agent does not keep the others from being registered.
struct Init<'a> {
    arguments: &'a InitArgs,
    /// The mode to set, if one is.
    mode: Option<Mode>,
    locations: &'a SettingsLocations,
    program: &'a Program,
    /// The last failure; earlier ones were said already.
    failure: Option<Failure>,
}

impl Init<'_> {
    /// Registers with the agents, and says whether anything was changed.
    fn register(&mut self, subjects: &[Subject]) -> Result<bool, Failure> {
        // Whoever need not ask holds the turn from the beginning, so that two at once do not meet.
        let is_sure = self.arguments.yes && !self.arguments.dry_run;
        let early = if is_sure { Some(Turn::take(self.locations)?) } else { None };
        let shown = self.plan(subjects);
        let has_work = shown.iter().any(|(_, plan)| !plan.is_empty());
        for (old, _) in shown.iter().filter(|(_, plan)| plan.is_empty()) {
            print(&format!("{}: already registered\n", old.agent.adapter.title))?;
        }
        if has_work && !self.arguments.yes && !self.arguments.dry_run {
            self.ask_mode()?;
        }
        if has_work || self.mode.is_some() {
            print(&self.summary(&shown)?)?;
        }
        if self.arguments.diff || self.arguments.dry_run {
            print(&self.own_difference()?)?;
            print(&differences(&shown))?;
        }
        if self.arguments.dry_run {
            return Ok(false);
        }
        let asks = (has_work || self.mode.is_some()) && !self.arguments.yes;
        if asks && !confirm("Write these changes?")? {
            return Err(Failure::usage("nothing was changed").with_hint(HOW_TO_CONFIRM));
        }
        if let Some(mode) = self.mode {
            set_mode(self.locations, mode).map_err(|error| Failure::usage(error.to_string()))?;
        }
        let turn = match early {
            Some(turn) => turn,
            None => Turn::take(self.locations)?,
        };
        for (subject, plan) in shown {
            if let Err(failure) = self.finish(&turn, subject, &plan) {
                self.fail(failure);
            }
        }
        let next =
            "agents that run already must be started anew; `portcullis doctor` checks that they ask us";
        print_notes(Some(next).filter(|_| has_work));
        Ok(has_work || self.mode.is_some())
    }

    /// Asks for auto mode where nobody has named a mode yet.
    fn ask_mode(&mut self) -> Result<(), Failure> {
        let question =
            "Auto mode in every agent: what is harmless runs, what is dangerous stops, the rest asks you?";
        let is_named = self.mode.is_some()
            || SessionSettings::open(&SettingsFlags::default())?.policy().own_mode.is_some();
        if !is_named && confirm(question)? {
            self.mode = Some(Mode::Auto);
        }
        Ok(())
    }

    /// Says in a few lines which agents there are, what changes, and which mode counts.
    fn summary(&self, shown: &[(&Subject, Plan)]) -> Result<String, Failure> {
        let new = shown.iter().filter(|(_, plan)| !plan.is_empty());
        let names: Vec<&str> = new.map(|(subject, _)| subject.agent.adapter.title).collect();
        let of_agents =
            shown.iter().flat_map(|(_, plan)| plan.texts.iter().map(|change| change.path.clone()));
        let own = self.own_change()?.map(|change| change.file);
        let files: Vec<String> =
            own.into_iter().chain(of_agents).map(|path| path.display().to_string()).collect();
        let mut out = String::new();
        let mut line = |name: &str, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(out, "{} {text}", Painted(BOLD, format_args!("{name:<7}")));
            }
        };
        line("Agents", &names.join(", "));
        line("Changes", &files.join(", "));
        line("Program", &self.program.text);
        line("Mode", &self.mode()?);
        Ok(out)
    }

    /// Works out what changes in our own settings.
    fn own_change(&self) -> Result<Option<ModeChange>, Failure> {
        let Some(mode) = self.mode else { return Ok(None) };
        plan_mode(self.locations, mode).map_err(|error| Failure::usage(error.to_string()))
    }

    /// Shows it line by line.
    fn own_difference(&self) -> Result<String, Failure> {
        let shown = |change: ModeChange| {
            let name = change.file.to_string_lossy();
            let lines = unified_difference(&name, change.before.as_deref(), &change.after);
            format!("\n{}\n{}", Painted(BOLD, "Portcullis"), painted_difference(&lines))
        };
        Ok(self.own_change()?.map(shown).unwrap_or_default())
    }

    /// Says which mode will count in sessions that name none.
    fn mode(&self) -> Result<String, Failure> {
        let session = SessionSettings::open(&SettingsFlags::default())?;
        let has_model = has_classifier(&session.loaded, &ClassifierFlags::default());
        let meaning = |mode: Mode| match mode {
            Mode::Auto if has_model => {
                "what is harmless runs, what is dangerous stops, a model judges the rest"
            }
            Mode::Auto => "what is harmless runs, what is dangerous stops, the rest asks you",
            _ => mode.info().summary,
        };
        if let Some(mode) = self.mode {
            return Ok(format!("{mode}, from now on: {}", meaning(mode)));
        }
        Ok(match session.policy().own_mode {
            Some(mode) => format!("{mode}: {}", meaning(mode)),
            None => "the agent's own; `portcullis init --mode auto` asks only where it must".to_owned(),
        })
    }

    fn plan<'s>(&mut self, subjects: &'s [Subject]) -> Vec<(&'s Subject, Plan)> {
        let mut plans = Vec::new();
        for subject in subjects {
            let standing = subject.agent.version().map(|version| subject.agent.standing(version));
            let plan = match &standing {
                Ok(VersionStanding::Unguarded(why)) => {
                    let why = why.clone();
                    Err(Failure::usage(why).with_hint("update it, then register with it"))
                }
                _ => codex_trust::refuse_switched_off(&subject.agent)
                    .and_then(|()| Plan::make(&subject.agent, &subject.command, self.locations)),
            };
            if let (Ok(VersionStanding::Untried(what)), Ok(_)) = (standing, &plan) {
                print_notes([what]);
            }
            match plan {
                Ok(plan) => plans.push((subject, plan)),
                Err(failure) => self.fail(failure),
            }
        }
        plans
    }

    /// Writes what was shown for one agent. If a file is no longer what it was, it is left alone.
    fn finish(&self, turn: &Turn, subject: &Subject, plan: &Plan) -> Result<(), Failure> {
        let Subject { agent, command } = subject;
        let title = agent.adapter.title;
        if !plan.is_empty() {
            let backups = turn.carry_out(agent, command, plan)?;
            print(&format!("{title}: registered\n"))?;
            let kept =
                backups.iter().map(|backup| format!("the former text is kept in `{}`", backup.display()));
            print_notes(kept);
        }
        let lost = plan.links.iter().filter(|link| !link.is_on_path());
        print_notes(lost.map(|link| {
            let directory = link.path.parent().unwrap_or(&link.path);
            format!("`{}` is not on the PATH: {title} will not find our program", directory.display())
        }));
        if agent.host() == Host::Codex {
            return self.trust_in_codex(turn, agent);
        }
        let afterwards = agent.adapter.registration.afterwards;
        print_notes(Some(afterwards).filter(|sentence| !sentence.is_empty() && !plan.is_empty()));
        Ok(())
    }

    /// Has Codex trust our hooks, which it would skip without a word.
    fn trust_in_codex(&self, turn: &Turn, agent: &Agent) -> Result<(), Failure> {
        let ours = Ours::new(Host::Codex, &self.program.path);
        let by_hand = "run `/hooks` in Codex and trust our hooks: until then it skips them without a word";
        let hooks = match codex_trust::look(agent, &ours, self.locations) {
            Ok(hooks) if !hooks.is_empty() => hooks,
            Ok(_) => {
                let message = "Codex does not list our hooks, so they cannot be trusted here";
                return Err(Failure::usage(message).with_hint(by_hand));
            }
            Err(_) if !agent.is_installed() => {
                print_notes([by_hand]);
                return Ok(());
            }
            Err(why) => {
                let message = format!("Codex was not asked to trust our hooks: `codex` {why}");
                return Err(Failure::usage(message).with_hint(by_hand));
            }
        };
        let new: Vec<KnownHook> = hooks.iter().filter(|hook| !hook.is_trusted).cloned().collect();
        let Some(change) = codex_trust::plan(agent, &new)?.filter(|_| !new.is_empty()) else { return Ok(()) };
        if self.arguments.diff {
            print(&format!("\n{}\n", change.show()))?;
        }
        let file = change.path.display();
        if !self.arguments.yes && !confirm(&format!("Let Codex trust our hooks, by what `{file}` says?"))? {
            return Err(Failure::usage("Codex does not trust our hooks").with_hint(by_hand));
        }
        codex_trust::write(turn, agent, &self.program.text, &change, &hooks)?;
        print("Codex: our hooks are trusted\n")
    }

    fn fail(&mut self, failure: Failure) {
        if let Some(earlier) = self.failure.replace(failure) {
            report_failure(&earlier);
        }
    }
}
