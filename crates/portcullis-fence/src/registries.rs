//! The registries that the package managers of a project use: as their own settings and lock files name them, or the
//! well-known ones.
//!
//! Settings are read line by line for a few keys and the web addresses behind them, which all of their formats have in
//! common. What is missed is not listed, and so not reached.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::host::AllowedHost;

const TABLE: &str = include_str!("../data/registries.txt");

/// The longest settings that are read.
const LONGEST_SETTINGS: u64 = 16 << 20;

/// A registry, and who named it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Registry {
    /// Where it is.
    pub host: AllowedHost,
    /// Who named it.
    pub source: RegistrySource,
}

/// Who named a registry. Files of a project may have been written by whoever wants something to be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegistrySource {
    /// Nobody: the package manager has it built in.
    WellKnown,
    /// Settings of the user, or a variable.
    User,
    /// Settings in the project.
    Project,
}

/// Returns the registries for the package managers whose manifests lie in a workspace. `variable` returns a variable of
/// the user's environment.
pub fn project_registries(
    workspace: &Path,
    home: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<Registry> {
    let mut registries = Vec::new();
    for manager in managers() {
        if lines(&manager, "manifest").any(|name| workspace.join(name).is_file()) {
            registries.extend(registries_of(&manager, workspace, home, &variable));
        }
    }
    registries.sort();
    registries.dedup();
    registries
}

/// Where it is looked for what names a registry.
#[derive(Debug, Clone, Copy)]
pub struct RegistryPlaces<'a> {
    /// The directories of the project whose settings count, from that of the call up to the workspace.
    pub directories: &'a [PathBuf],
    /// The home of the user.
    pub home: Option<&'a Path>,
}

/// How a program reaches its registries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallerAccess {
    /// The program.
    pub program: &'static str,
    /// The registries: those that its user chose, else its well-known ones. None if nobody knows which the user means.
    pub hosts: Vec<AllowedHost>,
    /// The variables that name them, which the program needs to find them.
    pub variables: Vec<&'static str>,
    /// A registry that files of the project name and that is neither the user's nor well known.
    pub stranger: Option<AllowedHost>,
}

/// Returns how programs that install reach their registries.
///
/// What the user's own settings name counts if it holds inside a fence: in a file that the fence does not hide, or in a
/// variable without a password. Where nothing of the user's says anything, the well-known registries count. What a project
/// names never adds one: whoever wants something to be reached may have written it.
pub fn installers(
    places: RegistryPlaces<'_>,
    is_hidden: impl Fn(&Path) -> bool,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<InstallerAccess> {
    let mut installers = Vec::new();
    for manager in managers() {
        let chosen = UserChoice::of(&manager, places.home, &is_hidden, &variable);
        let well_known: Vec<AllowedHost> = lines(&manager, "default").flat_map(well_known_hosts).collect();
        let settings = || lines(&manager, "file").chain(lines(&manager, "project"));
        let files =
            places.directories.iter().flat_map(|directory| settings().map(|name| directory.join(name)));
        let mut named = files.flat_map(|file| hosts_named_in(&file, &manager));
        let stranger = named.find(|host| !chosen.named.contains(host) && !well_known.contains(host));
        let hosts = if chosen.is_any { chosen.hosts } else { well_known };
        let access = |program| InstallerAccess {
            program,
            hosts: hosts.clone(),
            variables: chosen.variables.clone(),
            stranger: stranger.clone(),
        };
        installers.extend(lines(&manager, "program").map(access));
    }
    installers
}

/// What the user's own settings say about a package manager.
struct UserChoice {
    /// Whether they say anything, also what cannot be followed inside a fence.
    is_any: bool,
    /// Every host that they name.
    named: Vec<AllowedHost>,
    /// Those that a program finds inside.
    hosts: Vec<AllowedHost>,
    variables: Vec<&'static str>,
}

impl UserChoice {
    fn of(
        manager: &Manager,
        home: Option<&Path>,
        is_hidden: &impl Fn(&Path) -> bool,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Self {
        let set = lines(manager, "variable")
            .filter_map(|name| Some((name, variable(name).filter(|value| !value.is_empty())?)));
        let set: Vec<(&str, String)> = set.collect();
        let is_open = |value: &str| !value.contains('@') && hosts_in(value).next().is_some();
        let open = set.iter().filter(|(_, value)| is_open(value));
        let mut hosts: Vec<AllowedHost> = open.clone().flat_map(|(_, value)| hosts_in(value)).collect();
        let mut named: Vec<AllowedHost> = set.iter().flat_map(|(_, value)| hosts_in(value)).collect();
        let mut is_any = !set.is_empty();
        let settings = || lines(manager, "file").chain(lines(manager, "home"));
        for path in home.into_iter().flat_map(|home| settings().map(|name| home.join(name))) {
            let about = registry_lines(&path, manager);
            is_any |= !about.is_empty();
            named.extend(about.iter().flat_map(|line| hosts_in(line)));
            if !is_hidden(&path) {
                hosts.extend(about.iter().flat_map(|line| hosts_in(line)));
            }
        }
        hosts.sort();
        hosts.dedup();
        Self { is_any, named, hosts, variables: open.map(|(name, _)| *name).collect() }
    }
}

/// Returns the hosts of a line of the table: a domain, and the names below it.
fn well_known_hosts(line: &str) -> Vec<AllowedHost> {
    let mut words = line.split(' ');
    let domain = words.next().unwrap_or_default();
    let below: Vec<String> = words.map(|name| format!("{name}.{domain}:443")).collect();
    let texts = if below.is_empty() { vec![format!("{domain}:443")] } else { below };
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

/// The lines of a section, by their first word.
type Manager = BTreeMap<&'static str, Vec<&'static str>>;

fn managers() -> Vec<Manager> {
    let mut managers: Vec<Manager> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            managers.push(Manager::new());
        } else if let (Some(manager), Some((word, rest))) = (managers.last_mut(), line.split_once(' ')) {
            manager.entry(word).or_default().push(rest.trim());
        }
    }
    managers
}

fn lines<'manager>(manager: &'manager Manager, word: &str) -> impl Iterator<Item = &'static str> + 'manager {
    manager.get(word).into_iter().flatten().copied()
}

