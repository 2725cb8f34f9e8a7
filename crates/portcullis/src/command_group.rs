//! The groups in which `portcullis --help` shows the commands, because a list of thirty is read by nobody.

use std::fmt::Write as _;

/// The titles of the groups, and the commands in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Everyday commands",
        &[
            "init",
            "doctor",
            "check",
            "explain",
            "allow",
            "deny",
            "grants",
            "memory",
            "run",
            "runs",
            "questions",
            "log",
            "uninstall",
            "completions",
            "man",
        ],
    ),
    ("Commands for rules", &["rules", "profiles", "modes", "trust", "settings", "schema", "auto-mode"]),
    (
        "Commands for people and programs elsewhere",
        &["serve", "tokens", "store", "policy", "hook", "mcp", "mcp-proxy"],
    ),
    ("Commands for measuring", &["stats", "replay", "eval"]),
];

/// Makes the help of a command show its subcommands in groups, which clap cannot do by itself.
pub(crate) fn with_groups(command: clap::Command) -> clap::Command {
    let (header, literal) = (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let widest = GROUPS.iter().flat_map(|(_, names)| names.iter()).map(|name| name.len()).max().unwrap_or(0);
    let mut template = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = write!(template, "\n{header}{title}:{header:#}\n");
        // The fence is on Linux alone.
        for name in names.iter().filter(|name| command.find_subcommand(name).is_some()) {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(template, "  {literal}{name:<widest$}{literal:#}  {about}");
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let groups: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(listed.len(), groups.len(), "a command is in two groups");
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
        assert_eq!(groups, visible.map(clap::Command::get_name).collect());
    }

    #[test]
    fn every_command_has_one_line() {
        let help = with_groups(Cli::command()).render_help().to_string();
        for (_, names) in GROUPS {
            for name in names {
                let line = help.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
                let columns = line.map(|line| line.chars().count());
                assert!(columns.is_some_and(|columns| columns <= 100), "{name}: {line:?}");
            }
        }
    }
}
