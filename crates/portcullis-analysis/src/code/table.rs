//! What a language's libraries do: rows of names with what a call does and what it gives.
//!
//! The rows are in `data/languages`. A name is looked up whole; `harmless` modules vouch for their members, but not for
//! modules that they show as members, which would lead out of every list.

use super::Language;
use crate::act::Act;

/// One function, method or variable.
///
/// `os.remove` is a function, `path:unlink` a method of a known kind of value, `?:unlink` a method of any other value.
#[derive(Debug, Clone, Copy)]
pub(super) struct LibraryRow {
    pub(super) name: &'static str,
    pub(super) does: Does,
    pub(super) gives: Gives,
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Does {
    /// Nothing outside the program.
    Nothing,
    /// One act.
    Act(Act, On),
    /// Two acts.
    Both(Act, On, Act, On),
    /// Opens the file named first, in the mode named at this place.
    Open(usize),
    /// Opens a file or a command the way of Perl.
    PerlOpen,
    /// Runs the text of an argument in a shell.
    Shell(usize),
    /// Starts a program: a list is its words, a text is a shell's if the call says so.
    Command,
    /// Starts a program whose words are the arguments from this place on.
    Words(usize),
    /// Starts a program: its name, then the list of its arguments.
    Spawn,
    /// A single text is a shell's, several are words; a list of one language counts as words.
    System,
    /// Hands a terminal to a program.
    Terminal,
    /// Runs the text of an argument as code of this language.
    Code(usize),
    /// Sends SQL to a database.
    Sql(usize),
    /// Loads a module whose name is an argument.
    Import,
    /// Sends to a host if the call has data, else fetches.
    Request(usize),
    /// Reads environment variables; the part taken says which.
    Variables,
    /// Makes a copy of the process.
    Fork,
    /// Joins a connection to the standard streams.
    Redirect,
    /// Calls a function that is named by a text or handed over.
    Callback,
    /// Takes a member of a value by its name.
    Member,
    /// Something nobody can follow.
    Gap,
}

/// What an act is done to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum On {
    /// Nothing in particular.
    Nowhere,
    /// The path in an argument.
    Path(usize),
    /// The paths in all arguments.
    Paths,
    /// The path in an argument that is given by its name, if there is one.
    PathIfNamed,
    /// The path in an argument, if there is one.
    PathIfGiven(usize),
    /// The host or URL in an argument.
    Host(usize),
    /// The name in an argument.
    Name(usize),
    /// The path or host that the value itself stands for.
    Own,
    /// Something with this name.
    Fixed(&'static str),
}

/// What a call gives back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Gives {
    /// Something unknown.
    Unknown,
    /// An argument as it is.
    Same(usize),
    /// All arguments joined as a path.
    Joined,
    /// The path of the value itself with the arguments joined to it.
    OwnJoined,
    /// Paths below the one of the value itself, by a pattern if there is one.
    Below,
    /// A value of this kind that stands for the first argument.
    Kind(&'static str),
    /// A value of this kind that stands for what the value itself stands for.
    Own(&'static str),
    /// A value of this kind that stands for something unknown.
    Some(&'static str),
    /// Text that was written in base 64.
    Base64(usize),
    /// Text that was written in hexadecimal.
    Hex(usize),
    /// Text that was hidden in another way.
    Hidden,
    /// The module that the first argument names.
    Module,
    /// The member that the second argument names.
    Member,
    /// The user's home directory.
    Home,
}

/// What is known of a language. All lists are sorted.
#[derive(Debug)]
pub(super) struct LanguageTable {
    pub(super) language: Language,
    /// Words that are no names.
    pub(super) keywords: &'static [&'static str],
    /// What calls do.
    pub(super) rows: &'static [LibraryRow],
    /// Modules and classes of which every member is harmless, unless a row says otherwise.
    pub(super) modules: &'static [&'static str],
    /// Packages of others whose own functions and classes are harmless, unless a row says otherwise; not their modules.
    pub(super) packages: &'static [&'static str],
    /// Functions that are harmless.
    pub(super) functions: &'static [&'static str],
    /// Methods that are harmless whatever they are called on.
    pub(super) methods: &'static [&'static str],
    /// Modules that may be loaded because rows speak of them.
    pub(super) imports: &'static [&'static str],
    /// Members of harmless modules that are modules of their own.
    pub(super) inner: &'static [&'static str],
    /// Modules that come with the language, listed elsewhere or not: no file of a project is loaded in their place.
    pub(super) standard: &'static [&'static str],
}

/// Whose code a module is that a program loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModuleOrigin {
    /// The lists speak of it.
    Known,
    /// A file of the project, if there is one.
    Project,
    /// A package that is installed with the project.
    Package,
    /// Nobody can tell.
    Unclear,
}

