//! The profiles in force: files that somebody added come before the built-in ones.
//!
//! INVARIANT: a file counts as a whole or not at all, and one that does not count leaves everything as if it were not
//! there: a program without a built-in profile stays unknown. Who may say what is decided here by [`Authority`]; whether
//! a file is read at all is the caller's to decide.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    CompiledProfile, Form, Profile, ProfileError, Role, compile, find, find_cmdlet, is_listed,
    is_listed_cmdlet,
};
use crate::wrapper::program_name;

/// How many programs files may describe in all, so that a look-up stays cheap.
const PROGRAM_LIMIT: usize = 2_000;

/// What the files of a place may describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// Any program, also in the place of its built-in profile: the user's files, and managed ones.
    AnyProgram,
    /// Only programs without a built-in profile: the files of a project.
    NewPrograms,
}

/// Where an added profile comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileOrigin {
    /// Whose file it is, in one word: `managed`, `user` or `project`.
    pub source: &'static str,
    /// The file.
    pub file: Arc<str>,
}

/// Added profiles by name. The default has none, so that only the built-in ones are found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profiles {
    added: BTreeMap<String, Added>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Added {
    summary: String,
    form: Arc<[u8]>,
    origin: ProfileOrigin,
}

impl Profiles {
    /// The built-in profiles alone.
    pub const BUILT_IN: &'static Self = &Self { added: BTreeMap::new() };

    /// Adds the profiles of a file. What an earlier file described stays as it is.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the file and where; then nothing of it is added.
    pub fn add(
        &mut self,
        text: &str,
        origin: &ProfileOrigin,
        authority: Authority,
    ) -> Result<(), ProfileError> {
        let compiled = compile(text)?;
        let mut found: BTreeMap<String, Added> = BTreeMap::new();
        for profile in compiled {
            let form: Arc<[u8]> = profile.form.into();
            if let Some(reader) = reader_in(Form::of(&form)) {
                let message =
                    format!("the reader `{reader}` is for built-in profiles; describe it by tables");
                return Err(ProfileError::at(text, text.find("reader").unwrap_or_default(), message));
            }
            for name in profile.names {
                let refuse =
                    |why: &str| Err(ProfileError::at(text, name.at, format!("`{}` {why}", name.name)));
                if name.name.starts_with('-') || name.name.contains(['/', '\\']) {
                    return refuse("is not the name of a program without its directory");
                }
                if authority == Authority::NewPrograms && is_built_in(&name.name) {
                    return refuse("has a built-in profile, which a project cannot replace");
                }
                let added = Added { summary: name.summary, form: Arc::clone(&form), origin: origin.clone() };
                if found.insert(name.name.clone(), added).is_some() {
                    return refuse("is described twice");
                }
            }
        }
        if self.added.len() + found.len() > PROGRAM_LIMIT {
            let message = format!("there are profiles of more than {PROGRAM_LIMIT} programs");
            return Err(ProfileError::at(text, 0, message));
        }
        for (name, added) in found {
            self.added.entry(name).or_insert(added);
        }
        Ok(())
    }

    /// Finds the profile of a program that bash starts, by its name without directory.
    pub fn find(&self, name: &str) -> Option<Profile<'_>> {
        // Windows programs are started from bash too. What they run in turn is told where PowerShell is read; here nobody
        // would judge it, so such a program counts as unknown.
        let is_judged =
            |profile: &Profile<'_>| !profile.form.operands().iter().any(|slot| slot.role == Role::Command);
        let of_windows = || find_cmdlet(&program_name(name)).filter(is_judged);
        self.find_added(name).or_else(|| find(name)).or_else(of_windows)
    }

    /// Says whether there is a profile of a program that bash starts, by its name without directory.
    pub fn knows(&self, name: &str) -> bool {
        self.added.contains_key(name) || is_listed(name) || is_listed_cmdlet(&program_name(name))
    }

    /// Finds the profile of a cmdlet or program that PowerShell starts, by its canonical lower-case name.
    pub fn find_cmdlet(&self, name: &str) -> Option<Profile<'_>> {
        self.find_added(name).or_else(|| find_cmdlet(name)).or_else(|| find(name))
    }

    /// Returns every added profile: its name, what is known, and where that comes from.
    pub fn added(&self) -> impl Iterator<Item = (&str, Profile<'_>, &ProfileOrigin)> {
        self.added.iter().map(|(name, added)| (name.as_str(), added.profile(), &added.origin))
    }

    fn find_added(&self, name: &str) -> Option<Profile<'_>> {
        self.added.get(name).map(Added::profile)
    }
}

#[cfg(test)]
impl Profiles {
    /// The built-in profiles, with another form for one program.
    pub(super) fn of_form(name: &str, form: Vec<u8>) -> Self {
        let origin = ProfileOrigin { source: "user", file: Arc::from("test.toml") };
        let added = Added { summary: String::new(), form: form.into(), origin };
        Self { added: BTreeMap::from([(name.to_owned(), added)]) }
    }
}

