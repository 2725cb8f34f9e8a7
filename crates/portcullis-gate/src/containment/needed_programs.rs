//! Whether the programs that a line starts are there inside a fence. The shell would not find them there, or another one of
//! the same name.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use portcullis_core::FenceOffer;

/// How much of a program is read to see what runs it: the kernel reads no more.
const LONGEST_FIRST_LINE: u64 = 256;

/// Where a shell looks for programs.
#[derive(Debug)]
pub(super) struct ProgramSearch<'a> {
    offer: &'a FenceOffer,
    directories: Vec<PathBuf>,
}

impl<'a> ProgramSearch<'a> {
    /// Looks where `PATH` says, from a directory.
    pub(super) fn new(offer: &'a FenceOffer, path: &OsStr, directory: &Path) -> Self {
        let directories = std::env::split_paths(path).map(|entry| directory.join(entry)).collect();
        Self { offer, directories }
    }

    /// Says whether a program that is found by its name is not there inside. One that is nowhere runs nowhere.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        if name.is_empty() || name.contains('/') {
            // Its path is judged with the other paths of the line.
            return false;
        }
        self.find(name).is_some_and(|program| {
            self.hides(&program) || runner(&program).is_some_and(|words| self.hides_runner(&words))
        })
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let is_program = |file: &PathBuf| {
            fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        self.directories.iter().map(|directory| directory.join(name)).find(is_program)
    }

    /// Says whether a file is not there inside, as it is named or where its links lead. What is no text cannot be judged.
    fn hides(&self, file: &Path) -> bool {
        let names = [Some(file.to_path_buf()), file.canonicalize().ok()];
        names.iter().flatten().any(|name| name.to_str().is_none_or(|name| self.offer.hides(name)))
    }

    /// Says whether what runs a script is not there inside: itself, or what `env` would look for.
    fn hides_runner(&self, words: &[String]) -> bool {
        let (Some(program), argument) = (words.first(), words.get(1)) else { return false };
        let is_env = Path::new(program).file_name().is_some_and(|name| name == "env");
        let searched = argument.filter(|name| is_env && !name.starts_with('-') && !name.contains('/'));
        self.hides(Path::new(program))
            || searched.and_then(|name| self.find(name)).is_some_and(|found| self.hides(&found))
    }
}

/// Returns the words of the first line that says what runs a script.
fn runner(program: &Path) -> Option<Vec<String>> {
    let mut text = Vec::new();
    fs::File::open(program).ok()?.take(LONGEST_FIRST_LINE).read_to_end(&mut text).ok()?;
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = OsStr::from_bytes(line).to_string_lossy().into_owned();
    Some(line.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_counts_by_its_place_its_links_and_what_runs_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for directory in ["shown", "hidden", "work/tools", "later"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let program = |place: &str, text: &str| {
            fs::write(root.join(place), text).unwrap();
            fs::set_permissions(root.join(place), fs::Permissions::from_mode(0o755)).unwrap();
        };
        program("shown/plain", "\x7fELF");
        program("shown/script", "#!/bin/sh\n");
        program("hidden/tool", "\x7fELF");
        program("hidden/work", "\x7fELF");
        program("work/tools/own", "#!/bin/sh\n");
        program("shown/by-hidden", &format!("#!{}\n", root.join("hidden/tool").display()));
        program("shown/by-env", "#!/usr/bin/env tool\n");
        program("later/tool", "\x7fELF");
        symlink(root.join("hidden/tool"), root.join("shown/linked")).unwrap();
        fs::write(root.join("hidden/plain"), "no program").unwrap();
        let text = |place: &str| root.join(place).to_str().unwrap().to_owned();
        let offer = FenceOffer {
            workspace: text("hidden/work"),
            hidden: vec![text("hidden")],
            installers: Vec::new(),
            strange_registries: Vec::new(),
        };
        let path = ["hidden", "shown", "work/tools", "later"].map(|place| root.join(place));
        let path = std::env::join_paths(path).unwrap();
        let search = ProgramSearch::new(&offer, &path, &root);
        let names = [
            ("plain", false),
            ("script", false),
            ("own", false),
            ("tool", true),
            ("linked", true),
            ("by-hidden", true),
            ("by-env", true),
            ("work", false),
            ("nowhere", false),
            ("/hidden/tool", false),
            ("", false),
        ];
        for (name, expected) in names {
            assert_eq!(search.is_hidden(name), expected, "{name}");
        }
    }
}
