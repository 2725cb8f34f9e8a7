//! Killed at any moment, a run or a commit leaves the workspace as it was before or as it is after, and loses nothing.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use portcullis_fence::{RunSelection, RunState};
use pretty_assertions::assert_eq;

use crate::Pasture;
use crate::yard::{Who, text};

const FILES: usize = 300;

#[test]
fn a_killed_commit_is_before_or_after() {
    let mut cut = 0;
    for round in 0..25_u64 {
        let pasture = Pasture::new(Who::Tester);
        let workspace = pasture.yard.workspace();
        for number in 0..FILES {
            fs::write(workspace.join(format!("f{number}")), "before").expect("a file");
        }
        let record = pasture.observe("for f in f*; do echo after > $f; done; rm f0; mkdir d; echo x > d/new");
        let runner = pasture.yard.root().join("programs/portcullis-fence-runner");
        let mut child = Command::new(runner)
            .arg("--commit")
            .arg(pasture.store_path())
            .arg(&record.id)
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        sleep(Duration::from_micros(round * 400));
        let _ = child.kill();
        child.wait().expect("it ends");
        pasture.store().recover().expect("it is mended");
        let after = (1..FILES)
            .filter(|number| {
                fs::read_to_string(workspace.join(format!("f{number}"))).expect("it is there") == "after\n"
            })
            .count();
        let record = pasture.store().find(&record.id).expect("a record");
        match record.state {
            RunState::Held => {
                assert_eq!(
                    (after, workspace.join("f0").exists(), workspace.join("d").exists()),
                    (0, true, false)
                );
                pasture.store().commit(&record.id, &RunSelection::All, false).expect("it lands");
                cut += 1;
            }
            RunState::Committed => {
                assert_eq!((after, workspace.join("f0").exists()), (FILES - 1, false));
                assert_eq!(fs::read_to_string(workspace.join("d/new")).expect("it is there"), "x\n");
            }
            other => panic!("round {round}: {other:?}"),
        }
    }
    assert!(cut > 0, "no round was early enough");
}

/// Every step of a commit can be the last one: the rest is done by the next command.
#[test]
fn a_commit_that_was_cut_anywhere_is_finished() {
    let pasture = Pasture::new(Who::Tester);
    let workspace = pasture.yard.workspace();
    fs::create_dir_all(workspace.join("old/deep")).expect("a directory");
    fs::write(workspace.join("old/deep/file"), "before").expect("a file");
    fs::write(workspace.join("kept"), "before").expect("a file");
    let record = pasture.observe("rm -r old; mkdir old; echo x > old/new; echo y > kept; ln -s kept link");
    let folder = pasture.store_path().join(&record.id);
    pasture.begin_commit(&record);
    // As if the first of its steps had been done.
    fs::remove_dir_all(workspace.join("old/deep")).expect("a removal");
    fs::rename(folder.join("0/upper/kept"), workspace.join("kept")).expect("a rename");
    pasture.store().recover().expect("it is finished");
    assert_eq!(fs::read_to_string(workspace.join("kept")).expect("it is there"), "y\n");
    assert_eq!(fs::read_to_string(workspace.join("old/new")).expect("it is there"), "x\n");
    assert!(!workspace.join("old/deep").exists() && workspace.join("link").is_symlink());
    assert_eq!(pasture.store().find(&record.id).expect("a record").state, RunState::Committed);
}

/// What somebody wrote after a commit was killed is not overwritten by the next command.
#[test]
fn what_was_changed_after_a_killed_commit_is_not_lost() {
    let pasture = Pasture::new(Who::Tester);
    let workspace = pasture.yard.workspace();
    for name in ["a", "b", "c"] {
        fs::write(workspace.join(name), "before").expect("a file");
    }
    let record = pasture.observe("for f in a b c; do echo after > $f; done; echo x > new");
    let folder = pasture.store_path().join(&record.id);
    pasture.begin_commit(&record);
    fs::rename(folder.join("0/upper/a"), workspace.join("a")).expect("a rename");
    fs::write(workspace.join("b"), "outside").expect("an edit");
    assert_eq!(pasture.store().recover().expect("it goes on").len(), 0);
    let held = pasture.store().find(&record.id).expect("a record");
    let paths: Vec<_> = held.changes.iter().map(|change| change.path.display().to_string()).collect();
    assert_eq!((held.state, paths), (RunState::Held, vec!["b".into(), "c".into(), "new".into()]));
    let read = |name: &str| fs::read_to_string(workspace.join(name)).expect("it is there");
    assert_eq!([read("a"), read("b"), read("c")], ["after\n", "outside", "before"]);
    assert!(pasture.store().commit(&record.id, &RunSelection::All, false).is_err());
    pasture.store().commit(&record.id, &RunSelection::All, true).expect("it lands");
    assert_eq!([read("b"), read("new")], ["after\n", "x\n"]);
}

