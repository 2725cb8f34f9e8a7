//! What is held, what lands, and what meets a change from outside.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use portcullis_fence::{ChangeConflict, ProtectedName, RunError, RunSelection, RunState};
use pretty_assertions::assert_eq;

use crate::yard::{Who, text};
use crate::{Pasture, signs};

fn with_files(who: Who) -> Pasture {
    let pasture = Pasture::new(who);
    let workspace = pasture.yard.workspace();
    for directory in ["kept", "gone/deep", "replaced"] {
        fs::create_dir_all(workspace.join(directory)).expect("a directory");
    }
    for file in ["a", "b", "kept/c", "gone/deep/d", "replaced/old", "replaced/both"] {
        fs::write(workspace.join(file), "before\n").expect("a file");
    }
    pasture.yard.give_away();
    pasture
}

#[test]
fn nothing_lands_before_it_is_committed() {
    for who in Who::everybody() {
        let pasture = with_files(*who);
        let workspace = pasture.yard.workspace();
        let line = "echo after > a; rm b; mkdir new; echo x > new/file; ln -s a link; rm -r gone; \
                    rm -r replaced; mkdir replaced; echo y > replaced/both; chmod 700 kept; touch kept/e; mkfifo pipe";
        let record = pasture.observe(line);
        let expected = [
            "~a",
            "-b",
            "-gone",
            "~kept",
            "+kept/e",
            "+link",
            "+new",
            "+new/file",
            "+pipe",
            "~replaced/both",
            "-replaced/old",
        ];
        assert_eq!(signs(&record), expected);
        assert_eq!(record.state, RunState::Held);
        assert_eq!(fs::read_to_string(workspace.join("a")).expect("it is there"), "before\n");
        assert!(workspace.join("b").exists() && workspace.join("gone/deep/d").exists());
        assert!(!workspace.join("new").exists());

        let output = pasture.commit(&record.id, &[]);
        assert!(output.status.success(), "{}", text(&output));
        assert_eq!(fs::read_to_string(workspace.join("a")).expect("it is there"), "after\n");
        assert_eq!(fs::read_link(workspace.join("link")).expect("a link").to_str(), Some("a"));
        assert!(!workspace.join("b").exists() && !workspace.join("gone").exists());
        assert!(!workspace.join("replaced/old").exists());
        assert_eq!(fs::read_to_string(workspace.join("replaced/both")).expect("it is there"), "y\n");
        assert!(fs::metadata(workspace.join("pipe")).expect("it is there").file_type().is_fifo());
        assert_eq!(fs::metadata(workspace.join("kept")).expect("it is there").mode() & 0o777, 0o700);
        assert_eq!(pasture.store().find(&record.id).expect("a record").state, RunState::Committed);
    }
}

#[test]
fn modes_times_and_links_arrive_as_they_were() {
    let pasture = with_files(Who::Tester);
    let workspace = pasture.yard.workspace();
    let line = "echo x > one; ln one two; chmod 751 one; touch -d @1000000000 one; mkdir -m 750 dir; \
                touch -d @900000000 dir; touch -d @1000000001 a; ln -s nowhere dangling";
    let record = pasture.observe(line);
    assert!(pasture.commit(&record.id, &[]).status.success());
    let one = fs::metadata(workspace.join("one")).expect("it is there");
    assert_eq!((one.mode() & 0o777, one.mtime(), one.nlink()), (0o751, 1_000_000_000, 2));
    assert_eq!(one.ino(), fs::metadata(workspace.join("two")).expect("it is there").ino());
    let directory = fs::metadata(workspace.join("dir")).expect("it is there");
    assert_eq!((directory.mode() & 0o777, directory.mtime()), (0o750, 900_000_000));
    assert_eq!(fs::metadata(workspace.join("a")).expect("it is there").mtime(), 1_000_000_001);
    assert!(workspace.join("dangling").is_symlink());
    let marks = std::process::Command::new("getfattr").args(["-d", "-R", "-m", "."]).arg(&workspace).output();
    if let Ok(marks) = marks {
        assert!(!String::from_utf8_lossy(&marks.stdout).contains("overlay"), "{}", text(&marks));
    }
}

