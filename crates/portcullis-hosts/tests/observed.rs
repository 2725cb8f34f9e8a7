//! What the adapters say, held against what the real programs were seen to do with it.
#![cfg(test)]

use portcullis_core::Decision;
use portcullis_hosts::registration::{HookCommand, RegistrationPiece};
use portcullis_hosts::{AskBy, CallFate, HookBehavior, Host, HostDecision, ObservedMode, PlainQuestion};

fn all() -> impl Iterator<Item = (Host, &'static ObservedMode)> {
    Host::ALL.into_iter().flat_map(|host| host.adapter().observed.iter().map(move |seen| (host, seen)))
}

#[test]
fn every_moment_has_a_row() {
    for host in Host::ALL.into_iter().filter(|host| *host != Host::Generic) {
        for moment in host.adapter().moments() {
            let has_row = host.adapter().observed.iter().any(|seen| std::ptr::eq(seen.moment, moment));
            assert!(has_row, "{}: `{}` {:?}", host.name(), moment.event, moment.capabilities);
        }
    }
    for (host, seen) in all() {
        let is_its_own = host.adapter().moments().any(|moment| std::ptr::eq(seen.moment, moment));
        assert!(is_its_own, "{}: {}", host.name(), seen.mode);
    }
}

#[test]
fn what_was_seen_names_its_test_and_nothing_else_does() {
    for (host, seen) in all() {
        let (gone, others) = seen.fates.split_last().unwrap();
        let is_seen = others.iter().any(|fate| *fate != CallFate::NotSeen);
        assert_eq!(is_seen, !seen.shown_by.is_empty(), "{}: {}", host.name(), seen.mode);
        assert_eq!(
            *gone != CallFate::NotSeen,
            !seen.gone_shown_by.is_empty(),
            "{}: {}",
            host.name(),
            seen.mode
        );
    }
}

#[test]
fn a_denial_is_heeded_everywhere() {
    for (host, seen) in all() {
        let fate = seen.fate(HookBehavior::Deny);
        assert!(
            !matches!(fate, CallFate::Runs | CallFate::Asked),
            "{}: {}: {fate:?}",
            host.name(),
            seen.mode
        );
    }
}

#[test]
fn where_an_ask_would_run_we_deny() {
    for (host, seen) in all().filter(|(_, seen)| seen.fate(HookBehavior::Ask) == CallFate::Runs) {
        let said = seen.moment.capabilities.lower(Decision::Ask);
        assert_eq!(said, HostDecision::Deny, "{}: {}", host.name(), seen.mode);
    }
}

/// Silence is how a moment asks only where the host then asks by itself, or stops the call because nobody is there.
#[test]
fn where_silence_would_run_it_is_no_way_to_ask() {
    for (host, seen) in all().filter(|(_, seen)| seen.fate(HookBehavior::Silence) == CallFate::Runs) {
        let capabilities = seen.moment.capabilities;
        assert_ne!(capabilities.ask, AskBy::Silence, "{}: {}", host.name(), seen.mode);
        assert_ne!(capabilities.plain, PlainQuestion::LeftToHost, "{}: {}", host.name(), seen.mode);
    }
}

#[test]
fn what_breaks_off_or_cannot_start_never_lets_a_call_run() {
    for (host, seen) in all() {
        for behavior in [HookBehavior::ExitOne, HookBehavior::Gone] {
            let fate = seen.fate(behavior);
            assert_ne!(fate, CallFate::Runs, "{}: {}: {}", host.name(), seen.mode, behavior.title());
        }
    }
}

/// Of these only our own deadline and our own care protect; a moment must say so.
#[test]
fn a_moment_that_fails_open_says_so() {
    for (host, seen) in all() {
        let lets_run = [HookBehavior::Garbage, HookBehavior::Late]
            .into_iter()
            .any(|behavior| seen.fate(behavior) == CallFate::Runs);
        assert!(!lets_run || seen.moment.capabilities.fails_open, "{}: {}", host.name(), seen.mode);
    }
}

/// Where a failing hook lets a call run by itself, the registered command makes it stop.
#[test]
fn a_host_that_lets_calls_run_after_a_failure_gets_a_command_that_stops_them() {
    let command = HookCommand {
        program: "/opt/portcullis".to_owned(),
        arguments: vec!["hook".to_owned(), "host".to_owned()],
        host_version: None,
    };
    for host in [Host::Claude, Host::Codex, Host::Gemini, Host::Qwen, Host::Droid, Host::Kimi] {
        let pieces = (host.adapter().registration.pieces)(&command);
        let has_guard = pieces.iter().any(|piece| match piece {
            RegistrationPiece::Element { value, .. } => value.to_string().contains("exit 2; }"),
            _ => false,
        });
        assert!(has_guard, "{}", host.name());
    }
}
