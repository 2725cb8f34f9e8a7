//! `portcullis tokens`: who may ask the daemon for what.
//!
//! INVARIANT: no token is made, shown, renewed or taken back without a terminal on standard input: with one an agent could
//! allow itself what it was denied.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use portcullis_core::visible;
use serde_json::{Value, json};

use super::answer::person::require_presence;
use crate::exit_code::ExitCode;
use portcullis_daemon::tokens::{self, named};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Client;
use portcullis_gate::daemon_client::Places;
use portcullis_gate::daemon_client::Role;
use portcullis_gate::session_settings::locations;
use portcullis_output::human::counted;
use portcullis_output::terminal::{print, printable};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Make, list and take back the tokens of the daemon
#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    #[command(subcommand)]
    command: TokensCommand,
}

#[derive(Debug, Subcommand)]
enum TokensCommand {
    /// Make a token; it is shown once
    #[command(after_help = "Examples:
  portcullis tokens create grafana --role read
  portcullis tokens create build-agent --role decide --days 30

Roles:
  read    look at everything, change nothing
  decide  have calls judged and ask questions
  person  everything: answer questions, change rules, take grants back")]
    Create(CreateArgs),
    /// List the tokens, without their secrets
    #[command(after_help = "Examples:
  portcullis tokens list
  portcullis tokens list --json")]
    List(ListArgs),
    /// Take a token back, at once
    #[command(after_help = "Examples:
  portcullis tokens revoke grafana")]
    Revoke(RevokeArgs),
    /// Replace the tokens of your own hooks and commands
    #[command(after_help = "Examples:
  portcullis tokens renew")]
    Renew,
    /// Print a link that signs you in to the web page, and a code to answer there
    #[command(after_help = "Examples:
  portcullis tokens link
  portcullis tokens link --json")]
    Link(ListArgs),
    /// Take all passkeys of the web page back, such as after one was lost
    #[command(after_help = "Examples:
  portcullis tokens forget-passkeys

Without a passkey, the code of `portcullis tokens link` shows that you are there.")]
    ForgetPasskeys,
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// What it is called, for lists and for the audit trail
    name: String,
    /// What it may do
    #[arg(long, value_parser = role_parser())]
    role: Role,
    /// After how many days it stops to hold
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3650))]
    days: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct RevokeArgs {
    /// What it is called
    name: String,
}

fn role_parser() -> impl clap::builder::TypedValueParser<Value = Role> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Role::ALL.map(Role::as_str))
        .map(|word| Role::ALL.into_iter().find(|role| role.as_str() == word).unwrap_or(Role::Read))
}

/// Runs the command.
pub(crate) fn run(arguments: &TokensArgs) -> Result<ExitCode, Failure> {
    let state = state()?;
    let places = Places::new(&state);
    let text = match &arguments.command {
        TokensCommand::Create(arguments) => create(&places, arguments)?,
        TokensCommand::List(arguments) => list(&places, arguments)?,
        TokensCommand::Revoke(arguments) => {
            require_presence()?;
            named::revoke(&places, &arguments.name)?;
            format!("the token {} no longer holds\n", visible(&arguments.name))
        }
        TokensCommand::Renew => {
            require_presence()?;
            tokens::renew(&places, &places.person_token())?;
            tokens::renew(&places, &places.hook_token())?;
            "the tokens of your hooks and commands are new\n".to_owned()
        }
        TokensCommand::Link(arguments) => link(&state, arguments)?,
        TokensCommand::ForgetPasskeys => forget_passkeys(&state)?,
    };
    print(&text)?;
    Ok(ExitCode::Success)
}

fn state() -> Result<PathBuf, Failure> {
    locations(None)?
        .state
        .ok_or_else(|| Failure::usage("there is no home directory, so nothing is kept").with_hint("set HOME"))
}

/// Asks the running daemon for a link. Whoever follows it is a person to the daemon.
fn link(state: &Path, arguments: &ListArgs) -> Result<String, Failure> {
    require_presence()?;
    let client = Client::connect(state, Role::Person)?.ok_or_else(|| {
        Failure::usage("no daemon runs")
            .with_hint("start one with `portcullis serve`, which prints a link too")
    })?;
    let link = client.post("/v1/login-links", &json!({}))?.success()?;
    if arguments.json {
        return Ok(printable(&format!("{link:#}\n")));
    }
    let text = |name: &str| link.get(name).and_then(Value::as_str).unwrap_or_default();
    Ok(format!("{}\ncode: {}\n", visible(text("url")), visible(text("code"))))
}

/// Has the running daemon forget the passkeys. Whoever lost theirs gets in by the code of a link.
fn forget_passkeys(state: &Path) -> Result<String, Failure> {
    require_presence()?;
    let client = Client::connect(state, Role::Person)?
        .ok_or_else(|| Failure::usage("no daemon runs").with_hint("start one with `portcullis serve`"))?;
    let forgotten = client.delete("/passkeys")?.success()?;
    let many = forgotten.get("forgotten").and_then(Value::as_u64).unwrap_or_default();
    Ok(format!("{} forgotten\n", counted(many, "passkey")))
}

fn create(places: &Places, arguments: &CreateArgs) -> Result<String, Failure> {
    require_presence()?;
    let now = now_ms();
    let end = arguments.days.map(|days| now.saturating_add(days.saturating_mul(DAY_MS)));
    let secret = named::create(places, &arguments.name, arguments.role, now, end)?;
    if arguments.json {
        let value =
            json!({"name": arguments.name, "role": arguments.role, "token": secret, "expiresAtMs": end});
        return Ok(printable(&format!("{value:#}\n")));
    }
    Ok(format!("{secret}\nIt is not shown again. Send it as `Authorization: Bearer TOKEN`.\n"))
}

fn list(places: &Places, arguments: &ListArgs) -> Result<String, Failure> {
    let all = named::list(places)?;
    if arguments.json {
        let object = |token: &named::NamedToken| -> Value {
            json!({
                "name": token.name,
                "role": token.role,
                "createdAtMs": token.created_at_ms,
                "expiresAtMs": token.expires_at_ms,
            })
        };
        return Ok(printable(&format!("{:#}\n", Value::Array(all.iter().map(object).collect()))));
    }
    if all.is_empty() {
        return Ok("no tokens were made for others\n".to_owned());
    }
    let now = now_ms();
    let mut text = String::new();
    for token in &all {
        let end = match token.expires_at_ms {
            None => "no end".to_owned(),
            Some(_) if token.is_over(now) => "over".to_owned(),
            Some(end) => format!("{} days left", end.saturating_sub(now).div_ceil(DAY_MS)),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<24} {:<8} {end}", visible(&token.name), token.role.as_str());
    }
    Ok(text)
}
