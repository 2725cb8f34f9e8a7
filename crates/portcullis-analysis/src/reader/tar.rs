//! `tar`: what it packs and unpacks, in its old and new ways of writing options.

use super::CommandContext;
use super::{certain, certain_here, nameless, possible};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::lists::readers::tar::{LONG_COMMANDS, LONG_FLAGS, LONG_TEXT};
use crate::profile::{Match, Use, may_become_option};

/// Short options with a value.
const VALUED: &str = "CFHIKLNTVXbfg";

/// Short options without a value that change nothing about what is touched.
const FLAGS: &str = "BEGJMRSWZhijklmnopqsvwyzae";

/// Those of them whose value is never a word of its own.
const LONG_ATTACHED: &[&str] =
    &["atime-preserve", "checkpoint", "totals", "clamp-mtime", "one-file-system", "wildcards", "restrict"];

/// So many bytes of names inside directories are made; beyond that nobody knows them.
const MOST_JOINED: usize = 1024 * 1024;

/// Reads the arguments of `tar`.
pub(super) fn read(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let words = context.invocation.operands();
    let mut archive = TarArchive::default();
    let mut rest = words.iter();
    if let Some(first) = words.first()
        && !first.text.starts_with('-')
    {
        // The old way: letters without a dash, their values in the words after them.
        rest.next();
        for letter in first.text.chars() {
            let value = if VALUED.contains(letter) { rest.next().cloned() } else { None };
            archive.letter(letter, value, first, false);
        }
    }
    let mut has_ended = false;
    while let Some(word) = rest.next() {
        if has_ended || !word.is_option() {
            archive.operand(word);
        } else if word.text == "--" {
            has_ended = true;
        } else if let Some(long) = word.text.strip_prefix("--") {
            archive.long(long, word, &mut rest);
        } else {
            archive.cluster(word, &mut rest);
        }
    }
    archive.finish(context)
}

/// What is done to the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TarMode {
    Create,
    Append,
    Extract,
    List,
    Compare,
    Delete,
}

#[derive(Default)]
struct TarArchive {
    mode: Option<TarMode>,
    file: Option<Argument>,
    directory: Option<Argument>,
    targets: Vec<Argument>,
    operands: Vec<Argument>,
    uses: Vec<Use>,
    shows: bool,
    removes: bool,
    is_local: bool,
    /// How many bytes of names inside directories were made.
    joined: usize,
}

