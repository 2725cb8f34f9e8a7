//! What `portcullis allow` and `portcullis deny` share: which call or rule is meant, for how long, and a person who says so.
//!
//! INVARIANT: nothing is granted, denied or revoked without a terminal on standard input, whatever the flags say. What an
//! agent runs has none unless it makes one, and no agent may lift what it was denied.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal};

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_core::{Policy, Source, visible};
use portcullis_settings::{LoadOptions, RuleDestination, SettingsOwner, add_rule, load};
use portcullis_store::{DeniedCall, Grant, GrantScope, NewGrant, Store, StoreError};
use serde_json::json;

use super::retry::{approve_call, call_text, list_calls, refused};
use super::rules::describe_edit;
use crate::exit_code::ExitCode;
use crate::value_parser::source_parser;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::judge::LONGEST_KEPT_MS;
use portcullis_gate::session_settings::{SessionSettings, SettingsFlags, compile, locations};
use portcullis_gate::stores;
use portcullis_output::grant::grant_json;
use portcullis_output::human::counted;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, print_error, printable};

/// How many calls are listed where none is named.
const LISTED: usize = 20;
/// How long a grant lasts that has a number of uses and no time, in milliseconds: a day.
const USUAL_MS: u64 = 24 * 60 * 60 * 1_000;
const MINUTE_MS: u64 = 60_000;

/// Which call or rule is meant, and for how long.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command line")]
pub(crate) struct GrantArgs {
    /// A rule, instead of the one that fits the call
    rule: Option<String>,
    /// The call that was denied last
    #[arg(long, conflicts_with = "id")]
    last: bool,
    /// The call with this id
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Calls of the kind, until the session ends
    #[arg(long, conflicts_with_all = ["plan", "always"])]
    session: bool,
    /// Calls of the kind, for so many minutes
    #[arg(long, value_name = "N", conflicts_with = "always", value_parser = clap::value_parser!(u64).range(1..=1440))]
    minutes: Option<u64>,
    /// Calls of the kind, until the session begins another plan or ends
    #[arg(long, conflicts_with = "always")]
    plan: bool,
    /// Calls of the kind, from now on: writes the rule into a settings file
    #[arg(long)]
    always: bool,
    /// Whose settings the rule is written into
    #[arg(long, value_name = "SOURCE", requires = "always", default_value = "user", value_parser = source_parser())]
    source: Source,
    /// Do not ask whether it is meant
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// For how long, as the flags say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Term {
    /// Only this very call, once.
    pub(crate) once: bool,
    /// How often.
    pub(crate) uses: Option<u32>,
}

/// A call that was not allowed, with the name of its session.
type Known = (String, DeniedCall);

/// Runs `allow` or `deny`.
pub(crate) fn run(behavior: Behavior, arguments: &GrantArgs, term: Term) -> Result<ExitCode, Failure> {
    let store = open_store()?;
    let is_named = arguments.last || arguments.id.is_some();
    if !is_named && arguments.rule.is_none() {
        return list(&store, arguments.json);
    }
    require_person()?;
    let known = if is_named { Some(find(&store, arguments)?) } else { None };
    let has_term = arguments.session || arguments.plan || arguments.minutes.is_some() || term.uses.is_some();
    match known {
        Some(known)
            if behavior == Behavior::Allow && arguments.rule.is_none() && !has_term && !arguments.always =>
        {
            allow_once(&store, &known, arguments)
        }
        _ if term.once => Err(Failure::usage("a rule cannot be allowed for one very call")
            .with_hint("use --uses 1, or name the call with --last or --id and no rule")),
        None if arguments.session || arguments.plan => {
            Err(Failure::usage("a rule alone does not say which session is meant")
                .with_hint("name one of its calls with --last or --id, or use --minutes or --uses"))
        }
        None if !has_term && !arguments.always => {
            Err(Failure::usage("the command line does not say how long the rule is to hold")
                .with_hint("use --minutes, --uses or --always"))
        }
        known => {
            let grant = Granting { store: &store, behavior, arguments, term, known };
            let rule = grant.rule()?;
            if arguments.always { grant.write(&rule) } else { grant.give(&rule) }
        }
    }
}

/// Returns the store, which must have a place.
pub(super) fn open_store() -> Result<Store, Failure> {
    stores::open_for(&SessionSettings::open(&SettingsFlags::default())?)
}

/// Refuses whoever is no person in a terminal.
pub(super) fn require_person() -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage("only a person in a terminal can grant, deny or revoke")
        .with_hint("run it yourself in a terminal, without a pipe into it"))
}

