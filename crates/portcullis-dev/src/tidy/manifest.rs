//! Checks on manifests: which crate may depend on which, fences, lints and licences.
//!
//! Arrows only point left: shell ← analysis ← core ← {settings, hosts ← classifier, store ← postgres, world} ← gate ←
//! output ← {daemon, install} ← portcullis. The guard
//! stands alone, because it must work when everything else has failed, and so do the arena and the fence. The test kit serves tests
//! alone, and nothing depends on an example.

use serde_json::Value;

use super::TidyProblem;
use crate::repository::TrackedTree;

/// What the house allows a crate.
struct CrateInfo {
    name: &'static str,
    /// The crates of the workspace it may depend on.
    internal: &'static [&'static str],
    /// The other crates it may depend on.
    external: External,
    /// Whether it does no I/O, and so carries the fence.
    purity: Purity,
    /// Why it does not take the workspace lints, if so.
    own_lints: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum External {
    Only(&'static [&'static str]),
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purity {
    Pure,
    Free,
}

const CRATES: &[CrateInfo] = &[
    CrateInfo {
        name: "portcullis-shell",
        internal: &[],
        external: External::Only(&[]),
        purity: Purity::Pure,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-analysis",
        internal: &["portcullis-shell"],
        external: External::Only(&["serde_json", "sqlparser", "toml"]),
        purity: Purity::Pure,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-core",
        internal: &["portcullis-shell", "portcullis-analysis"],
        external: External::Only(&["thiserror"]),
        purity: Purity::Pure,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-settings",
        internal: &["portcullis-core"],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-hosts",
        internal: &["portcullis-core"],
        external: External::Only(&["serde", "serde_json", "thiserror"]),
        purity: Purity::Pure,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-guard",
        internal: &[],
        external: External::Only(&["libc"]),
        purity: Purity::Free,
        own_lints: Some("signal handlers need unsafe code, which the workspace forbids"),
    },
    CrateInfo {
        name: "portcullis-arena",
        internal: &[],
        external: External::Only(&[]),
        purity: Purity::Free,
        own_lints: Some("an allocator needs unsafe code, which the workspace forbids"),
    },
    CrateInfo {
        name: "portcullis-fence",
        internal: &[],
        external: External::Only(&[
            "landlock",
            "libc",
            "rustix",
            "seccompiler",
            "serde",
            "serde_json",
            "sha2",
            "signal-hook",
            "thiserror",
        ]),
        purity: Purity::Free,
        own_lints: Some("a process inside new namespaces needs unsafe code, which the workspace forbids"),
    },
    CrateInfo {
        name: "portcullis-memory",
        internal: &["portcullis-arena", "portcullis-guard"],
        external: External::Only(&[]),
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-classifier",
        internal: &["portcullis-core", "portcullis-hosts"],
        external: External::Only(&["memchr", "serde", "serde_json", "thiserror", "ureq"]),
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-store",
        internal: &["portcullis-core"],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-world",
        internal: &["portcullis-core"],
        external: External::Only(&[]),
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-postgres",
        internal: &["portcullis-core", "portcullis-store"],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-web",
        internal: &["portcullis-core"],
        external: External::Only(&["askama"]),
        purity: Purity::Pure,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-testkit",
        internal: &[],
        external: External::Only(&["serde", "serde_json"]),
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-gate",
        internal: &[
            "portcullis-core",
            "portcullis-fence",
            "portcullis-settings",
            "portcullis-hosts",
            "portcullis-guard",
            "portcullis-classifier",
            "portcullis-store",
            "portcullis-world",
            "portcullis-postgres",
        ],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-hook",
        internal: &["portcullis-core", "portcullis-gate", "portcullis-guard", "portcullis-hosts"],
        external: External::Only(&[]),
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-output",
        internal: &[
            "portcullis-core",
            "portcullis-settings",
            "portcullis-hosts",
            "portcullis-classifier",
            "portcullis-store",
            "portcullis-gate",
        ],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-daemon",
        internal: &[
            "portcullis-core",
            "portcullis-settings",
            "portcullis-hosts",
            "portcullis-guard",
            "portcullis-classifier",
            "portcullis-store",
            "portcullis-world",
            "portcullis-gate",
            "portcullis-output",
            "portcullis-web",
            "portcullis-testkit",
        ],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-install",
        internal: &[
            "portcullis-core",
            "portcullis-settings",
            "portcullis-hosts",
            "portcullis-guard",
            "portcullis-store",
            "portcullis-gate",
            "portcullis-hook",
            "portcullis-output",
        ],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis",
        internal: &[
            "portcullis-daemon",
            "portcullis-gate",
            "portcullis-hook",
            "portcullis-install",
            "portcullis-output",
            "portcullis-core",
            "portcullis-settings",
            "portcullis-hosts",
            "portcullis-guard",
            "portcullis-arena",
            "portcullis-fence",
            "portcullis-memory",
            "portcullis-classifier",
            "portcullis-postgres",
            "portcullis-store",
            "portcullis-testkit",
            "portcullis-web",
            "portcullis-world",
        ],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-example-harness",
        internal: &["portcullis-core", "portcullis-gate", "portcullis-hosts"],
        external: External::Only(&[]),
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-e2e",
        internal: &["portcullis-hosts", "portcullis-testkit"],
        external: External::Only(&["serde_json"]),
        purity: Purity::Free,
        own_lints: None,
    },
    CrateInfo {
        name: "portcullis-dev",
        internal: &[
            "portcullis-classifier",
            "portcullis-core",
            "portcullis-hosts",
            "portcullis-postgres",
            "portcullis-settings",
            "portcullis-store",
            "portcullis-testkit",
        ],
        external: External::Any,
        purity: Purity::Free,
        own_lints: None,
    },
];

