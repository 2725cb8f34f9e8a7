//! The agents, and where the programs are.

use std::path::{Path, PathBuf};

/// An agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Client {
    Claude,
    Cline,
    Codex,
    Copilot,
    Droid,
    Gemini,
    Kimi,
    Opencode,
    Pi,
    Qwen,
}

impl Client {
    /// Returns its name, which is also that of its program and the one `portcullis hook` knows it by.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Cline => "cline",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Droid => "droid",
            Self::Gemini => "gemini",
            Self::Kimi => "kimi",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
            Self::Qwen => "qwen",
        }
    }

    /// Returns its program.
    pub(crate) fn program(self) -> PathBuf {
        installed(self.name())
    }
}

/// Returns an installed program. A test without it fails: one that passes because nothing ran says nothing.
pub(super) fn installed(name: &str) -> PathBuf {
    let program = programs().join(name);
    assert!(
        program.exists(),
        "the agent `{name}` is not installed: run `cargo dev clients` (looked for {})",
        program.display()
    );
    program
}

/// Returns the folder that `cargo dev clients` links the agents' programs in.
pub(super) fn programs() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a workspace");
    // The build may be elsewhere, but the agents are always installed here.
    root.join("target/clients/bin")
}

/// Returns our own program, which the build of the workspace leaves beside the tests.
pub(super) fn portcullis() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own path");
    let found = test.ancestors().skip(1).take(2).map(|directory| directory.join("portcullis"));
    found.into_iter().find(|program| program.is_file()).unwrap_or_else(|| {
        panic!("portcullis is not built beside {}: run `cargo build -p portcullis`", test.display())
    })
}