fn list(store: &Store, is_json: bool) -> Result<ExitCode, Failure> {
    let recent = store.recently_denied(LISTED).map_err(|error| Failure::internal(error.to_string()))?;
    list_calls(&recent, is_json, "nothing was denied lately\n")
}

fn find(store: &Store, arguments: &GrantArgs) -> Result<Known, Failure> {
    if let Some(id) = &arguments.id {
        let found = store.find_denied(id).map_err(|error| Failure::from(&error))?;
        return found.ok_or_else(|| refused(&StoreError::UnknownDenial { id: id.clone() }));
    }
    let recent = store.recently_denied(1).map_err(|error| Failure::internal(error.to_string()))?;
    recent.calls.into_iter().next().ok_or_else(|| {
        Failure::usage("nothing was denied lately").with_hint("name a rule, or see `portcullis log`")
    })
}

fn allow_once(store: &Store, (session, call): &Known, arguments: &GrantArgs) -> Result<ExitCode, Failure> {
    if !call.retryable {
        return Err(refused(&StoreError::NotRetryable { id: call.id.clone() }));
    }
    show_call(session, call);
    confirm(arguments, "allow this very call once?")?;
    approve_call(store, session, &call.id, 60, arguments.json)
}

/// Shows all that is kept of a call, so that a mistake is seen.
fn show_call(session: &str, call: &DeniedCall) {
    let mut text = call_text(call, now_ms());
    let place = format!("in {}, session {}", visible(&call.cwd), visible(session));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  {}", Painted(DIM, place));
    print_error(&text);
}

/// Asks a person whether it is meant, unless they said so already.
fn confirm(arguments: &GrantArgs, question: &str) -> Result<(), Failure> {
    if arguments.yes {
        return Ok(());
    }
    print_error(&format!("{question} [y/N] "));
    match read_answer()?.to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::usage("nothing was changed")),
    }
}

fn read_answer() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| Failure::internal(format!("the answer could not be read: {error}")))?;
    Ok(line.trim().to_owned())
}

/// Returns the only rule, or the one that a person chooses of several; whoever is not to be asked must name one.
pub(super) fn choose_rule(rules: &[&str], is_silent: bool) -> Result<String, Failure> {
    match rules {
        [only] => Ok((*only).to_owned()),
        several if is_silent => Err(Failure::usage("several rules would do, and one must be chosen")
            .with_hint(format!("name one of them: {}", several.join(", ")))),
        several => {
            let mut text = String::new();
            for (at, rule) in several.iter().enumerate() {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{:>3}  {}", at + 1, visible(rule));
            }
            print_error(&format!("{text}which one? [1-{}] ", several.len()));
            let chosen = read_answer()?.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
            let rule = chosen.and_then(|at| several.get(at));
            rule.map(|rule| (*rule).to_owned()).ok_or_else(|| Failure::usage("nothing was changed"))
        }
    }
}

/// A rule that is about to be granted.
struct Granting<'a> {
    store: &'a Store,
    behavior: Behavior,
    arguments: &'a GrantArgs,
    term: Term,
    known: Option<Known>,
}

