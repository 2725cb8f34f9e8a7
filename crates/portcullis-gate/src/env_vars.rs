//! Every environment variable Portcullis reads. They are read here and nowhere else, and handed down as values.
//!
//! `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` are read by the terminal library. There is no variable that names the
//! managed settings or switches anything off: whoever can set a variable must not be able to weaken the policy.

use std::ffi::OsString;
use std::path::PathBuf;

use portcullis_hosts::registration::{FolderBase, SettingsFolder};

use crate::Failure;

/// The user's home directory: `~` in rules, and where the user's own settings are. Where it is unset, the user database
/// says. Since 0.1.
pub const HOME: &str = "HOME";

/// Where the user's own settings are, instead of `~/.config`. Since 0.1.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// Where the list of trusted workspaces is, instead of `~/.local/state`. Since 0.1.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";

/// Where Claude Code's user settings are, instead of `~/.claude`. Since 0.1.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The directory Claude Code was started in, for a server that it starts. What that project forbids counts; what it allows
/// counts inside it. Since 0.1.
pub const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// The model that judges, instead of the one in the settings: only one that is known, and not where managed settings
/// choose. Since 0.1.
pub const CLASSIFIER_MODEL: &str = "PORTCULLIS_CLASSIFIER_MODEL";

/// The proxy to the model, where settings name none. What goes through it is encrypted, and whose certificates count
/// is not up to the environment. Since 0.1.
pub const HTTPS_PROXY: &str = "HTTPS_PROXY";

/// The hosts that are reached without that proxy. Since 0.1.
pub const NO_PROXY: &str = "NO_PROXY";

/// Where programs are looked for: the one that prints a key, if settings give its name alone, and those of commands that a
/// person allowed. Since 0.1.
pub const PATH: &str = "PATH";

/// Where manual pages are looked for beside the usual places, when a profile is drafted. Since 0.1.
pub const MANPATH: &str = "MANPATH";

/// Where an OpenTelemetry collector takes all signals, below `/v1`. Nobody is told anything unless this, or the address of
/// a signal, is set. These variables are read by the daemon alone, and no decision depends on them. Since 0.1.
pub const OTEL_EXPORTER_OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Where a collector takes traces, if not at the common address. Since 0.1.
pub const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

/// Where a collector takes metrics, if not at the common address. Since 0.1.
pub const OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";

/// Where a collector takes logs, if not at the common address. Since 0.1.
pub const OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT";

/// Headers of every delivery, `name=value,…`; usually the collector's key. Since 0.1.
pub const OTEL_EXPORTER_OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// How collectors are spoken to: only over HTTP, so that another protocol is said to be none of ours. Since 0.1.
pub const OTEL_EXPORTER_OTLP_PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";

/// How long a delivery may take, in milliseconds. Since 0.1.
pub const OTEL_EXPORTER_OTLP_TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";

/// Whether traces are told: `none` if they are not. Since 0.1.
pub const OTEL_TRACES_EXPORTER: &str = "OTEL_TRACES_EXPORTER";

/// Whether metrics are told: `none` if they are not. Since 0.1.
pub const OTEL_METRICS_EXPORTER: &str = "OTEL_METRICS_EXPORTER";

/// Whether logs are told: `none` if they are not. Since 0.1.
pub const OTEL_LOGS_EXPORTER: &str = "OTEL_LOGS_EXPORTER";

/// How often metrics are told, in milliseconds. Since 0.1.
pub const OTEL_METRIC_EXPORT_INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";

/// What the daemon is called in what it tells. Since 0.1.
pub const OTEL_SERVICE_NAME: &str = "OTEL_SERVICE_NAME";

/// What else is said of it, `name=value,…`. Since 0.1.
pub const OTEL_RESOURCE_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// Whether nobody is told anything, whatever else is set: `true`. Since 0.1.
pub const OTEL_SDK_DISABLED: &str = "OTEL_SDK_DISABLED";

/// Which traces are kept. Since 0.1.
pub const OTEL_TRACES_SAMPLER: &str = "OTEL_TRACES_SAMPLER";

/// How many of them, from 0 to 1. Since 0.1.
pub const OTEL_TRACES_SAMPLER_ARG: &str = "OTEL_TRACES_SAMPLER_ARG";

/// The variables of OpenTelemetry.
const OTEL: [&str; 16] = [
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS,
    OTEL_EXPORTER_OTLP_PROTOCOL,
    OTEL_EXPORTER_OTLP_TIMEOUT,
    OTEL_TRACES_EXPORTER,
    OTEL_METRICS_EXPORTER,
    OTEL_LOGS_EXPORTER,
    OTEL_METRIC_EXPORT_INTERVAL,
    OTEL_SERVICE_NAME,
    OTEL_RESOURCE_ATTRIBUTES,
    OTEL_SDK_DISABLED,
    OTEL_TRACES_SAMPLER,
    OTEL_TRACES_SAMPLER_ARG,
];

