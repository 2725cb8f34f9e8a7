//! What a server and its tools are called in rules: `mcp__server__tool`.

use std::sync::OnceLock;

use portcullis_core::is_hidden;

/// The longest name of a server, in characters.
const LONGEST_SERVER: usize = 64;
/// The longest name of a tool, in characters.
const LONGEST_TOOL: usize = 256;
/// The longest line that is searched for the server's name, in bytes.
const LONGEST_SEARCHED: usize = 1 << 20;

/// The server's name, as soon as it is known.
pub(super) type ServerName = OnceLock<String>;

/// Makes the name of a server fit for rules: letters, digits, `-` and single `_`; `None` if nothing is left of it.
pub(super) fn server_name(told: &str) -> Option<String> {
    let plain = told.chars().map(|character| if is_plain(character) { character } else { '_' });
    let plain: String = plain.take(LONGEST_SERVER).collect();
    let parts: Vec<&str> = plain.split('_').filter(|part| !part.is_empty()).collect();
    let name = parts.join("_");
    (!name.is_empty()).then_some(name)
}

/// Makes the name a tool has in rules; `None` if a server could take its own name for another one's.
pub(super) fn rule_name(server: &str, tool: &str) -> Option<String> {
    let is_clear = !tool.is_empty()
        && tool.trim() == tool
        && tool.chars().count() <= LONGEST_TOOL
        && !tool.chars().any(|character| character.is_control() || is_hidden(character));
    let plain: String =
        tool.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
    is_clear.then(|| format!("mcp__{server}__{plain}"))
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Looks through what a server writes until it has said its name.
pub(super) struct Search<'a> {
    name: &'a ServerName,
    line: Vec<u8>,
    is_too_long: bool,
}

impl<'a> Search<'a> {
    /// Starts the search.
    pub(super) const fn new(name: &'a ServerName) -> Self {
        Self { name, line: Vec::new(), is_too_long: false }
    }

    /// Looks at the next bytes.
    pub(super) fn look_at(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.name.get().is_some() {
                self.line = Vec::new();
                return;
            }
            self.is_too_long |= self.line.len() + piece.len() > LONGEST_SEARCHED;
            if !self.is_too_long {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                if !self.is_too_long
                    && let Some(name) = told_name(&self.line)
                {
                    // Whoever was faster has set it.
                    let _ = self.name.set(name);
                }
                self.line.clear();
                self.is_too_long = false;
            }
        }
    }
}

/// Finds the name in the answer to `initialize`, or in what later revisions send along instead.
fn told_name(line: &[u8]) -> Option<String> {
    let message: serde_json::Value = serde_json::from_slice(line).ok()?;
    let result = message.get("result")?;
    let later = || result.get("_meta")?.get("io.modelcontextprotocol/serverInfo");
    let info = result.get("serverInfo").or_else(later)?;
    server_name(info.get("name")?.as_str()?)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn names_cannot_reach_into_each_other() {
        let table = [
            ("github", Some("github")),
            ("my server", Some("my_server")),
            ("a__b", Some("a_b")),
            ("_a_", Some("a")),
            ("@scope/files.v2", Some("scope_files_v2")),
            ("名前", None),
            ("", None),
        ];
        for (told, expected) in table {
            assert_eq!(server_name(told).as_deref(), expected, "{told}");
        }
        let table = [
            ("read_file", Some("mcp__fs__read_file")),
            ("files.read", Some("mcp__fs__files_read")),
            ("a b", Some("mcp__fs__a_b")),
            (" read", None),
            ("read\0", None),
            ("re\u{200b}ad", None),
            ("", None),
        ];
        for (tool, expected) in table {
            assert_eq!(rule_name("fs", tool).as_deref(), expected, "{tool:?}");
        }
    }

    #[test]
    fn the_name_is_found_in_pieces_and_counts_once() {
        let name = ServerName::new();
        let mut search = Search::new(&name);
        search.look_at(b"{\"method\":\"notifications/message\"}\nnoise\n{\"id\":0,\"result\":{\"server");
        assert_eq!(name.get(), None);
        search.look_at(
            b"Info\":{\"name\":\"My Files\"}}}\n{\"id\":1,\"result\":{\"serverInfo\":{\"name\":\"x\"}}}\n",
        );
        assert_eq!(name.get().map(String::as_str), Some("My_Files"));
        let long = vec![b'x'; LONGEST_SEARCHED];
        let name = ServerName::new();
        let mut search = Search::new(&name);
        search.look_at(&long);
        search.look_at(b"xx\n{\"id\":1,\"result\":{\"serverInfo\":{\"name\":\"y\"}}}\n");
        assert_eq!(name.get().map(String::as_str), Some("y"));
    }
}