impl LanguageTable {
    /// Finds a row by its name.
    pub(super) fn row(&self, name: &str) -> Option<&'static LibraryRow> {
        let at = self.rows.binary_search_by(|row| row.name.cmp(name)).ok()?;
        self.rows.get(at)
    }

    /// Finds the row of a method of a kind of value.
    pub(super) fn method(&self, kind: &str, method: &str) -> Option<&'static LibraryRow> {
        self.row(&format!("{kind}:{method}"))
    }

    /// Says whether a function of a library is harmless.
    pub(super) fn is_harmless(&self, name: &str) -> bool {
        has(self.functions, name) || self.is_harmless_member(name)
    }

    fn is_harmless_member(&self, name: &str) -> bool {
        if self.leads_on(name) {
            return false;
        }
        let ends = name.char_indices().filter(|(_, letter)| *letter == '.').map(|(at, _)| at);
        ends.filter_map(|end| name.get(..end)).any(|module| has(self.modules, module))
            || has(self.modules, name)
            || self.is_of_package(name)
    }

    /// Says whether a name is a package, or a function or class of one, or a method of such a class.
    fn is_of_package(&self, name: &str) -> bool {
        let ends = name.char_indices().filter(|(_, letter)| *letter == '.').map(|(at, _)| at);
        let package =
            ends.filter_map(|end| name.get(..end)).chain([name]).find(|part| has(self.packages, part));
        let Some(members) = package.and_then(|package| name.strip_prefix(package)) else { return false };
        let mut members = members.split('.').skip(1);
        let is_class = members.next().is_none_or(|first| first.starts_with(char::is_uppercase));
        is_class || members.next().is_none()
    }

    /// Says whether a name leads through a harmless module to one that is not: modules load others, and show them
    /// as members, as `random._os` is.
    pub(super) fn leads_on(&self, name: &str) -> bool {
        let mut is_within = false;
        let mut before = "";
        let mut end = 0;
        for member in name.split('.') {
            end += member.len();
            let full = name.get(..end).unwrap_or(name);
            end += 1;
            let is_listed = has(self.modules, full) || has(self.functions, full);
            if is_within && !is_listed && self.row(full).is_none() && self.is_inner(member, before) {
                return true;
            }
            is_within |= has(self.modules, full) || has(self.packages, full);
            before = member;
        }
        false
    }

    /// Says whether a member is a module of its own; `time.time` is what its module is named after.
    fn is_inner(&self, member: &str, before: &str) -> bool {
        let plain = member.trim_start_matches('_');
        let is_private =
            self.language == Language::Python && member.starts_with('_') && !member.starts_with("__");
        is_private || member != before && has(self.inner, plain)
    }

    /// Says whether something of a library may be assigned to.
    pub(super) fn may_change(&self, name: &str) -> bool {
        has(self.functions, &format!("{name}="))
    }

    /// Says whether a method is harmless on any value.
    pub(super) fn is_harmless_method(&self, method: &str) -> bool {
        has(self.methods, method)
    }

    /// Says whether a module may be loaded.
    pub(super) fn is_known_module(&self, name: &str) -> bool {
        has(self.imports, name) || self.is_harmless_member(name) || {
            let top = name.split(['.', '/', ':']).next().unwrap_or(name);
            has(self.imports, top) || [self.modules, self.functions].iter().any(|list| leads_to(list, name))
        }
    }

    /// Says whose code a module is, by its name as it is written.
    pub(super) fn origin(&self, module: &str) -> ModuleOrigin {
        let top = module.split(['.', '/']).next().unwrap_or(module);
        let is_standard = has(self.standard, top) || top.starts_with('_');
        let is_path = module.starts_with(['.', '/']);
        match self.language {
            _ if self.is_known_module(&module_name(module)) => ModuleOrigin::Known,
            Language::Python if is_path || is_standard || module.contains(':') => ModuleOrigin::Unclear,
            Language::Python if !module.is_empty() => ModuleOrigin::Project,
            Language::JavaScript if is_path => ModuleOrigin::Project,
            Language::JavaScript if is_standard || module.contains(':') || module.is_empty() => {
                ModuleOrigin::Unclear
            }
            Language::JavaScript => ModuleOrigin::Package,
            Language::Ruby if is_path => ModuleOrigin::Project,
            _ => ModuleOrigin::Unclear,
        }
    }

    /// Says whether rows speak of members of this name.
    pub(super) fn has_members(&self, name: &str) -> bool {
        let is_member =
            |row: &LibraryRow| row.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let at = self.rows.partition_point(|row| row.name < name);
        self.rows.iter().skip(at).take_while(|row| row.name.starts_with(name)).any(is_member)
    }

    /// Says whether a name is a word of the language.
    pub(super) fn is_keyword(&self, name: &str) -> bool {
        has(self.keywords, name)
    }
}

/// Returns the name of a module of Node without its scheme.
pub(super) fn module_name(module: &str) -> String {
    module.strip_prefix("node:").unwrap_or(module).replace('/', ".")
}

/// Says whether a list names something in a module.
fn leads_to(list: &[&str], module: &str) -> bool {
    let at = list.partition_point(|name| *name <= module);
    let is_in = |name: &&str| name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'));
    !module.is_empty() && list.iter().skip(at).take_while(|name| name.starts_with(module)).any(is_in)
}

fn has(list: &[&str], name: &str) -> bool {
    list.binary_search(&name).is_ok()
}
