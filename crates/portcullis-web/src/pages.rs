//! The pages, one type each. A page is a value; [`crate::Template::render`] makes HTML of it.

use askama::Template;

use crate::VisibleText;
use crate::charts::{BarChart, ColumnChart};
use crate::views::{
    ApprovalRow, DecisionRow, DifferenceLineView, ExplanationView, FigureTile, FormChoice, GrantView,
    HeldChangeView, HeldRunRow, PageFrame, ProblemView, Property, RuleView, SessionRow, TimeView, Tone,
    VerdictView,
};

/// The latest decisions, as they come.
#[derive(Debug, Template)]
#[template(path = "live.html")]
pub struct LivePage {
    /// What stands round it.
    pub frame: PageFrame,
    /// What happened today.
    pub tiles: Vec<FigureTile>,
    /// The newest decisions, the newest first.
    pub rows: Vec<DecisionRow>,
}

/// The decisions of the trail, by what is in them.
#[derive(Debug, Template)]
#[template(path = "decisions.html")]
pub struct DecisionsPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// What is wrong with the filter; empty if nothing is.
    pub problem: VisibleText,
    /// The filters that are a choice: name, label and choices.
    pub choices: Vec<(&'static str, &'static str, Vec<FormChoice>)>,
    /// The filters that are a text: name, label, what is written there and an example.
    pub texts: Vec<(&'static str, &'static str, String, &'static str)>,
    /// How many of those are set beyond what is always shown.
    pub has_more_filters: bool,
    /// The decisions, the newest first.
    pub rows: Vec<DecisionRow>,
    /// How many there are in all.
    pub count: String,
    /// The page with older ones; empty if there is none.
    pub older: String,
    /// The page with the newest ones; empty if this is it.
    pub newest: String,
}

/// One decision.
#[derive(Debug, Template)]
#[template(path = "decision.html")]
pub struct DecisionPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// What it is known by.
    pub id: VisibleText,
    /// When it was made.
    pub when: TimeView,
    /// What the host was told, if that is something else.
    pub told: Option<VisibleText>,
    /// The verdict, as it was recorded.
    pub verdict: VerdictView,
    /// What today's settings say to the same call, if somebody asked for that.
    pub today: Option<TodayView>,
    /// What is known of the call.
    pub properties: Vec<Property>,
    /// Where a rule that is added from here goes: the directory of the call.
    pub cwd: String,
    /// The record as JSON.
    pub raw: VisibleText,
    /// The hash of its line.
    pub hash: VisibleText,
    /// The hash of the line before it.
    pub previous: VisibleText,
}

/// A recorded call by the settings of now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TodayView {
    /// What they say; `None` if the call cannot be judged again.
    pub verdict: Option<VerdictView>,
    /// Why it cannot; empty if it can.
    pub problem: VisibleText,
}

/// The sessions.
#[derive(Debug, Template)]
#[template(path = "sessions.html")]
pub struct SessionsPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// The sessions, the latest first.
    pub rows: Vec<SessionRow>,
    /// How many are listed, if there are more.
    pub cut_at: Option<u64>,
}

/// One session.
#[derive(Debug, Template)]
#[template(path = "session.html")]
pub struct SessionPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// Its id.
    pub id: VisibleText,
    /// What is counted.
    pub tiles: Vec<FigureTile>,
    /// What is known of it.
    pub properties: Vec<Property>,
    /// The questions that wait.
    pub approvals: Vec<ApprovalRow>,
    /// What a person granted.
    pub grants: Vec<GrantView>,
    /// What the user forbade.
    pub boundaries: Vec<VisibleText>,
    /// Its decisions, the newest first.
    pub rows: Vec<DecisionRow>,
    /// The page with all of its decisions.
    pub all: String,
    /// This very page, to come back to.
    pub here: String,
}

/// The questions that wait, and those that were answered.
#[derive(Debug, Template)]
#[template(path = "approvals.html")]
pub struct ApprovalsPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// Those that wait, the oldest first.
    pub open: Vec<ApprovalRow>,
    /// How many of those that wait are listed, if there are more.
    pub cut_at: Option<u64>,
    /// Those that are over, the newest first.
    pub done: Vec<ApprovalRow>,
    /// Runs whose changes wait, the oldest first.
    pub held: Vec<HeldRunRow>,
}

/// A run whose changes wait.
#[derive(Debug, Template)]
#[template(path = "held_run.html")]
pub struct HeldRunPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// The run.
    pub row: HeldRunRow,
    /// Whether it can be answered from this page.
    pub is_answerable: bool,
    /// Its changes.
    pub changes: Vec<HeldChangeView>,
    /// How many more there are.
    pub more: usize,
    /// What it changed, line by line.
    pub lines: Vec<DifferenceLineView>,
}

