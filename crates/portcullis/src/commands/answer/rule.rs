//! A rule as an answer: a grant for a while, or a line in a settings file.

use portcullis_core::rule::Behavior;
use portcullis_core::{Policy, Source, visible};
use portcullis_settings::{LoadOptions, RuleDestination, SettingsOwner, add_rule, load};
use portcullis_store::{DeniedCall, Grant, GrantScope, NewGrant, Store, StoreError};
use serde_json::json;

use super::denied::{KnownCall, show_call};
use super::person::{choose_rule, require_yes};
use super::{AllowTerm, AnswerArgs};
use crate::commands::rules::describe_edit;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::judge::LONGEST_KEPT_MS;
use portcullis_gate::session_settings::{compile, locations};
use portcullis_output::grant::grant_json;
use portcullis_output::human::counted;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, print_error, printable};

/// How long a grant lasts that has a number of uses and no time, in milliseconds: a day.
const USUAL_MS: u64 = 24 * 60 * 60 * 1_000;
const MINUTE_MS: u64 = 60_000;

/// A rule that is about to be granted.
pub(super) struct RuleAnswer<'a> {
    pub(super) store: &'a Store,
    pub(super) behavior: Behavior,
    pub(super) arguments: &'a AnswerArgs,
    pub(super) term: AllowTerm,
    pub(super) known: Option<KnownCall>,
}

impl RuleAnswer<'_> {
    /// Shows the rule, and keeps it if the person means it.
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let rule = self.rule()?;
        if self.arguments.always { self.write(&rule) } else { self.give(&rule) }
    }

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
        require_yes(self.arguments.yes, &format!("{} it {}?", self.behavior, how_long))?;
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
        require_yes(
            self.arguments.yes,
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
