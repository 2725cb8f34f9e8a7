//! The paths a call touches, made absolute, with what is known of each.

use portcullis_analysis::effect::{Act, Certainty, Effect};
use portcullis_analysis::place::is_free;
use portcullis_analysis::{Access, Argument, Invocation, Knowledge, Surroundings, implied, mentioned};
use portcullis_shell::Span;

use crate::context::Context;
use crate::disk::{DiskAnswer, DiskAnswers, DiskQuestion};
use crate::path;
use crate::pattern::alternatives;

/// One path a call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathUse {
    pub(crate) access: Access,
    /// The absolute path; `None` if it is only known at run time.
    pub(crate) path: Option<String>,
    /// The path with its `..` left in: behind a symbolic link they lead elsewhere than the text says.
    pub(crate) unnormalized: Option<String>,
    /// The pattern's text if the path stands for all files a shell pattern names; `path` is then their directory.
    pub(crate) glob: Option<String>,
    /// The text after quote removal, what is not known in source form.
    pub(crate) text: String,
    /// The absolute pattern, where the path stands for all files a shell pattern names.
    pub(crate) pattern: Option<String>,
    /// As it is written.
    pub(crate) shown: String,
    pub(crate) span: Span,
    pub(crate) certainty: Certainty,
}

/// The paths of one invocation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct InvocationPaths {
    /// Files it is redirected from and to.
    pub(crate) redirections: Vec<PathUse>,
    /// Files its words name, as far as its profile tells.
    pub(crate) operands: Vec<PathUse>,
    /// Whether its profile accounts for every word.
    pub(crate) is_complete: bool,
    /// What it reads without naming it: another directory than the call's that it works in, words of git that lead out.
    pub(crate) implied: Vec<PathUse>,
}

impl InvocationPaths {
    pub(crate) fn of(invocation: &Invocation, effects: &[Effect], surroundings: Surroundings<'_>) -> Self {
        let home = surroundings.home;
        let redirections = invocation
            .redirections
            .iter()
            .flat_map(|to| PathUse::of_argument(&to.target, to.access, invocation, home))
            .collect();
        let named = effects.iter().filter(|effect| !effect.is_redirection).filter_map(|effect| {
            let paths = PathUse::of_argument(effect.word.as_ref()?, effect.act.access()?, invocation, home);
            Some(paths.into_iter().map(|path_use| PathUse { certainty: effect.certainty, ..path_use }))
        });
        let operands: Vec<PathUse> = named.flatten().collect();
        // Code that is run may take any word for a file.
        let is_accounted = |effect: &Effect| {
            effect.act != Act::Execute && (effect.act.is_observing() || effect.act.access().is_some())
        };
        let is_complete = invocation.program().is_none_or(|program| program.fixed().is_some())
            && effects.iter().all(is_accounted);
        let mut implied = read_words(&implied(invocation), invocation, home);
        // Where the call itself runs is a working directory.
        implied.retain(|path_use| path_use.path.as_deref() != Some(surroundings.directory));
        Self { redirections, operands, is_complete, implied }
    }

    /// Returns the words of a program, not wholly known, that could be files.
    pub(crate) fn mentions(&self, invocation: &Invocation, home: Option<&str>) -> Vec<PathUse> {
        // Words of git name files in commits, which its profile does not tell from other names.
        if self.is_complete && invocation.program_name() != Some("git") {
            return Vec::new();
        }
        read_words(&mentioned(invocation), invocation, home)
    }

    /// Returns the paths it touches for sure.
    pub(crate) fn certain(&self) -> impl Iterator<Item = &PathUse> {
        self.redirections.iter().chain(&self.operands)
    }
}

fn read_words(words: &[Argument], invocation: &Invocation, home: Option<&str>) -> Vec<PathUse> {
    words.iter().flat_map(|word| PathUse::of_argument(word, Access::Read, invocation, home)).collect()
}