/// One question.
#[derive(Debug, Template)]
#[template(path = "approval.html")]
pub struct ApprovalPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// The question.
    pub row: ApprovalRow,
    /// Whether it can be answered from this page.
    pub is_answerable: bool,
    /// What lets somebody answer who is not signed in: the key of a one-time link; empty if there is none.
    pub key: String,
    /// What is asked about.
    pub verdict: VerdictView,
    /// What the call does.
    pub explanation: Option<ExplanationView>,
    /// The rules that would allow such calls.
    pub rules: Vec<FormChoice>,
    /// What a person said to the agent; empty if nothing.
    pub message: VisibleText,
    /// The rule that was made of the answer; empty if none.
    pub rule: VisibleText,
    /// What is known of the call.
    pub properties: Vec<Property>,
}

/// What decisions add up to.
#[derive(Debug, Template)]
#[template(path = "stats.html")]
pub struct StatsPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// The spans that can be chosen.
    pub ranges: Vec<FormChoice>,
    /// What is counted.
    pub tiles: Vec<FigureTile>,
    /// Decisions over time by outcome.
    pub decisions: ColumnChart,
    /// Requests to models over time, and what they cost.
    pub models: ColumnChart,
    /// How long decisions took.
    pub latencies: ColumnChart,
    /// What was asked about most.
    pub asked: BarChart,
    /// What was denied most.
    pub denied: BarChart,
}

/// The rules in force, what is wrong with them, and a call to try.
#[derive(Debug, Template)]
#[template(path = "rules.html")]
pub struct RulesPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// The directory whose settings count.
    pub cwd: String,
    /// The rules by what they do: title, colour, rules.
    pub groups: Vec<(&'static str, Tone, Vec<RuleView>)>,
    /// What is wrong with settings files.
    pub problems: Vec<ProblemView>,
    /// What is wrong with rules.
    pub lints: Vec<ProblemView>,
    /// What is not used.
    pub ignored: Vec<VisibleText>,
    /// Where a rule can be added.
    pub sources: Vec<FormChoice>,
    /// The call that is tried.
    pub trial: TrialView,
    /// The managed policy of the fleet; empty if there is none.
    pub policy: VisibleText,
}

/// A call that is tried, and what comes of it.
#[derive(Debug, Default)]
pub struct TrialView {
    /// The tool.
    pub tool: String,
    /// The command, or the input as JSON.
    pub call: String,
    /// The modes that can be chosen.
    pub modes: Vec<FormChoice>,
    /// What is wrong with it; empty if nothing is.
    pub problem: VisibleText,
    /// What comes of it.
    pub verdict: Option<VerdictView>,
    /// The rules that match it.
    pub matching: Vec<(RuleView, VisibleText)>,
}

/// What a finding or an allowance is about.
#[derive(Debug, Template)]
#[template(path = "finding.html")]
pub struct FindingPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// Its code and its name.
    pub heading: VisibleText,
    /// The text, as a terminal would show it.
    pub text: VisibleText,
}

/// Where somebody says who they are.
#[derive(Debug, Template)]
#[template(path = "login.html")]
pub struct LoginPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// What was wrong with the last try; empty if there was none.
    pub problem: VisibleText,
    /// The code of a link that signs in; empty if a token is needed.
    pub code: String,
}

/// Where somebody shows that they are there.
#[derive(Debug, Template)]
#[template(path = "presence.html")]
pub struct PresencePage {
    /// What stands round it.
    pub frame: PageFrame,
    /// What was wrong with the last try; empty if there was none.
    pub problem: VisibleText,
    /// The page to go on with.
    pub next: String,
    /// Whether they showed it a moment ago, and may add a passkey.
    pub is_proven: bool,
}

/// Something that cannot be shown.
#[derive(Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// What stands round it.
    pub frame: PageFrame,
    /// The status of the response.
    pub status: u16,
    /// What is wrong.
    pub message: VisibleText,
    /// How to go on; may be empty.
    pub hint: VisibleText,
}

/// Something that was done, for whoever came by a one-time link.
#[derive(Debug, Template)]
#[template(path = "done.html")]
pub struct DonePage {
    /// What stands round it.
    pub frame: PageFrame,
    /// Its colour.
    pub tone: Tone,
    /// What was done.
    pub message: VisibleText,
}

impl PageFrame {
    fn is_in(&self, section: &str) -> bool {
        self.section == section
    }
}