impl CompiledProfile {
    /// Returns how arguments are read.
    pub fn form(&self) -> Form<'_> {
        Form::of(&self.form)
    }
}

impl Added {
    fn profile(&self) -> Profile<'_> {
        Profile { summary: &self.summary, form: Form::of(&self.form) }
    }
}

/// Returns the reader that a form or one of its subcommands names.
fn reader_in(form: Form<'_>) -> Option<&str> {
    let own = Some(form.reader).filter(|reader| !reader.is_empty());
    own.or_else(|| form.subcommands().find_map(|(_, form)| reader_in(form)))
}

/// Returns a name as file systems without case and Windows know it.
fn plain_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".com", ".ps1"];
    endings.iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower).to_owned()
}

/// Says whether a program has a built-in profile by this name, or by one that may start the same program: in another
/// case, with an extension, with a version behind it.
fn is_built_in(name: &str) -> bool {
    let plain = plain_name(name);
    let stem =
        plain.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '_'));
    [name, &plain, stem].iter().any(|name| find(name).or_else(|| find_cmdlet(name)).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> ProfileOrigin {
        ProfileOrigin { source: "user", file: Arc::from("acme.toml") }
    }

    fn file(name: &str, body: &str) -> String {
        format!(
            "names = [\"{name}\"]\nsummary = \"does things\"\n{body}\n\n[[example]]\ncommand = \"{name}\"\neffects = []\n"
        )
    }

    fn problem(name: &str, body: &str, authority: Authority) -> Option<String> {
        let mut profiles = Profiles::default();
        let error = profiles.add(&file(name, body), &origin(), authority).err();
        assert_eq!(profiles.added().count(), usize::from(error.is_none()), "{name}: {body}");
        error.map(|error| error.to_string())
    }

    #[test]
    fn a_file_describes_a_program_that_nobody_knew() {
        let mut profiles = Profiles::default();
        assert!(profiles.find("acme").is_none());
        profiles.add(&file("acme", "does = [\"observe\"]"), &origin(), Authority::NewPrograms).unwrap();
        assert_eq!(profiles.find("acme").unwrap().summary, "does things");
        assert_eq!(profiles.find_cmdlet("acme").unwrap().summary, "does things");
        assert!(profiles.find("acme2").is_none());
        assert!(Profiles::BUILT_IN.find("acme").is_none());
    }

    #[test]
    fn an_earlier_file_counts_and_the_built_in_profile_comes_last() {
        let mut profiles = Profiles::default();
        let builtin = profiles.find("ls").unwrap().summary.to_owned();
        profiles.add(&file("ls", "does = [\"write\"]"), &origin(), Authority::AnyProgram).unwrap();
        let second = file("ls", "does = [\"observe\"]").replace("does things", "is later");
        profiles.add(&second, &origin(), Authority::AnyProgram).unwrap();
        assert_eq!(profiles.find("ls").unwrap().summary, "does things");
        assert_ne!(builtin, "does things");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_nothing_is_added() {
        let any = Authority::AnyProgram;
        for (name, body, expected) in [
            ("acme", "does = [\"explode\"]", "3:9: there is no act `explode`"),
            ("acme", "does = [\"observe\"", "5:1: "),
            ("acme", "dose = []", "3:1: the key `dose` is not known here"),
            ("acme", "does = []\noptions = [\"-x =\"]", "4:12: there is no act ``"),
            ("acme", "does = []\nreader = \"grep\"", "4:1: the reader `grep` is for built-in profiles"),
            ("acme", "[sub.x]\nreader = \"grep\"", "4:1: the reader `grep` is for built-in profiles"),
            ("bin/acme", "does = []", "1:10: `bin/acme` is not the name"),
            ("a b", "does = []", "1:10: `a b` cannot be a name"),
            ("acme", "", "1:1: neither `does`"),
        ] {
            let found = problem(name, body, any).unwrap_or_default();
            assert!(found.starts_with(expected), "{name} {body}: {found}");
        }
    }

    #[test]
    fn a_project_cannot_replace_what_is_built_in_by_any_of_its_names() {
        for name in ["git", "GIT", "git.exe", "python3.99", "gcc-12", "Get-ChildItem", "rm", "sudo", "bash"] {
            let found = problem(name, "does = [\"observe\"]", Authority::NewPrograms).unwrap_or_default();
            assert!(found.contains("has a built-in profile"), "{name}: {found}");
            assert_eq!(problem(name, "does = [\"observe\"]", Authority::AnyProgram), None, "{name}");
        }
        assert_eq!(problem("acme", "does = [\"observe\"]", Authority::NewPrograms), None);
    }

    #[test]
    fn subcommands_inside_each_other_end_somewhere() {
        let deep = format!("[sub.\"{}\"]\ndoes = []", "a ".repeat(10_000).trim_end());
        assert!(
            problem("acme", &deep, Authority::AnyProgram).unwrap_or_default().contains("inside each other")
        );
    }
}
