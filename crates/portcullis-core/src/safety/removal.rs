//! What the commands of a text remove.

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::{Argument, Invocation};

use crate::case::EffectSource;
use crate::path_use::PathUse;

/// Something that is removed.
pub(super) enum Removal<'s> {
    /// A word of a command.
    Word { invocation: &'s Invocation, word: Argument },
    /// A file that no word names: inline code, an input of a tool.
    Path(PathUse<'s>),
}

/// Lists what is removed: by effects on files, and by a search whose results are removed whatever they are.
pub(super) fn removals<'s>(source: &'s EffectSource<'_>) -> impl Iterator<Item = Removal<'s>> {
    let invocations = &source.survey.invocations;
    let by_effect = source.effects.iter().filter_map(|effect| of_effect(effect, invocations));
    let searches =
        invocations.iter().filter(|invocation| is_search(invocation) && acts_on_everything(invocation));
    by_effect.chain(searches.flat_map(|invocation| {
        starting_points(invocation).into_iter().map(move |word| Removal::Word { invocation, word })
    }))
}

fn of_effect<'s>(effect: &'s Effect, invocations: &'s [Invocation]) -> Option<Removal<'s>> {
    if !matches!(effect.act, Act::Delete | Act::DeleteTree | Act::Wipe) {
        return None;
    }
    let invocation = effect.invocation.and_then(|place| invocations.get(place));
    match (invocation, &effect.word) {
        // What a search removes depends on its tests.
        (Some(invocation), _) if is_search(invocation) => None,
        (Some(invocation), Some(word)) => Some(Removal::Word { invocation, word: word.clone() }),
        (_, _) => PathUse::of(effect).map(Removal::Path),
    }
}

fn is_search(invocation: &Invocation) -> bool {
    matches!(invocation.program_name(), Some("find" | "gfind" | "bfs"))
}

/// Returns where a search begins.
fn starting_points(invocation: &Invocation) -> Vec<Argument> {
    let is_start =
        |argument: &&Argument| !argument.is_option() && !matches!(argument.text.as_str(), "(" | "!");
    let options = |argument: &&Argument| matches!(argument.text.as_str(), "-H" | "-L" | "-P");
    let starts = invocation.operands().iter().skip_while(options).take_while(is_start).cloned();
    let mut starts: Vec<Argument> = starts.collect();
    if starts.is_empty() {
        // Without a starting point it starts here.
        let here = invocation.program().map(|program| Argument { text: ".".to_owned(), ..program.clone() });
        starts.extend(here);
    }
    starts
}

/// Says whether `find` removes what it finds and nothing narrows what that is.
fn acts_on_everything(invocation: &Invocation) -> bool {
    let texts: Vec<&str> = invocation.operands().iter().map(|argument| argument.text.as_str()).collect();
    let removes =
        texts.contains(&"-delete") || texts.iter().any(|text| portcullis_analysis::base_name(text) == "rm");
    let narrows = texts.iter().zip(texts.iter().skip(1).chain([&""])).any(|(text, value)| {
        ["-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename", "-empty"].contains(text)
            && *value != "*"
    });
    removes && !narrows
}
