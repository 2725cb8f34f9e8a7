//! The effects of the commands of a surveyed line.
//!
//! Order of sources: redirections and assignments are the shell's, then the code that stands in an argument, then the
//! profile of the program, and where the profile names one, its reader. A program without a profile is
//! [`Act::Unknown`], unless the line itself defines it or it only wraps commands that are listed.

use portcullis_shell::Span;

use super::{git_objects, power_shell, terminal, tree_search};
use crate::act::{Access, Act};
use crate::argument::Argument;
use crate::effect::{Certainty, Effect, Target, target};
use crate::environment::{
    Assignment, LineVariables, VariableReach, VariableUse, reading_program, shows_some_variable,
};
use crate::invocation::{Invocation, Survey, Variable, Wrapping};
use crate::lists::programs::shells::{RUNNER_PATHS, RUNNER_VARIABLES};
use crate::named_file::implied;
use crate::outgoing::name_carries_data;
use crate::place::is_free;
use crate::profile::{self, Profile, Profiles, Use};
use crate::reader::{self, CommandContext};
use crate::survey::Surroundings;

/// Works out what every command of a line would do. The surroundings name the user's home directory if the line leaves it
/// alone.
pub fn effects(survey: &Survey, surroundings: Surroundings<'_>) -> Vec<Effect> {
    // PowerShell reads its own text, which the survey has read as if it were for bash.
    let is_own = |effect: &Effect| {
        let invocation = effect.invocation.and_then(|index| survey.invocations.get(index));
        !invocation.is_some_and(|invocation| is_in_power_shell(survey, invocation))
    };
    effects_by(survey, surroundings, &|_| Profiles::find).into_iter().filter(is_own).collect()
}

/// Works out what every command would do, by the profiles of one dialect.
pub(super) fn effects_by(
    survey: &Survey,
    surroundings: Surroundings<'_>,
    lookup: &dyn Fn(usize) -> Lookup,
) -> Vec<Effect> {
    let Surroundings { home, profiles, directory } = surroundings;
    let mut all = Vec::new();
    let variables = LineVariables::of(survey);
    for (index, invocation) in survey.invocations.iter().enumerate() {
        let wraps_listed = survey.invocations.get(index + 1).is_some_and(|next| next.parent == Some(index));
        let context = CommandContext { survey, index, invocation, variables: &variables, home };
        let lookup = lookup(index);
        let is_bash = std::ptr::fn_addr_eq(lookup, Profiles::find as Lookup);
        let maker = EffectMaker { context, wraps_listed, profiles, lookup, directory, is_bash, surroundings };
        all.extend(maker.effects());
    }
    for opacity in &survey.opacities {
        all.push(Effect::of_call(Act::Unknown, Target::Name(opacity.why.clone()), opacity.span));
    }
    all
}

/// Says whether a command is wrapped by PowerShell that bash starts.
fn is_in_power_shell(survey: &Survey, invocation: &Invocation) -> bool {
    let mut parent = invocation.parent;
    for _ in 0..survey.invocations.len() {
        let Some(outer) = parent.and_then(|index| survey.invocations.get(index)) else { return false };
        if outer.program_name().is_some_and(power_shell::is_launcher) {
            return true;
        }
        parent = outer.parent;
    }
    false
}

/// Finds the profile of a program.
pub(super) type Lookup = for<'p> fn(&'p Profiles, &str) -> Option<Profile<'p>>;

/// Makes the effects of one command.
pub(super) struct EffectMaker<'a> {
    pub(super) context: CommandContext<'a>,
    /// Whether it wraps a command that the survey lists too.
    wraps_listed: bool,
    profiles: &'a Profiles,
    lookup: Lookup,
    /// Where the call itself runs.
    directory: &'a str,
    /// Whether bash starts it.
    is_bash: bool,
    surroundings: Surroundings<'a>,
}

