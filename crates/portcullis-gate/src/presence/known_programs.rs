//! Programs and variables that say where a process comes from.

/// Agents that run in a terminal. An editor with an agent in it is none: people have terminals in it.
pub(super) const AGENTS: [&str; 20] = [
    "aider",
    "amp",
    "auggie",
    "claude",
    "cline",
    "codex",
    "copilot",
    "crush",
    "cursor-agent",
    "droid",
    "gemini",
    "goose",
    "gptme",
    "kilocode",
    "kimi",
    "kiro-cli",
    "opencode",
    "openhands",
    "pi",
    "qwen",
];

/// Programs that only start another one, so that what stands above them is looked for.
pub(super) const STARTERS: [&str; 26] = [
    "ash",
    "bash",
    "busybox",
    "dash",
    "direnv",
    "doas",
    "env",
    "fish",
    "ionice",
    "ksh",
    "mise",
    "nice",
    "nohup",
    "nu",
    "portcullis",
    "portcullis-full",
    "pwsh",
    "sh",
    "stdbuf",
    "sudo",
    "tcsh",
    "csh",
    "time",
    "timeout",
    "xonsh",
    "zsh",
];

/// Those of them that do what a text or a file says.
pub(super) const SHELLS: [&str; 13] =
    ["ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "nu", "pwsh", "sh", "tcsh", "xonsh", "zsh"];

/// Programs that run things at a time of their own.
pub(super) const SCHEDULERS: [&str; 6] = ["anacron", "atd", "atrun", "cron", "crond", "fcron"];

/// Windows with terminals in them, which a service manager may start, or which go on when what started them ends. None that
/// runs without a screen is among them, and no script.
pub(super) const TERMINALS: [&str; 44] = [
    "alacritty",
    "blackbox",
    "clion",
    "code",
    "code-insiders",
    "code-oss",
    "codium",
    "contour",
    "cosmic-term",
    "cursor",
    "deepin-terminal",
    "foot",
    "footserver",
    "ghostty",
    "gnome-builder",
    "gnome-terminal-",
    "gnome-terminal-server",
    "goland",
    "idea",
    "kate",
    "kgx",
    "kitty",
    "konsole",
    "lxterminal",
    "mate-terminal",
    "phpstorm",
    "ptyxis",
    "ptyxis-agent",
    "pycharm",
    "qterminal",
    "rio",
    "rubymine",
    "rustrover",
    "terminology",
    "tilda",
    "tilix",
    "urxvt",
    "webstorm",
    "wezterm-gui",
    "windsurf",
    "xfce4-terminal",
    "xterm",
    "yakuake",
    "zed",
];

/// Those of them that tell a shell what to begin with, so that it marks its prompts.
pub(super) const EDITORS: [&str; 15] = [
    "clion",
    "code",
    "code-insiders",
    "code-oss",
    "codium",
    "cursor",
    "goland",
    "idea",
    "phpstorm",
    "pycharm",
    "rubymine",
    "rustrover",
    "webstorm",
    "windsurf",
    "zed",
];

/// Terminals in a terminal, which go on when what started them ends. Somebody types into them through a client.
pub(super) const MULTIPLEXERS: [&str; 5] = ["abduco", "dtach", "screen", "tmux", "zellij"];

/// The one of them that leaves its client behind: it opens the client's terminal by itself.
pub(super) const SCREEN: &str = "screen";

/// The server of a terminal from elsewhere, which goes on when the ssh session ends that started it.
pub(super) const MOSH_SERVER: &str = "mosh-server";

/// Programs of a desktop from which people start others.
pub(super) const DESKTOPS: [&str; 16] = [
    "budgie-panel",
    "caja",
    "cinnamon",
    "cosmic-app-library",
    "cosmic-launcher",
    "cosmic-panel",
    "gnome-shell",
    "krunner",
    "lxpanel",
    "lxqt-panel",
    "mate-panel",
    "nemo",
    "plasmashell",
    "xfce4-appfinder",
    "xfce4-panel",
    "xfdesktop",
];

/// Programs through which somebody comes from elsewhere.
pub(super) const SSH_SERVERS: [&str; 4] = ["dropbear", "sshd", "sshd-session", "sshd-auth"];

/// Programs that start the services of a user.
pub(super) const SERVICE_MANAGERS: [&str; 3] = ["dbus-daemon", "dbus-broker", "systemd"];

/// Those that start programs for whoever asks, and that a service manager starts itself.
pub(super) const SERVICES_THAT_START: [&str; 3] =
    ["dbus-broker-launch", "dbus-daemon", "flatpak-session-helper"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_both_an_agent_and_what_people_use() {
        for agent in AGENTS {
            for others in [&STARTERS[..], &TERMINALS, &MULTIPLEXERS, &SSH_SERVERS, &SERVICE_MANAGERS] {
                assert!(!others.contains(&agent), "{agent}");
            }
        }
    }

    #[test]
    fn every_shell_is_a_starter() {
        assert!(SHELLS.iter().all(|shell| STARTERS.contains(shell)));
    }

    #[test]
    fn every_terminal_agent_that_we_register_with_is_known() {
        for host in portcullis_hosts::Host::ALL {
            let programs = host.adapter().registration.programs;
            for program in programs.iter().filter(|program| !TERMINALS.contains(program)) {
                assert!(AGENTS.contains(program), "{program}");
            }
        }
    }
}
