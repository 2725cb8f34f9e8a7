//! Files that downloads leave without being told a name: `curl -O URL`, `wget URL`, `aria2c URL`.

use super::CommandContext;
use super::{certain, certain_here, has};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::profile::{Match, Use};

/// Reads a program that keeps what it fetches under the name in the address.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if !found.is_idle {
        uses.extend(left_files(context, found));
    }
    uses
}

/// Returns the files that a download leaves under names which nobody told it.
pub(super) fn left_files(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let Some(manner) = DownloadManner::of(context, found) else {
        return Vec::new();
    };
    let folder = manner.folder.as_ref();
    if manner.is_open {
        return folder
            .map_or_else(|| certain_here(context, Act::Write), |folder| Some(certain(Act::Write, folder)))
            .into_iter()
            .collect();
    }
    let addresses = found.uses.iter().filter(|found| matches!(found.act, Act::Fetch | Act::Send));
    addresses
        .filter_map(|found| found.word.as_ref())
        .map(|address| certain(Act::Write, &file_of(address, folder)))
        .collect()
}

/// How a program keeps what it fetches.
struct DownloadManner {
    /// The directory that an option names.
    folder: Option<Argument>,
    /// Whether it may leave any number of files under any name.
    is_open: bool,
}

impl DownloadManner {
    /// Says how a command keeps what it fetches; `None` if it keeps nothing that is not named.
    fn of(context: &CommandContext<'_>, found: &Match<'_>) -> Option<Self> {
        let value = |option: &str| {
            let mut given = found.wanted.options.iter().filter(|(name, _)| *name == option);
            given.find_map(|(_, value)| value.clone())
        };
        match context.invocation.program_name()? {
            "curl" => {
                let keeps = has(found, &["-O", "--remote-name-all"]);
                let is_open = has(found, &["-J"]);
                keeps.then(|| Self { folder: value("--output-dir"), is_open })
            }
            "wget" | "wget2" => {
                let is_told = has(found, &["-O", "--spider"]);
                let is_open = has(found, &["-r", "-m", "-p", "-i", "--content-disposition", "-x"]);
                (!is_told).then(|| Self { folder: value("-P"), is_open })
            }
            "http" | "https" | "xh" | "xhs" => {
                let keeps = has(found, &["-d"]) && !has(found, &["-o"]);
                keeps.then_some(Self { folder: None, is_open: false })
            }
            _ => {
                let is_told = has(found, &["-o"]);
                (!is_told).then(|| Self { folder: value("-d"), is_open: false })
            }
        }
    }
}

/// What a page without a name is kept as.
const INDEX: &str = "index.html";

/// Returns the file that an address is kept as.
fn file_of(address: &Argument, folder: Option<&Argument>) -> Argument {
    let text = address.text.as_str();
    let after_host = text.split_once("://").map_or(text, |(_, rest)| rest);
    let path = after_host.split_once('/').map(|(_, path)| path).unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(INDEX);
    let is_known = address.is_known() && folder.is_none_or(Argument::is_known);
    let path = match folder {
        Some(folder) => format!("{}/{name}", folder.text.trim_end_matches('/')),
        None => name.to_owned(),
    };
    let knowledge = if is_known { Knowledge::Fixed } else { Knowledge::Dynamic };
    Argument { knowledge, ..address.piece(&path) }
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn a_download_is_kept_under_the_name_in_its_address() {
        assert_eq!(
            effects("curl -sO https://example.com/a/b.json"),
            ["fetch https://example.com/a/b.json", "write b.json"]
        );
        assert_eq!(
            effects("curl -O --output-dir lib https://example.com/x"),
            ["fetch https://example.com/x", "write lib", "write lib/x"]
        );
        assert_eq!(
            effects("wget https://example.com/tool.sh?x=1"),
            ["fetch https://example.com/tool.sh?x=1", "write tool.sh"]
        );
        assert_eq!(effects("wget https://example.com"), ["fetch https://example.com", "write index.html"]);
        assert_eq!(
            effects("wget -P out https://example.com/x"),
            ["fetch https://example.com/x", "write out", "write out/x"]
        );
        assert_eq!(effects("wget -r https://example.com/x"), ["fetch https://example.com/x", "write ."]);
        assert_eq!(
            effects("aria2c https://example.com/a.iso"),
            ["fetch https://example.com/a.iso", "write a.iso"]
        );
    }

    #[test]
    fn what_is_shown_or_named_leaves_nothing_else() {
        assert_eq!(effects("curl https://example.com/a"), ["fetch https://example.com/a"]);
        assert_eq!(effects("wget -qO- https://example.com/a"), ["fetch https://example.com/a"]);
        assert_eq!(effects("wget --spider https://example.com/a"), ["fetch https://example.com/a"]);
    }
}
