//! Which adapter speaks to which host: the one place that knows them all.

use crate::adapter::HostAdapter;
use crate::host::Host;
use crate::{
    amp, claude, cline, codex, copilot, crush, cursor, droid, gemini, generic, kimi, opencode, pi, qwen,
};

impl Host {
    /// Returns what speaks to it.
    pub const fn adapter(self) -> &'static HostAdapter {
        match self {
            Self::Claude => &claude::ADAPTER,
            Self::Codex => &codex::ADAPTER,
            Self::Gemini => &gemini::ADAPTER,
            Self::Opencode => &opencode::ADAPTER,
            Self::Cursor => &cursor::ADAPTER,
            Self::Copilot => &copilot::ADAPTER,
            Self::Qwen => &qwen::ADAPTER,
            Self::Droid => &droid::ADAPTER,
            Self::Crush => &crush::ADAPTER,
            Self::Amp => &amp::ADAPTER,
            Self::Kimi => &kimi::ADAPTER,
            Self::Pi => &pi::ADAPTER,
            Self::Cline => &cline::ADAPTER,
            Self::Generic => &generic::ADAPTER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_its_own_adapter() {
        for host in Host::ALL {
            assert_eq!(host.adapter().host, host);
        }
    }
}