/// Somebody may write while many files land; each one is looked at right before its turn.
#[test]
fn what_is_changed_while_changes_land_is_not_lost() {
    let pasture = Pasture::new(Who::Tester);
    let workspace = pasture.yard.workspace();
    for number in 0..3_000 {
        fs::write(workspace.join(format!("f{number:04}")), "before").expect("a file");
    }
    let record = pasture.observe("for f in f*; do echo after > $f; done");
    let (first, last) = (workspace.join("f0000"), workspace.join("f2999"));
    let edited = last.clone();
    let editor = std::thread::spawn(move || {
        while fs::read(&first).is_ok_and(|text| text == b"before") {
            std::hint::spin_loop();
        }
        fs::write(&edited, "outside").expect("an edit");
    });
    let landed = pasture.store().commit(&record.id, &RunSelection::All, false);
    editor.join().expect("no panic");
    assert_eq!(fs::read_to_string(&last).expect("it is there"), "outside", "{landed:?}");
}

/// Two names of one file, both of which go: what the kernel notes for the second is the work of the first.
#[test]
fn names_of_one_file_all_go() {
    let pasture = Pasture::new(Who::Tester);
    let workspace = pasture.yard.workspace();
    fs::create_dir(workspace.join("d")).expect("a directory");
    fs::write(workspace.join("a"), "x").expect("a file");
    for name in ["b", "d/c"] {
        fs::hard_link(workspace.join("a"), workspace.join(name)).expect("a link");
    }
    let record = pasture.observe("rm a b; rm -r d");
    pasture.store().commit(&record.id, &RunSelection::All, false).expect("it lands");
    assert_eq!(fs::read_dir(&workspace).expect("it is there").count(), 0);
}

