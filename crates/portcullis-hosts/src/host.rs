//! The agents we know, by name.

/// An agent that calls us before its tools run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Cursor.
    Cursor,
    /// Copilot CLI and the agent of VS Code.
    Copilot,
    /// Qwen Code.
    Qwen,
    /// Droid.
    Droid,
    /// Crush.
    Crush,
    /// Amp.
    Amp,
    /// Kimi Code.
    Kimi,
    /// Pi.
    Pi,
    /// Cline CLI.
    Cline,
    /// Any harness that speaks our own JSON.
    Generic,
}

impl Host {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Cursor,
        Self::Copilot,
        Self::Qwen,
        Self::Droid,
        Self::Crush,
        Self::Amp,
        Self::Kimi,
        Self::Pi,
        Self::Cline,
        Self::Generic,
    ];

    /// Finds one by the name it has on the command line.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }

    /// Returns the name it has on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
            Self::Qwen => "qwen",
            Self::Droid => "droid",
            Self::Crush => "crush",
            Self::Amp => "amp",
            Self::Kimi => "kimi",
            Self::Pi => "pi",
            Self::Cline => "cline",
            Self::Generic => "generic",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_found_by_its_name() {
        for host in Host::ALL {
            assert_eq!(Host::find(host.name()), Some(host));
        }
        assert_eq!(Host::find("Claude"), None);
    }
}
