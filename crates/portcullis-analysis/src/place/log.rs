//! Records of what happened.

use super::Scope;
use super::pattern::{any, any_ending};

const ABSOLUTE: &[&str] = &[
    "/var/log/**",
    "/private/var/log/**",
    "/var/audit/**",
    "/private/var/audit/**",
    "/var/run/utmp",
    "/run/utmp",
    "/var/log",
    "/etc/audit/**",
    "/etc/auditd.conf",
    "/etc/rsyslog.conf",
    "/etc/rsyslog.d/**",
    "/etc/syslog.conf",
    "/etc/syslog-ng/**",
    "/etc/logrotate.conf",
    "/etc/logrotate.d/**",
    "/etc/systemd/journald.conf",
    "/Library/Logs/**",
    "/var/db/diagnostics/**",
    "/var/spool/mail/**",
    "/var/mail/**",
    "/usr/spool/**",
];

const IN_HOME: &[&str] = &[
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".history",
    ".python_history",
    ".local/share/fish/fish_history",
    ".mysql_history",
    ".psql_history",
    ".lesshst",
    "Library/Logs/**",
    ".claude/projects/**",
    ".codex/sessions/**",
];

/// Anywhere, by their last components: what programs call the record of what was done.
const ANYWHERE: &[&str] =
    &["audit.jsonl", "audit.log", "audit_log.json", "audit-log.json", "ConsoleHost_history.txt"];

/// Says whether a file records what happened on the machine or in a session.
pub fn is_log(path: &str, scope: &Scope) -> bool {
    any(ABSOLUTE, path)
        || any_ending(ANYWHERE, path)
        || scope.below_home(path).is_some_and(|below| any(IN_HOME, below))
}