#[test]
fn a_change_from_outside_is_not_lost() {
    let pasture = with_files(Who::Tester);
    let workspace = pasture.yard.workspace();
    let record = pasture.observe("echo inside > a; rm -r gone; echo x > new; echo y > kept/c");
    fs::write(workspace.join("a"), "outside").expect("a change");
    fs::write(workspace.join("gone/deep/other"), "outside").expect("a change");
    fs::write(workspace.join("new"), "outside").expect("a change");
    // Old times do not hide it.
    let file = fs::File::options().write(true).open(workspace.join("a")).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(5)).expect("a time");
    let store = pasture.store();
    let held = store.held(&record, &[]).expect("the changes");
    let conflicts: Vec<_> = held
        .iter()
        .filter(|held| held.conflict == Some(ChangeConflict::ChangedOutside))
        .map(|held| held.change.path.display().to_string())
        .collect();
    assert_eq!(conflicts, ["a", "gone", "new"]);
    let refused = store.commit(&record.id, &RunSelection::All, false);
    assert!(matches!(refused, Err(RunError::Conflict { count: 3, .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(workspace.join("a")).expect("it is there"), "outside");
    assert_eq!(fs::read_to_string(workspace.join("kept/c")).expect("it is there"), "before\n");
    let record =
        store.commit(&record.id, &RunSelection::Paths(vec!["kept".into()]), false).expect("it lands");
    assert_eq!(
        (record.state, signs(&record)),
        (RunState::Held, vec!["~a".into(), "-gone".into(), "+new".into()])
    );
    let record = store.commit(&record.id, &RunSelection::All, true).expect("it lands");
    assert_eq!(record.state, RunState::Committed);
    assert_eq!(fs::read_to_string(workspace.join("a")).expect("it is there"), "inside\n");
    assert!(!workspace.join("gone").exists());
}

#[test]
fn a_part_brings_the_directories_it_lies_in() {
    let pasture = with_files(Who::Tester);
    let workspace = pasture.yard.workspace();
    let record = pasture.observe("mkdir -p x/y; echo 1 > x/y/one; echo 2 > x/y/two; rm b");
    assert!(pasture.commit(&record.id, &["x/y/one"]).status.success());
    assert!(workspace.join("x/y/one").exists() && !workspace.join("x/y/two").exists());
    assert!(workspace.join("b").exists());
    let rest = pasture.store().find(&record.id).expect("a record");
    assert_eq!(signs(&rest), ["-b", "+x/y/two"]);
    let unknown = pasture.store().commit(&record.id, &RunSelection::Paths(vec!["y".into()]), false);
    assert!(matches!(unknown, Err(RunError::NoSuchChange { .. })));
    assert_eq!(pasture.store().discard(&record.id).expect("it is thrown away").state, RunState::Dropped);
    assert!(workspace.join("b").exists() && !workspace.join("x/y/two").exists());
    assert!(!pasture.store_path().join(&record.id).join("0").exists());
}

#[test]
fn a_file_with_another_name_is_not_torn_from_it_in_silence() {
    let pasture = with_files(Who::Tester);
    let workspace = pasture.yard.workspace();
    fs::hard_link(workspace.join("a"), pasture.yard.root().join("home/other")).expect("a link");
    let record = pasture.observe("echo inside > a");
    assert_eq!(fs::read_to_string(pasture.yard.home("other")).expect("it is there"), "before\n");
    let held = pasture.store().held(&record, &[]).expect("the changes");
    assert_eq!(held[0].conflict, Some(ChangeConflict::OtherNames));
}

#[test]
fn what_runs_later_is_marked_wherever_it_is_made() {
    let pasture = with_files(Who::Tester);
    let record = pasture.observe(
        "mkdir -p sub/.git/hooks .git/hooks; echo x > sub/.git/hooks/pre-commit; mv .git other; mkdir -p .git/hooks; \
         echo x > .git/hooks/pre-push; echo y > plain",
    );
    let names = [".git/hooks"].map(|name| ProtectedName::try_from(name.to_owned()).expect("a name"));
    let held = pasture.store().held(&record, &names).expect("the changes");
    let marked: Vec<_> = held
        .iter()
        .filter(|held| held.is_protected)
        .map(|held| held.change.path.display().to_string())
        .collect();
    assert_eq!(marked, [".git/hooks", ".git/hooks/pre-push", "sub/.git/hooks", "sub/.git/hooks/pre-commit"]);
}

/// What git runs, follows or writes through is not all that it protects by name.
#[test]
fn what_is_planted_for_git_is_marked() {
    for (line, planted) in [
        ("ln -s ../../home/notes .git/COMMIT_EDITMSG", ".git/COMMIT_EDITMSG"),
        ("mkdir .git/logs; ln -s ../../../home/notes .git/logs/HEAD", ".git/logs/HEAD"),
        ("mkfifo .git/index", ".git/index"),
        ("echo ../evil > .git/commondir", ".git/commondir"),
        ("mkdir -p .git/worktrees/w; echo evil > .git/worktrees/w/commondir", ".git/worktrees/w/commondir"),
        ("mkdir -p .git/modules/a/b; echo x > .git/modules/a/b/config", ".git/modules/a/b/config"),
        (
            "mkdir .git/rebase-merge; echo 'exec x' > .git/rebase-merge/git-rebase-todo",
            ".git/rebase-merge/git-rebase-todo",
        ),
        (
            "mkdir -p .git/objects/info; echo /x > .git/objects/info/alternates",
            ".git/objects/info/alternates",
        ),
        ("mkdir sub; echo x > sub/HEAD; echo x > sub/config", "sub/HEAD sub/config"),
        (
            "mkdir -p sub/hooks; echo x > sub/HEAD; echo x > sub/hooks/pre-commit",
            "sub/HEAD sub/hooks sub/hooks/pre-commit",
        ),
        (
            "echo x > .git/index; mkdir -p .git/objects/0a; echo x > .git/objects/0a/0b; echo x > .git/HEAD",
            "",
        ),
        ("echo x > config; mkdir hooks; echo x > hooks/a; mkdir .git/branches", ""),
    ] {
        let pasture = with_files(Who::Tester);
        fs::create_dir(pasture.yard.workspace().join(".git")).expect("a directory");
        fs::write(pasture.yard.workspace().join(".git/config"), "").expect("a file");
        let record = pasture.observe(line);
        let held = pasture.store().held(&record, &[]).expect("the changes");
        let marked =
            held.iter().filter(|held| held.is_protected).map(|held| held.change.path.display().to_string());
        assert_eq!(marked.collect::<Vec<_>>().join(" "), planted, "{line}");
    }
}

#[test]
fn a_link_that_somebody_puts_in_the_way_is_not_followed() {
    let pasture = with_files(Who::Tester);
    let workspace = pasture.yard.workspace();
    let record = pasture.observe("echo inside > kept/new");
    fs::rename(workspace.join("kept"), workspace.join("moved")).expect("a rename");
    std::os::unix::fs::symlink(pasture.yard.root().join("home"), workspace.join("kept")).expect("a link");
    assert!(!pasture.commit(&record.id, &[]).status.success());
    assert!(!pasture.yard.root().join("home/new").exists());
}

/// The directory that a change was made in may be gone, or be another one by now: then nothing of the run lands.
#[test]
fn a_parent_that_is_not_the_same_is_a_conflict() {
    let swap: [fn(&std::path::Path); 5] = [
        |kept| fs::remove_dir_all(kept).expect("it is removed"),
        |kept| {
            fs::rename(kept, kept.with_file_name("moved")).expect("a rename");
            std::os::unix::fs::symlink("moved", kept).expect("a link");
        },
        |kept| {
            fs::remove_dir_all(kept).expect("it is removed");
            fs::write(kept, "").expect("a file");
        },
        |kept| {
            fs::rename(kept, kept.with_file_name("moved")).expect("a rename");
            fs::rename(kept.with_file_name("gone"), kept).expect("a rename");
        },
        |kept| {
            fs::remove_dir_all(kept).expect("it is removed");
            fs::create_dir(kept).expect("a directory");
        },
    ];
    for (at, swap) in swap.iter().enumerate() {
        let pasture = with_files(Who::Tester);
        let workspace = pasture.yard.workspace();
        let record =
            pasture.observe("echo x > a; mkdir kept/more; echo x > kept/more/new; echo x > kept/new");
        swap(&workspace.join("kept"));
        let refused = pasture.store().commit(&record.id, &RunSelection::All, false);
        assert!(matches!(refused, Err(RunError::Conflict { .. })), "{at}: {refused:?}");
        assert_eq!(fs::read_to_string(workspace.join("a")).expect("it is there"), "before\n");
        let left = pasture.store().find(&record.id).expect("a record");
        assert_eq!((left.state, left.changes.len()), (RunState::Held, 4), "{at}");
    }
}

/// A directory that is as old as the other one is put in its place while the command runs: what was written into the one does
/// not land in the other.
#[test]
fn a_directory_that_is_swapped_during_the_run_is_a_conflict() {
    for swap in
        ["mv kept moved; mv gone kept", "mv kept moved; ln -s gone kept", "mv kept moved; mv older kept"]
    {
        let pasture = with_files(Who::Tester);
        let (workspace, home) = (pasture.yard.workspace(), pasture.yard.root().join("home"));
        std::os::unix::fs::symlink("gone", workspace.join("older")).expect("a link");
        let runner = pasture.yard.root().join("programs/portcullis-fence-runner");
        let line = format!(
            "echo x > kept/new; echo y > a; echo up; until test -e {}/go; do sleep 0.01; done",
            home.display()
        );
        let mut child = std::process::Command::new(runner)
            .arg("--observe")
            .args([&pasture.store_path(), &workspace])
            .args(["bash", "-c", &line])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut [0; 3]).expect("it is up");
        let swapped = std::process::Command::new("bash").args(["-c", swap]).current_dir(&workspace).status();
        assert!(swapped.expect("it runs").success());
        fs::write(home.join("go"), "").expect("a file");
        let output = child.wait_with_output().expect("it ends");
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let refused = pasture.store().commit(&id, &RunSelection::All, false);
        assert!(matches!(refused, Err(RunError::Conflict { .. })), "{swap}: {refused:?}");
        assert!(!workspace.join("kept/new").exists() && !workspace.join("gone/new").exists(), "{swap}");
        // Nobody else's files in the same directory are taken for such a swap.
        let record = pasture.observe("sleep 0.05; echo x > b");
        fs::write(workspace.join("beside"), "").expect("a file");
        assert!(pasture.store().commit(&record.id, &RunSelection::All, false).is_ok());
    }
}

/// What lies behind a link is found by the tools that look there, wherever it leads.
#[test]
fn a_link_in_the_place_of_a_protected_directory_is_marked() {
    let pasture = with_files(Who::Tester);
    let record =
        pasture.observe("mkdir h; echo x > h/hgrc; ln -s h .hg; ln -s h plain; mkdir .jj; touch .github");
    let names = [".hg/hgrc", ".jj/config", ".github/hooks"]
        .map(|name| ProtectedName::try_from(name.to_owned()).expect("a name"));
    let held = pasture.store().held(&record, &names).expect("the changes");
    let marked =
        held.iter().filter(|held| held.is_protected).map(|held| held.change.path.display().to_string());
    assert_eq!(marked.collect::<Vec<_>>(), [".github", ".hg"]);
}

/// A run whose tree is deeper than any path is named, hinders no other run, and can be thrown away.
#[test]
fn a_run_that_cannot_be_read_is_named_and_thrown_away() {
    let pasture = with_files(Who::Tester);
    let store = pasture.store();
    let places = [pasture.yard.workspace()];
    let open = store.begin(&[], &places[0], &places, 0).expect("it begins");
    let (deep, upper) = (open.id().to_owned(), open.layers()[0].upper.clone());
    let line = "import os,sys; os.chdir(sys.argv[1])\nfor n in range(1500): os.mkdir('deeper'); os.chdir('deeper')\nopen('end', 'w')";
    let made = std::process::Command::new("python3").args(["-c", line]).arg(&upper).status();
    assert!(made.expect("python3 runs").success());
    drop(open);
    let cut = pasture.observe("echo y > a");
    fs::write(pasture.store_path().join(&cut.id).join("record.json"), "{\"id\"").expect("a cut record");
    let whole = pasture.observe("echo z > b");
    assert_eq!(store.recover().expect("it goes on").len(), 0);
    let mut named: Vec<_> =
        store.list_unreadable().expect("they are named").into_iter().map(|(id, _)| id).collect();
    named.sort();
    let mut expected = vec![deep.clone(), cut.id.clone()];
    expected.sort();
    assert_eq!(named, expected);
    assert!(store.list().expect("the others").iter().any(|record| record.id == whole.id));
    assert!(store.discard_named(&deep).expect("it is thrown away").is_some() && !upper.exists());
    assert_eq!(store.discard_named(&cut.id).expect("it is thrown away"), None);
    assert!(!pasture.store_path().join(&cut.id).exists());
    assert_eq!(store.list_unreadable().expect("none is left").len(), 0);
}

#[test]
fn nothing_lands_in_what_was_put_in_the_place_of_the_workspace() {
    let pasture = with_files(Who::Tester);
    let workspace = pasture.yard.workspace();
    let record = pasture.observe("echo inside > new");
    let elsewhere = pasture.yard.root().join("home");
    fs::rename(&workspace, workspace.with_file_name("moved")).expect("a rename");
    std::os::unix::fs::symlink(&elsewhere, &workspace).expect("a link");
    let landed = pasture.store().commit(&record.id, &RunSelection::All, true);
    assert!(matches!(landed, Err(RunError::Replaced(_))), "{landed:?}");
    assert!(!elsewhere.join("new").exists());
    // Once it is back, what is held can land.
    fs::remove_file(&workspace).expect("a removal");
    fs::rename(workspace.with_file_name("moved"), &workspace).expect("a rename");
    assert!(pasture.store().commit(&record.id, &RunSelection::All, false).is_ok());
}

/// Between the look for conflicts and the last file no other run lands, whose changes would be lost.
#[test]
fn one_run_lands_at_a_time() {
    let pasture = with_files(Who::Tester);
    let record = pasture.observe("echo x > a");
    let other = fs::File::open(pasture.yard.workspace()).expect("the workspace");
    other.lock().expect("as another run does it");
    let id = record.id.clone();
    let store = pasture.store();
    let waiting = std::thread::spawn(move || store.commit(&id, &RunSelection::All, false));
    // What the other run lands meanwhile is seen.
    let path = pasture.yard.workspace().join("a");
    fs::write(&path, "other").expect("a change");
    drop(other);
    assert!(matches!(waiting.join().expect("no panic"), Err(RunError::Conflict { .. })));
    assert_eq!(fs::read_to_string(path).expect("it is there"), "other");
}

#[test]
fn a_run_that_changes_nothing_is_done() {
    let pasture = with_files(Who::Tester);
    let record = pasture.observe("cat a > /dev/null; echo x > new; rm new");
    assert_eq!((record.state, record.changes.len()), (RunState::Committed, 0));
}

#[test]
fn directories_that_cannot_be_read_do_not_stand_in_the_way() {
    for (who, mode) in Who::everybody().iter().flat_map(|who| [(who, 0o500), (who, 0o400), (who, 0o000)]) {
        let pasture = with_files(*who);
        let line = format!("mkdir -p d/e; echo x > d/e/f; mkdir d/e/g; chmod {mode:o} d/e/g d/e d");
        let record = pasture.observe(&line);
        assert_eq!(signs(&record), ["+d", "+d/e", "+d/e/f", "+d/e/g"], "{who:?} {mode:o}");
        let output = pasture.commit(&record.id, &[]);
        assert!(output.status.success(), "{who:?} {mode:o}: {}", text(&output));
        let path = pasture.yard.workspace().join("d");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, mode);
        for directory in ["d", "d/e"] {
            let path = pasture.yard.workspace().join(directory);
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("a mode");
        }
    }
}