#[test]
fn a_killed_run_is_held() {
    let pasture = Pasture::new(Who::Tester);
    let workspace = pasture.yard.workspace();
    let runner = pasture.yard.root().join("programs/portcullis-fence-runner");
    let mut child = Command::new(runner)
        .arg("--observe")
        .arg(pasture.store_path())
        .arg(&workspace)
        .args(["bash", "-c", "echo x > made; echo up; sleep 1000"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut [0; 3]).expect("it is up");
    assert_eq!(pasture.store().recover().expect("nothing to mend").len(), 0, "it still runs");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let mut recovered = Vec::new();
    for _ in 0..200 {
        recovered = pasture.store().recover().expect("it is mended");
        if !recovered.is_empty() {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    assert_eq!(recovered.iter().map(|record| record.state).collect::<Vec<_>>(), [RunState::Held]);
    assert!(!workspace.join("made").exists());
    pasture.store().commit(&recovered[0].id, &RunSelection::All, false).expect("it lands");
    assert_eq!(fs::read_to_string(workspace.join("made")).expect("it is there"), "x\n");
}

/// The workspace is on a small disk and the layer on a large one: what does not fit stays held.
#[test]
fn a_full_disk_loses_nothing() {
    let pasture = Pasture::new(Who::Tester);
    let script = r#"
        set -e
        mount -t tmpfs -o size=1m tmpfs "$W"
        echo before > "$W/small"
        id=$("$R" --observe "$S" "$W" bash -c 'echo after > small; head -c 3000000 /dev/zero > big' | tail -n 1)
        if "$R" --commit "$S" "$id" 2>/dev/null; then echo "it landed"; exit 1; fi
        test "$(cat "$W/small")" = before
        test "$(ls -A "$W")" = small
        "$R" --commit "$S" "$id" small
        test "$(cat "$W/small")" = after
        test -s "$S/$id/0/upper/big"
        mount -o remount,size=9m "$W"
        "$R" --commit "$S" "$id"
        test "$(stat -c %s "$W/big")" = 3000000
        test "$(ls -A "$W" | wc -l)" = 2
    "#;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script])
        .env("W", pasture.yard.workspace())
        .env("R", pasture.yard.root().join("programs/portcullis-fence-runner"))
        .env("S", pasture.store_path())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
}

/// What fills the disk is what is to be thrown away: that needs no room, and is what it says even if there is none.
#[test]
fn a_full_disk_does_not_stand_in_the_way_of_a_drop() {
    let pasture = Pasture::new(Who::Tester);
    let script = r#"
        set -e
        mkdir -p "$S" && mount -t tmpfs -o size=4m tmpfs "$S"
        id=$("$R" --observe "$S" "$W" bash -c 'for n in $(seq 300); do echo x > f$n; done; echo x > made' | tail -n 1)
        tail -c 200 "$S/$id/record.json" | grep -q '"state":"held"\|hold' || true
        head -c 9000000 /dev/zero > "$S/fill" 2>/dev/null || true
        "$R" --drop "$S" "$id"
        test ! -e "$S/$id/0"
        rm "$S/fill"
        "$R" --recover "$S" x
        tail -n 1 "$S/$id/record.json" | grep -q '"state":"dropped"'
        test ! -e "$S/$id/lock"
        test "$(ls -A "$W")" = ""
    "#;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script])
        .env("W", pasture.yard.workspace())
        .env("R", pasture.yard.root().join("programs/portcullis-fence-runner"))
        .env("S", pasture.store_path())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
}

/// Copies of a commit that was killed lie in the workspace, where the layer is on another disk: git sees nothing of them, a
/// direct run cannot change them, and the next command takes them away.
#[test]
fn copies_of_a_killed_commit_are_neither_seen_nor_changed_nor_left() {
    let pasture = Pasture::new(Who::Tester);
    let policy = pasture.yard.root().join("policy.json");
    let mut direct = pasture.yard.policy.clone();
    direct.protected = portcullis_fence::protected_names();
    fs::write(&policy, serde_json::to_vec(&direct).expect("JSON")).expect("a file");
    let script = r#"
        set -e
        mount -t tmpfs tmpfs "$W"
        git -C "$W" init -q
        id=$("$R" --observe "$S" "$W" bash -c 'head -c 60000000 /dev/zero > big' | tail -n 1)
        "$R" --commit "$S" "$id" & sleep 0.01; until test -s "$W/.portcullis-commit-$id/0"; do :; done
        kill -9 $! && wait $! 2>/dev/null || true
        test "$(git -C "$W" status --porcelain)" = ""
        "$R" "$P" "$W" all bash -c "echo x >> .portcullis-commit-$id/0; rm -rf .portcullis-commit-$id; mv .portcullis-commit-$id y" 2>/dev/null && exit 1
        test -s "$W/.portcullis-commit-$id/0"
        "$R" --recover "$S" x
        test "$(ls -A "$W")" = .git || test "$(ls -A "$W")" = $'.git
big'
    "#;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script])
        .env("W", pasture.yard.workspace())
        .env("R", pasture.yard.root().join("programs/portcullis-fence-runner"))
        .env("S", pasture.store_path())
        .env("P", &policy)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
}

/// What is mounted inside the workspace would be missing in the layer, so nothing runs over it.
#[test]
fn a_workspace_with_a_mount_inside_takes_no_layer() {
    let pasture = Pasture::new(Who::Tester);
    let script = r#"
        mkdir "$W/a b" && mount -t tmpfs tmpfs "$W/a b"
        "$R" --observe "$S" "$W" touch "$W/ran"
        echo "code $?"
        ls -A "$W"
    "#;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script])
        .env("W", pasture.yard.workspace())
        .env("R", pasture.yard.root().join("programs/portcullis-fence-runner"))
        .env("S", pasture.store_path())
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "code 125\na b\n", "{}", text(&output));
    assert!(text(&output).contains("is mounted inside it"), "{}", text(&output));
}
