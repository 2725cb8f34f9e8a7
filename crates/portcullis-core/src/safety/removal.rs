//! What a command removes.

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::{Argument, Invocation};

/// Returns what an invocation removes: operands of `rm` and `rmdir`, starting points of `find -delete`.
pub(super) fn removed(invocation: &Invocation, effects: &[Effect]) -> Option<Vec<Argument>> {
    match invocation.program_name()? {
        "rm" | "rmdir" => {
            let removes = |effect: &&Effect| matches!(effect.act, Act::Delete | Act::DeleteTree);
            Some(effects.iter().filter(removes).filter_map(|effect| effect.word.clone()).collect())
        }
        "find" | "gfind" if acts_on_everything(invocation) => {
            let is_start =
                |argument: &&Argument| !argument.is_option() && !matches!(argument.text.as_str(), "(" | "!");
            let options = |argument: &&Argument| matches!(argument.text.as_str(), "-H" | "-L" | "-P");
            let starts = invocation.operands().iter().skip_while(options).take_while(is_start).cloned();
            let mut starts: Vec<Argument> = starts.collect();
            if starts.is_empty() {
                // Without a starting point it starts here.
                let here =
                    invocation.program().map(|program| Argument { text: ".".to_owned(), ..program.clone() });
                starts.extend(here);
            }
            Some(starts)
        }
        _ => None,
    }
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