impl TarArchive {
    /// Reads letters that stand together; values come in the order of their letters.
    fn cluster(&mut self, word: &Argument, rest: &mut std::slice::Iter<'_, Argument>) {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        for (at, letter) in letters.char_indices() {
            if VALUED.contains(letter) {
                let attached = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                let value =
                    if attached.is_empty() { rest.next().cloned() } else { Some(word.piece(attached)) };
                let is_listed = at == 0 || attached.is_empty();
                self.letter(letter, value, word, is_listed);
                return;
            }
            self.letter(letter, None, word, false);
        }
    }

    /// Reads one letter.
    fn letter(&mut self, letter: char, value: Option<Argument>, word: &Argument, is_listed: bool) {
        match letter {
            'c' => self.mode = Some(TarMode::Create),
            'r' | 'u' | 'A' => self.mode = Some(TarMode::Append),
            'x' => self.mode = Some(TarMode::Extract),
            't' => self.mode = Some(TarMode::List),
            'd' => self.mode = Some(TarMode::Compare),
            'O' => self.shows = true,
            'P' => self.uses.push(certain(Act::Unknown, word)),
            'f' => self.file = value,
            'C' => self.enter(value),
            'T' => self.listed(value, word),
            'X' => self.uses.extend(value.map(|file| certain(Act::Read, &file))),
            'g' => self.uses.extend(value.map(|file| certain(Act::Write, &file))),
            'F' | 'I' if !is_listed => self.uses.extend(value.map(|command| certain(Act::Unknown, &command))),
            _ if VALUED.contains(letter) || FLAGS.contains(letter) || letter.is_ascii_digit() => {}
            _ => self.uses.push(certain(Act::Unknown, word)),
        }
    }

    /// Reads a long option. One that nobody knows, or only the beginning of one, may be anything.
    fn long(&mut self, long: &str, word: &Argument, rest: &mut std::slice::Iter<'_, Argument>) {
        let (name, attached) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let mut value = || attached.map(|value| word.piece(value)).or_else(|| rest.next().cloned());
        if let Some((_, letter)) = LETTERS.iter().find(|(listed, _)| *listed == name) {
            let value = if VALUED.contains(*letter) { value() } else { None };
            return self.letter(*letter, value, word, true);
        }
        match name {
            "delete" => self.mode = Some(TarMode::Delete),
            "remove-files" => self.removes = true,
            "force-local" => self.is_local = true,
            "one-top-level" => self.targets.extend(attached.map(|directory| word.piece(directory))),
            "test-label" => self.mode = Some(TarMode::List),
            "index-file" | "volno-file" => self.uses.extend(value().map(|file| certain(Act::Write, &file))),
            "add-file" => self.operands.extend(value()),
            "suffix" => self
                .uses
                .extend(value().filter(|end| end.text.contains('/')).map(|end| certain(Act::Unknown, &end))),
            _ if LONG_COMMANDS.contains(&name) => _ = value(),
            _ if LONG_ATTACHED.contains(&name) || LONG_FLAGS.contains(&name) => {}
            _ if LONG_TEXT.contains(&name) => _ = value(),
            // Beginnings of long options count too, and which one is meant depends on the version.
            _ => self.uses.push(certain(Act::Unknown, word)),
        }
    }

    /// Notes `-C`, after which names are looked for elsewhere.
    fn enter(&mut self, directory: Option<Argument>) {
        let Some(directory) = directory else { return };
        let entered = self.inside(&directory);
        self.targets.push(entered.clone());
        self.directory = Some(entered);
    }

    /// Names in a list are packed, and nobody knows which.
    fn listed(&mut self, list: Option<Argument>, word: &Argument) {
        let Some(list) = list else { return };
        if list.text != "-" {
            self.uses.push(certain(Act::Read, &list));
        }
        self.operands.push(Argument::unknown(word.span));
    }

    /// Notes a file to pack or to take out.
    fn operand(&mut self, word: &Argument) {
        let inside = self.inside(word);
        self.operands.push(inside);
    }

    /// Puts a word into the directory that `-C` has entered.
    fn inside(&mut self, word: &Argument) -> Argument {
        let Some(directory) = self.directory.as_ref().filter(|_| !word.text.starts_with(['/', '~', '$']))
        else {
            return word.clone();
        };
        self.joined += directory.text.len() + word.text.len();
        if self.joined > MOST_JOINED {
            return word.clone().unbounded();
        }
        Argument {
            text: format!("{}/{}", directory.text.trim_end_matches('/'), word.text),
            source: Some(word.as_written().to_owned()),
            knowledge: directory.knowledge.max(word.knowledge),
            span: word.span,
            bound: word.shape_in(directory),
        }
    }

    /// Makes acts of all that was read: which direction files go is only known at the end.
    fn finish(self, context: &CommandContext<'_>) -> Vec<Use> {
        let mut uses = self.uses;
        let Some(mode) = self.mode else {
            let asks = context
                .invocation
                .operands()
                .iter()
                .all(|word| matches!(word.fixed(), Some("--help" | "--version")));
            if !asks {
                uses.push(nameless(Act::Unknown));
            }
            return uses;
        };
        let changes = matches!(mode, TarMode::Create | TarMode::Append | TarMode::Delete);
        if let Some(file) = self.file.filter(|file| file.text != "-") {
            let is_elsewhere = !self.is_local && is_remote(&file);
            uses.push(match (is_elsewhere, changes) {
                (true, true) => certain(Act::Send, &file),
                (true, false) => certain(Act::Connect, &file),
                (false, true) => certain(Act::Write, &file),
                (false, false) => certain(Act::Read, &file),
            });
        }
        match mode {
            TarMode::Create | TarMode::Append | TarMode::Compare => {
                // The name of a file may be an option that runs something.
                uses.extend(
                    self.operands
                        .iter()
                        .filter(|file| may_become_option(file))
                        .map(|file| possible(Act::Unknown, file)),
                );
                uses.extend(self.operands.iter().map(|file| certain(Act::Read, file)));
                if self.removes {
                    uses.extend(self.operands.iter().map(|file| certain(Act::DeleteTree, file)));
                }
            }
            TarMode::Extract if !self.shows => {
                uses.extend(self.targets.iter().map(|target| certain(Act::Write, target)));
                if self.targets.is_empty() {
                    uses.extend(certain_here(context, Act::Write));
                }
            }
            TarMode::Extract | TarMode::List | TarMode::Delete => {}
        }
        uses
    }
}