impl PathUse {
    /// Makes the path of a file tool.
    pub(crate) fn of_tool(text: &str, access: Access, context: &Context) -> Self {
        let expanded = expand_home(text, context.home.as_deref());
        let text_or_home = expanded.as_deref().unwrap_or(text);
        Self {
            access,
            path: Some(path::join(&context.cwd, text_or_home)),
            unnormalized: unnormalized(&context.cwd, text_or_home),
            glob: None,
            pattern: None,
            text: text.to_owned(),
            shown: text.to_owned(),
            span: Span::default(),
            certainty: Certainty::Certain,
        }
    }

    /// Makes the paths an argument may stand for, one for each directory the invocation may run in.
    fn of_argument(
        argument: &Argument,
        access: Access,
        invocation: &Invocation,
        home: Option<&str>,
    ) -> Vec<Self> {
        let make = |path: Option<String>, glob: Option<String>| Self {
            access,
            path,
            unnormalized: None,
            glob,
            pattern: None,
            text: argument.text.clone(),
            shown: argument.as_written().to_owned(),
            span: argument.span,
            certainty: Certainty::Certain,
        };
        let text = match argument.knowledge {
            Knowledge::Dynamic => return Self::of_dynamic(argument, access, invocation, home),
            Knowledge::Tilde | Knowledge::Glob if is_in_home(argument) => {
                match expand_home(&argument.text, home) {
                    Some(expanded) => expanded,
                    None => return vec![make(None, None)],
                }
            }
            Knowledge::Fixed | Knowledge::Glob | Knowledge::Tilde => argument.text.clone(),
        };
        let is_glob = argument.knowledge == Knowledge::Glob;
        let (fixed, glob) =
            if is_glob { (fixed_beginning(&text), Some(text.clone())) } else { (text.as_str(), None) };
        if is_glob && climbs(text.get(fixed.len()..).unwrap_or_default()) {
            return vec![make(None, None)];
        }
        let at = |directory: &str| {
            let path = path::join(directory, fixed);
            let pattern =
                is_glob.then(|| format!("{}/{}", path.trim_end_matches('/'), after_fixed(&text, fixed)));
            Self { unnormalized: unnormalized(directory, fixed), pattern, ..make(Some(path), glob.clone()) }
        };
        if fixed.starts_with('/') {
            return vec![at("/")];
        }
        match invocation.directories.alternatives() {
            None => vec![make(None, None)],
            Some(directories) => directories.iter().map(|directory| at(directory)).collect(),
        }
    }

    /// Makes the paths of a word that the shell expands: those of a brace list, the descriptor of a process, or one
    /// that nobody knows.
    fn of_dynamic(
        argument: &Argument,
        access: Access,
        invocation: &Invocation,
        home: Option<&str>,
    ) -> Vec<Self> {
        let of_text = |text: String| {
            let knowledge = if text.starts_with('~') { Knowledge::Tilde } else { Knowledge::Fixed };
            let source = Some(argument.as_written().to_owned());
            let word = Argument { text, source, knowledge, span: argument.span };
            Self::of_argument(&word, access, invocation, home)
        };
        let text = argument.text.as_str();
        let is_process = text.starts_with("<(") && text.ends_with(')') && !text.contains(['$', '`']);
        if is_process && access == Access::Read {
            // What runs in it is looked at on its own.
            return of_text("/dev/fd/63".to_owned());
        }
        let is_plain = argument.source.is_none() && !text.contains(['$', '`', '*', '?', '[', '<', '>', '…']);
        let alternatives = if is_plain { alternatives(text) } else { Vec::new() };
        if !alternatives.is_empty() && alternatives.iter().all(|text| !text.is_empty() && !text.contains('{'))
        {
            return alternatives.into_iter().flat_map(of_text).collect();
        }
        vec![Self {
            access,
            path: None,
            unnormalized: None,
            glob: None,
            pattern: None,
            text: argument.text.clone(),
            shown: argument.as_written().to_owned(),
            span: argument.span,
            certainty: Certainty::Certain,
        }]
    }

