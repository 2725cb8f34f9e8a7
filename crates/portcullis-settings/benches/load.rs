//! What loading costs: the hook does it for every call.
//!
//! `cargo bench -p portcullis-settings`

use std::fs;

use portcullis_settings::{
    LoadOptions, ManagedDirectories, SettingsEnvironment, SettingsLocations, TrustQuestion, load,
};

fn main() {
    divan::main();
}

/// Writes user, project and local settings that hold this many rules together.
fn prepare(rules: usize) -> std::io::Result<(tempfile::TempDir, SettingsLocations)> {
    let directory = tempfile::tempdir()?;
    let root = directory.path();
    fs::create_dir_all(root.join("app/.git"))?;
    for (place, count) in [
        ("home/.config/portcullis/settings.json", rules / 3),
        ("app/.claude/settings.json", rules / 3),
        ("app/.claude/settings.local.json", rules - 2 * (rules / 3)),
    ] {
        let entries: Vec<String> =
            (0..count).map(|number| format!("      \"Bash(tool-{number} run *)\"")).collect();
        let text = format!(
            "{{\n  \"permissions\": {{\n    \"allow\": [\n{}\n    ]\n  }}\n}}\n",
            entries.join(",\n")
        );
        let file = root.join(place);
        fs::create_dir_all(file.parent().unwrap_or(root))?;
        fs::write(file, text)?;
    }
    let environment = SettingsEnvironment {
        home: Some(root.join("home")),
        managed: Some(ManagedDirectories {
            portcullis: root.join("managed"),
            claude: root.join("managed-claude"),
        }),
        ..SettingsEnvironment::default()
    };
    let locations = SettingsLocations::new(environment, &root.join("app"));
    Ok((directory, locations))
}

#[divan::bench(args = [0, 20, 200, 2_000])]
fn three_files(bencher: divan::Bencher<'_, '_>, rules: usize) {
    let Ok((_directory, locations)) = prepare(rules) else { return };
    let options = LoadOptions { trust: TrustQuestion::Trusted, ..LoadOptions::default() };
    bencher.bench_local(|| load(&locations, &options));
}

/// Profiles of users, of the size of the guide's example, beside 20 rules.
#[divan::bench(args = [0, 1, 5, 20])]
fn profile_files(bencher: divan::Bencher<'_, '_>, files: usize) {
    let Ok((directory, locations)) = prepare(20) else { return };
    let folder = directory.path().join("home/.config/portcullis/commands");
    for number in 0..files {
        let text = include_str!("../../../docs/guides/add-a-program.md");
        let profile = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
        let profile = profile.unwrap_or_default().replace("acme-lint", &format!("acme{number}lint"));
        let _ = fs::create_dir_all(&folder);
        let _ = fs::write(folder.join(format!("{number}.toml")), profile);
    }
    let options = LoadOptions { trust: TrustQuestion::Trusted, ..LoadOptions::default() };
    bencher.bench_local(|| load(&locations, &options));
}

#[divan::bench]
fn locations(bencher: divan::Bencher<'_, '_>) {
    let Ok((directory, _)) = prepare(20) else { return };
    let app = directory.path().join("app");
    bencher.bench_local(|| SettingsLocations::new(SettingsEnvironment::default(), &app));
}
