//! What a host does with what a hook says, as it was seen in the real program: the facts that an adapter goes by.
//!
//! The hook is registered as `portcullis init` registers it, so that what the registration itself stops is stopped. The
//! tests that are named here run the program and compare; `tests/observed.rs` compares what our adapters say with it. What
//! an agent does at a terminal was seen by hand, with rules that allow, deny and ask.

use crate::capability::HookMoment;
use crate::host::Host;

/// What a hook may do when it is asked about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookBehavior {
    /// It says that the call may run.
    Allow,
    /// It says that the user must be asked.
    Ask,
    /// It says that the call must not run.
    Deny,
    /// It says nothing, and ends well.
    Silence,
    /// It breaks off with an exit code that blocks nowhere.
    ExitOne,
    /// It prints what nobody understands, and ends well.
    Garbage,
    /// It takes longer than the host waits.
    Late,
    /// Its program is not there.
    Gone,
}

impl HookBehavior {
    /// All of them, in the order of [`ObservedMode::fates`].
    pub const ALL: [Self; 8] = [
        Self::Allow,
        Self::Ask,
        Self::Deny,
        Self::Silence,
        Self::ExitOne,
        Self::Garbage,
        Self::Late,
        Self::Gone,
    ];

    /// Returns the words for a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Silence => "silence",
            Self::ExitOne => "exit 1",
            Self::Garbage => "garbage",
            Self::Late => "time-out",
            Self::Gone => "program gone",
        }
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFate {
    /// It runs, and nobody is asked.
    Runs,
    /// The host asks its user.
    Asked,
    /// It does not run, and the model is told.
    Stopped,
    /// It does not run, and the run of the agent ends.
    RunEnds,
    /// Nobody has seen it.
    NotSeen,
}

impl CallFate {
    /// Returns the words for a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Asked => "asks",
            Self::Stopped => "stopped",
            Self::RunEnds => "run ends",
            Self::NotSeen => "not run",
        }
    }
}

/// Begins the words of a row that was seen at a terminal, and that no test shows.
const BY_HAND: &str = "by hand";

/// What was seen in one mode of one version.
#[derive(Debug, PartialEq, Eq)]
pub struct ObservedMode {
    /// The version of the host's program.
    pub version: &'static str,
    /// How it was started, and what was called if that matters.
    pub mode: &'static str,
    /// The moment at which the hook spoke.
    pub moment: &'static HookMoment,
    /// What became of the call, for each of [`HookBehavior::ALL`].
    pub fates: [CallFate; 8],
    /// The test that shows all but the last, or that it was seen by hand, and when.
    pub shown_by: &'static str,
    /// The test that shows the last; empty if none does.
    pub gone_shown_by: &'static str,
}

impl ObservedMode {
    /// Returns what became of the call.
    pub fn fate(&self, behavior: HookBehavior) -> CallFate {
        let all = HookBehavior::ALL.into_iter().zip(self.fates);
        all.filter(|(known, _)| *known == behavior).map(|(_, fate)| fate).next().unwrap_or(CallFate::NotSeen)
    }

    /// Returns the names of the tests that show it.
    pub fn tests(&self) -> impl Iterator<Item = &'static str> {
        let all = [self.shown_by, self.gone_shown_by].into_iter();
        all.filter(|name| !name.is_empty() && !name.starts_with(BY_HAND))
    }

    /// Returns when a person saw it at a terminal, if no test shows it.
    pub fn seen_by_hand(&self) -> Option<&'static str> {
        Some(self.shown_by).filter(|words| words.starts_with(BY_HAND))
    }
}

/// A moment that the real program was not run for.
pub(crate) const fn not_run(moment: &'static HookMoment) -> ObservedMode {
    ObservedMode {
        version: "–",
        mode: "–",
        moment,
        fates: [CallFate::NotSeen; 8],
        shown_by: "",
        gone_shown_by: "",
    }
}

/// The tools that a host's program offers its model by default or when its settings ask for them, and that our adapter is to
/// know, with blanks between: as the real programs listed them, and for Crush as its source does. One that runs code of its
/// own is not among them, nor is one that reaches out further than it says: both stay unknown, and are asked about.
const OFFERED: &[(Host, &str)] = &[
    (
        Host::Gemini,
        "activate_skill ask_user complete_task enter_plan_mode exit_plan_mode get_internal_docs glob \
         google_web_search grep_search invoke_agent list_background_processes list_directory \
         list_mcp_resources read_background_output read_file read_many_files read_mcp_resource replace \
         run_shell_command tracker_add_dependency tracker_create_task tracker_get_task \
         tracker_list_tasks tracker_update_task tracker_visualize update_topic web_fetch write_file \
         write_todos",
    ),
    (
        Host::Codex,
        "apply_patch close_agent create_goal exec_command followup_task get_goal interrupt_agent \
         list_agents list_mcp_resource_templates list_mcp_resources read_mcp_resource request_user_input \
         resume_agent send_input spawn_agent tool_search update_goal update_plan view_image wait_agent \
         web_search",
    ),
    (
        Host::Kimi,
        "Agent AgentSwarm AskUserQuestion Bash CreateGoal CronCreate CronDelete CronList Edit \
         EnterPlanMode ExitPlanMode FetchURL GetGoal Glob Grep Read ReadMediaFile SetGoalBudget Skill \
         TaskList TaskOutput TaskStop TodoList UpdateGoal WaitFor WebSearch Write",
    ),
    (
        Host::Droid,
        "ApplyPatch AskUser Create Edit Execute ExitSpecMode FetchUrl GenerateImage Glob Grep LS \
         ProposeMission Read Skill Task TaskOutput TaskStop TodoWrite ToolSearch WebSearch",
    ),
    (
        Host::Cline,
        "ask_question editor fetch_web_content read_files run_commands search_codebase skills \
         spawn_agent submit_and_exit team_attach_outcome_fragment team_await_runs team_broadcast \
         team_cancel_run team_cleanup team_create_outcome team_finalize_outcome team_list_outcomes \
         team_list_runs team_mission_log team_read_mailbox team_review_outcome_fragment team_run_task \
         team_send_message team_shutdown_teammate team_spawn_teammate team_status team_task",
    ),
    (
        Host::Copilot,
        "ask_user bash create edit exit_plan_mode fetch_copilot_cli_documentation glob grep list_agents \
         list_bash read_agent read_bash session_store_sql skill sql stop_bash task view write_agent",
    ),
    (
        Host::Qwen,
        "agent ask_user_question cron_create cron_delete cron_list edit enter_plan_mode exit_plan_mode \
         get_goal glob grep_search list_agents list_directory loop_wakeup lsp monitor notebook_edit \
         read_file read_mcp_resource report_findings run_shell_command send_message skill \
         structured_output task_create task_list task_stop task_update team_create team_delete \
         todo_write tool_call tool_search update_goal web_fetch web_search write_file zoom_image",
    ),
    (
        Host::Crush,
        "agent bash crush_info crush_logs download edit fetch glob grep job_kill job_output \
         list_mcp_resources ls lsp_definition lsp_diagnostics lsp_references lsp_restart lsp_symbols \
         multiedit question read_mcp_resource sourcegraph todos view web_fetch web_search write",
    ),
];

/// Returns the names of the tools that a host offers and that our adapter is to know; none where nobody has looked.
pub fn offered_tools(host: Host) -> impl Iterator<Item = &'static str> {
    OFFERED.iter().filter(move |(known, _)| *known == host).flat_map(|(_, names)| names.split(' '))
}
