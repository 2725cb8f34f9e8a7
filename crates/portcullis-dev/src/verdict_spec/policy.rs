//! The settings of a specification become files of a temporary disk, which the settings crate reads as it always does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use portcullis_core::rule::Rule;
use portcullis_core::{Policy, RuleSet};
use portcullis_settings::{
    LoadOptions, ManagedDirectories, SettingsEnvironment, SettingsLocations, TrustQuestion, load,
};

use super::parse::{SpecLayer, SpecState};

/// Makes the policy that the settings of `state` amount to.
pub(super) fn build_policy(state: &SpecState) -> Result<Policy> {
    let disk = tempfile::tempdir().context("cannot make a temporary directory")?;
    let root = disk.path().canonicalize()?;
    let project = on_disk(&root, &state.session.context.project);
    let home = on_disk(&root, state.session.context.home.as_deref().unwrap_or("/nobody"));
    fs::create_dir_all(&project)?;
    fs::create_dir_all(&home)?;
    write_settings(&state.settings, &root, &project, &home)?;

    let environment = SettingsEnvironment {
        home: Some(home.into()),
        managed: Some(ManagedDirectories {
            portcullis: on_disk(&root, "/etc/portcullis").into(),
            claude: on_disk(&root, "/etc/claude-code").into(),
        }),
        ..SettingsEnvironment::default()
    };
    let options = LoadOptions {
        settings: state.settings.get(&SpecLayer::Flag).cloned(),
        trust: if state.session.trusted { TrustQuestion::Trusted } else { TrustQuestion::Untrusted },
        ..LoadOptions::default()
    };
    let loaded = load(&SettingsLocations::new(environment, Path::new(&project)), &options);
    let mut policy = loaded.policy;
    let prefix = root.to_string_lossy();
    for directory in &mut policy.additional_directories {
        if let Some(rest) = directory.strip_prefix(prefix.as_ref()) {
            *directory = rest.to_owned();
        }
    }
    policy.rules = RuleSet::new(policy.rules.rules().iter().map(|rule| without_root(rule, &root)).collect());
    Ok(policy)
}

fn on_disk(root: &Path, path: &str) -> String {
    format!("{}{path}", root.display())
}

fn write_settings(
    settings: &BTreeMap<SpecLayer, String>,
    root: &Path,
    project: &str,
    home: &str,
) -> Result<()> {
    for (layer, text) in settings {
        let path = match layer {
            SpecLayer::Flag => continue,
            SpecLayer::Managed => on_disk(root, "/etc/portcullis/managed-settings.json"),
            SpecLayer::Local => format!("{project}/.portcullis/settings.local.json"),
            SpecLayer::Project => format!("{project}/.portcullis/settings.json"),
            SpecLayer::User => format!("{home}/.config/portcullis/settings.json"),
        };
        let parent = Path::new(&path).parent().context("a settings file has a directory")?;
        fs::create_dir_all(parent)?;
        fs::write(&path, text)?;
    }
    Ok(())
}

/// Anchors a rule as if the temporary disk were the whole disk.
fn without_root(rule: &Rule, root: &Path) -> Rule {
    let mut rule = rule.clone();
    let prefix = root.to_string_lossy();
    rule.origin.base = rule.origin.base.map(|base| match base.strip_prefix(prefix.as_ref()) {
        Some("") => "/".into(),
        Some(rest) => rest.into(),
        None => base,
    });
    rule
}
