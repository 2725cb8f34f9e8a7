//! A survey finds the commands that stand inside others, and says what it cannot see.

use portcullis_analysis::profile::Profiles;
use portcullis_analysis::{Surroundings, Survey, Wrapping, survey};

/// Spellings of a removal, one on each line: behind wrappers, in shell text, on standard input, in configuration.
const REMOVALS: &str = include_str!("wrapped.txt");

/// Command lines that run what their text does not tell, or not to every shell.
const UNSEEN: &[&str] = &[
    "cat f | xargs -I{} sh -c '{}'",
    "cat f | xargs -I % sh -c %",
    "cat f | xargs -I{} {} y",
    "parallel {} ::: 'rm x'",
    "cat f | parallel",
    "source /dev/fd/3 3< f",
    "bash /dev/fd/3",
    "bash <&3",
    "exec < f; bash",
    "exec 3<f; bash <&3",
    "bash < f 3<<< ls",
    "cat f | bash 3<<< ls",
    "cat <<X <f | sh\nls\nX",
    "cat f | bash -c sh",
    "bash --rcfile <(echo ls) -i",
    "BASH_ENV=x bash -c ls",
    "export BASH_ENV=x; bash y",
    "GIT_CONFIG_COUNT=1 git p",
    "declare -a 'x=($(ls))'",
    "cat f | at now",
    "cat f | crontab -",
    "cat f | ssh host",
    "cat f | sudo -s",
    "cat f | su",
    "=rm x",
    "git -c include.path=x z",
    "git -c core.hooksPath=x commit",
    "git --config-env=core.pager=X log",
    "git --config-env alias.p=X p",
    "echo ls > f && sh f",
    "cat > f.sh <<X; bash ./f.sh\nls\nX",
    "echo ls > f; chmod +x f; ./f",
    "printf ls | tee f; source f",
    "curl -o f http://x && sh f",
    "cd a; echo ls > f; cd ..; sh a/f",
    "for i in 1 2; do sh f; echo ls > f; done",
    "f() { sh x; }; echo ls > x; f",
    "echo ls > >(sh)",
    "echo ls | tee >(sh)",
    "{ exec <<< ls; }; sh",
    "for i in 1 2; do sh; exec <<< ls; done",
    "f() { exec <<< ls; }; f; sh",
    "command exec <<< ls; sh",
    "printf 'read x\\ncat <<Y\\nls\\nY\\n' | sh",
    "printf 'x=(\\nls\\n)' | { read x; sh; }",
    "echo() { printf rm; }; echo ls | sh",
    "cd() { ls; }; cd x",
    "trap 'cd a' DEBUG; cd /x && ls",
    "echo ${ cd a; }; ls",
    "env 'BASH_FUNC_q%%=() { ls; }' bash -c q",
    "BASH_ENV=f; export BASH_ENV; bash -c :",
    "bash -c 'PS4=\"+\\$(ls)\"; set -x; true'",
    "set -k; ls A=1",
    "let\t'a[$(ls)]'",
    "sh -c '((ls))'",
    "sh -c '[[ a || ls ]]'",
    "sh -c 'echo $[ 1; ls ]'",
    "sh -c 'a[0;ls;]=1'",
    "sh -c 'cd a &> f && ls'",
    "sh -c \"echo \\$'x'\"",
    "sh -c 'cat <<< x'",
    "env -S 'ls\\_x'",
    "env -S 'ls;pwd'",
    "xargs --replace {}",
    "xargs --repl sh -c '{}'",
    "xargs -I x -I {} {}",
    "xargs -I{} -n1 env",
    "xargs -I $x ls",
    "env -u $x ls",
    "timeout -s $x 5 ls",
    "echo ls | cat 3<<X | sh\npwd\nX",
    "cd /dev/fd; bash 0 <<< ls",
    "bash /dev/./stdin <<< ls",
    "echo ls > f; bash --rcfile f -i",
];

pub(crate) const HERE: Surroundings<'static> =
    Surroundings { directory: "/code/app", home: Some("/home/me"), profiles: Profiles::BUILT_IN };

pub(crate) fn look(command: &str) -> Survey {
    survey(command, HERE)
}

fn programs(command: &str) -> Vec<String> {
    look(command).invocations.iter().filter_map(|found| found.program_name().map(str::to_owned)).collect()
}

#[test]
fn every_spelling_of_a_removal_is_found() {
    let missed: Vec<&str> =
        REMOVALS.lines().filter(|command| !programs(command).iter().any(|name| name == "rm")).collect();
    assert!(missed.is_empty(), "\n{}", missed.join("\n"));
    assert!(REMOVALS.lines().count() > 300);
}

#[test]
fn shell_text_on_several_lines_is_followed() {
    for command in [
        "bash <<EOF\nrm x\nEOF",
        "bash 0<<EOF\nrm x\nEOF",
        "bash <<EOF\nr\\\nm x\nEOF",
        "bash <<-EOF\n\trm x\n\tEOF",
        "bash 3<<EOF <&3\nrm x\nEOF",
        "bash <<A 3<<B\nrm x\nA\nls\nB",
        "cat <<A <<B | bash\nrm x\nA\nls\nB",
        "cat << EOF | bash -s -- a b\nrm x\nEOF",
        "ssh host bash <<EOF\nrm x\nEOF",
        "exec <<EOF\nrm x\nEOF\nbash",
        "eval '\nrm x'",
    ] {
        assert!(programs(command).iter().any(|name| name == "rm"), "{command:?}: {:?}", programs(command));
    }
}