#[test]
fn files_that_cannot_be_written_arrive_too() {
    for who in Who::everybody() {
        let pasture = with_files(*who);
        let path = pasture.yard.workspace().join("a");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("a mode");
        let record = pasture.observe("touch -d @1 a; chmod 0 b; echo x > new; chmod 0 new");
        let output = pasture.commit(&record.id, &[]);
        assert!(output.status.success(), "{who:?}: {}", text(&output));
        assert_eq!(fs::metadata(&path).expect("it is there").mtime(), 1);
        for name in ["b", "new"] {
            let path = pasture.yard.workspace().join(name);
            assert_eq!(fs::metadata(path).expect("it is there").mode() & 0o777, 0, "{who:?} {name}");
        }
    }
}

#[test]
fn programs_that_change_the_user_are_marked() {
    let pasture = with_files(Who::Tester);
    let record =
        pasture.observe("cp /bin/true plain; cp /bin/true raised; chmod u+s raised; mkdir -m 2755 shared");
    let held = pasture.store().held(&record, &[]).expect("the changes");
    let marked: Vec<_> = held
        .iter()
        .filter(|held| held.is_protected)
        .map(|held| held.change.path.display().to_string())
        .collect();
    assert_eq!(marked, ["raised"]);
}

/// The kernel's own marks cannot be forged from inside: a command that sets them changes nothing but attributes.
#[test]
fn marks_of_the_layer_cannot_be_forged() {
    let pasture = with_files(Who::Tester);
    let record = pasture.observe(
        "for name in opaque whiteout; do setfattr -n user.overlay.$name -v y kept kept/c gone 2>/dev/null; done; \
         mknod b2 c 0 0 2>/dev/null; rm b; mknod b c 0 0 2>/dev/null; true",
    );
    assert!(pasture.commit(&record.id, &[]).status.success());
    let workspace = pasture.yard.workspace();
    assert!(workspace.join("kept/c").exists() && workspace.join("gone/deep/d").exists());
    assert!(!workspace.join("b").exists() && !workspace.join("b2").exists());
}

