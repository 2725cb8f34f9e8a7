//! Choices that a seed makes, and what comes of the lines they make.

use portcullis_analysis::command_effects::effects;
use portcullis_analysis::place::Scope;
use portcullis_analysis::profile::Profiles;
use portcullis_analysis::{Background, Case, Surroundings, assess, survey};

/// Says whether every effect of a command line is known and harmless, on a branch of one's own.
pub(crate) fn is_harmless(command: &str) -> bool {
    let here = Surroundings { directory: "/code/app", home: Some("/home/me"), profiles: Profiles::BUILT_IN };
    let survey = survey(command, here);
    let effects = effects(&survey, here);
    let scope = Scope { roots: vec!["/code/app".to_owned()], home: Some("/home/me".to_owned()) };
    let background = Background { branch: Some("topic".to_owned()), ..Background::default() };
    assess(Case { tool: "Bash", effects: &effects, survey: &survey, scope: &scope, background: &background })
        .is_harmless()
}

/// A source of choices that is the same for the same seed.
pub(crate) struct Seeded {
    state: u64,
}

impl Seeded {
    /// Begins with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Returns one of several.
    pub(crate) fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let place = usize::try_from(self.state >> 33).unwrap_or(0) % all.len().max(1);
        all.get(place).copied().unwrap_or_default()
    }
}
