//! The flags that choose records.

use clap::Args;
use portcullis_core::Mode;
use portcullis_store::audit::index::Filter;

use crate::value_parser::{mode_parser, since, until};
use portcullis_gate::presence::DOCTOR_SESSION;

/// The flags that choose records. Each that is given must fit.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only calls that were decided so
    #[arg(long, value_parser = ["allow", "contained", "ask", "deny"])]
    decision: Option<String>,
    /// Only calls with this answer to the host
    #[arg(long, value_parser = ["allow", "contained", "ask", "deny", "silence"])]
    said: Option<String>,
    /// Only calls of this host
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Only calls of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only calls of the session whose id begins so
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only calls that were judged in this mode
    #[arg(long, value_parser = mode_parser())]
    mode: Option<Mode>,
    /// Only calls that this step settled, such as A9
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Only calls with this kind of reason, such as rule, finding or classifier
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only calls that this rule decided
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only calls that this finding or category decided
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// Only calls since then: 30m, 12h, 7d, 2w, or a date
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<u64>,
    /// Only calls up to then, a date with its whole day
    #[arg(long, value_name = "TIME", value_parser = until)]
    until: Option<u64>,
    /// Only calls with this text in their summary, reason or directory
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl FilterArgs {
    /// Returns what records must have to be in figures: those of the doctor's own calls are not, unless they are named.
    pub(crate) fn of_agents(&self) -> Filter {
        let other_than = self.session.is_none().then(|| DOCTOR_SESSION.to_owned());
        Filter { other_than, ..self.filter() }
    }

    /// Returns what records must have.
    pub(crate) fn filter(&self) -> Filter {
        Filter {
            decision: self.decision.clone(),
            said: self.said.clone(),
            host: self.host.clone(),
            tool: self.tool.clone(),
            session: self.session.clone(),
            other_than: None,
            mode: self.mode.map(|mode| mode.as_str().to_owned()),
            step: self.step.as_ref().map(|step| step.to_ascii_uppercase()),
            kind: self.kind.clone(),
            rule: self.rule.clone(),
            code: self.code.clone(),
            since_ms: self.since,
            until_ms: self.until,
            text: self.text.clone(),
            before: None,
        }
    }
}