    /// Returns every spelling of the path: as resolved from the text, each link on the way, the real one.
    /// `None` if it is not known, was not looked up, or cannot be resolved.
    pub(crate) fn variants<'a>(&'a self, answers: &'a DiskAnswers) -> Option<Vec<&'a str>> {
        let lexical = self.path.as_deref()?;
        if is_free(lexical) {
            return Some(vec![lexical]);
        }
        let mut variants = vec![lexical];
        for asked in std::iter::once(lexical).chain(self.unnormalized.as_deref()) {
            match answers.path(asked)? {
                DiskAnswer::Leads(leads) => variants.extend(leads.iter().map(String::as_str)),
                DiskAnswer::Text(_) | DiskAnswer::Absent | DiskAnswer::Broken => return None,
            }
        }
        if let Some(pattern) = &self.pattern {
            match answers.pattern(pattern)? {
                DiskAnswer::Leads(leads) => variants.extend(leads.iter().map(String::as_str)),
                DiskAnswer::Text(_) | DiskAnswer::Absent | DiskAnswer::Broken => return None,
            }
        }
        Some(variants)
    }

    /// Returns what must be looked up.
    pub(crate) fn questions(&self) -> impl Iterator<Item = DiskQuestion> {
        let paths = self.path.iter().filter(|path| !is_free(path)).chain(&self.unnormalized).cloned();
        paths.map(DiskQuestion::RealPath).chain(self.pattern.iter().cloned().map(DiskQuestion::Pattern))
    }

    /// Returns the spellings that are known, even if not all are.
    pub(crate) fn known_variants<'a>(&'a self, answers: &'a DiskAnswers) -> Vec<&'a str> {
        self.variants(answers).unwrap_or_else(|| self.path.as_deref().into_iter().collect())
    }

    /// Says whether the shell opens a network connection for the path.
    pub(crate) fn is_connection(&self) -> bool {
        self.path
            .as_deref()
            .is_some_and(|path| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/"))
    }

    /// Says whether the path is a device or descriptor that holds nothing.
    pub(crate) fn is_free(&self) -> bool {
        self.path.as_deref().is_some_and(is_free)
    }
}

/// Says whether a word begins with a home directory: a pattern may too, unless its tilde is quoted.
fn is_in_home(argument: &Argument) -> bool {
    argument.knowledge == Knowledge::Tilde || argument.as_written().starts_with('~')
}

/// Returns a path as it is written, in its directory, if it goes up somewhere.
fn unnormalized(directory: &str, text: &str) -> Option<String> {
    let whole = if text.starts_with('/') { text.to_owned() } else { format!("{directory}/{text}") };
    climbs(&whole).then_some(whole)
}

fn climbs(path: &str) -> bool {
    path.split('/').any(|component| component == "..")
}

/// Replaces a leading `~`; `None` if there is none or the home directory is not known.
pub(crate) fn expand_home(text: &str, home: Option<&str>) -> Option<String> {
    let rest = text.strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| home.map(|home| format!("{home}{rest}")))?
}

/// Returns what follows the fixed directory part of a pattern.
fn after_fixed<'a>(pattern: &'a str, fixed: &str) -> &'a str {
    match pattern.strip_prefix(fixed) {
        Some(rest) if rest.starts_with('/') || fixed.ends_with('/') => rest.trim_start_matches('/'),
        Some(_) | None => pattern,
    }
}

/// Returns the directory part before the first component with a pattern in it; `.` if there is none.
pub(crate) fn fixed_beginning(pattern: &str) -> &str {
    let at = pattern.find(['*', '?', '[', '{', '(']).unwrap_or(pattern.len());
    let fixed = pattern.get(..at).unwrap_or_default();
    match fixed.rfind('/') {
        Some(0) => "/",
        Some(slash) => fixed.get(..slash).unwrap_or("."),
        None => ".",
    }
}
