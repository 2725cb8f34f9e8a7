//! Where the texts about a program are: pages and completion files below a root, and help texts that were saved.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use portcullis_settings::profile_draft::{Draft, is_plain_name, of_help};

/// A program and the subcommand that is meant: `rsync`, `git/commit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramName {
    /// The program.
    pub(crate) program: String,
    /// Words of its subcommand.
    pub(crate) subcommand: Vec<String>,
}

impl ProgramName {
    pub(crate) fn of(text: &str) -> Result<Self> {
        let mut words = text.split('/').map(str::to_owned);
        let program = words.next().unwrap_or_default();
        let subcommand: Vec<String> = words.collect();
        ensure!(
            is_plain_name(&program) && subcommand.iter().all(|word| is_plain_name(word)),
            "`{text}` is no program, and no program with a subcommand such as `git/commit`"
        );
        Ok(Self { program, subcommand })
    }

    /// Returns the name of its page: `git-commit`.
    fn page(&self) -> String {
        let words: Vec<&str> =
            std::iter::once(&self.program).chain(&self.subcommand).map(String::as_str).collect();
        words.join("-")
    }
}

/// Reads all that there is about a program below the roots of unpacked packages, and its saved help text.
pub(crate) fn read_sources(
    name: &ProgramName,
    roots: &[PathBuf],
    help: Option<&Path>,
) -> Result<(Draft, usize)> {
    let page = name.page();
    let mut draft = Draft::default();
    let mut count = 0;
    for file in roots.iter().flat_map(|root| candidates(root, name, &page)).filter(|file| file.is_file()) {
        let text = read(&file)?;
        let file_name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        draft.add(Draft::of_file(&file_name, &name.program, &text));
        count += 1;
    }
    if let Some(file) = help.map(|folder| folder.join(format!("{page}.txt"))).filter(|file| file.is_file()) {
        draft.add(of_help(&read(&file)?));
        count += 1;
    }
    Ok((draft, count))
}

/// Returns where the texts of a program may be. Completion files are about the whole program.
fn candidates(root: &Path, name: &ProgramName, page: &str) -> Vec<PathBuf> {
    let share = root.join("usr/share");
    let pages = ["1", "8", "6"].iter().flat_map(|section| {
        [".gz", ""].map(|ending| share.join(format!("man/man{section}/{page}.{section}{ending}")))
    });
    let program = &name.program;
    let completions = [
        format!("fish/vendor_completions.d/{program}.fish"),
        format!("fish/completions/{program}.fish"),
        format!("zsh/site-functions/_{program}"),
        format!("zsh/vendor-completions/_{program}"),
        format!("zsh/functions/Completion/Unix/_{program}"),
        format!("bash-completion/completions/{program}"),
    ];
    let completions = completions.iter().filter(|_| name.subcommand.is_empty()).map(|file| share.join(file));
    pages.chain(completions).collect()
}

/// Reads a file, unpacked. A page that only names another one is followed once.
fn read(file: &Path) -> Result<String> {
    let text = unpacked(file)?;
    let Some(other) = text.lines().next().and_then(|line| line.strip_prefix(".so ")) else {
        return Ok(text);
    };
    let manual = file.parent().and_then(Path::parent).context("a page lies in a section")?;
    for ending in [".gz", ""] {
        let target = manual.join(format!("{}{ending}", other.trim()));
        if target.is_file() {
            return unpacked(&target);
        }
    }
    bail!("{}: there is no page {other}", file.display())
}

fn unpacked(file: &Path) -> Result<String> {
    let shown = || format!("cannot read {}", file.display());
    let bytes = if file.extension().is_some_and(|ending| ending == "gz") {
        let unpacking = Command::new("gzip").arg("-dc").arg(file).output().context("cannot start gzip")?;
        ensure!(unpacking.status.success(), "gzip cannot unpack {}", file.display());
        unpacking.stdout
    } else {
        fs::read(file).with_context(shown)?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_packages_and_help_texts_are_found() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("usr/share/man/man1/acme.1", ".so man1/acme-real.1\n");
        write("usr/share/man/man1/acme-real.1", ".SH OPTIONS\n.TP\n-a, --all\nall\n");
        write("usr/share/man/man1/acme-push.1", ".SH OPTIONS\n.TP\n--to=HOST\nthere\n");
        write("usr/share/fish/completions/acme.fish", "complete -c acme -l fish-only\n");
        write("help/acme.txt", "  --in-help  said there\n");
        let roots = [root.path().to_owned()];
        let spelled = |name: &str| {
            let help = root.path().join("help");
            let (draft, count) = read_sources(&ProgramName::of(name).unwrap(), &roots, Some(&help)).unwrap();
            let all = draft.options.iter().flat_map(|option| option.spellings.clone());
            (all.collect::<Vec<_>>().join(" "), count)
        };
        assert_eq!(spelled("acme"), ("-a --all --fish-only --in-help".to_owned(), 3));
        assert_eq!(spelled("acme/push"), ("--to".to_owned(), 1));
        assert!(ProgramName::of("../x").is_err() && ProgramName::of("a/-x").is_err());
    }
}
