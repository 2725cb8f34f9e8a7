//! Descriptors and files: what is inherited, what is protected below the workspace, what is not there yet.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::process::Stdio;

use portcullis_fence::ProtectedName;

use crate::yard::{Who, Yard, text};

fn protect(yard: &mut Yard, names: &[&str]) {
    let names = names.iter().map(|name| ProtectedName::try_from((*name).to_owned()));
    yard.policy.protected = names.collect::<Result<_, _>>().expect("names");
}

#[test]
fn descriptors_do_not_lead_out() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let notes = yard.home("notes");
        let attack = yard.attack();
        let script = |redirect: &str, words: &str| {
            let runner = yard.fenced("all", &[]);
            let words_of_runner: Vec<String> = std::iter::once(runner.get_program())
                .chain(runner.get_args())
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            let line = format!("exec {redirect}; exec {} {attack} {words}", words_of_runner.join(" "));
            let mut command = std::process::Command::new("bash");
            command.args(["-c", &line]).current_dir(yard.workspace()).output().expect("it runs")
        };
        for (redirect, words) in [
            (format!("9>>{notes}"), "descriptor 9"),
            (format!("0<>{notes}"), "descriptor 0"),
            (format!("7<{}", yard.root().join("home").display()), "enter 7"),
            (format!("0<{}", yard.root().join("home").display()), "enter 0"),
            (format!("1<{}", yard.root().join("home").display()), "enter 1"),
        ] {
            let output = script(&redirect, words);
            assert_eq!(output.status.code(), Some(1), "{who:?} {redirect}: {}", text(&output));
        }
        assert_eq!(fs::read_to_string(&notes).expect("it is there"), "notes");
        assert!(!yard.root().join("home/entered").exists());
    }
}

/// A file that is read as standard input is no way to its mode, its times and its attributes, by whatever name.
#[test]
fn standard_input_cannot_be_changed() {
    for who in Who::everybody() {
        let yard = Yard::new(*who);
        let input = yard.root().join("home/notes");
        let before = fs::metadata(&input).expect("it is there");
        let line = "python3 - 9<&0 <<'END'
import os
for act in [lambda: os.fchmod(9, 0o777), lambda: os.chmod('/proc/self/fd/9', 0o777), lambda: os.utime(9, (1, 1)),
            lambda: os.setxattr(9, 'user.x', b'y'), lambda: os.utime('/proc/self/fd/9', (1, 1))]:
    try: act(); print('worked')
    except OSError as error: print(error.errno)
END
cat <&9; cat /dev/stdin";
        let mut command = yard.fenced("all", &["bash", "-c", &format!("exec 9<&0; {line}")]);
        let output = command.stdin(File::open(&input).expect("a file")).output().expect("it runs");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(shown, "30\n30\n30\n30\n30\nnotesnotes", "{who:?}: {}", text(&output));
        let after = fs::metadata(&input).expect("it is there");
        assert_eq!((before.mode(), before.mtime()), (after.mode(), after.mtime()), "{who:?}");
    }
}

#[test]
fn standard_files_work_as_they_did() {
    let yard = Yard::new(Who::Tester);
    let input = yard.workspace().join("input");
    fs::write(&input, "abc").expect("a file");
    let log = yard.root().join("home/log");
    let mut command =
        yard.fenced("all", &["bash", "-c", "cat; echo out > /dev/stdout; echo error > /dev/stderr"]);
    command.stdin(File::options().read(true).write(true).open(&input).expect("a file"));
    command.stderr(File::create(&log).expect("a log"));
    let output = command.output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "abcout\n");
    assert_eq!(fs::read_to_string(&log).expect("a log"), "error\n");
}

#[test]
fn what_is_protected_stays_as_it_is_in_every_repository() {
    for who in Who::everybody() {
        let mut yard = Yard::new(*who);
        let workspace = yard.workspace();
        for directory in [".git/hooks", "deep/nested/.git/hooks"] {
            fs::create_dir_all(workspace.join(directory)).expect("a directory");
        }
        for file in [".git/config", "deep/nested/.git/config", "deep/.envrc"] {
            fs::write(workspace.join(file), "before").expect("a file");
        }
        yard.give_away();
        protect(&mut yard, &[".git/hooks", ".git/config", ".envrc"]);
        for line in [
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/config",
            "rm .git/config",
            "mv .git/config other",
            "mv .git .git2 && mkdir -p .git/hooks",
            "mv .git/hooks .git/hooks2",
            "echo x > deep/nested/.git/hooks/pre-commit",
            "mv deep deep2",
            "mv deep/nested deep/other",
            "rm -rf deep",
            "echo x > deep/.envrc",
            "ln -f /etc/hostname deep/.envrc",
            "ln deep/.envrc copy && echo x > copy",
            "chmod 777 deep/.envrc",
            "mkdir d && mount --bind d .git/hooks",
            "cd .git && rm -rf hooks",
        ] {
            let output = yard.bash(line);
            assert!(!output.status.success(), "{who:?} `{line}` worked: {}", text(&output));
            assert_eq!(fs::read_to_string(workspace.join("deep/.envrc")).expect("it is there"), "before");
            assert_eq!(fs::read_to_string(workspace.join(".git/config")).expect("it is there"), "before");
            assert_eq!(fs::read_dir(workspace.join(".git/hooks")).expect("it is there").count(), 0);
            assert_eq!(fs::read_dir(workspace.join("deep/nested/.git/hooks")).expect("there").count(), 0);
        }
        let output = yard.bash("echo x > .git/index && echo y > deep/nested/file && mkdir -p a/b && mv a c");
        assert!(output.status.success(), "{who:?}: {}", text(&output));
    }
}

