//! What code in other languages does that stands in a command.

use super::handed;
use super::maker::EffectMaker;
use crate::act::Act;
use crate::code::{self, CodeTarget, Language};
use crate::effect::{Effect, ModuleUse, PathTarget, Target, target};

impl EffectMaker<'_> {
    pub(super) fn of_code(&self) -> Vec<Effect> {
        let Some(code) = &self.context.invocation.code else {
            return Vec::new();
        };
        let span = self.context.invocation.span;
        let reading = code.read();
        let mut effects: Vec<Effect> = reading
            .actions
            .iter()
            .map(|action| self.effect(action.act, self.object(code.language, &action.object), span))
            .collect();
        // What a function does with a file that it is handed, nobody reads; that file is looked at, at least.
        let files = reading.handed.iter().filter_map(handed::file);
        effects.extend(files.map(|file| self.effect(Act::Read, Target::Path(self.code_path(file)), span)));
        let doubts = handed::doubts(code, &reading);
        let mut gaps = reading.gaps;
        gaps.extend(doubts);
        if !code.is_whole {
            gaps.push("part of the program is only known at run time".to_owned());
        }
        effects.extend(gaps.into_iter().map(|gap| self.effect(Act::Unknown, Target::Name(gap), span)));
        effects
    }

    fn object(&self, language: Language, object: &CodeTarget) -> Target {
        match object {
            CodeTarget::None => Target::None,
            CodeTarget::Path(path) => Target::Path(self.code_path(path)),
            CodeTarget::SomePath => Target::Path(PathTarget::new(String::new(), Vec::new())),
            CodeTarget::Host(text) => {
                Target::Host { host: target::host_in(text).unwrap_or_default(), written: text.clone() }
            }
            CodeTarget::SomeHost => Target::Host { host: String::new(), written: String::new() },
            CodeTarget::Name(name) => Target::Name(name.clone()),
            CodeTarget::Module { name, is_used } => Target::Path(self.module(language, name, *is_used)),
        }
    }

    /// Returns the places where a module may lie that code loads.
    fn module(&self, language: Language, name: &str, is_used: bool) -> PathTarget {
        let places = code::module_places(language, name);
        let found = places.iter().map(|place| self.code_path(place));
        let mut all = PathTarget::new(name, Vec::new());
        for place in found {
            all.paths.extend(place.paths);
            all.windings.extend(place.windings);
        }
        all.module = if is_used { ModuleUse::Called } else { ModuleUse::Loaded };
        all
    }

    fn code_path(&self, text: &str) -> PathTarget {
        let expanded = match (text.strip_prefix('~'), self.context.home) {
            (Some(rest), home) if rest.is_empty() || rest.starts_with('/') => match home {
                Some(home) => format!("{home}{rest}"),
                // A home that nobody knows may be anywhere.
                None => return PathTarget::new(text, Vec::new()),
            },
            _ => text.to_owned(),
        };
        let target = target::path_of_text(&expanded, &self.context.invocation.directories);
        let is_pattern = target.is_pattern || text.contains('*');
        PathTarget { written: text.to_owned(), is_pattern, ..target }
    }
}
