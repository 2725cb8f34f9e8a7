//! A call made ready to be decided: parsed once, with every path it touches worked out.

use std::collections::BTreeSet;

use portcullis_analysis::command_effects::Layout;
use portcullis_analysis::command_effects::{effects, power_shell_layout, runs_what_it_writes};
use portcullis_analysis::effect::{Act, Effect, Target};
use portcullis_analysis::place::is_free;
use portcullis_analysis::script::{Script, scripts};
use portcullis_analysis::tool_call::layout;
use portcullis_analysis::{Access, Opacity, SYNTAX_ERROR, Surroundings, Survey, survey};
use portcullis_shell::Span;

use crate::call::ToolCall;
use crate::context::Context;
use crate::fact::{Facts, Question, Resolution};
use crate::mode::Mode;
use crate::path;
use crate::path_use::{self, InvocationPaths, Mentions, PathUse};
use crate::policy::Policy;
use crate::rule::host_of;
use crate::tool::ToolKind;
use crate::trap;

/// A parsed call in its context.
#[derive(Debug, Clone)]
pub struct Request {
    call: ToolCall,
    context: Context,
    pub(crate) subject: Subject,
    /// What a call that is no bash command line does, with the commands in it.
    layout: Layout,
    /// The working directories, absolute and normal.
    pub(crate) roots: Vec<String>,
    questions: BTreeSet<Question>,
}

/// What a call is about, by the kind of its tool.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// A bash command line.
    Shell(Shell),
    /// A PowerShell command line, which is not parsed.
    PowerShell(String),
    /// Files that are read or written.
    Files(Vec<PathUse>),
    /// A URL and its host, if it has one that is understood.
    Fetch { host: Option<String> },
    /// Nothing the core looks into.
    Other,
    /// The input lacks what the tool needs.
    Malformed(String),
}

/// A surveyed command line.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) text: String,
    pub(crate) survey: Survey,
    /// What its commands do.
    pub(crate) effects: Vec<Effect>,
    /// For each invocation, the paths it touches.
    pub(crate) paths: Vec<InvocationPaths>,
}

impl Request {
    /// Parses a call and works out which paths it touches. A mode that the policy disables becomes the default mode.
    pub fn new(policy: &Policy, call: ToolCall, mut context: Context) -> Self {
        if policy.disabled_modes.contains(context.mode) {
            context.mode = Mode::Default;
        }
        let roots = working_directories(policy, &context);
        let subject = Subject::of(policy, &call, &context);
        let layout = layout_of(&subject, &call, &context);
        let mut request = Self { call, context, subject, layout, roots, questions: BTreeSet::new() };
        request.questions = request.list_questions();
        request
    }

    /// Returns the call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the context, with the mode that is in force.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns what the caller must look up before deciding.
    pub fn questions(&self) -> &BTreeSet<Question> {
        &self.questions
    }

    /// Returns what the call would do.
    pub(crate) fn effects(&self) -> &[Effect] {
        match &self.subject {
            Subject::Shell(shell) => &shell.effects,
            _ => &self.layout.effects,
        }
    }

    /// Returns the commands of the call.
    pub(crate) fn survey(&self) -> &Survey {
        match &self.subject {
            Subject::Shell(shell) => &shell.survey,
            _ => &self.layout.survey,
        }
    }

    /// Says whether the command line is one that the shell would not understand.
    pub(crate) fn has_syntax_error(&self) -> bool {
        self.survey().opacities.iter().any(|opacity| opacity.why.starts_with(SYNTAX_ERROR))
    }

    /// Returns the scripts of the project that the call runs.
    pub(crate) fn scripts(&self) -> Vec<Script> {
        let mut all = scripts(self.survey(), self.effects());
        all.retain(|script| self.is_in_project(&script.file));
        all
    }

    /// Says whether a file lies in the working directories, as it is written.
    pub(crate) fn is_in_project(&self, file: &str) -> bool {
        self.roots.iter().any(|root| path::is_inside(file, root))
    }