/// Long options that have a letter.
const LETTERS: &[(&str, char)] = &[
    ("absolute-names", 'P'),
    ("append", 'r'),
    ("catenate", 'A'),
    ("compare", 'd'),
    ("concatenate", 'A'),
    ("create", 'c'),
    ("diff", 'd'),
    ("directory", 'C'),
    ("exclude-from", 'X'),
    ("extract", 'x'),
    ("file", 'f'),
    ("files-from", 'T'),
    ("get", 'x'),
    ("list", 't'),
    ("listed-incremental", 'g'),
    ("to-stdout", 'O'),
    ("update", 'u'),
];

/// Says whether an archive lies on another machine: `host:file`.
fn is_remote(file: &Argument) -> bool {
    let before = file.text.split_once(':').map(|(before, _)| before);
    file.knowledge != Knowledge::Dynamic && before.is_some_and(|host| !host.contains('/'))
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn packing_reads_and_writes_the_archive() {
        assert_eq!(effects("tar czf out.tgz src README"), ["read README", "read src", "write out.tgz"]);
        assert_eq!(effects("tar -czf out.tgz -C build ."), ["read .", "write out.tgz"]);
        assert_eq!(effects("tar -c --file=out.tar a"), ["read a", "write out.tar"]);
        assert_eq!(effects("tar cf - src"), ["read src"]);
        assert_eq!(effects("tar rf a.tar b"), ["read b", "write a.tar"]);
        assert_eq!(effects("tar cf a.tar --remove-files b"), ["delete-tree b", "read b", "write a.tar"]);
    }

    #[test]
    fn unpacking_writes_into_the_directory() {
        assert_eq!(effects("tar xzf a.tgz"), ["read a.tgz", "write ."]);
        assert_eq!(effects("tar -xzf a.tgz -C /opt --strip-components=1"), ["read a.tgz", "write /opt"]);
        assert_eq!(effects("tar xfC a.tar out"), ["read a.tar", "write out"]);
        assert_eq!(effects("tar -xOf a.tar x"), ["read a.tar"]);
        assert_eq!(effects("tar tzf a.tgz"), ["read a.tgz"]);
        assert_eq!(effects("tar --list -f a.tar"), ["read a.tar"]);
    }

    #[test]
    fn what_may_run_write_anywhere_or_leave_the_machine_is_seen() {
        assert_eq!(effects("tar xPf a.tar"), ["read a.tar", "unknown xPf", "write ."]);
        assert_eq!(effects("tar cf me@host:a.tar x"), ["read x", "send me@host:a.tar"]);
        assert!(
            effects("tar cf a.tar --checkpoint-act=exec=date x")
                .contains(&"unknown --checkpoint-act=exec=date".to_owned())
        );
        assert!(effects("tar cIf 'sh -c x' a.tar x").contains(&"unknown sh -c x".to_owned()));
        assert_eq!(effects("tar x --bogus -f a.tar"), ["read a.tar", "unknown --bogus", "write ."]);
        assert_eq!(effects("tar"), Vec::<String>::new());
    }
}