#[test]
fn links_lead_to_what_the_fence_holds() {
    let yard = Yard::new(Who::Tester);
    symlink(yard.home("notes"), yard.workspace().join("link")).expect("a link");
    symlink(yard.home("token"), yard.workspace().join("key")).expect("a link");
    assert!(!yard.bash("echo x >> link").status.success());
    assert_eq!(yard.bash("cat key").stdout, b"");
    let output = yard.bash(&format!("ln -s {} own && cat own/notes", yard.root().join("home").display()));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "notes");
}

#[test]
fn a_mask_that_is_a_link_hides_what_it_leads_to() {
    let mut yard = Yard::new(Who::Tester);
    symlink(yard.home("notes"), yard.home("alias")).expect("a link");
    yard.policy.masked.push(yard.home("alias").into());
    yard.policy.masked.push(yard.home("missing").into());
    yard.policy.masked.push(yard.home("notes/below/a/file").into());
    let output = yard.bash(&format!("cat {} {}", yard.home("alias"), yard.home("notes")));
    assert_eq!(output.stdout, b"", "{}", text(&output));
}

/// Editors write a new file and rename it over the old one, and a mask goes with the old one. What is masked and missing may
/// be made meanwhile.
#[test]
fn a_secret_that_is_replaced_while_it_runs_stays_hidden() {
    for who in Who::everybody() {
        let mut yard = Yard::new(*who);
        for missing in ["later", "new/deep/later"] {
            yard.policy.masked.push(yard.home(missing).into());
        }
        symlink(yard.home("token"), yard.home("alias")).expect("a link");
        let home = yard.home("");
        let line = format!(
            "cd {home}; cat token; cat notes; echo up; while ! test -e {}/go; do sleep 0.01; done; \
             cat token alias later .ssh/id new/deep/later; cat notes; bash -c 'echo <token'; cp token /tmp/x; cat /tmp/x",
            yard.workspace().display()
        );
        let mut command = yard.fenced("all", &["bash", "-c", &line]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
        let mut before = [0; 8];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut before).expect("it is up");
        assert_eq!(&before, b"notesup\n", "{who:?}");
        let outside = "echo secret > x && mv x token && echo secret > later && mv .ssh old && mkdir .ssh && \
                       echo secret > .ssh/id && mkdir -p new/deep && echo secret > new/deep/later";
        let done = yard.plain(&["bash", "-c", outside]).current_dir(&home).status().expect("it runs");
        assert!(done.success());
        fs::write(yard.workspace().join("go"), "").expect("a file");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "notes", "{who:?}");
    }
}

#[test]
fn shared_memory_and_temporary_files_are_its_own() {
    let yard = Yard::new(Who::Tester);
    let name = format!("fence-test-{}", std::process::id());
    for place in ["/dev/shm", "/tmp", "/var/tmp"] {
        let outside = std::path::Path::new(place).join(&name);
        fs::write(&outside, "outside").expect("a file");
        let output = yard.bash(&format!("ls {place}; echo inside > {}", outside.display()));
        assert!(output.status.success(), "{}", text(&output));
        assert!(!String::from_utf8_lossy(&output.stdout).contains(&name));
        assert_eq!(fs::read_to_string(&outside).expect("it is there"), "outside");
        fs::remove_file(&outside).expect("it can be removed");
    }
}

#[test]
fn secrets_of_the_environment_stay_outside() {
    let yard = Yard::new(Who::Tester);
    let mut command = yard.fenced("all", &["env"]);
    command
        .env("ANTHROPIC_API_KEY", "secret")
        .env("SSH_AUTH_SOCK", "/x")
        .env("LANG", "C")
        .stdin(Stdio::null());
    let output = command.output().expect("it runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("LANG=C") && shown.contains("PATH=") && shown.contains("TMPDIR=/tmp"), "{shown}");
    assert!(!shown.contains("secret") && !shown.contains("SSH_AUTH_SOCK"), "{shown}");
}

/// What does not exist cannot be mounted over; at least it does not go unseen.
#[test]
fn protected_names_that_a_direct_run_makes_are_told() {
    let mut yard = Yard::new(Who::Tester);
    protect(&mut yard, &[".git/hooks", ".envrc"]);
    let mut command = yard.fenced("all", &["bash", "-c", "mkdir -p new/.git/hooks; touch .envrc plain"]);
    let told = text(&command.env("FENCE_SHOW_OUTCOME", "1").output().expect("it runs"));
    assert!(told.contains("workspace/.envrc\"") && told.contains("workspace/new/.git/hooks\""), "{told}");
    assert!(!told.contains("plain"), "{told}");
}

/// With a terminal as its input a command reads from it, but does not type into it.
#[test]
fn nothing_is_typed_into_the_terminal() {
    let yard = Yard::new(Who::Tester);
    let at_terminal = |words: &[&str]| {
        let fenced = yard.fenced("all", words);
        let words = std::iter::once(fenced.get_program()).chain(fenced.get_args());
        let line: Vec<String> = words.map(|word| format!("'{}'", word.to_string_lossy())).collect();
        let mut command = std::process::Command::new("script");
        command
            .args(["-qec", &line.join(" "), "/dev/null"])
            .current_dir(yard.workspace())
            .stdin(Stdio::null());
        command.output().expect("`script` of bsdutils is needed")
    };
    let typed = at_terminal(&[&yard.attack(), "terminal"]);
    assert_eq!(typed.status.code(), Some(1), "{}", text(&typed));
    let seen = at_terminal(&["bash", "-c", "test -t 0 && test -t 1 && exit 7"]);
    assert_eq!(seen.status.code(), Some(7), "{}", text(&seen));
}