    /// Returns the texts of the scripts the call runs, with their files, as far as they are known.
    pub fn script_texts<'a>(&self, facts: &'a Facts) -> Vec<(String, &'a str)> {
        let text = |script: Script| match facts.text(&script.file) {
            Some(Resolution::Text(text)) => Some((script.file, text.as_str())),
            _ => None,
        };
        self.scripts().into_iter().filter_map(text).collect()
    }

    /// Says whether the call writes files that it does not name, as a patch does.
    pub fn writes_unnamed(&self) -> bool {
        self.effects().iter().any(|effect| effect.act == Act::Write && effect.target.paths().is_empty())
    }

    /// Returns the files and directories that the call writes, absolute. What it only makes room in is none of them.
    pub fn written_paths(&self) -> Vec<String> {
        let invocations = &self.survey().invocations;
        let makes_room = |effect: &Effect| {
            let command = effect.invocation.and_then(|index| invocations.get(index));
            command.and_then(|command| command.program_name()) == Some("mkdir")
        };
        let writes = |effect: &&Effect| matches!(effect.act, Act::Write | Act::Link) && !makes_room(effect);
        self.effects().iter().filter(writes).flat_map(|effect| effect.target.paths().to_vec()).collect()
    }

    /// Says whether the call runs scripts of the project, which are judged by who wrote them.
    pub fn runs_scripts(&self) -> bool {
        !self.scripts().is_empty()
    }

    /// Returns every path the call touches for sure.
    pub(crate) fn path_uses(&self) -> impl Iterator<Item = &PathUse> {
        let (files, shell) = match &self.subject {
            Subject::Files(files) => (files.as_slice(), [].as_slice()),
            Subject::Shell(shell) => ([].as_slice(), shell.paths.as_slice()),
            Subject::PowerShell(_) | Subject::Fetch { .. } | Subject::Other | Subject::Malformed(_) => {
                ([].as_slice(), [].as_slice())
            }
        };
        files.iter().chain(shell.iter().flat_map(InvocationPaths::certain))
    }

    fn list_questions(&self) -> BTreeSet<Question> {
        let mut questions: BTreeSet<Question> =
            self.path_uses().chain(self.other_paths()).flat_map(PathUse::questions).collect();
        questions.extend(self.effects().iter().flat_map(questions_of));
        questions.extend(self.survey().invocations.iter().flat_map(trap::questions));
        questions.extend(self.scripts().into_iter().map(|script| Question::Text(script.file)));
        if self.effects().iter().any(|effect| effect.act == Act::GitPush) {
            questions.extend(self.roots.iter().map(|root| Question::Text(format!("{root}/.git/HEAD"))));
        }
        if !questions.is_empty() {
            questions.extend(self.roots.iter().cloned().map(Question::RealPath));
        }
        questions
    }

    /// Returns the paths the call may touch.
    fn other_paths(&self) -> impl Iterator<Item = &PathUse> {
        let paths = match &self.subject {
            Subject::Shell(shell) => shell.paths.as_slice(),
            Subject::PowerShell(_)
            | Subject::Files(_)
            | Subject::Fetch { .. }
            | Subject::Other
            | Subject::Malformed(_) => [].as_slice(),
        };
        paths.iter().flat_map(|paths| paths.mentioned.iter().chain(&paths.implied))
    }
}

/// Returns what must be looked up about the target of an effect.
fn questions_of(effect: &Effect) -> Vec<Question> {
    let Target::Path(path) = &effect.target else {
        return Vec::new();
    };
    let question = if path.is_pattern { Question::Pattern } else { Question::RealPath };
    let known = path.paths.iter().filter(|path| !is_free(path)).cloned().map(question);
    known.chain(path.windings.iter().cloned().map(Question::RealPath)).collect()
}

/// Works out what a call does that is no bash command line.
fn layout_of(subject: &Subject, call: &ToolCall, context: &Context) -> Layout {
    let surroundings = Surroundings { directory: &context.cwd, home: context.home.as_deref() };
    match subject {
        Subject::Shell(_) | Subject::Malformed(_) => Layout::default(),
        Subject::PowerShell(command) => power_shell_layout(command, surroundings),
        Subject::Files(_) | Subject::Fetch { .. } | Subject::Other => {
            layout(call.tool(), &call.input().texts(), surroundings)
        }
    }
}

