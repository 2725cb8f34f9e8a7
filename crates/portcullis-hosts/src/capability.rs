//! The moments at which hosts ask, what an answer can say there, and what a verdict becomes.
//!
//! | verdict | if the moment can say so | otherwise |
//! |---|---|---|
//! | allow | allow | silence: the host goes its own way, which is never laxer |
//! | contained | the host runs another command, which puts a fence round this one | what becomes of an ask |
//! | ask | ask | silence where the host then asks its user by itself, or where the tool itself is a question to the user, else deny |
//! | deny | deny | – every moment can |
//!
//! A *plain* question says only that nobody allowed the call yet: no rule, check or finding speaks against it. The host's
//! own prompt serves a person better there ("don't ask again"), and where nobody can be asked at all, an agent that could
//! not even run the tests would be of no use; so a moment may leave it to the host.

use portcullis_core::{Decision, Verdict};

/// A moment at which a host asks whether a call may run.
#[derive(Debug, PartialEq, Eq)]
pub struct HookMoment {
    /// The event's name on the wire.
    pub event: &'static str,
    /// What an answer can say there.
    pub capabilities: MomentCapabilities,
    /// The answer that blocks, prepared before anything can fail.
    pub blocking: BlockingReply,
}

/// An answer that blocks and needs nothing to be worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockingReply {
    /// Standard output.
    pub stdout: &'static str,
    /// Standard error.
    pub stderr: &'static str,
    /// The exit code.
    pub exit_code: i32,
}

/// What an answer can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent abilities, each a column of the table of hosts"
)]
pub struct MomentCapabilities {
    /// Whether an allow makes the host run the call without asking its user.
    pub allow: bool,
    /// How its user is asked.
    pub ask: AskBy,
    /// What becomes of a question that nothing speaks against.
    pub plain: PlainQuestion,
    /// Whether the reason of a denial reaches the agent.
    pub reason: bool,
    /// Whether an answer can change the input of the call.
    pub changed_input: bool,
    /// Whether a failure, bad output or a time-out of ours lets the call run.
    pub fails_open: bool,
}

/// How a host's user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskBy {
    /// By saying so.
    Saying,
    /// By saying nothing: the host is about to ask by itself.
    Silence,
    /// Not at all.
    Nothing,
}

/// What becomes of a plain question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainQuestion {
    /// What becomes of any question.
    AsAny,
    /// It is left to the host if it is about starting a subagent, whose calls are all judged by themselves.
    LeftForSubagents,
    /// So it is too if the proofs of auto mode find nothing but harmless effects.
    LeftIfHarmless,
    /// It is left to the host, which asks its user by itself.
    LeftToHost,
}

/// What is said to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostDecision {
    /// The call runs.
    Allow,
    /// What the answer puts in its place runs.
    Contained,
    /// The host asks its user.
    Ask,
    /// The call does not run.
    Deny,
    /// Nothing: the host goes its own way.
    Silence,
}

impl HostDecision {
    /// Returns the word for logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Contained => "contained",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Silence => "silence",
        }
    }
}

impl MomentCapabilities {
    /// Turns a verdict into what can be said. A tool that is a question to the user is left to a host whose user cannot be
    /// asked by us: its own question is the tool, and a denial would only take it away.
    pub fn lower_verdict(self, verdict: &Verdict) -> HostDecision {
        if self.ask == AskBy::Nothing && verdict.is_own_question() {
            return HostDecision::Silence;
        }
        self.lower(verdict.decision)
    }

    /// Turns a decision into what can be said.
    pub const fn lower(self, decision: Decision) -> HostDecision {
        match (decision, self.ask) {
            (Decision::Allow, _) if self.allow => HostDecision::Allow,
            (Decision::Allow, _) => HostDecision::Silence,
            (Decision::Contained, _) if self.changed_input => HostDecision::Contained,
            (Decision::Contained | Decision::Ask, AskBy::Saying) => HostDecision::Ask,
            (Decision::Contained | Decision::Ask, AskBy::Silence) => HostDecision::Silence,
            (Decision::Contained | Decision::Ask, AskBy::Nothing) | (Decision::Deny, _) => HostDecision::Deny,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_said_becomes_stricter_or_the_hosts_own_way() {
        let mask = |allow, ask| MomentCapabilities {
            allow,
            ask,
            plain: PlainQuestion::AsAny,
            reason: true,
            changed_input: false,
            fails_open: true,
        };
        for allow in [true, false] {
            for ask in [AskBy::Saying, AskBy::Silence, AskBy::Nothing] {
                let mask = mask(allow, ask);
                assert_eq!(mask.lower(Decision::Deny), HostDecision::Deny);
                assert_eq!(
                    mask.lower(Decision::Allow),
                    if allow { HostDecision::Allow } else { HostDecision::Silence }
                );
                let asked = match ask {
                    AskBy::Saying => HostDecision::Ask,
                    AskBy::Silence => HostDecision::Silence,
                    AskBy::Nothing => HostDecision::Deny,
                };
                assert_eq!(mask.lower(Decision::Ask), asked);
                assert_eq!(mask.lower(Decision::Contained), asked);
                let rewriting = MomentCapabilities { changed_input: true, ..mask };
                assert_eq!(rewriting.lower(Decision::Contained), HostDecision::Contained);
            }
        }
    }
}