impl EffectMaker<'_> {
    fn effects(&self) -> Vec<Effect> {
        let mut effects = self.redirected();
        effects.extend(self.assigned());
        effects.extend(self.handed_on());
        effects.extend(self.declared());
        effects.extend(self.shown());
        if self.context.invocation.arguments.iter().any(Argument::spells_letters) {
            effects.push(self.effect(Act::Obfuscate, Target::None, self.context.invocation.span));
        }
        if let Some(program) = self.context.invocation.program() {
            effects.extend(self.of_program(program));
            // Whoever changes something is asked about that.
            if effects.iter().all(|effect| effect.is_redirection || effect.act.is_observing()) {
                effects.extend(self.looked_around());
            }
        }
        effects
    }

    /// What a program looks at without being told in so many words, but for where the call itself runs.
    fn looked_around(&self) -> impl Iterator<Item = Effect> {
        let invocation = self.context.invocation;
        implied(invocation).into_iter().filter_map(|word| {
            let path = target::path_of(&word, &invocation.directories, self.context.home);
            if path.is_all(|path| path == self.directory) {
                return None;
            }
            let effect = self.effect(Act::List, Target::Path(path), word.span);
            Some(Effect { word: Some(word), ..effect })
        })
    }

    pub(super) fn effect(&self, act: Act, target: Target, span: Span) -> Effect {
        Effect { invocation: Some(self.context.index), ..Effect::of_call(act, target, span) }
    }

    /// Makes the effect of an act on a word of this command.
    fn on_word(&self, found: &Use) -> Effect {
        let directories = &self.context.invocation.directories;
        match &found.word {
            None => Effect {
                certainty: found.certainty,
                ..self.effect(self.act_of_lookup(found), Target::None, self.context.invocation.span)
            },
            Some(word) => {
                let act = self.act_of_lookup(found);
                let target = target::of_word(act, word, directories, self.context.home);
                // A name that looks odd may still be one.
                let certainty = if act == found.act { found.certainty } else { Certainty::Possible };
                Effect { certainty, word: Some(word.clone()), ..self.effect(act, target, word.span) }
            }
        }
    }

    /// Returns what looking up a name does: one that no service is called by carries something to whoever answers for it.
    fn act_of_lookup(&self, found: &Use) -> Act {
        const LOOKUPS: &[&str] = &[
            "delv",
            "dig",
            "drill",
            "finger",
            "host",
            "kdig",
            "mtr",
            "nslookup",
            "ping",
            "ping6",
            "resolvectl",
            "tracepath",
            "traceroute",
            "whois",
        ];
        let program = self.context.invocation.program_name().unwrap_or_default();
        // Without a name it asks for every line that it reads.
        if program == "nslookup" && found.act == Act::Query && found.word.is_none() {
            return Act::Send;
        }
        let Some(word) = found.word.as_ref().filter(|_| LOOKUPS.contains(&program)) else { return found.act };
        let mut words = self.context.invocation.operands().iter();
        let server =
            words.find(|word| matches!(word.text.as_str(), "-h" | "--host")).and_then(|_| words.next());
        let has_server =
            program == "whois" && server.is_some_and(|server| !server.text.starts_with("whois."));
        let name = word.text.trim_start_matches('@').to_ascii_lowercase();
        let carries = has_server || name.contains('.') && name_carries_data(&name);
        if found.act == Act::Query && carries { Act::Send } else { found.act }
    }

    fn redirected(&self) -> Vec<Effect> {
        let effect = |to: &crate::invocation::Redirection| {
            let act = match to.access {
                Access::Read => Act::Read,
                Access::Write | Access::Remove => Act::Write,
            };
            if let Some(rest) =
                to.target.text.strip_prefix("/dev/tcp/").or(to.target.text.strip_prefix("/dev/udp/"))
            {
                let host = rest.split('/').next().unwrap_or(rest).to_ascii_lowercase();
                let target = Target::Host { host, written: to.target.text.clone() };
                let effect = self.effect(Act::Connect, target, to.target.span);
                return Effect { is_redirection: true, ..effect };
            }
            let path = target::path_of(&to.target, &self.context.invocation.directories, self.context.home);
            let word = Some(to.target.clone());
            let effect = self.effect(act, Target::Path(path), to.target.span);
            Effect { word, is_redirection: true, ..effect }
        };
        let is_kept = |to: &&crate::invocation::Redirection| {
            let text = to.target.text.as_str();
            !is_free(text) && text != "-" && !to.target.is_process()
        };
        self.context.invocation.redirections.iter().filter(is_kept).map(effect).collect()
    }

    /// Secret variables that the command prints or is given as text.
    fn shown(&self) -> Vec<Effect> {
        const PRINTING: &[&str] = &["echo", "gprintf", "print", "printf"];
        let invocation = self.context.invocation;
        let prints = invocation.program_name().is_some_and(|name| PRINTING.contains(&name));
        let words = invocation.operands().iter().filter(|word| prints && word.fixed().is_none());
        let texts = words.map(|word| word.text.as_str()).chain(invocation.given.as_deref());
        let mut effects = Vec::new();
        for text in texts {
            let names = self.context.variables.secrets_in(text, self.context.index).into_iter();
            let targets = names
                .map(|name| Target::Name(name.to_owned()))
                .chain(shows_some_variable(text).then_some(Target::None));
            effects.extend(targets.map(|target| self.effect(Act::Environment, target, invocation.span)));
        }
        effects
    }

    /// What variables make programs load, run, write or reach.
    fn assigned(&self) -> Vec<Effect> {
        let invocation = self.context.invocation;
        let inherited = invocation.parent.and_then(|parent| self.context.survey.invocations.get(parent));
        let is_new =
            |variable: &&Variable| inherited.is_none_or(|parent| !parent.assignments.contains(variable));
        let is_alone = invocation.arguments.is_empty();
        let reach_of = |variable: &Variable| {
            let stays = is_alone && !self.context.variables.exports(&variable.name);
            if stays { VariableReach::Shell } else { VariableReach::Programs }
        };
        let assigned = invocation.assignments.iter().filter(is_new);
        assigned.flat_map(|variable| self.of_variable(variable, reach_of(variable))).collect()
    }

    /// What later steps of a build are given, by the files that its runner names for that: variables, and directories with
    /// programs. It does there what it would do here.
    fn handed_on(&self) -> Vec<Effect> {
        let invocation = self.context.invocation;
        let steers = |to: &&crate::invocation::Redirection| {
            let name = to.target.variable().filter(|_| to.access == Access::Write);
            name.is_some_and(|name| RUNNER_VARIABLES.contains(&name) || RUNNER_PATHS.contains(&name))
        };
        let Some(to) = invocation.redirections.iter().find(steers) else { return Vec::new() };
        let is_path = to.target.variable().is_some_and(|name| RUNNER_PATHS.contains(&name));
        let variable = match invocation.operands() {
            _ if invocation.program_name() != Some("echo") => None,
            [word] if is_path => Some(Variable { name: "PATH".to_owned(), value: word.clone() }),
            [word] => Variable::declared(word).filter(|_| !word.text.contains('\n')),
            _ => None,
        };
        if let Some(variable) = variable {
            return self.of_variable(&variable, VariableReach::Programs);
        }
        let what = Target::Name("what later steps of the build are given".to_owned());
        vec![self.effect(Act::Unknown, what, to.target.span)]
    }

    fn of_variable(&self, variable: &Variable, reach: VariableReach) -> Vec<Effect> {
        let variables = self.context.variables;
        let assignment = Assignment {
            name: &variable.name,
            value: &variable.value,
            reach,
            home: self.context.home,
            is_set_here: &|name| variables.sets(name),
        };
        let effect = |found: VariableUse| {
            let target = match found.place {
                Some(place) => {
                    let directories = &self.context.invocation.directories;
                    Target::Path(target::path_of(&place, directories, self.context.home))
                }
                None => Target::Name(format!("{}={}", variable.name, variable.value.as_written())),
            };
            self.effect(found.act, target, variable.value.span)
        };
        let mut effects: Vec<Effect> = assignment.uses().into_iter().map(effect).collect();
        effects.extend(self.by_own_table(&variable.name, &variable.value));
        effects
    }

    /// What options do that stand in a variable, by the table of the program that reads them there. Whether the value is
    /// understood at all is said of the variable as a whole.
    fn by_own_table(&self, name: &str, value: &Argument) -> Vec<Effect> {
        let Some(command) = reading_program(name) else {
            return Vec::new();
        };
        let mut prefix = command.split(' ');
        let Some(profile) = prefix.next().and_then(|program| (self.lookup)(self.profiles, program)) else {
            return Vec::new();
        };
        let mut words: Vec<Argument> = prefix.map(|word| value.piece(word)).collect();
        // What it does without them is its own affair.
        let plain = profile::read(profile, &words).uses;
        let given = value.text.split_whitespace();
        words.extend(given.map(|word| value.piece(word.trim_matches(['"', '\'']))));
        let acts =
            |found: &&Use| found.act != Act::Unknown && !found.act.is_observing() && !plain.contains(found);
        profile::read(profile, &words).uses.iter().filter(acts).map(|found| self.on_word(found)).collect()
    }

    /// What options do that an assignment among the operands of a builtin holds: `export PYTEST_ADDOPTS=…`.
    fn declared(&self) -> Vec<Effect> {
        const DECLARING: &[&str] = &["declare", "export", "readonly", "typeset"];
        let invocation = self.context.invocation;
        if !invocation.program_name().is_some_and(|name| DECLARING.contains(&name)) {
            return Vec::new();
        }
        let parts = |word: &Argument| {
            let (name, value) = word.text.split_once('=')?;
            Some(self.by_own_table(name.trim_end_matches('+'), &word.piece(value)))
        };
        invocation.operands().iter().filter_map(parts).flatten().collect()
    }

    fn of_program(&self, program: &Argument) -> Vec<Effect> {
        let Some(written) = program.fixed().filter(|name| !name.is_empty()) else {
            // The survey says that the program is only known at run time.
            return Vec::new();
        };
        let name = crate::invocation::base_name(written);
        if self.is_bash && power_shell::is_launcher(name) {
            let unknown = || vec![self.effect(Act::Unknown, Target::Name(name.to_owned()), program.span)];
            let index = Some(self.context.index);
            let own = |effect: Effect| Effect { invocation: index, ..effect };
            let launched = power_shell::launched(self.context.invocation, self.surroundings);
            return launched.map_or_else(unknown, |all| all.into_iter().map(own).collect());
        }
        let mut effects = self.of_code();
        if self.is_function(name) && self.feeds_itself(name) {
            effects.push(self.effect(Act::Exhaust, Target::Name(name.to_owned()), program.span));
        }
        let runner = self.context.runner();
        if runner.is_some() && written.starts_with('@') && !written.contains("..") {
            // A package that its runner fetches; the runner's profile says so.
            return effects;
        }
        let name = match runner {
            Some(_) if !written.contains("..") => name.split('@').next().unwrap_or(name),
            _ => name,
        };
        if runner.is_some_and(|runner| runner.fetches(name)) && !written.contains('/') {
            // The package of that name, and not the program of this machine.
            effects.push(self.effect(Act::InstallPackage, Target::Name(written.to_owned()), program.span));
            return effects;
        }
        if written.contains('/') && !is_system_program(written) {
            let path = target::path_of(program, &self.context.invocation.directories, self.context.home);
            let effect = self.effect(Act::Execute, Target::Path(path), program.span);
            effects.push(Effect { word: Some(program.clone()), ..effect });
            if (self.lookup)(self.profiles, name).is_none() {
                return effects;
            }
        }
        let Some(profile) = (self.lookup)(self.profiles, name) else {
            let is_transparent =
                self.context.invocation.wrapping == Wrapping::Transparent && self.wraps_listed;
            if !is_transparent && !self.is_function(name) {
                effects.push(self.effect(Act::Unknown, Target::Name(name.to_owned()), program.span));
            }
            return effects;
        };
        self.of_profile((program, name), profile, effects)
    }

    /// Adds what the profile of a program says to the effects of code in its arguments.
    fn of_profile(
        &self,
        (program, name): (&Argument, &str),
        profile: Profile<'_>,
        mut effects: Vec<Effect>,
    ) -> Vec<Effect> {
        let found = profile::read(profile, self.context.invocation.operands());
        let leaves_prompt = terminal::leaves_prompt(&self.context, name, &found);
        let uses = match found.form.reader {
            "" => found.uses,
            reader => reader::read(reader, &self.context, &found),
        };
        let changes = |effect: &Effect| matches!(effect.act, Act::DatabaseWrite | Act::DatabaseDestroy);
        let is_file = matches!(name, "duckdb" | "sqlite" | "sqlite3") && effects.iter().any(changes);
        for found in &uses {
            if is_file && found.act == Act::Read {
                effects.push(self.on_word(&Use { act: Act::Write, ..found.clone() }));
            }
            let effect = self.on_word(found);
            effects.extend(self.below(&effect));
            effects.push(effect);
        }
        if leaves_prompt {
            effects.push(self.effect(
                Act::Unknown,
                Target::Name("what is typed into it".to_owned()),
                program.span,
            ));
        }
        let shown = git_objects::shown_files(self.context.invocation);
        effects.extend(shown.into_iter().map(|word| self.reading(word)));
        if name == "git" {
            effects.extend(reader::git_settings(&self.context).iter().map(|found| self.on_word(found)));
        }
        effects
    }

    /// Makes effects of what a search shows beside the directory it is given.
    fn below(&self, effect: &Effect) -> Vec<Effect> {
        let Some(word) = effect.word.as_ref().filter(|_| effect.act == Act::Read) else { return Vec::new() };
        let words = tree_search::secrets_below(&self.context, word, &effect.target);
        words.into_iter().map(|word| self.reading(word)).collect()
    }

    /// Makes the effect of reading a file that a piece of a word names.
    fn reading(&self, word: Argument) -> Effect {
        let directories = &self.context.invocation.directories;
        let target = target::of_word(Act::Read, &word, directories, self.context.home);
        let effect = self.effect(Act::Read, target, word.span);
        Effect { word: Some(word), ..effect }
    }

    /// Says whether a name is a function that the same line defines before the call; the survey lists its body.
    fn is_function(&self, name: &str) -> bool {
        let bodies = self.context.survey.bodies.get(name).into_iter().flatten();
        self.context.survey.functions.contains(name)
            && bodies.into_iter().any(|body| body.start <= self.context.index)
    }

    /// Says whether a command is piped into itself: a function that does so doubles without end.
    fn feeds_itself(&self, name: &str) -> bool {
        let before =
            self.context.survey.invocations.get(self.context.invocation.piped.clone()).unwrap_or_default();
        before.iter().any(|stage| stage.program_name() == Some(name))
    }
}

/// Directories whose programs are the ones the bare name would find.
const SYSTEM_DIRECTORIES: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/opt/homebrew/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/usr/libexec/",
];

/// Says whether a program is named by the directory the system keeps it in.
pub(crate) fn is_system_program(program: &str) -> bool {
    let name = SYSTEM_DIRECTORIES.iter().find_map(|directory| program.strip_prefix(directory));
    name.is_some_and(|name| !name.contains('/'))
}
