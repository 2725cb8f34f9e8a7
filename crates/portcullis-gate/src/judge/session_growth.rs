//! Whether a host's session file may tell what the user said, where the host never told us itself: it is the user's own, and
//! grew since it was last looked at. Hosts only ever add to their files, so whoever changes what stood there is none.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use portcullis_store::{SeenSessionFile, SessionFactLog};
use ring::digest;

use super::call_judge::{CallJudge, SessionHistory};
use super::whose_words::FileWords;
use crate::clock::now_ms;
use crate::hex;

/// How much of a file is remembered, in bytes, counted from its end. No more than this is ever read of one.
const LONGEST: u64 = 8 << 20;

/// The rights of others to write.
const OTHERS_WRITE: u32 = 0o022;

impl CallJudge<'_> {
    /// Says what is known of the words in the file of a session.
    pub(super) fn file_words<'f>(
        &self,
        past: &SessionHistory,
        facts: &'f SessionFactLog,
        problems: &mut Vec<String>,
    ) -> FileWords<'f> {
        if facts.heard {
            FileWords::Heard(&facts.prompts)
        } else if self.is_grown(past, facts.file.as_ref(), problems) {
            FileWords::Grown
        } else {
            FileWords::Changed
        }
    }

    /// Says whether the file of a session may tell what the user said, and keeps how it was seen.
    fn is_grown(
        &self,
        past: &SessionHistory,
        seen: Option<&SeenSessionFile>,
        problems: &mut Vec<String>,
    ) -> bool {
        // Without a session, whoever named the file says what it is.
        let (Some(file), Some(session), Some(store)) = (&past.file, self.session_store(), &self.store) else {
            return true;
        };
        let looked = fs::metadata(store.root()).and_then(|root| look(file, root.uid(), seen));
        let found = match looked {
            Ok(found) => found,
            // A host writes its file late; what is not there says nothing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            Err(_) => None,
        };
        let Some(found) = found else {
            let file = file.display();
            problems
                .push(format!("nothing in the session file `{file}` counts as your word: it was changed"));
            return false;
        };
        if seen != Some(&found) {
            let kept = session.update_facts(
                |facts| {
                    facts.file = Some(found.clone());
                    true
                },
                now_ms(),
            );
            problems.extend(kept.err().map(|error| error.to_string()));
        }
        true
    }
}

/// Looks at a file; `None` if others may write it, or if it did anything but grow.
fn look(path: &Path, owner: u32, seen: Option<&SeenSessionFile>) -> io::Result<Option<SeenSessionFile>> {
    // A pipe would keep the hook waiting.
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let found = file.metadata()?;
    let is_own = found.uid() == owner && found.mode() & OTHERS_WRITE == 0 && found.nlink() == 1;
    let (number, name) = ((found.dev(), found.ino()), path.to_string_lossy().into_owned());
    let is_grown = match seen {
        None => true,
        Some(seen) => {
            seen.path == name
                && seen.file == number
                && seen.part.1 <= found.len()
                && hash_of(&mut file, seen.part)? == seen.hash
        }
    };
    if !is_own || !is_grown {
        return Ok(None);
    }
    let part = (found.len().saturating_sub(LONGEST), found.len());
    let hash = hash_of(&mut file, part)?;
    Ok(Some(SeenSessionFile { path: name, file: number, part, hash }))
}

fn hash_of(file: &mut File, (start, end): (u64, u64)) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(end.saturating_sub(start).min(LONGEST)).read_to_end(&mut bytes)?;
    Ok(hex(digest::digest(&digest::SHA256, &bytes).as_ref()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn user() -> u32 {
        fs::metadata(tempfile::tempdir().unwrap().path()).unwrap().uid()
    }

    #[test]
    fn a_file_that_grows_is_believed_and_one_that_changes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "one\ntwo\n").unwrap();
        let first = look(&path, user(), None).unwrap().unwrap();
        assert_eq!(look(&path, user(), Some(&first)).unwrap(), Some(first.clone()), "nothing happened");
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let grown = look(&path, user(), Some(&first)).unwrap().unwrap();
        assert_eq!(grown.part, (0, 14));
        for changed in ["one\nTWO\nthree\n", "one\n", "", "zero\none\ntwo\nthree\n"] {
            fs::write(&path, changed).unwrap();
            assert_eq!(look(&path, user(), Some(&grown)).unwrap(), None, "{changed}");
        }
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        assert!(look(&path, user(), Some(&grown)).unwrap().is_some());
    }

    #[test]
    fn another_file_in_its_place_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["s.jsonl", "other"].map(|name| folder.path().join(name));
        fs::write(&path, "one\n").unwrap();
        let seen = look(&path, user(), None).unwrap().unwrap();
        fs::write(&other, "one\ntwo\n").unwrap();
        assert_eq!(look(&other, user(), Some(&seen)).unwrap(), None, "another path");
        fs::rename(&other, &path).unwrap();
        assert_eq!(look(&path, user(), Some(&seen)).unwrap(), None, "replaced");
    }

    #[test]
    fn a_file_of_others_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "one\n").unwrap();
        assert_eq!(look(&path, user() + 1, None).unwrap(), None, "somebody else's");
        fs::hard_link(&path, folder.path().join("second")).unwrap();
        assert_eq!(look(&path, user(), None).unwrap(), None, "it has another name");
        fs::remove_file(folder.path().join("second")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(look(&path, user(), None).unwrap(), None, "anybody may write it");
        assert_eq!(look(folder.path(), user(), None).unwrap(), None, "a folder");
        assert!(look(&folder.path().join("missing"), user(), None).is_err());
    }
}