/// Returns the working directories: where the call runs, the session's own, and those added.
fn working_directories(policy: &Policy, context: &Context) -> Vec<String> {
    let mut roots: Vec<String> = Vec::new();
    let own = [&context.cwd, &context.project];
    let added = context.added_directories.iter().chain(&policy.additional_directories);
    for directory in own.into_iter().chain(added) {
        let expanded = path_use::expand_home(directory, context.home.as_deref());
        let root = path::join(&context.project, expanded.as_deref().unwrap_or(directory));
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}

impl Subject {
    fn of(policy: &Policy, call: &ToolCall, context: &Context) -> Self {
        match call.kind() {
            ToolKind::Shell => match call.command() {
                Some(command) => Self::Shell(Shell::of(policy, command, context)),
                None => Self::Malformed("the input has no text field `command`".to_owned()),
            },
            ToolKind::PowerShell => match call.command() {
                Some(command) => Self::PowerShell(command.to_owned()),
                None => Self::Malformed("the input has no text field `command`".to_owned()),
            },
            ToolKind::Read => Self::of_file(call, context, Access::Read),
            ToolKind::Edit => Self::of_file(call, context, Access::Write),
            ToolKind::Fetch => match call.input().text("url") {
                Some(url) => Self::Fetch { host: host_of(url) },
                None => Self::Malformed("the input has no text field `url`".to_owned()),
            },
            ToolKind::Agent | ToolKind::Internal | ToolKind::Mcp | ToolKind::Other => Self::Other,
        }
    }

    fn of_file(call: &ToolCall, context: &Context, access: Access) -> Self {
        let mut files = Vec::new();
        for field in ["file_path", "notebook_path", "path"] {
            match call.input().field(field) {
                None => {}
                Some(value) => {
                    match value.as_text().filter(|text| !text.is_empty() && !text.contains('\0')) {
                        Some(text) => files.push(PathUse::of_tool(text, access, context)),
                        None => return Self::Malformed(format!("the field `{field}` is not a path")),
                    }
                }
            }
        }
        if call.tool() == "Glob"
            && let Some(pattern) = call
                .input()
                .text("pattern")
                .filter(|text| text.starts_with(['/', '~']) || text.contains(".."))
        {
            files.push(PathUse::of_tool(path_use::fixed_beginning(pattern), access, context));
        }
        if files.is_empty() {
            if matches!(call.tool(), "Glob" | "Grep") {
                files.push(PathUse::of_tool(".", access, context));
            } else {
                return Self::Malformed("the input names no file".to_owned());
            }
        }
        Self::Files(files)
    }
}

/// Returns the effects of one invocation. They stand in the order of the invocations, those of none at the end.
fn of_invocation(effects: &[Effect], place: usize) -> &[Effect] {
    let place_of = |effect: &Effect| effect.invocation.unwrap_or(usize::MAX);
    let first = effects.partition_point(|effect| place_of(effect) < place);
    let end = effects.partition_point(|effect| place_of(effect) <= place);
    effects.get(first..end).unwrap_or_default()
}

/// Says whether a command line names the variable `HOME` other than to expand it.
fn may_set_home(command: &str) -> bool {
    command.match_indices("HOME").any(|(at, _)| {
        let before = command.get(..at).unwrap_or_default().chars().next_back();
        before.is_none_or(|letter| !letter.is_ascii_alphanumeric() && !"_${".contains(letter))
    })
}

impl Shell {
    fn of(policy: &Policy, command: &str, context: &Context) -> Self {
        let home = context.home.as_deref();
        let survey = survey(command, Surroundings { directory: &context.cwd, home });
        // Words that could be files matter only to a rule that restrains paths, and looking them up takes time.
        let mentions = if policy.rules.has_path_restraint() { Mentions::Kept } else { Mentions::Left };
        // Where the line gives `~` another meaning, nobody knows what it stands for.
        let home = home.filter(|_| !may_set_home(command));
        let surroundings = Surroundings { directory: &context.cwd, home };
        let mut survey = survey;
        let mut effects = effects(&survey, home);
        if let Some(span) = runs_what_it_writes(&effects) {
            let why = "it runs a file that the same command line writes".to_owned();
            effects.push(Effect::of_call(Act::Unknown, Target::Name(why.clone()), span));
            survey.opacities.push(Opacity { span, why });
        }
        let invocations = survey.invocations.iter().enumerate();
        let paths = invocations
            .map(|(place, invocation)| {
                InvocationPaths::of(invocation, of_invocation(&effects, place), surroundings, mentions)
            })
            .collect();
        Self { text: command.to_owned(), survey, paths, effects }
    }

    /// Returns what one of the commands does.
    pub(crate) fn effects_of(&self, place: usize) -> &[Effect] {
        of_invocation(&self.effects, place)
    }

    /// Returns the span of the first opacity.
    pub(crate) fn first_opacity(&self) -> Option<(Span, &str)> {
        self.survey.opacities.first().map(|opacity| (opacity.span, opacity.why.as_str()))
    }
}
