//! Examples of profiles: command lines with the effects they must have.

use super::{effects, power_shell_layout};
use crate::effect::Effect;
use crate::profile::{CompiledProfile, ProfileExample, Profiles, Style};
use crate::survey::{Surroundings, survey};

/// An example that is not as its profile says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongExample<'a> {
    /// What the profile says.
    pub example: &'a ProfileExample,
    /// The effects that were found, sorted.
    pub found: Vec<String>,
}

/// The shell an example is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Bash and its kin.
    Bash,
    /// PowerShell.
    PowerShell,
}

impl Dialect {
    /// Returns the shell that the program of an added profile is started from: by its style, cmdlets from PowerShell.
    pub fn of(profile: &CompiledProfile) -> Self {
        if profile.form().style == Style::Windows { Self::PowerShell } else { Self::Bash }
    }
}

/// Returns the examples of a profile that are not as it says.
pub fn wrong_examples<'a>(
    profile: &'a CompiledProfile,
    profiles: &Profiles,
    dialect: Dialect,
) -> Vec<WrongExample<'a>> {
    let here = Surroundings { directory: "/code/app", home: Some("/home/me"), profiles };
    let wrong = |example: &'a ProfileExample| {
        let all = match dialect {
            Dialect::Bash => effects(&survey(&example.command, here), here),
            Dialect::PowerShell => power_shell_layout(&example.command, here).effects,
        };
        let found = listed_effects(&all);
        let mut expected = example.effects.clone();
        expected.sort();
        (found != expected).then_some(WrongExample { example, found })
    };
    profile.examples.iter().filter_map(wrong).collect()
}

/// Writes effects as examples do: act and target as written, sorted, without repetition.
pub fn listed_effects(effects: &[Effect]) -> Vec<String> {
    let shown = |effect: &Effect| match effect.target.written() {
        "" => effect.act.name().to_owned(),
        written => format!("{} {written}", effect.act.name()),
    };
    let mut all: Vec<String> = effects.iter().map(shown).collect();
    all.sort();
    all.dedup();
    all
}
