//! The registries that the package managers of a project use, as their own settings name them.
//!
//! Settings are read line by line for a few keys and the web addresses behind them, which all of their formats have in
//! common. What is missed is not listed, and so not reached.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::host::AllowedHost;

const TABLE: &str = include_str!("../data/registries.txt");

/// The longest settings that are read.
const LONGEST_SETTINGS: u64 = 1 << 20;

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
    /// The package manager goes there if nothing else is said.
    Usual,
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
    let mut found = Found::default();
    for value in lines(manager, "variable").filter_map(variable) {
        found.replaces_usual = true;
        found.add(&value, RegistrySource::User);
    }
    let project = lines(manager, "file").map(|name| (workspace.join(name), RegistrySource::Project));
    let own = home.into_iter().flat_map(|home| {
        let names = lines(manager, "file").chain(lines(manager, "home"));
        names.map(move |name| (home.join(name), RegistrySource::User))
    });
    for (path, source) in project.chain(own) {
        let is_short = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LONGEST_SETTINGS);
        if is_short && let Ok(text) = fs::read_to_string(&path) {
            found.read(&text, manager, source);
        }
    }
    if !found.replaces_usual {
        let usual = lines(manager, "host").filter_map(|host| format!("{host}:443").parse().ok());
        found.registries.extend(usual.map(|host| Registry { host, source: RegistrySource::Usual }));
    }
    found.registries
}

#[derive(Debug, Default)]
struct Found {
    registries: Vec<Registry>,
    replaces_usual: bool,
}

impl Found {
    fn read(&mut self, text: &str, manager: &Manager, source: RegistrySource) {
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
            let key = line.split([' ', '=', '"']).find(|word| !word.is_empty()).unwrap_or_default();
            // A colon ends a key in YAML; in the middle it stands behind a scope.
            let key = key.trim_end_matches(':');
            let replaces = lines(manager, "replaces").any(|known| known == key);
            let adds = lines(manager, "adds").any(|known| {
                known == key || known.starts_with(':') && key.starts_with('@') && key.ends_with(known)
            });
            if replaces || adds {
                self.replaces_usual |= replaces;
                self.add(line, source);
            }
        }
    }

    /// Adds the host of every web address in a text.
    fn add(&mut self, text: &str, source: RegistrySource) {
        for (scheme, port) in [("https://", 443), ("http://", 80)] {
            for rest in text.split(scheme).skip(1) {
                let end = rest.find(['/', ' ', '"', '\'', ',', '|', '?', '#']).unwrap_or(rest.len());
                let authority = rest.split_at(end).0;
                // What stands before it is a name and a password.
                let host = authority.rsplit('@').next().unwrap_or_default();
                let host = if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") };
                if let Ok(host) = host.parse() {
                    self.registries.push(Registry { host, source });
                }
            }
        }
    }
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
        assert_eq!(registries(&[("README.md", "")], &[("GOPROXY", "https://goproxy.example")]), [""; 0]);
        let found = registries(&[("Cargo.toml", ""), ("go.mod", "")], &[]);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|host| host.ends_with(":443 Usual")), "{found:?}");
    }

    #[test]
    fn settings_replace_the_usual_registry_or_add_to_it() {
        let settings = "@acme:registry=https://npm.acme.example/path/\n//npm.acme.example/:_authToken=abc\n";
        let found = registries(&[("package.json", "{}"), (".npmrc", settings)], &[]);
        assert_eq!(found.len(), 3);
        assert!(found.contains(&"npm.acme.example:443 Project".to_owned()), "{found:?}");
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
    }

    #[test]
    fn each_format_is_read() {
        let cargo = "[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\n\
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
    fn what_is_no_host_is_left_out() {
        let settings =
            "registry=https://*.example/\n@a:registry=https://[::1]/\n@b:registry=https://localhost/\n";
        assert_eq!(registries(&[("package.json", "{}"), (".npmrc", settings)], &[]), [""; 0]);
    }
}