/// The password of the database that `store.url` names, if the address has none: the same variable that PostgreSQL's own
/// programs read. Since 0.1.
pub const PGPASSWORD: &str = "PGPASSWORD";

/// Reads the password of the database that is shared.
pub fn store_password() -> Option<String> {
    text(PGPASSWORD)
}

/// Reads the directories programs are looked for in.
pub fn path() -> Vec<PathBuf> {
    std::env::var_os(PATH).map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Reads the directories manual pages are looked for in.
pub fn manual_path() -> Vec<PathBuf> {
    std::env::var_os(MANPATH).map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Reads the directory Claude Code was started in.
pub fn claude_project() -> Option<String> {
    text(CLAUDE_PROJECT_DIR)
}

/// Reads the model that judges.
pub fn classifier_model() -> Option<String> {
    text(CLASSIFIER_MODEL)
}

/// Reads a provider's key from the variable that settings name, or from the provider's usual one.
pub fn key(name: &str) -> Option<String> {
    text(name)
}

/// Reads the proxy to the model, also in lower case.
pub fn proxy() -> Option<String> {
    text(HTTPS_PROXY).or_else(|| text(&HTTPS_PROXY.to_ascii_lowercase()))
}

/// Reads the hosts that are reached without a proxy, also in lower case.
pub fn no_proxy() -> Vec<String> {
    text(NO_PROXY).or_else(|| text(&NO_PROXY.to_ascii_lowercase())).into_iter().collect()
}

/// Reads what the daemon's telemetry goes by: the variables of OpenTelemetry that are set, and the proxy.
pub fn telemetry() -> Vec<(&'static str, String)> {
    let proxy = proxy().map(|proxy| (HTTPS_PROXY, proxy));
    let exceptions = no_proxy().into_iter().map(|hosts| (NO_PROXY, hosts));
    let own = OTEL.into_iter().filter_map(|name| Some((name, text(name)?)));
    own.chain(proxy).chain(exceptions).collect()
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Finds the user's home directory. One that cannot be found would take the user's deny rules with it, so a variable
/// that leads nowhere is an error.
pub fn home() -> Result<Option<PathBuf>, Failure> {
    let variable = std::env::var_os(HOME);
    let account = if variable.is_none() { std::env::home_dir() } else { None };
    Ok(required(HOME, variable)?.or(account).filter(|home| home.is_absolute()))
}

/// Finds Claude Code's configuration directory, if it is not the usual one.
pub fn claude_config() -> Result<Option<PathBuf>, Failure> {
    required(CLAUDE_CONFIG_DIR, std::env::var_os(CLAUDE_CONFIG_DIR).filter(|value| !value.is_empty()))
}

/// Finds the folder of an agent's settings, if a variable of the agent's own names it.
pub fn agent_folder(name: &str) -> Result<Option<PathBuf>, Failure> {
    required(name, std::env::var_os(name).filter(|value| !value.is_empty()))
}

/// Reads where a variable moves the folder of an agent's settings to, with the variable; none if it stays where it is.
pub fn moved_folder(folder: SettingsFolder) -> Result<Option<(&'static str, PathBuf)>, Failure> {
    if let Some(variable) = folder.variable {
        return Ok(agent_folder(variable)?.map(|named| (variable, named)));
    }
    let FolderBase::HomeOr(variable) = folder.base else { return Ok(None) };
    Ok(agent_folder(variable)?.map(|home| (variable, home.join(folder.path))))
}

/// Takes the value of a variable whose directory holds restrictions: if it is set, it must be absolute.
fn required(name: &str, value: Option<OsString>) -> Result<Option<PathBuf>, Failure> {
    match value.map(PathBuf::from) {
        Some(path) if !path.is_absolute() => {
            let message =
                format!("the variable `{name}` is `{}`, which is not an absolute path", path.display());
            Err(Failure::usage(message).with_hint("set it to an absolute path, or unset it"))
        }
        other => Ok(other),
    }
}

/// Reads a variable that names a directory; one that is empty or not absolute counts as unset.
pub fn directory(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_holds_restrictions_is_absolute_or_an_error() {
        let table = [
            (None, Ok(None)),
            (Some("/home/me"), Ok(Some("/home/me"))),
            (Some("me"), Err(())),
            (Some(""), Err(())),
        ];
        for (value, expected) in table {
            let found = required(HOME, value.map(OsString::from)).map_err(|_| ());
            assert_eq!(found, expected.map(|path| path.map(PathBuf::from)), "{value:?}");
        }
    }
}
