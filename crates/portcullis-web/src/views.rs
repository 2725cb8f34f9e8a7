//! What pages show, already worded: texts and figures, and addresses of other pages.

use crate::VisibleText;

/// A decision, an answer or an outcome, as a class of the style sheet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not run.
    Deny,
    /// Neither.
    #[default]
    Plain,
}

impl Tone {
    /// Reads `allow`, `contained`, `ask` and `deny`, also at the end of a longer word; everything else is plain.
    pub fn of(word: &str) -> Self {
        match word.rsplit('-').next() {
            Some("allow" | "allowed" | "contained") => Self::Allow,
            Some("ask" | "open") => Self::Ask,
            Some("deny" | "denied") => Self::Deny,
            _ => Self::Plain,
        }
    }

    /// Returns the class.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Plain => "plain",
        }
    }

    /// Returns a sign, so that colour is not all that tells them apart.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Allow => "✓",
            Self::Ask => "?",
            Self::Deny => "✗",
            Self::Plain => "·",
        }
    }
}

/// What stands round every page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFrame {
    /// The title of the page.
    pub title: VisibleText,
    /// The part of the site: `live`, `decisions`, `approvals`, `sessions`, `stats`, `rules`, or nothing.
    pub section: &'static str,
    /// Who is signed in; empty for nobody.
    pub caller: VisibleText,
    /// Whether they may answer and change.
    pub is_person: bool,
    /// How many questions wait.
    pub open_approvals: u64,
    /// What came of what was just done.
    pub notice: Option<PageNotice>,
}

/// What came of what was just done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageNotice {
    /// Whether it went well.
    pub is_good: bool,
    /// What happened.
    pub text: VisibleText,
    /// How to go on; may be empty.
    pub hint: VisibleText,
}

/// A moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeView {
    /// In unix milliseconds, for the script.
    pub at_ms: u64,
    /// For people, in UTC.
    pub utc: String,
}

/// A decision in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecisionRow {
    /// What it is known by.
    pub id: String,
    /// When it was made.
    pub when: TimeView,
    /// The verdict.
    pub decision: VisibleText,
    /// Its colour.
    pub tone: Tone,
    /// What the host was told, if that is something else.
    pub told: Option<VisibleText>,
    /// The tool.
    pub tool: VisibleText,
    /// The call in one line.
    pub summary: VisibleText,
    /// Why.
    pub reason: VisibleText,
    /// The host.
    pub host: VisibleText,
    /// The step that decided it.
    pub step: VisibleText,
    /// The session, shortened; empty if there is none.
    pub session: VisibleText,
    /// The page of the session.
    pub session_link: String,
}

/// A figure with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FigureTile {
    /// What is counted.
    pub name: &'static str,
    /// How much.
    pub figure: String,
    /// More about it; may be empty.
    pub detail: String,
    /// Its colour.
    pub tone: Tone,
    /// Where it leads; empty for nowhere.
    pub link: String,
}

/// A name and a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Property {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: VisibleText,
    /// Where it leads; empty for nowhere.
    pub link: String,
}

/// A choice in a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormChoice {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub label: VisibleText,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// A line of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Its number; the first is 1.
    pub number: usize,
    /// What it is made of.
    pub parts: Vec<CommandPart>,
}

/// A part of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPart {
    /// The words.
    pub text: VisibleText,
    /// Whether they decided.
    pub is_marked: bool,
}

/// A verdict with all that explains it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerdictView {
    /// The verdict.
    pub decision: VisibleText,
    /// Its colour.
    pub tone: Tone,
    /// Why, in one clause.
    pub reason: VisibleText,
    /// The tool.
    pub tool: VisibleText,
    /// The call.
    pub lines: Vec<CommandLine>,
    /// What must be known of what is shown and what is not; may be empty.
    pub note: VisibleText,
    /// The rule that decided.
    pub rule: Option<RuleView>,
    /// The step that decided it.
    pub step: VisibleText,
    /// What the call would do.
    pub effects: Vec<EffectView>,
    /// Whether it would do more than is listed.
    pub has_more_effects: bool,
    /// What the analysis found.
    pub findings: Vec<FindingView>,
    /// What every step said.
    pub trace: Vec<TraceView>,
    /// The models that were asked.
    pub models: Vec<ModelView>,
    /// Rules that would settle such calls.
    pub suggestions: Vec<SuggestionView>,
}

/// One thing a call would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffectView {
    /// The act, in a word.
    pub act: VisibleText,
    /// What is done, as a clause.
    pub clause: VisibleText,
    /// Whether it is not sure.
    pub is_possible: bool,
}

/// A finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingView {
    /// Its code.
    pub code: VisibleText,
    /// The page that explains it.
    pub link: String,
    /// What is found.
    pub sentence: VisibleText,
    /// How bad it is; may be empty.
    pub severity: VisibleText,
    /// Whether the user's words seem to ask for it.
    pub is_requested: bool,
}

/// What a step said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceView {
    /// The step.
    pub step: VisibleText,
    /// What it is called; may be empty.
    pub name: &'static str,
    /// What it said.
    pub outcome: VisibleText,
    /// Its colour.
    pub tone: Tone,
    /// Why; may be empty.
    pub detail: VisibleText,
}

impl TraceView {
    /// Says whether the step said anything.
    pub fn is_spoken(&self) -> bool {
        self.tone != Tone::Plain
    }
}