/// The kernel's own marks of a layer cannot be made by a command: what they would hide stays.
#[test]
fn forged_marks_hide_and_remove_nothing() {
    for who in Who::everybody() {
        let pasture = with_files(*who);
        let workspace = pasture.yard.workspace();
        let attack = pasture.yard.attack();
        let record = pasture.observe(&format!(
            "python3 -c 'import os
for name in [\"opaque\", \"whiteout\", \"redirect\", \"metacopy\"]:
    for path in [\"kept\", \"a\"]:
        try: os.setxattr(path, \"user.overlay.\" + name, b\"y\")
        except OSError: pass'; rm b; {attack} whiteout b; {attack} whiteout kept/c; touch new; true"
        ));
        assert!(pasture.commit(&record.id, &[]).status.success());
        assert!(
            workspace.join("kept/c").exists()
                && workspace.join("a").exists()
                && !workspace.join("b").exists()
        );
    }
}

/// What a command leaves in a cache never lands: the next bare run would take it for its own.
#[test]
fn caches_are_thrown_away() {
    let pasture = with_files(Who::Tester);
    let cache = pasture.yard.root().join("home/cache");
    fs::create_dir(&cache).expect("a directory");
    fs::write(cache.join("package"), "good").expect("a file");
    let store = pasture.store();
    let places = [pasture.yard.workspace(), cache.clone()];
    let open = store.begin(&[], &places[0], &places, 0).expect("it begins");
    let mut policy = pasture.yard.policy.clone();
    policy.writable = vec![cache.clone()];
    policy.mode = portcullis_fence::WriteMode::Observe(open.layers().to_vec());
    let path = pasture.yard.root().join("policy.json");
    fs::write(&path, serde_json::to_vec(&policy).expect("JSON")).expect("a file");
    let line = format!("echo evil > {0}/package; echo x > {0}/more; cat {0}/package > seen", cache.display());
    let workspace = pasture.yard.workspace().display().to_string();
    let output = pasture.runner(&[&path.display().to_string(), &workspace, "all", "bash", "-c", &line]);
    assert!(output.status.success(), "{}", text(&output));
    let outcome = portcullis_fence::FenceOutcome {
        exit: portcullis_fence::FencedExit::Code(0),
        refused_connections: 0,
        hosts: Vec::new(),
        made_protected: Vec::new(),
        landlock_abi: None,
    };
    let upper = open.layers()[1].upper.clone();
    let record = open.end(&outcome).expect("it ends");
    store.commit(&record.id, &RunSelection::All, false).expect("it lands");
    let read = |path: std::path::PathBuf| fs::read_to_string(path).expect("it is there");
    assert_eq!((read(cache.join("package")).as_str(), cache.join("more").exists()), ("good", false));
    assert_eq!((read(pasture.yard.workspace().join("seen")).as_str(), upper.exists()), ("evil\n", false));
}

#[test]
fn a_run_that_cannot_be_finished_does_not_stand_in_the_way() {
    let pasture = with_files(Who::Tester);
    let record = pasture.observe("echo x > kept/new");
    pasture.begin_commit(&record);
    let workspace = pasture.yard.workspace();
    fs::rename(workspace.join("kept"), workspace.join("moved")).expect("a rename");
    assert_eq!(pasture.store().recover().expect("the rest is mended").len(), 0);
    assert_eq!(signs(&pasture.observe("echo y > other")), ["+other"]);
    assert_eq!(pasture.store().discard(&record.id).expect("it is thrown away").state, RunState::Dropped);
}
