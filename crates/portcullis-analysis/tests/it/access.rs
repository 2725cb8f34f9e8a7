//! Which files a command names, and what it does to them.

use crate::survey::look;
use portcullis_analysis::{Access, access};

/// Commands and the files of their first invocation: `r` read, `w` written, `d` removed.
const CASES: &[(&str, &str)] = &[
    ("cat a b", "r:a r:b"),
    ("cat -- -a", "r:-a"),
    ("head -n 5 a", "r:5 r:a"),
    ("grep foo a", "r:a"),
    ("grep -r foo /", "r:/"),
    ("grep -rn foo a b", "r:a r:b"),
    ("grep -e foo a", "r:a"),
    ("grep -efoo a", "r:a"),
    ("grep -f p a", "r:a r:p"),
    ("grep -nf p a", "r:a r:p"),
    ("grep -fp a", "r:a r:p"),
    ("grep --file=p a", "r:a r:p r:p"),
    ("grep -A 3 foo a", "r:a"),
    ("grep -A3 foo a", "r:a"),
    ("grep --exclude-from p foo a", "r:a r:p"),
    ("grep --color foo a", "r:a"),
    ("grep --new foo a", "r:foo r:a"),
    ("rg foo", ""),
    ("rg -t rust foo a", "r:a"),
    ("rg -g '*.rs' foo a", "r:a"),
    ("rg --files a", "r:a"),
    ("rg --hidden foo a", "r:a"),
    ("rg --ignore-file p foo a", "r:a r:p"),
    ("fd foo a", "r:a"),
    ("fd --base-directory p foo", "r:p"),
    ("fd -C p foo", "r:p"),
    ("jq .a f", "r:f"),
    ("jq -L p .a f", "r:f r:p"),
    ("jq -f p f", "r:f r:p"),
    ("sed s/a/b/ f", "r:f"),
    ("sed -e s/a/b/ f", "r:f"),
    ("sed -i s/a/b/ f", "w:f"),
    ("sed -n -f p f", "r:f r:p"),
    ("touch a", "w:a"),
    ("touch --reference=p a", "w:a r:p"),
    ("mkdir -p a/b", "w:a/b"),
    ("rm -rf a", "d:a"),
    ("mv a b", "w:b/a w:b d:a"),
    ("cp a b", "w:b/a w:b r:a"),
    ("cp -t d a", "w:d/a w:d r:a"),
    ("cp -rt d a", "w:d/a w:d r:a"),
    ("cp -td a", "w:d/a w:d r:a"),
    ("cp --target=d a", "w:d/a w:d r:a"),
    ("cp --t d a", "w:d/a w:d r:a"),
    ("cp -bS/x a b", "w:b/a w:b r:a w:-bS/x"),
    ("cp --suffix=/x a b", "w:b/a w:b r:a w:--suffix=/x"),
    ("dd if=a of=b", "r:a w:b"),
    ("chmod 755 a", "w:a"),
    ("echo a", ""),
];

#[test]
fn every_file_is_accounted_for() {
    let mut wrong = Vec::new();
    for (command, expected) in CASES {
        let found = look(command);
        let files = found.invocations.first().and_then(access::files).unwrap_or_default();
        let shown: Vec<String> =
            files.iter().map(|file| format!("{}:{}", letter(file.access), file.file.text)).collect();
        if shown.join(" ") != *expected {
            wrong.push(format!("{command:?}: expected {expected:?}, got {:?}", shown.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn letter(access: Access) -> char {
    match access {
        Access::Read => 'r',
        Access::Write => 'w',
        Access::Remove => 'd',
    }
}

#[test]
fn outputs_and_what_is_read_without_being_named_are_found() {
    for (command, outputs, implied) in [
        ("curl -o a x", "a", ""),
        ("curl -oa x", "a", ""),
        ("curl --output=a x", "a", ""),
        ("wget -O a x", "a", ""),
        ("tar -xf x -C d", "d", ""),
        ("git diff /a ../b c", "", ". /a ../b"),
        ("git log a..b", "", "."),
        ("ls a", "", "."),
        ("cat a", "", ""),
        ("git blame -S /a b", "", ". /a"),
        ("git ls-files --exclude-from=/a", "", ". /a"),
    ] {
        let found = look(command);
        let first = found.invocations.first().expect(command);
        let join = |files: Vec<access::FileUse>| {
            files.into_iter().map(|file| file.file.text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(join(access::outputs(first)), outputs, "{command}");
        assert_eq!(join(access::implied(first)), implied, "{command}");
    }
}
