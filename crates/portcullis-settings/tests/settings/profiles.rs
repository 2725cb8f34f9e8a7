//! Profile files: who may add what, and what a broken one takes away.

use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use portcullis_settings::{DocumentState, LoadedSettings, ProblemSeverity, check_profiles};

use crate::world::{World, ignored, messages};

const USER: &str = "home/.config/portcullis/commands";
const MANAGED: &str = "managed/portcullis/commands";
const PROJECT: &str = "app/.portcullis/commands";

fn profile(name: &str, summary: &str) -> String {
    format!(
        "names = [\"{name}\"]\nsummary = \"{summary}\"\ndoes = [\"observe\"]\n\n[[example]]\ncommand = \"{name}\"\neffects = [\"observe\"]\n"
    )
}

fn world(files: &[(&str, &str, &str)]) -> World {
    let world = World::new();
    for (folder, name, summary) in files {
        world.write(format!("{folder}/{name}.toml").as_ref(), &profile(name, summary));
    }
    world
}

/// Lists the added profiles as `source name: summary`.
fn added(loaded: &LoadedSettings) -> Vec<String> {
    let profiles = loaded.profiles.added();
    profiles.map(|(name, profile, origin)| format!("{} {name}: {}", origin.source, profile.summary)).collect()
}

#[test]
fn files_of_users_and_organizations_are_read_and_the_stronger_counts() {
    let world = world(&[(USER, "acme", "is mine"), (USER, "ls", "is mine"), (MANAGED, "acme", "is theirs")]);
    let loaded = world.load();
    assert_eq!(added(&loaded), ["policy acme: is theirs", "user ls: is mine"]);
    assert_eq!(loaded.profiles.find("ls").map(|profile| profile.summary), Some("is mine"));
    assert_eq!(loaded.problems, []);
    let read: Vec<usize> = loaded
        .documents
        .iter()
        .filter(|document| document.name.ends_with(".toml") && document.state == DocumentState::Read)
        .map(|document| document.programs)
        .collect();
    assert_eq!(read, [1, 0, 1]);
}

// C12
#[test]
fn a_project_adds_programs_only_if_it_is_trusted() {
    let world = world(&[(PROJECT, "acme", "is the project's")]);
    world.write(format!("{PROJECT}/broken.toml").as_ref(), "names = [");
    let loaded = world.load();
    assert_eq!(added(&loaded), Vec::<String>::new());
    assert_eq!(ignored(&loaded), ["profiles of programs: UntrustedWorkspace"; 2]);
    assert_eq!(loaded.problems, [], "what is not trusted is not even opened");
    let trusted = world.load_trusted();
    assert_eq!(added(&trusted), ["project acme: is the project's"]);
    assert_eq!(trusted.problems.len(), 1);
}

#[test]
fn a_project_cannot_describe_a_program_with_a_built_in_profile() {
    let world =
        world(&[(PROJECT, "git", "is harmless"), (PROJECT, "GIT", "is harmless"), (PROJECT, "acme", "is")]);
    let loaded = world.load_trusted();
    assert_eq!(added(&loaded), ["project acme: is"]);
    let refused: Vec<(u32, u32)> = loaded
        .problems
        .iter()
        .filter(|problem| problem.message.contains("has a built-in profile, which a project cannot replace"))
        .filter_map(|problem| problem.place.as_ref())
        .map(|place| (place.line, place.column))
        .collect();
    assert_eq!(refused, [(1, 10), (1, 10)], "{:?}", messages(&loaded));
}

#[test]
fn a_broken_file_is_reported_with_its_place_and_widens_nothing() {
    let world = world(&[(USER, "acme", "is mine")]);
    let broken = profile("ls", "is mine").replace("observe\"]\n\n", "obsrve\"]\n\n");
    world.write(format!("{USER}/ls.toml").as_ref(), &broken);
    let loaded = world.load();
    assert_eq!(added(&loaded), ["user acme: is mine"]);
    assert_ne!(loaded.profiles.find("ls").map(|profile| profile.summary), Some("is mine"));
    let [problem] = loaded.problems.as_slice() else { panic!("{:?}", loaded.problems) };
    let file = world.path(&format!("{USER}/ls.toml"));
    assert_eq!(
        problem.to_string(),
        format!(
            "error: there is no act `obsrve`\n  --> {}:3:9\n   |\n 3 | does = [\"obsrve\"]\n   |         ^\nhint: until it is mended, nothing of the file counts; try `portcullis profiles check FILE`",
            file.display()
        )
    );
    assert_eq!(problem.severity, ProblemSeverity::Error);
    assert!(!loaded.damaged);
}

// C10, C11
#[test]
fn profiles_count_only_where_an_allow_rule_would() {
    let managed_only = world(&[(USER, "acme", "is mine"), (MANAGED, "corp", "is theirs")]);
    managed_only.write(&managed_only.place("policy"), "{\"allowManagedPermissionRulesOnly\": true}");
    let loaded = managed_only.load();
    assert_eq!(added(&loaded), ["policy corp: is theirs"]);
    assert_eq!(ignored(&loaded), ["profiles of programs: ManagedRulesOnly"]);

    let damaged = world(&[(USER, "acme", "is mine"), (MANAGED, "corp", "is theirs")]);
    damaged.write(&damaged.place("user-claude"), "{");
    let loaded = damaged.load();
    assert_eq!(added(&loaded), ["policy corp: is theirs"]);
    assert_eq!(ignored(&loaded), ["profiles of programs: BrokenSettings"]);
}

#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    let world = World::new();
    world.write("elsewhere/acme.toml".as_ref(), "a secret");
    std::fs::create_dir_all(world.path(PROJECT)).unwrap();
    symlink(world.path("elsewhere/acme.toml"), world.path(&format!("{PROJECT}/acme.toml"))).unwrap();
    let loaded = world.load_trusted();
    assert_eq!(added(&loaded), Vec::<String>::new());
    let [problem] = loaded.problems.as_slice() else { panic!("{:?}", loaded.problems) };
    assert!(problem.to_string().contains("lies outside of the repository") && problem.place.is_none());
}

#[test]
fn too_much_is_refused() {
    let world = World::new();
    for number in 0..300 {
        let name = format!("acme{number:03}x");
        world.write(format!("{USER}/{name}.toml").as_ref(), &profile(&name, "is one of many"));
    }
    let loaded = world.load();
    assert_eq!(added(&loaded).len(), 256);
    assert!(messages(&loaded)[0].contains("more than 256 profile files"), "{:?}", messages(&loaded));
    let large = crate::world::World::new();
    large.write(format!("{USER}/acme.toml").as_ref(), &format!("# {}", "x".repeat(1024 * 1024)));
    assert_eq!(large.load().problems.len(), 1);
}

#[test]
fn examples_that_are_not_so_are_told() {
    let text = profile("acme", "is mine").replace("effects = [\"observe\"]", "effects = [\"write x\"]");
    let check = check_profiles(&text, &"acme.toml".into());
    assert_eq!((check.programs.as_slice(), check.examples), (["acme".to_owned()].as_slice(), 1));
    let report = check.problems[0].to_string();
    assert!(
        report.contains("acme.toml:6:11") && report.contains("than the example says: observe"),
        "{report}"
    );
    assert_eq!(check_profiles(&profile("acme", "is mine"), &"acme.toml".into()).problems, []);
}