/// Checks the edges between crates in the output of `cargo metadata`.
pub fn find_forbidden_edges(metadata: &Value) -> Vec<TidyProblem> {
    let empty = Vec::new();
    let packages = metadata.get("packages").and_then(Value::as_array).unwrap_or(&empty);
    let mut problems = Vec::new();
    for package in packages {
        let name = text(package, "name");
        let file = manifest_of(name);
        let Some(info) = CRATES.iter().find(|info| info.name == name) else {
            problems.push(TidyProblem::new(&file, 0, "the crate is missing from the table of allowed edges"));
            continue;
        };
        for dependency in package.get("dependencies").and_then(Value::as_array).unwrap_or(&empty) {
            let other = text(dependency, "name");
            let is_for_tests = text(dependency, "kind") == "dev";
            if !is_allowed(info, other, is_for_tests) {
                problems.push(TidyProblem::new(&file, 0, format!("`{name}` may not depend on `{other}`")));
            }
        }
    }
    let known = |info: &&CrateInfo| packages.iter().any(|package| text(package, "name") == info.name);
    for info in CRATES.iter().filter(|info| !known(info)) {
        problems.push(TidyProblem::new("Cargo.toml", 0, format!("there is no crate `{}`", info.name)));
    }
    problems
}

/// Returns where the manifest of a crate is.
fn manifest_of(name: &str) -> String {
    match name.strip_prefix("portcullis-example-") {
        Some(example) => format!("examples/{example}/Cargo.toml"),
        None => format!("crates/{name}/Cargo.toml"),
    }
}