impl Granting<'_> {
    /// Returns the rule: the one that was named, or one that fits the call, as a person chooses. It is shown first.
    fn rule(&self) -> Result<String, Failure> {
        if let Some((session, call)) = &self.known {
            show_call(session, call);
        }
        let rule = match (&self.arguments.rule, &self.known) {
            (Some(rule), _) => rule.clone(),
            (None, Some((_, call))) => self.choose(call)?,
            (None, None) => return Err(Failure::internal("neither a rule nor a call was named")),
        };
        let compiled = compile(&rule, self.behavior)?;
        print_error(&format!("{} {}\n", self.behavior, Painted(BOLD, visible(&rule))));
        if Policy::of_rules(vec![compiled]).suspended_in_auto().next().is_some() {
            let note = "auto mode does not go by this rule, because it would pass its judge by";
            print_error(&format!("  {}\n", Painted(DIM, note)));
        }
        if let Some(why) = self.ignored(&rule)? {
            print_error(&format!("  {}\n", Painted(DIM, format!("it will not count: {why}"))));
        }
        Ok(rule)
    }

    /// Says why settings would leave the rule out, if they do.
    fn ignored(&self, rule: &str) -> Result<Option<&'static str>, Failure> {
        let directory = self.known.as_ref().map(|(_, call)| call.cwd.as_str());
        let options =
            LoadOptions { session: vec![(self.behavior, rule.to_owned())], ..LoadOptions::default() };
        let loaded = load(&locations(directory)?, &options);
        let own = loaded.ignored.iter().find(|one| one.origin.source == Source::Session);
        Ok(own.map(|one| one.reason.as_str()))
    }

    fn choose(&self, call: &DeniedCall) -> Result<String, Failure> {
        let is_fitting = |behavior: &str| behavior == self.behavior.as_str();
        let fitting = call.suggestions.iter().filter(|one| is_fitting(&one.behavior));
        let rules: Vec<&str> = fitting.map(|one| one.rule.as_str()).collect();
        match rules.as_slice() {
            [] => {
                let can_once = self.behavior == Behavior::Allow && call.retryable;
                let once = if can_once { ", or allow this very call with --once" } else { "" };
                Err(Failure::usage("no rule would cover such calls in general")
                    .with_hint(format!("name the rule yourself{once}")))
            }
            several => choose_rule(several, self.arguments.yes),
        }
    }

    /// Keeps the rule for a while.
    fn give(&self, rule: &str) -> Result<ExitCode, Failure> {
        let failed = |error: StoreError| Failure::from(&error);
        let workspace = locations(None)?.workspace().to_string_lossy().into_owned();
        let how_long = self.how_long(&workspace);
        let scope = match &self.known {
            Some((session, _)) => GrantScope::Session(session.clone()),
            None => GrantScope::Workspace(workspace),
        };
        let plan = match (&self.known, self.arguments.plan) {
            (Some((session, _)), true) => Some(self.store.session(session).facts().map_err(failed)?.plan),
            _ => None,
        };
        let lasts_ms = match (self.arguments.minutes, self.term.uses) {
            (Some(minutes), _) => minutes.saturating_mul(MINUTE_MS),
            (None, Some(_)) => USUAL_MS,
            (None, None) => LONGEST_KEPT_MS,
        };
        confirm(self.arguments, &format!("{} it {}?", self.behavior, how_long))?;
        let new = NewGrant {
            behavior: self.behavior.as_str().to_owned(),
            rule: rule.to_owned(),
            scope,
            lasts_ms,
            uses: self.term.uses,
            plan,
            is_timed: self.arguments.minutes.is_some(),
        };
        let grant = self.store.grants().give(new, now_ms()).map_err(failed)?;
        print(&self.given_text(&grant, &how_long))?;
        Ok(ExitCode::Success)
    }

    fn given_text(&self, grant: &Grant, how_long: &str) -> String {
        if self.arguments.json {
            return printable(&format!("{:#}\n", json!({"granted": grant_json(grant)})));
        }
        let rule = visible(&grant.rule);
        let (behavior, id) = (self.behavior, &grant.id);
        format!("{id}  {behavior} {rule} {how_long}\n`portcullis grants revoke {id}` takes it back\n")
    }

    fn how_long(&self, workspace: &str) -> String {
        let place = match (&self.known, self.arguments.plan) {
            (Some(_), true) => "for this plan".to_owned(),
            (Some(_), false) => "in this session".to_owned(),
            (None, _) => format!("in {}", visible(workspace)),
        };
        let minutes = self.arguments.minutes.map(|minutes| format!(", for {minutes} min"));
        let uses = self.term.uses.map(|uses| format!(", {} at most", counted(uses, "time")));
        format!("{place}{}{}", minutes.unwrap_or_default(), uses.unwrap_or_default())
    }

    /// Writes the rule into a settings file.
    fn write(&self, rule: &str) -> Result<ExitCode, Failure> {
        let directory = self.known.as_ref().map(|(_, call)| call.cwd.as_str());
        let is_of_project = self.arguments.source.is_in_repository();
        let locations = locations(directory.filter(|_| is_of_project))?;
        let destination = RuleDestination { source: self.arguments.source, owner: SettingsOwner::Portcullis };
        confirm(
            self.arguments,
            &format!("{} it from now on, in the {} settings?", self.behavior, destination.source),
        )?;
        let report =
            add_rule(&locations, destination, self.behavior, rule).map_err(|error| Failure::from(&error))?;
        print(&if self.arguments.json {
            let written = json!({"rule": rule, "behavior": self.behavior.as_str(), "file": report.file.display().to_string()});
            printable(&format!("{:#}\n", json!({"written": written, "changed": report.changed})))
        } else {
            describe_edit(&report, "the rule is there already")
        })?;
        Ok(ExitCode::Success)
    }
}
