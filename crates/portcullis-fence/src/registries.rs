//! The registries that the package managers of a project use, as their own settings and lock files name them.
//!
//! They are read line by line for a few keys and the web addresses behind them, which all of their formats have in common.
//! What is missed is not listed, and so not reached; where nothing is named, no registry is known.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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

/// How a program reaches the registries that its user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallerAccess {
    /// The program.
    pub program: &'static str,
    /// The registries.
    pub hosts: Vec<AllowedHost>,
    /// The variables that name them, which the program needs to find them.
    pub variables: Vec<&'static str>,
}

/// Returns the programs whose registries the user's own settings name in a way that holds inside a fence: in a file that the
/// fence does not hide, or in a variable without a password. What a project names does not count: whoever wants something
/// to be reached may have written it.
pub fn installers(
    home: Option<&Path>,
    is_hidden: impl Fn(&Path) -> bool,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<InstallerAccess> {
    let mut installers = Vec::new();
    for manager in managers() {
        let open = |name: &&str| {
            variable(name).is_some_and(|value| !value.contains('@') && hosts_in(&value).next().is_some())
        };
        let variables: Vec<&str> = lines(&manager, "variable").filter(open).collect();
        let mut hosts: Vec<AllowedHost> = Vec::new();
        for value in variables.iter().filter_map(|name| variable(name)) {
            hosts.extend(hosts_in(&value));
        }
        for name in lines(&manager, "file").chain(lines(&manager, "home")) {
            if let Some(path) = home.map(|home| home.join(name)).filter(|path| !is_hidden(path)) {
                hosts.extend(hosts_named_in(&path, &manager));
            }
        }
        hosts.sort();
        hosts.dedup();
        if !hosts.is_empty() {
            let access =
                |program| InstallerAccess { program, hosts: hosts.clone(), variables: variables.clone() };
            installers.extend(lines(&manager, "program").map(access));
        }
    }
    installers
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
    let project = lines(manager, "file").map(|name| (workspace.join(name), RegistrySource::Project));
    let own = home.into_iter().flat_map(|home| {
        let names = lines(manager, "file").chain(lines(manager, "home"));
        names.map(move |name| (home.join(name), RegistrySource::User))
    });
    for (path, source) in project.chain(own) {
        registries.extend(hosts_named_in(&path, manager).into_iter().map(|host| Registry { host, source }));
    }
    registries
}

/// Returns the hosts that a file of settings names as registries.
fn hosts_named_in(path: &Path, manager: &Manager) -> Vec<AllowedHost> {
    let is_short = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= LONGEST_SETTINGS);
    let Some(text) = is_short.then(|| fs::read_to_string(path).ok()).flatten() else { return Vec::new() };
    let named = text.lines().map(str::trim).filter(|line| names_registry(line, manager));
    named.flat_map(hosts_in).collect()
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

    /// Returns the registries of a project with these files; those that begin with `~/` lie in the home.
    fn registries(files: &[(&str, &str)], variables: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let (workspace, home) = (folder.path().join("workspace"), folder.path().join("home"));
        for (name, text) in files {
            let path = match name.strip_prefix("~/") {
                Some(name) => home.join(name),
                None => workspace.join(name),
            };
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
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
        assert_eq!(registries(&[("Cargo.toml", ""), ("go.mod", "")], &[]), [""; 0]);
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

    #[test]
    fn installers_reach_what_the_user_alone_chose() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        for (name, text) in [
            (".npmrc", "registry=https://npm.example/\n"),
            (".cargo/config.toml", "[source.x]\nregistry = \"sparse+https://cargo.example/\"\n"),
        ] {
            fs::create_dir_all(home.join(name).parent().expect("a directory")).expect("a directory");
            fs::write(home.join(name), text).expect("a file");
        }
        let variable = |name: &str| match name {
            "PIP_INDEX_URL" => Some("https://pip.example/simple".to_owned()),
            "GOPROXY" => Some("https://me:secret@go.example".to_owned()),
            _ => None,
        };
        let found = installers(Some(home), |path| path.ends_with(".npmrc"), variable);
        let told: Vec<String> = found
            .iter()
            .map(|found| format!("{} {} {:?}", found.program, found.hosts[0], found.variables))
            .collect();
        let pip = |program: &str| format!("{program} pip.example:443 [\"PIP_INDEX_URL\"]");
        assert_eq!(told, ["cargo cargo.example:443 []".to_owned(), pip("pip"), pip("pip3"), pip("uv")]);
    }

    #[test]
    fn what_is_no_host_is_left_out() {
        let settings =
            "registry=https://*.example/\n@a:registry=https://[::1]/\n@b:registry=https://localhost/\n";
        assert_eq!(registries(&[("package.json", "{}"), (".npmrc", settings)], &[]), [""; 0]);
    }
}
