//! C9, C12: which repository a directory belongs to. The layouts are the ones git makes, written by hand.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use pretty_assertions::assert_eq;

use crate::world::World;

/// Writes a linked worktree `tree` of the repository in `app`, as `git worktree add` does.
fn add_worktree(world: &World, tree: &str) {
    let administrative = world.path("app/.git/worktrees/tree");
    world.write(format!("{tree}/.git").as_ref(), &format!("gitdir: {}\n", administrative.display()));
    world.write("app/.git/worktrees/tree/commondir".as_ref(), "../..\n");
    let back = world.path(tree).join(".git");
    world.write("app/.git/worktrees/tree/gitdir".as_ref(), &format!("{}\n", back.display()));
}

fn workspace(world: &World, directory: &str) -> PathBuf {
    world.locations_in(directory).workspace().to_path_buf()
}

#[test]
fn a_directory_belongs_to_the_nearest_repository_and_to_itself_outside_any() {
    let world = World::new();
    world.write("app/vendor/nested/.git/HEAD".as_ref(), "");
    world.write("app/vendor/nested/src/x".as_ref(), "");
    world.write("app/src/x".as_ref(), "");
    world.write("loose/deep/x".as_ref(), "");
    for (directory, expected) in [
        ("app", "app"),
        ("app/src", "app"),
        ("app/vendor", "app"),
        ("app/vendor/nested/src", "app/vendor/nested"),
        ("loose/deep", "loose/deep"),
    ] {
        assert_eq!(workspace(&world, directory), world.path(expected), "{directory}");
    }
}

#[test]
fn a_linked_worktree_belongs_to_the_main_checkout() {
    let world = World::new();
    add_worktree(&world, "tree");
    world.write("tree/src/x".as_ref(), "");
    assert_eq!(workspace(&world, "tree/src"), world.path("app"));
    let local = world.locations_in("tree/src").files(portcullis_core::Source::Local);
    assert_eq!(local[1].path, world.path("app/.portcullis/settings.local.json"));
    let project = world.locations_in("tree").files(portcullis_core::Source::Project);
    assert_eq!(project[1].path, world.path("tree/.portcullis/settings.json"));
}

#[test]
fn git_itself_makes_the_worktree_that_is_recognized() {
    let world = World::new();
    std::fs::remove_dir_all(world.path("app")).unwrap();
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"])
            .args(arguments)
            .current_dir(world.path(""))
            .env("HOME", world.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    };
    git(&["init", "-q", "app"]);
    git(&["-C", "app", "commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["-C", "app", "worktree", "add", "-q", "../tree"]);
    assert_eq!(workspace(&world, "tree"), world.path("app"));
}

// A repository that could pass for another one would inherit its trust.
#[test]
fn a_worktree_that_its_main_checkout_does_not_list_belongs_to_itself() {
    let world = World::new();
    add_worktree(&world, "tree");
    let administrative = world.path("app/.git/worktrees/tree");
    let claim = format!("gitdir: {}\n", administrative.display());

    // It points to a real worktree's directory, which points back elsewhere.
    world.write("evil/.git".as_ref(), &claim);
    assert_eq!(workspace(&world, "evil"), world.path("evil"));

    // It brings its own administrative directory along, which names the victim as common directory.
    world.write("forged/.git".as_ref(), "gitdir: fake/worktrees/tree\n");
    let common = world.path("app/.git");
    world.write("forged/fake/worktrees/tree/commondir".as_ref(), &format!("{}\n", common.display()));
    let back = world.path("forged/.git");
    world.write("forged/fake/worktrees/tree/gitdir".as_ref(), &format!("{}\n", back.display()));
    assert_eq!(workspace(&world, "forged"), world.path("forged"));

    // The same through a link into the victim's list.
    world.write("linked/.git".as_ref(), &format!("gitdir: {}\n", world.path("linked/way").display()));
    symlink(&administrative, world.path("linked/way")).unwrap();
    assert_eq!(workspace(&world, "linked"), world.path("linked"));
}

#[test]
fn submodules_bare_repositories_and_nonsense_belong_to_themselves() {
    let world = World::new();
    world.write("app/.git/modules/sub/HEAD".as_ref(), "");
    for (directory, pointer) in [
        ("app/sub", "gitdir: ../.git/modules/sub\n".to_owned()),
        ("empty", String::new()),
        ("words", "what is this".to_owned()),
        ("lines", "gitdir: a\ngitdir: b\n".to_owned()),
        ("gone", "gitdir: /nonexistent/.git/worktrees/x\n".to_owned()),
        ("long", format!("gitdir: {}", "x".repeat(100_000))),
    ] {
        world.write(format!("{directory}/.git").as_ref(), &pointer);
        assert_eq!(workspace(&world, directory), world.path(directory), "{directory}");
    }
    world.write("bare.git/worktrees/tree/commondir".as_ref(), "../..\n");
    let back = world.path("tree/.git");
    world.write("bare.git/worktrees/tree/gitdir".as_ref(), &format!("{}\n", back.display()));
    let administrative = world.path("bare.git/worktrees/tree");
    world.write("tree/.git".as_ref(), &format!("gitdir: {}\n", administrative.display()));
    assert_eq!(workspace(&world, "tree"), world.path("tree"));
}

#[test]
fn a_link_inside_a_repository_to_a_directory_outside_does_not_belong_to_it() {
    let world = World::new();
    world.write("evil/x".as_ref(), "");
    symlink(world.path("evil"), world.path("app/link")).unwrap();
    assert_eq!(workspace(&world, "app/link"), world.path("evil"));
}
