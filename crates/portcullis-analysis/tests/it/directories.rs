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