fn registries_of(
    manager: &Manager,
    workspace: &Path,
    home: Option<&Path>,
    variable: &impl Fn(&str) -> Option<String>,
) -> Vec<Registry> {
    let mut registries = Vec::new();
    for value in lines(manager, "variable").filter_map(variable) {
        registries.extend(hosts_in(&value).map(|host| Registry { host, source: RegistrySource::User }));
    }
    let project = lines(manager, "file").chain(lines(manager, "project"));
    let project = project.map(|name| (workspace.join(name), RegistrySource::Project));
    let own = home.into_iter().flat_map(|home| {
        let names = lines(manager, "file").chain(lines(manager, "home"));
        names.map(move |name| (home.join(name), RegistrySource::User))
    });
    for (path, source) in project.chain(own) {
        registries.extend(hosts_named_in(&path, manager).into_iter().map(|host| Registry { host, source }));
    }
    if registries.is_empty() {
        let well_known = lines(manager, "default").flat_map(well_known_hosts);
        registries.extend(well_known.map(|host| Registry { host, source: RegistrySource::WellKnown }));
    }
    registries
}

/// Returns the hosts that a file of settings names as registries.
fn hosts_named_in(path: &Path, manager: &Manager) -> Vec<AllowedHost> {
    registry_lines(path, manager).iter().flat_map(|line| hosts_in(line)).collect()
}

/// Returns the lines of a file of settings that are about registries.
fn registry_lines(path: &Path, manager: &Manager) -> Vec<String> {
    let is_short =
        fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LONGEST_SETTINGS);
    let Some(text) = is_short.then(|| fs::read_to_string(path).ok()).flatten() else { return Vec::new() };
    let named = text.lines().map(str::trim).filter(|line| names_registry(line, manager));
    named.map(str::to_owned).collect()
}

/// Says whether a line of settings has one of the keys.
fn names_registry(line: &str, manager: &Manager) -> bool {
    if line.starts_with(['#', ';']) {
        return false;
    }
    // A colon ends a key in YAML and JSON; in the middle it stands behind a scope. A list of tables begins with a brace.
    let key = line.split([' ', '=', '"', '{']).find(|word| !word.is_empty()).unwrap_or_default();
    let key = key.trim_end_matches(':');
    let key = key.rsplit_once(':').map_or(key, |(_, key)| key);
    lines(manager, "key").any(|known| known == key)
}

