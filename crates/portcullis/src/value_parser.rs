//! Words of the command line that stand for values: those of the core, so that help and completions know them, and times.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use portcullis_core::rule::Behavior;
use portcullis_core::{MODES, Mode, Source};

use portcullis_gate::clock::now_ms;
use portcullis_output::calendar;

/// Reads the name of a mode.
pub(crate) fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    let names = MODES.iter().map(|info| PossibleValue::new(info.name).aliases(info.aliases));
    PossibleValuesParser::new(names).try_map(|name| Mode::find(&name).ok_or("not a mode"))
}

/// Reads `allow`, `ask` or `deny`.
pub(crate) fn behavior_parser() -> impl TypedValueParser<Value = Behavior> {
    const ALL: [Behavior; 3] = [Behavior::Allow, Behavior::Ask, Behavior::Deny];
    PossibleValuesParser::new(ALL.map(Behavior::as_str))
        .try_map(|name| ALL.into_iter().find(|behavior| behavior.as_str() == name).ok_or("not a behavior"))
}

/// Reads the name of a source whose file can be edited.
pub(crate) fn source_parser() -> impl TypedValueParser<Value = Source> {
    let editable = || Source::ALL.into_iter().filter(|source| source.is_editable());
    PossibleValuesParser::new(editable().map(Source::as_str))
        .try_map(move |name| editable().find(|source| source.as_str() == name).ok_or("not a source"))
}

/// Reads the value of `--since`.
pub(crate) fn since(text: &str) -> Result<u64, String> {
    calendar::since(text, now_ms())
}

/// Reads the value of `--until`.
pub(crate) fn until(text: &str) -> Result<u64, String> {
    calendar::until(text, now_ms())
}
