//! The page of hosts, from the adapters.

use std::fmt::Write as _;

use portcullis_hosts::registration::{FolderBase, HookCommand, Registration, RegistrationPiece};
use portcullis_hosts::{AskBy, HookBehavior, HookMoment, Host};

use super::{NOTICE, cell};

pub(super) fn page() -> String {
    let mut page = format!(
        "{NOTICE}\n\n# Hosts\n\n\
         What each agent can be told, and where it is told to call us.\n\
         `portcullis init` writes the registrations; [the guide](../guides/install.md) says more.\n\n\
         ## What a verdict becomes\n\n\
         A verdict that cannot be said becomes what is stricter, or the host's own way, which is never laxer than without \
         us.\n\n\
         | host | moment | allow | ask | reason of a denial | if we crash or are late |\n\
         |---|---|---|---|---|---|\n"
    );
    for host in Host::ALL {
        let adapter = host.adapter();
        for moment in adapter.moments() {
            row(&mut page, adapter.title, moment);
        }
    }
    page.push_str(
        "\nEvery failure of ours that can be caught is answered with a denial, whatever the last column says: it is about \
         a process that is killed or was never started.\n\n",
    );
    page.push_str(&observed());
    page.push_str(
        "\n## Where it is registered\n\n\
         | host | name | found by | files |\n\
         |---|---|---|---|\n",
    );
    for host in Host::ALL {
        let adapter = host.adapter();
        let registration = &adapter.registration;
        let programs = registration.programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        let found = if programs.is_empty() { "–".to_owned() } else { programs.join(", ") };
        let _ = writeln!(
            page,
            "| {} | `{}` | {found} | {} |",
            cell(adapter.title),
            host.name(),
            cell(&files(registration)),
        );
    }
    page.push_str("\n## What is left to do after `init`\n\n");
    for host in Host::ALL {
        let adapter = host.adapter();
        if !adapter.registration.afterwards.is_empty() {
            let _ = writeln!(page, "- {}: {}", adapter.title, adapter.registration.afterwards);
        }
    }
    page
}

/// What the real programs were seen to do, a row a mode.
fn observed() -> String {
    let mut page = "## What hosts do with an answer\n\n\
         Seen in the real programs, with the hook registered as `portcullis init` registers it.\n\
         The tests are those of [`portcullis-e2e`](../development/real-clients.md); they run the program and compare every \
         cell.\n\n\
         - runs: nobody is asked\n\
         - asks: the host asks its user\n\
         - stopped: the call does not run, and the model is told\n\
         - run ends: the call does not run, and the agent ends or is told nothing\n\
         - not run: nobody has seen it\n\n\
         What is shown *by hand* was seen at a terminal on that day, with rules of ours that allow, deny and ask.\n\
         A yes to the question ran the call, and a no did not.\n\n\
         | host | version | mode | moment |"
        .to_owned();
    for behavior in HookBehavior::ALL {
        let _ = write!(page, " {} |", behavior.title());
    }
    page.push_str(" shown by |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for host in Host::ALL {
        let adapter = host.adapter();
        for seen in adapter.observed {
            let _ = write!(
                page,
                "| {} | {} | {} | `{}` |",
                cell(adapter.title),
                seen.version,
                seen.mode,
                seen.moment.event
            );
            for fate in seen.fates {
                let _ = write!(page, " {} |", fate.title());
            }
            let tests = seen.tests().map(|name| format!("`{name}`"));
            let tests: Vec<String> = tests.chain(seen.seen_by_hand().map(str::to_owned)).collect();
            let _ = writeln!(page, " {} |", if tests.is_empty() { "–".to_owned() } else { tests.join(", ") });
        }
    }
    page.push_str(
        "\nOur program prints no garbage and answers before the host stops waiting; what is left of these columns is a \
         machine that is stopped in between.\n\
         Where an ask would run, we deny, and say how to allow the call.\n\n\
         ### Why Qwen Code asks twice\n\n\
         In its default mode Qwen Code asks its user before it tells us that a call is about to run.\n\
         At that question we can say yes or no and nothing else: the user answers it without reading what we know.\n\
         So a call that a rule of ours asks about, or in which something was found, is asked about a second time, where the \
         user reads why.\n\
         A yes of ours to the first would leave one question, and none at all where our second answer fails.\n",
    );
    page
}

fn row(page: &mut String, title: &str, moment: &HookMoment) {
    let mask = moment.capabilities;
    let allow = if mask.allow { "runs without a question" } else { "the host's own way" };
    let ask = match mask.ask {
        AskBy::Saying => "the host asks its user",
        AskBy::Silence => "left to the host, which is about to ask",
        AskBy::Nothing => "denied, with how to allow it",
    };
    let reason = if mask.reason { "reaches the agent" } else { "does not reach the agent" };
    let failure = if mask.fails_open { "**the call runs**" } else { "the call does not run by itself" };
    // Writing to a string cannot fail.
    let _ =
        writeln!(page, "| {} | `{}` | {allow} | {ask} | {reason} | {failure} |", cell(title), moment.event);
}

/// Names the files that are changed, each once.
fn files(registration: &Registration) -> String {
    let command = HookCommand { program: "portcullis".to_owned(), arguments: Vec::new(), host_version: None };
    let folder = &registration.folder;
    let base = match folder.base {
        FolderBase::Home | FolderBase::HomeOr(_) => "~",
        FolderBase::Config => "~/.config",
    };
    let folder =
        [base, folder.path].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let mut names: Vec<String> = Vec::new();
    for piece in (registration.pieces)(&command) {
        let name = match piece {
            RegistrationPiece::Element { file, .. }
            | RegistrationPiece::Field { file, .. }
            | RegistrationPiece::File { file, .. } => {
                format!("`{folder}/{file}`")
            }
            RegistrationPiece::ProgramName { name } => format!("a further name of the program, `{name}`"),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}