fn is_allowed(info: &CrateInfo, other: &str, is_for_tests: bool) -> bool {
    if other == "portcullis-testkit" && is_for_tests {
        return true;
    }
    if other.starts_with("portcullis") {
        return info.internal.contains(&other);
    }
    match info.external {
        External::Any => true,
        External::Only(_) if is_for_tests => true,
        External::Only(names) => names.contains(&other),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Checks that every pure crate has the fence, that it is the same everywhere, and that it still forbids what matters.
pub fn find_broken_fences(tree: &TrackedTree) -> Vec<TidyProblem> {
    const MUST_FORBID: &[&str] = &[
        "std::fs::read_to_string",
        "std::fs::File::open",
        "std::env::var",
        "std::env::current_dir",
        "std::path::Path::exists",
        "std::path::Path::canonicalize",
        "std::process::Command::new",
        "std::net::TcpStream::connect",
        "std::time::SystemTime::now",
        "std::time::Instant::now",
        "std::collections::HashMap",
        "std::collections::HashSet",
    ];
    let pure: Vec<String> = CRATES
        .iter()
        .filter(|info| info.purity == Purity::Pure)
        .map(|info| format!("crates/{}/clippy.toml", info.name))
        .collect();
    let mut problems = Vec::new();
    let reference =
        pure.iter().find_map(|path| tree.find(path)).map(|file| file.text.as_str()).unwrap_or_default();
    for path in &pure {
        match tree.find(path) {
            None => problems.push(TidyProblem::new(path, 0, "a pure crate has no fence")),
            Some(file) if file.text != reference => {
                problems.push(TidyProblem::new(
                    path,
                    0,
                    "the fence differs from that of the other pure crates",
                ));
            }
            Some(_) => {}
        }
    }
    for item in MUST_FORBID.iter().filter(|item| !reference.contains(&format!("\"{item}\""))) {
        problems.push(TidyProblem::new(
            "clippy.toml of the pure crates",
            0,
            format!("`{item}` is not forbidden"),
        ));
    }
    problems
}

/// Checks that every crate takes the workspace's lints and licence.
pub fn find_manifest_gaps(tree: &TrackedTree) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for info in CRATES {
        let path = manifest_of(info.name);
        let Some(file) = tree.find(&path) else {
            problems.push(TidyProblem::new(&path, 0, "the manifest is missing"));
            continue;
        };
        let takes_lints = file.text.contains("[lints]\nworkspace = true");
        match info.own_lints {
            None if !takes_lints => {
                problems.push(TidyProblem::new(&path, 0, "the crate does not take the workspace lints"));
            }
            Some(reason) if takes_lints => {
                problems.push(TidyProblem::new(
                    &path,
                    0,
                    format!("no exception is needed any more: {reason}"),
                ));
            }
            Some(_) if !file.text.contains("[lints.clippy]") => {
                problems.push(TidyProblem::new(&path, 0, "the crate has no lints at all"));
            }
            None | Some(_) => {}
        }
        for field in ["license", "version", "edition", "rust-version", "publish"] {
            if !file.text.contains(&format!("\n{field}.workspace = true")) {
                problems.push(TidyProblem::new(&path, 0, format!("`{field}` is not the workspace's")));
            }
        }
    }
    let root = tree.find("Cargo.toml").map(|file| file.text.as_str()).unwrap_or_default();
    if !root.contains("license = \"MIT OR Apache-2.0\"") {
        problems.push(TidyProblem::new("Cargo.toml", 0, "the licence is not `MIT OR Apache-2.0`"));
    }
    for path in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if tree.find(path).is_none() {
            problems.push(TidyProblem::new(path, 0, "the licence text is missing"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tidy::messages;

    fn edges(name: &str, dependency: &str, kind: Option<&str>) -> Vec<String> {
        let metadata =
            json!({"packages": [{"name": name, "dependencies": [{"name": dependency, "kind": kind}]}]});
        let mut found = messages(&find_forbidden_edges(&metadata));
        found.retain(|message| !message.starts_with("Cargo.toml: there is no crate"));
        found
    }

    #[test]
    fn an_arrow_that_points_right_is_found() {
        let forbidden = [
            ("portcullis-shell", "memchr", None),
            ("portcullis-shell", "portcullis-core", Some("dev")),
            ("portcullis-analysis", "portcullis-core", None),
            ("portcullis-core", "serde_json", None),
            ("portcullis-core", "portcullis-settings", None),
            ("portcullis-core", "serde_json", Some("build")),
            ("portcullis-classifier", "portcullis-testkit", None),
            ("portcullis-guard", "portcullis-core", None),
            ("portcullis-hosts", "portcullis-settings", None),
            ("portcullis-world", "portcullis-store", None),
            ("portcullis-store", "portcullis-postgres", None),
            ("portcullis-postgres", "portcullis-settings", None),
            ("portcullis-arena", "libc", None),
            ("portcullis-arena", "portcullis-core", None),
            ("portcullis-e2e", "portcullis-core", None),
            ("portcullis-example-harness", "portcullis-analysis", None),
            ("portcullis", "portcullis-example-harness", None),
        ];
        for (name, dependency, kind) in forbidden {
            assert_eq!(edges(name, dependency, kind).len(), 1, "{name} -> {dependency}");
        }
        let allowed = [
            ("portcullis-shell", "proptest", Some("dev")),
            ("portcullis-core", "thiserror", None),
            ("portcullis-core", "portcullis-shell", None),
            ("portcullis", "clap", None),
            ("portcullis", "portcullis-arena", None),
            ("portcullis", "portcullis-postgres", None),
            ("portcullis-arena", "proptest", Some("dev")),
            ("portcullis-e2e", "portcullis-testkit", Some("dev")),
            ("portcullis-shell", "portcullis-testkit", Some("dev")),
            ("portcullis-example-harness", "portcullis-gate", None),
        ];
        for (name, dependency, kind) in allowed {
            assert_eq!(edges(name, dependency, kind), Vec::<String>::new(), "{name} -> {dependency}");
        }
    }

    #[test]
    fn a_crate_nobody_listed_is_found() {
        assert_eq!(
            edges("portcullis-extra", "serde", None),
            ["crates/portcullis-extra/Cargo.toml: the crate is missing from the table of allowed edges"]
        );
        assert_eq!(
            edges("portcullis-example-extra", "serde", None),
            ["examples/extra/Cargo.toml: the crate is missing from the table of allowed edges"]
        );
    }

    #[test]
    fn a_missing_and_a_weakened_fence_are_found() {
        let fence = "disallowed-methods = []\n";
        let tree = TrackedTree::of(&[
            ("crates/portcullis-shell/clippy.toml", fence),
            ("crates/portcullis-analysis/clippy.toml", fence),
            ("crates/portcullis-core/clippy.toml", "other"),
        ]);
        let found = messages(&find_broken_fences(&tree));
        assert!(found.contains(&"crates/portcullis-hosts/clippy.toml: a pure crate has no fence".to_owned()));
        assert!(
            found.iter().any(|message| message.contains("portcullis-core/clippy.toml: the fence differs"))
        );
        assert!(found.iter().any(|message| message.contains("`std::env::var` is not forbidden")));
    }
}