/// A talk with a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelView {
    /// The provider and the model.
    pub model: VisibleText,
    /// The stage.
    pub stage: VisibleText,
    /// What came of it.
    pub outcome: VisibleText,
    /// Tokens that were read, with those of a cache.
    pub tokens_in: String,
    /// Tokens that were written.
    pub tokens_out: String,
    /// What it cost.
    pub cost: String,
    /// How long it took.
    pub latency: String,
}

/// A rule that would settle such calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuggestionView {
    /// `allow`, `ask` or `deny`.
    pub behavior: VisibleText,
    /// Its colour.
    pub tone: Tone,
    /// The rule, as a form sends it.
    pub rule: String,
    /// The rule, as it is shown.
    pub text: VisibleText,
    /// Whether it can be added: one with something blacked out in it cannot.
    pub is_addable: bool,
}

/// A rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleView {
    /// Its text.
    pub text: VisibleText,
    /// The same as a form sends it.
    pub exact: String,
    /// `allow`, `ask` or `deny`.
    pub behavior: VisibleText,
    /// Its colour.
    pub tone: Tone,
    /// Where it stands: source, file and line.
    pub origin: VisibleText,
    /// The source it can be removed from, and whether that is Claude Code's file; empty if it cannot.
    pub removable: String,
    /// What must be known of it; may be empty.
    pub note: VisibleText,
}

/// A question in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalRow {
    /// What it is known by.
    pub id: String,
    /// What became of it.
    pub state: &'static str,
    /// Its colour.
    pub tone: Tone,
    /// When it was asked.
    pub when: TimeView,
    /// When nobody can answer it any more.
    pub until: TimeView,
    /// The tool.
    pub tool: VisibleText,
    /// The call in one line.
    pub summary: VisibleText,
    /// Why it is asked.
    pub reason: VisibleText,
    /// How much there is to lose: `LOW`, `MEDIUM`, `HIGH`, or nothing.
    pub level: VisibleText,
    /// The directory.
    pub cwd: VisibleText,
    /// The host.
    pub host: VisibleText,
    /// The session, shortened.
    pub session: VisibleText,
    /// The page of the session.
    pub session_link: String,
    /// Who answered, and what; empty if nobody did.
    pub answered: VisibleText,
}

impl ApprovalRow {
    /// Says whether it waits.
    pub fn is_open(&self) -> bool {
        self.state == "open"
    }

    /// Returns the class of the risk.
    pub fn level_class(&self) -> &'static str {
        match self.level.as_str() {
            "LOW" => "allow",
            "MEDIUM" => "ask",
            "HIGH" => "deny",
            _ => "plain",
        }
    }
}

/// A run whose changes wait, in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldRunRow {
    /// What it is known by.
    pub id: String,
    /// When it began.
    pub when: TimeView,
    /// The command.
    pub command: VisibleText,
    /// Why its changes wait.
    pub reason: VisibleText,
    /// How many changes there are, in words.
    pub count: String,
    /// Where they would land.
    pub workspace: VisibleText,
    /// The host; empty if a person started it.
    pub host: VisibleText,
    /// The session, shortened.
    pub session: VisibleText,
    /// The page of the session.
    pub session_link: String,
}

/// A change that waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldChangeView {
    /// The path as it is shown.
    pub path: VisibleText,
    /// The path as the form sends it.
    pub value: String,
    /// What happened to it.
    pub kind: &'static str,
    /// Its colour.
    pub tone: Tone,
    /// What a person must look at before they keep it.
    pub warnings: Vec<&'static str>,
}

/// A line of a difference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DifferenceLineView {
    /// What it says: `file`, `place`, `same`, `added`, `removed`.
    pub class: &'static str,
    /// The line with its sign.
    pub text: VisibleText,
}

/// What a call does, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplanationView {
    /// What it does.
    pub explanation: VisibleText,
    /// Why that matters.
    pub reasoning: VisibleText,
    /// What may go wrong.
    pub risk: VisibleText,
}

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id, shortened.
    pub name: VisibleText,
    /// Its page.
    pub link: String,
    /// The host.
    pub host: VisibleText,
    /// The directory of its last call.
    pub cwd: VisibleText,
    /// The mode of its last call.
    pub mode: VisibleText,
    /// When it was first seen.
    pub first: TimeView,
    /// When it was last seen.
    pub last: TimeView,
    /// How many calls were allowed.
    pub allow: u64,
    /// How many were asked about.
    pub ask: u64,
    /// How many were denied.
    pub deny: u64,
}

/// What a person granted for a while.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantView {
    /// What it is called by.
    pub id: String,
    /// `allow`, `ask` or `deny`.
    pub behavior: VisibleText,
    /// Its colour.
    pub tone: Tone,
    /// The rule.
    pub rule: VisibleText,
    /// Where and how long it holds.
    pub terms: VisibleText,
    /// When it is over.
    pub until: TimeView,
}

/// A problem with rules or settings files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProblemView {
    /// `error`, `warning`, `note`, or the kind of a lint.
    pub kind: VisibleText,
    /// Its colour.
    pub tone: Tone,
    /// What is wrong.
    pub message: VisibleText,
    /// Where; may be empty.
    pub place: VisibleText,
    /// How to put it right; may be empty.
    pub fix: VisibleText,
}
