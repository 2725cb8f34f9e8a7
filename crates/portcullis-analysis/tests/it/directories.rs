//! Where the last command of a line may run, after changes of directory.

use crate::survey::look;

/// Command lines that end in `ls`, and the directories it may run in; none if nobody knows.
const CASES: &[(&str, &[&str])] = &[
    ("ls", &["/code/app"]),
    ("cd src && ls", &["/code/app/src"]),
    ("cd src; ls", &["/code/app/src", "/code/app"]),
    ("cd src || ls", &["/code/app"]),
    ("cd src || exit; ls", &["/code/app/src", "/code/app"]),
    ("cd /x && cd y && ls", &["/x/y"]),
    ("cd && ls", &["/home/me"]),
    ("cd ~/x && ls", &["/home/me/x"]),
    ("cd ~other && ls", &[]),
    ("cd - && ls", &[]),
    ("cd $X && ls", &[]),
    ("cd a* && ls", &[]),
    ("CDPATH=/x cd y && ls", &[]),
    ("CDPATH=/x; cd y && ls", &[]),
    ("export CDPATH=/x; cd y && ls", &[]),
    ("(cd src); ls", &["/code/app"]),
    ("{ cd src; } && ls", &["/code/app/src", "/code/app"]),
    ("cd src | true; ls", &["/code/app"]),
    ("true | cd src; ls", &["/code/app", "/code/app/src"]),
    ("cd src & ls", &["/code/app"]),
    ("! cd src && ls", &["/code/app"]),
    ("if cd src; then ls; fi", &["/code/app/src", "/code/app"]),
    ("for i in 1 2; do cd ..; done; ls", &[]),
    ("while cd ..; do true; done; ls", &[]),
    ("pushd /x && ls", &["/x"]),
    ("pushd -n /x && ls", &[]),
    ("pushd +1 && ls", &[]),
    ("popd && ls", &[]),
    ("cd -P /x && ls", &["/x"]),
    ("cd -- /x && ls", &["/x"]),
    ("f() { cd /x; }; f; ls", &[]),
    ("eval 'cd /x'; ls", &[]),
    ("builtin cd /x; ls", &[]),
    ("command cd /x && ls", &[]),
    ("source x.sh; ls", &[]),
    ("while read l; do ls; cd ..; done", &[]),
    ("for i in 1 2; do ls; cd a; done", &[]),
    ("for ((;;)); do ls; cd a; done", &[]),
    ("for i in 1 2; do (cd a); ls; done", &["/code/app"]),
    ("case x in x) cd a ;& y) ls ;; esac", &["/code/app", "/code/app/a"]),
    ("case x in x) cd a ;; y) ls ;; esac", &["/code/app"]),
    ("trap ls EXIT; cd a", &[]),
    ("f() { g; }; g() { cd a; }; f; ls", &[]),
    ("eval 'f() { cd a; }'; cd /x; f; ls", &[]),
    ("f() { cd a; }; cd /x; eval f; ls", &[]),
    ("f() { true; }; f; ls", &["/code/app"]),
    ("HOME=/x; cd && ls", &[]),
    ("export HOME=/x; cd ~ && ls", &[]),
    ("for HOME in /x; do cd && ls; done", &[]),
    ("env HOME=/x bash -c 'cd && ls'", &[]),
    ("JAVA_HOME=/x; cd && ls", &["/home/me"]),
    ("cd $HOME; cd && ls", &["/home/me"]),
    ("CDPATH=/x sh -c 'cd y && ls'", &[]),
    ("eval 'CDPATH=/x'; cd y && ls", &[]),
    ("read CDPATH; cd y && ls", &[]),
    ("for i in 1 2; do cd y && (ls); CDPATH=/x; done", &[]),
    ("find . -exec ls ';'", &["/code/app"]),
    ("find . -execdir ls ';'", &[]),
    ("find . -okdir ls ';'", &[]),
    ("env -C /x -C /y ls", &["/y"]),
    ("env --chd=/x ls", &["/x"]),
    ("env --chd /x ls", &["/x"]),
    ("env --c=/x ls", &["/x"]),
    ("env --new x -C /x ls", &[]),
    ("env -S '-C /x ls'", &["/x"]),
    ("unshare --wd=/x ls", &[]),
    ("chroot /x ls", &[]),
    ("sudo -i ls", &[]),
    ("su - -c ls", &[]),
    ("ssh host ls", &[]),
    ("systemd-run ls", &[]),
    ("git submodule foreach ls", &[]),
    ("pnpm -C x exec ls", &[]),
    ("uv run --directory x ls", &[]),
    ("poetry run ls", &["/code/app"]),
    ("env -C /x ls", &["/x"]),
    ("sudo -D /x ls", &["/x"]),
    ("bash -c 'cd /x && ls'", &["/x"]),
];

#[test]
fn changes_of_directory_are_followed_or_given_up() {
    let mut wrong = Vec::new();
    for (command, expected) in CASES {
        let found = look(command);
        let last = found.invocations.iter().rev().find(|last| last.program_name() == Some("ls"));
        let directories = last.and_then(|last| last.directories.alternatives()).unwrap_or_default();
        if directories != *expected {
            wrong.push(format!("{command:?}: expected {expected:?}, got {directories:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_path_longer_than_any_program_could_be_given_is_not_followed() {
    let found = look(&format!("{}ls", "cd a && ".repeat(3_000)));
    let last = found.invocations.last().expect("the line ends in a command");
    assert_eq!(last.directories.alternatives(), None);
}