/// Returns the host of every web address in a text.
fn hosts_in(text: &str) -> impl Iterator<Item = AllowedHost> {
    let schemes = [("https://", 443), ("http://", 80)].into_iter();
    schemes.flat_map(move |(scheme, port)| {
        text.split(scheme).skip(1).filter_map(move |rest| {
            let end = rest.find(['/', ' ', '"', '\'', ',', '|', '?', '#']).unwrap_or(rest.len());
            let authority = rest.split_at(end).0;
            // What stands before it is a name and a password.
            let host = authority.rsplit('@').next().unwrap_or_default();
            let host = if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") };
            host.parse().ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files of a project; those that begin with `~/` lie in the home. Returns both places.
    fn write_files(folder: &Path, files: &[(&str, &str)]) -> (PathBuf, PathBuf) {
        let (workspace, home) = (folder.join("workspace"), folder.join("home"));
        for (name, text) in files {
            let path = match name.strip_prefix("~/") {
                Some(name) => home.join(name),
                None => workspace.join(name),
            };
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        (workspace, home)
    }

    /// Returns the registries of a project with these files.
    fn registries(files: &[(&str, &str)], variables: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let (workspace, home) = write_files(folder.path(), files);
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let found = project_registries(&workspace, Some(&home), variable);
        found.iter().map(|found| format!("{} {:?}", found.host, found.source)).collect()
    }

    #[test]
    fn only_managers_of_the_project_count() {
        let variables = [("GOPROXY", "https://goproxy.example")];
        assert_eq!(registries(&[("README.md", "")], &variables), [""; 0]);
        assert_eq!(registries(&[("go.mod", "")], &variables), ["goproxy.example:443 User"]);
        let well_known = ["proxy", "sum"].map(|name| format!("{name}.golang.org:443 WellKnown"));
        assert_eq!(registries(&[("go.mod", "")], &[]), well_known);
    }

    #[test]
    fn settings_and_lock_files_name_registries() {
        let settings = "@acme:registry=https://npm.acme.example/path/\n//npm.other.example/:_authToken=abc\n";
        assert_eq!(
            registries(&[("package.json", "{}"), (".npmrc", settings)], &[]),
            ["npm.acme.example:443 Project"]
        );
        let own = "registry = http://mirror.example:4873\n; registry=https://old.example\n";
        assert_eq!(
            registries(&[("package.json", "{}"), ("~/.npmrc", own)], &[]),
            ["mirror.example:4873 User"]
        );
        let yarn = "npmRegistryServer: \"https://yarn.example/npm\"\n";
        assert_eq!(
            registries(&[("package.json", "{}"), (".yarnrc.yml", yarn)], &[]),
            ["yarn.example:443 Project"]
        );
        let lock = "{\n  \"resolved\": \"https://locked.example/a/-/a-1.0.0.tgz\",\n  \"funding\": \"https://no.example\"\n}";
        assert_eq!(
            registries(&[("package.json", "{}"), ("package-lock.json", lock)], &[]),
            ["locked.example:443 Project"]
        );
    }

    #[test]
    fn each_format_is_read() {
        let cargo = "[source.usual]\nreplace-with = \"mirror\"\n[source.mirror]\n\
                     registry = \"sparse+https://user:secret@cargo.example:8443/index/\"\n";
        assert_eq!(
            registries(&[("Cargo.toml", ""), ("~/.cargo/config.toml", cargo)], &[]),
            ["cargo.example:8443 User"]
        );
        let pip = "[global]\nindex-url = https://pip.example/simple\nextra-index-url = https://more.example/simple\n";
        assert_eq!(
            registries(&[("requirements.txt", ""), ("~/.config/pip/pip.conf", pip)], &[]),
            ["more.example:443 User", "pip.example:443 User"]
        );
        let proxies = "https://one.example,http://two.example|direct";
        assert_eq!(
            registries(&[("go.mod", "")], &[("GOPROXY", proxies)]),
            ["one.example:443 User", "two.example:80 User"]
        );
    }

    /// Tells for each program what it reaches, with its variables, and which registry nobody chose.
    fn access(files: &[(&str, &str)], variables: &[(&str, &str)]) -> BTreeMap<&'static str, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let (workspace, home) = write_files(folder.path(), files);
        let directories = [workspace.join("deep"), workspace];
        let places = RegistryPlaces { directories: &directories, home: Some(&home) };
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let found = installers(places, |path| path.ends_with(".npmrc"), variable);
        let told = |found: &InstallerAccess| {
            let hosts: Vec<String> = found.hosts.iter().map(ToString::to_string).collect();
            let stranger = found.stranger.iter().map(|host| format!(" not {host}"));
            format!("{}{:?}{}", hosts.join(" "), found.variables, stranger.collect::<String>())
        };
        found.iter().map(|found| (found.program, told(found))).collect()
    }

    /// Returns the well-known registries of a program, as [`access`] tells them.
    fn usual(program: &str) -> String {
        let texts = match program {
            "cargo" => ["index.crates", "static.crates"].map(|name| format!("{name}.io:443")),
            "go" => ["proxy", "sum"].map(|name| format!("{name}.golang.org:443")),
            "npm" => ["npmjs.org", "yarnpkg.com"].map(|name| format!("registry.{name}:443")),
            _ => ["pypi.org", &format!("files.{}.org", "pythonhosted")].map(|name| format!("{name}:443")),
        };
        format!("{}[]", texts.join(" "))
    }

    #[test]
    fn well_known_registries_are_reached_where_nobody_says_otherwise() {
        let lock = format!("\"resolved\": \"https://registry.{}/a.tgz\"", "npmjs.org");
        let token = format!("//registry.{}/:_authToken=secret\n", "npmjs.org");
        let files = [("package-lock.json", lock.as_str()), ("~/.npmrc", &token), ("Cargo.toml", "")];
        let found = access(&files, &[("PIP_INDEX_URL", "")]);
        for program in ["cargo", "go", "npm", "pip"] {
            assert_eq!(found[program], usual(program));
        }
        assert_eq!(found["pnpm"], usual("npm"));
        assert_eq!(found["uv"], usual("pip"));
    }

    #[test]
    fn what_the_user_chose_takes_their_place() {
        let cargo = "[source.x]\nregistry = \"sparse+https://cargo.example/\"\n";
        let found =
            access(&[("~/.cargo/config.toml", cargo)], &[("PIP_INDEX_URL", "https://pip.example/simple")]);
        assert_eq!(found["cargo"], "cargo.example:443[]");
        assert_eq!(found["uv"], "pip.example:443[\"PIP_INDEX_URL\"]");
        assert_eq!(found["go"], usual("go"));
    }

    /// A choice that a program inside cannot follow leaves nothing, and not the well-known registry: it could have packages
    /// of the same names.
    #[test]
    fn a_choice_that_cannot_be_followed_inside_reaches_nothing() {
        let npm = "registry=https://npm.example/\n";
        let cargo = "[source.crates-io]\nreplace-with = \"vendored\"\n";
        for (files, variables, program) in [
            (&[("~/.npmrc", npm)][..], &[][..], "npm"),
            (&[("~/.cargo/config.toml", cargo)], &[], "cargo"),
            (&[], &[("GOPROXY", "https://me:secret@go.example")], "go"),
            (&[], &[("GOPROXY", "off")], "go"),
            (&[("~/.config/go/env", "GOPRIVATE=*.corp.example\n")], &[], "go"),
            (&[], &[("PIP_CONFIG_FILE", "/etc/other.conf")], "pip"),
        ] {
            assert_eq!(access(files, variables)[program], "[]", "{program} {files:?} {variables:?}");
        }
    }

    #[test]
    fn what_files_of_the_project_name_is_reached_by_nobody() {
        let evil = "https://evil.example/simple";
        for (file, text, program) in [
            (".npmrc", format!("registry={evil}\n"), "npm"),
            ("deep/.npmrc", format!("@acme:registry = {evil}\n"), "yarn"),
            ("package-lock.json", format!("  \"resolved\": \"{evil}/a.tgz\",\n"), "npm"),
            (".cargo/config.toml", format!("[source.x]\nregistry = \"{evil}\"\n"), "cargo"),
            ("requirements.txt", format!("--extra-index-url {evil}\nsix\n"), "pip"),
            ("uv.toml", format!("[[index]]\nurl = \"{evil}\"\n"), "uv"),
        ] {
            let files = [(file, text.as_str())];
            let kind = if program == "yarn" { "npm" } else { program };
            let expected = format!("{} not evil.example:443", usual(kind));
            assert_eq!(access(&files, &[])[program], expected, "{file}");
            // The user may have named it too, wherever that is.
            let own = [(file, text.as_str()), ("~/.npmrc", &format!("registry={evil}\n"))];
            let is_own = kind == "npm";
            assert_eq!(!access(&own, &[])[program].contains(" not "), is_own, "{file}");
        }
    }

    #[test]
    fn what_is_no_host_is_left_out() {
        let settings =
            "registry=https://*.example/\n@a:registry=https://[::1]/\n@b:registry=https://localhost/\n";
        let found = registries(&[("package.json", "{}"), (".npmrc", settings)], &[]);
        assert!(found.iter().all(|found| found.ends_with(" WellKnown")), "{found:?}");
    }
}