#[test]
fn what_cannot_be_seen_is_said() {
    for command in UNSEEN {
        let found = look(command);
        let is_seen = found.opacities.is_empty()
            && portcullis_analysis::command_effects::runs_what_it_writes(
                &portcullis_analysis::command_effects::effects(&found, HERE),
                &std::collections::BTreeMap::new(),
            )
            .is_none();
        assert!(!is_seen, "{command:?}: {:?}", programs(command));
    }
}

#[test]
fn what_is_plain_is_not_called_opaque() {
    for command in [
        "timeout 5 ls",
        "nice -n 5 ls",
        "env A=1 ls",
        "sudo -u me ls",
        "bash -c 'ls'",
        "bash -euo pipefail -c 'ls'",
        "xargs -0 grep foo",
        "find . -name x -exec grep y {} +",
        "uv run --with rich python x.py",
        "docker run --rm -it -v /a:/b image ls",
        "kubectl get pods -n x",
        "npm run build -- --watch",
        "git -c user.name='A B' commit -m x",
        "git rebase -i main",
        "bash script.sh",
        "source venv/bin/activate",
        "crontab -l",
        "ssh host ls",
        "tmux ls",
        "EDITOR=vim git commit",
        "ls 2>&1",
        "ls <&-",
        "exec 2>&1",
        "echo x > out.txt; cat out.txt",
        "./build.sh > log; cat log",
        "bash build.sh > log",
        "bash < script.sh 2>/dev/null; ls",
        "bash -c '((x++))'",
        "bash -c \"[[ a || b ]] && echo $'x'\"",
        "sh -c '[[ -n a ]]'",
        "printf 'ls\\npwd\\n' | sh",
        "echo ls | sh",
        "printf -- '%s' ls | sh",
        "printf 'ls %s %s' a | sh",
        "f() { ls; }; f",
        "trap 'ls' EXIT",
        "exec > log; ls",
        "for i in a b; do (cd $i && ls); done",
        "xargs -I{} grep x {}",
        "env -S 'ls x'",
        "env -u \"$x\" ls",
        "bash -c 'make > /tmp/log'",
        "bash build.sh > /tmp/build.log 2>&1",
    ] {
        let opacities = look(command).opacities;
        let is_fed = command.starts_with("bash <");
        assert_eq!(opacities.is_empty(), !is_fed, "{command:?}: {opacities:?}");
    }
}

#[test]
fn a_command_that_is_fed_through_another_is_found() {
    for command in [
        "echo 'rm x' | echo \"$(sh)\"",
        "echo 'rm x' | y=$(sh)",
        "echo 'rm x' | for i in $(sh); do true; done",
        "PS4='$(rm x)'; set -x",
        "sh -c 'PAGER=\"rm x\" git log'",
        "env PAGER='rm x' git log",
        "exec <<< 'rm x'; sh",
        "env -S 'A=1 rm x'",
        "env --split='rm x'",
        "flock f --comm='rm x'",
        "mapfile -C 'rm x' -c 1 y",
        "xargs --max-a 1 --max-p 1 rm",
        "timeout --sig KILL --kill 1 5 rm x",
        "strace --new a --newer b --newest c rm x",
    ] {
        assert!(programs(command).iter().any(|name| name == "rm"), "{command:?}: {:?}", programs(command));
    }
}

#[test]
fn a_wrapper_only_passes_on_if_nothing_about_it_is_in_doubt() {
    for (command, wrapping) in [
        ("timeout 5 ls", Wrapping::Transparent),
        ("timeout --foreground 5 ls", Wrapping::Transparent),
        ("nice -5 ls", Wrapping::Transparent),
        ("env A=1 ls", Wrapping::Transparent),
        ("env -i ls", Wrapping::Transparent),
        ("bash -c ls", Wrapping::Transparent),
        ("eval ls", Wrapping::Transparent),
        ("env -C /x ls", Wrapping::Changing),
        ("env --new ls", Wrapping::Changing),
        ("timeout -Z 5 ls", Wrapping::Changing),
        ("env -S ls", Wrapping::Changing),
        ("bash -ic ls", Wrapping::Changing),
        ("bash --login -c ls", Wrapping::Changing),
        ("sudo ls", Wrapping::Changing),
        ("xargs ls", Wrapping::Changing),
        ("command -v ls", Wrapping::Nothing),
        ("ls", Wrapping::Nothing),
    ] {
        let found = look(command);
        assert_eq!(found.invocations.first().map(|first| first.wrapping), Some(wrapping), "{command}");
    }
}

#[test]
fn an_option_nobody_knows_is_read_with_and_without_a_value() {
    let found = look("strace --new x rm y");
    let written: Vec<String> =
        found.invocations.iter().map(portcullis_analysis::Invocation::as_written).collect();
    assert_eq!(written, ["strace --new x rm y", "x rm y", "rm y"]);
}
