//! Compiles the tables of `data/` that are no command profiles: languages, wrappers, places, variables, names.
//!
//! Each becomes Rust that the crate includes, so that a process finds them laid out when it starts and nothing is read
//! or put together then. What is not understood stops the build with its file and line.

mod language;
mod list;
mod source;
mod wrapper;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use self::source::Source;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Folders whose files are languages; those of the command profiles are compiled by themselves.
const LANGUAGES: &str = "data/languages";
const WRAPPERS: &str = "data/wrappers.toml";
const LISTS: &str = "data/lists";

/// Compiles all tables into the directory for what a build makes.
pub(crate) fn write(out: &Path) -> Result<()> {
    let mut languages = String::new();
    for path in entries(Path::new(LANGUAGES))? {
        languages.push_str(&language::compile(&Source::read(&path)?)?);
    }
    fs::write(out.join("languages.rs"), languages)?;
    fs::write(out.join("wrappers.rs"), wrapper::compile(&Source::read(Path::new(WRAPPERS))?)?)?;
    fs::write(out.join("lists.rs"), lists(Path::new(LISTS))?)?;
    Ok(())
}

/// Makes a module of every file.
fn lists(folder: &Path) -> Result<String> {
    let mut text = String::new();
    for path in entries(folder)? {
        let source = Source::read(&path)?;
        text.push_str(&list::module(source.name(), &list::compile(&source)?));
    }
    Ok(text)
}

/// Returns the files of a folder in the order of their names, so that builds are alike.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}
