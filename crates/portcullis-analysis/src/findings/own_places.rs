//! Changing or reading what Portcullis keeps, or answering in a person's place.
//!
//! Settings of every source, the state with its tokens, questions, sessions and record, the program, what a host reads to
//! start it, and the session files of hosts say what agents may do and what people said.
//! An agent that changes them, or reads what lets somebody answer, is no longer under anybody's control.
//! No mode, rule, model or consent lifts this: a person makes the change in a terminal of their own.
//! Looking at settings is fine.

use portcullis_shell::Span;

use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Found, Severity, Sighting};
use crate::own_places::{Trespass, trespasses, unread, untold};

pub(super) static FINDING: Finding = Finding {
    code: "PC063",
    name: "own-places",
    title: "changes or reads what Portcullis keeps",
    category: "self_modification",
    severity: Severity::Critical,
    firmness: Firmness::Hard,
    instead: "Leave it as it is, and tell the user, who alone can change it",
    hits: &[
        ExampleCall::Bash("echo '{}' > .claude/settings.json"),
        ExampleCall::Bash("cp x.json ~/.claude/settings.local.json"),
        ExampleCall::Call("Write", &[("file_path", "/code/app/.claude/settings.json"), ("content", "{}")]),
        ExampleCall::Call(
            "Edit",
            &[("file_path", "/home/me/.codex/config.toml"), ("old_string", "a"), ("new_string", "b")],
        ),
        ExampleCall::Bash("sed -i s/deny/allow/ ~/.claude/settings.json"),
        ExampleCall::Bash("mv x.json ~/.gemini/settings.json"),
        ExampleCall::Bash("mv ~/.local/state/portcullis x"),
        ExampleCall::Bash("mv ~/.local/state x"),
        ExampleCall::Bash("mv ~/.config ~/.c"),
        ExampleCall::Bash("cp acme.toml ~/.config/portcullis/commands/"),
        ExampleCall::Bash("echo x > .portcullis/commands/acme.toml"),
        ExampleCall::Bash("portcullis profiles new acme --write"),
        ExampleCall::Call("Write", &[("file_path", "/etc/portcullis/commands/acme.toml"), ("content", "")]),
        ExampleCall::Bash("mv ~/.local/state/* /tmp/x"),
        ExampleCall::Bash("rm -rf ~/.claude/*"),
        ExampleCall::Bash("rm -rf .claude"),
        ExampleCall::Bash("find . -name config.toml -print0 | xargs -0 sed -i s/a/b/"),
        ExampleCall::Bash("docker run -v ~/.local/bin:/x alpine rm /x/portcullis"),
        ExampleCall::Bash("find ~/.codex -delete"),
        ExampleCall::Bash("find ~/.local/state -exec rm -rf {} +"),
        ExampleCall::Bash("chmod 777 ~/.local/state/portcullis"),
        ExampleCall::Bash("rsync -a forged/ ~/.local/state/portcullis/"),
        ExampleCall::Bash("cp -r forged/. ~/.config/portcullis"),
        ExampleCall::Bash("tar -C ~/.codex -xf f.tar"),
        ExampleCall::Bash("git -C ~/.local/state/portcullis init"),
        ExampleCall::Bash("cd ~/.config/portcullis && git stash pop"),
        ExampleCall::Bash("git clone https://example.com/x.git ~/.codex"),
        ExampleCall::Bash("cd ~ && git clean -fdx"),
        ExampleCall::Bash("git -C ~ reset --hard topic"),
        ExampleCall::Bash("git -C ~ stash -u"),
        ExampleCall::Bash("cd ~ && git pull"),
        ExampleCall::Bash("cd ~ && git restore ."),
        ExampleCall::Bash("cd ~ && git rm -rf .config"),
        ExampleCall::Bash("git --git-dir=$HOME/.cfg --work-tree=$HOME checkout -f"),
        ExampleCall::Bash("cd ~ && git add -A"),
        ExampleCall::Bash("claude config set hooks '{}'"),
        ExampleCall::Bash("claude plugin install x"),
        ExampleCall::Bash("codex features disable hooks"),
        ExampleCall::Bash("portcullis check --settings '{}' ls"),
        ExampleCall::Bash("portcullis eval --with-classifier 5 actions.jsonl"),
        ExampleCall::Bash("portcullis allow --last --yes"),
        ExampleCall::Bash("portcullis deny 'Bash(ls *)' --minutes 5"),
        ExampleCall::Bash("portcullis-full allow --last --yes"),
        ExampleCall::Bash("portcullis grants clear"),
        ExampleCall::Bash("portcullis init --yes"),
        ExampleCall::Bash("portcullis uninstall"),
        ExampleCall::Bash("portcullis log prune --older-than 0"),
        ExampleCall::Bash("script -qec 'portcullis allow --last --yes' /dev/null"),
        ExampleCall::Bash("portcullis hook claude < prompt.json"),
        ExampleCall::Bash("env AGENT_TOOL_NAME=Bash portcullis-amp < call.json"),
        ExampleCall::Bash("echo '{}' > ~/.factory/hooks.json"),
        ExampleCall::Bash("rm ~/.copilot/hooks/portcullis.json"),
        ExampleCall::Bash("portcullis approvals allow 5e1f"),
        ExampleCall::Bash("portcullis questions allow 5e1f"),
        ExampleCall::Bash("portcullis allow --id 5e1f --yes"),
        ExampleCall::Bash("portcullis deny --id 5e1f"),
        ExampleCall::Bash("portcullis retry 3f9a1c-2"),
        ExampleCall::Bash("script -qec 'portcullis approvals' /dev/null"),
        ExampleCall::Bash("script -qec 'portcullis questions' /dev/null"),
        ExampleCall::Bash("portcullis tokens create x --role person"),
        ExampleCall::Bash("portcullis serve"),
        ExampleCall::Bash("portcullis policy publish p.json --key k"),
        ExampleCall::Bash("cat ~/.local/state/portcullis/daemon/person.token"),
        ExampleCall::Bash("cd ~/.local/state/portcullis/daemon && head -1 person.token"),
        ExampleCall::Bash("base64 ~/.local/state/portcullis/daemon/*.token"),
        ExampleCall::Bash("cp -r ~/.local/state/portcullis /tmp/x"),
        ExampleCall::Bash("grep -r . /home/me/.local/state/portcullis/daemon"),
        ExampleCall::Bash("curl --unix-socket ~/.local/state/portcullis/daemon/socket http://x/v1/approvals"),
        ExampleCall::Bash("nc -U /home/me/.local/state/portcullis/daemon/socket"),
        ExampleCall::Bash(
            "cd ~/.local/state/portcullis/daemon && curl --unix-socket socket http://x/v1/approvals",
        ),
        ExampleCall::Bash("cd ~/.local/state/portcullis/./daemon; nc -U ./socket"),
        ExampleCall::Bash("cat ~/.local/state/portcullis/*/*"),
        ExampleCall::Bash("cat ~/.local/*/*/daemo?/pers[o]n.token"),
        ExampleCall::Bash("shopt -s globstar; cat ~/.local/**/*.token"),
        ExampleCall::Bash("grep -rh . ~/.local/state"),
        ExampleCall::Bash("tar cf x.tar ~/.local"),
        ExampleCall::Bash("grep -rh . ~/.local/*"),
        ExampleCall::Bash("grep -rh --include=person.token . ~"),
        ExampleCall::Bash("socat - UNIX-CONNECT:/home/me/.local/state/portcullis/daemon/socket"),
        ExampleCall::Call("Read", &[("file_path", "/home/me/.local/state/portcullis/daemon/person.token")]),
        ExampleCall::Bash("curl -X POST http://127.0.0.1:7317/v1/approvals/5e/answer -d x"),
        ExampleCall::Bash("$(which portcullis) allow --last"),
        ExampleCall::Bash("socat EXEC:'portcullis allow --last --yes',pty STDIO"),
        ExampleCall::Bash("expect -c 'spawn portcullis allow --last'"),
        ExampleCall::Bash("systemd-run --user script -qc 'portcullis allow --last --yes' /dev/null"),
        ExampleCall::Bash("systemd-run --user -E PROMPT_COMMAND='portcullis allow --last --yes' xterm"),
        ExampleCall::Bash("systemctl --user set-environment PROMPT_COMMAND='portcullis allow --last'"),
        ExampleCall::Bash("systemd-run --user tmux new -d 'portcullis allow --last --yes'"),
        ExampleCall::Bash("systemd-run --user --pty portcullis allow --last"),
        ExampleCall::Bash("echo 'portcullis allow --last --yes' | at now"),
        ExampleCall::Bash("batch <<< 'portcullis allow --last --yes'"),
        ExampleCall::Bash("echo '* * * * * portcullis allow --last --yes' | crontab -"),
        ExampleCall::Bash(
            "gdbus call --session --dest x --method y '[\"portcullis\", \"allow\", \"--last\"]'",
        ),
        ExampleCall::Bash("dbus-send --session --dest=x / y string:'portcullis allow --last'"),
        ExampleCall::Bash("tmux run-shell \"script -qc 'portcullis allow --last' /dev/null\""),
        ExampleCall::Bash("make -f <(printf 'x:\\n\\tportcullis allow --last\\n')"),
        ExampleCall::Bash("/lib64/ld-linux-x86-64.so.2 ~/bin/portcullis allow --last"),
        ExampleCall::Bash("cat ~/bin/portcullis > pc"),
        ExampleCall::Bash("cp evil ~/bin/portcullis"),
        ExampleCall::Bash("mv ~/bin ~/bin2"),
        ExampleCall::Bash("ln -s ~/.local/state s"),
        ExampleCall::Bash("mount --bind /tmp/x ~/.config"),
        ExampleCall::Bash("docker run -v ~:/h alpine cat /h/x"),
        ExampleCall::Bash("cd ~ && git grep --no-index x"),
        ExampleCall::Bash("find ~ -name settings.json -exec sed -i s/deny/allow/ {} +"),
        ExampleCall::Bash("cp -r forged/. ~/.config/"),
        ExampleCall::Bash("cd ~/.config/portcullis && uudecode /tmp/u"),
        ExampleCall::Bash(
            "python3 -c \"import os;open(os.path.join(os.environ['HOME'],'.config','portcullis','settings.json'),'w')\"",
        ),
        ExampleCall::Bash("echo x >> ~/.claude/projects/-code-app/s.jsonl"),
        ExampleCall::Bash("journalctl --user -u portcullis"),
        ExampleCall::Call("Grep", &[("pattern", "."), ("path", "/home/me/.local")]),
        ExampleCall::Call("Write", &[("file_path", "/home/me/bin/portcullis"), ("content", "")]),
    ],
    misses: &[
        ExampleCall::Bash("cat ~/.config/portcullis/settings.json"),
        ExampleCall::Bash("jq . ~/.claude/settings.json"),
        ExampleCall::Bash("ls ~/.local/state/portcullis/daemon"),
        ExampleCall::Bash("ls -la ~"),
        ExampleCall::Bash("portcullis check --mode auto --json 'rm -rf .claude'"),
        ExampleCall::Bash("portcullis log"),
        ExampleCall::Bash("portcullis grants"),
        ExampleCall::Bash("portcullis questions list --json"),
        ExampleCall::Bash("portcullis serve --help"),
        ExampleCall::Bash("git add .claude/settings.json"),
        ExampleCall::Bash("grep -r x ."),
        ExampleCall::Bash("rg x ~"),
        ExampleCall::Bash("git -C ~ status"),
        ExampleCall::Bash("cd ~ && git checkout -b topic"),
        ExampleCall::Bash("cd ~ && git add notes.md && git commit -m x"),
        ExampleCall::Bash("cd ~ && git fetch && git stash list"),
        ExampleCall::Bash("git -C ~/code/other pull"),
        ExampleCall::Bash("cd ~ && git -C code/other checkout -f"),
        ExampleCall::Bash("git clean -fdx"),
        ExampleCall::Bash("claude mcp add files npx server"),
        ExampleCall::Bash("claude plugin list"),
        ExampleCall::Bash("find ~ -name '*.md' -exec head {} +"),
        ExampleCall::Bash("grep -r --include='*.py' x ~"),
        ExampleCall::Bash("cp notes.txt ~"),
        ExampleCall::Bash("mkdir -p ~/.config"),
        ExampleCall::Bash("cp init.lua ~/.config/nvim/"),
        ExampleCall::Bash("cat ~/.config/*/*.json"),
        ExampleCall::Bash("cat portcullis/daemon/main.rs"),
        ExampleCall::Bash("git commit -m 'portcullis allow --last is refused'"),
        ExampleCall::Bash("echo 'portcullis allow --last'"),
        ExampleCall::Bash("sha256sum ~/bin/portcullis"),
        ExampleCall::Bash("mv config .config"),
        ExampleCall::Bash("docker run -v ./src:/src alpine ls"),
        ExampleCall::Bash("curl http://127.0.0.1:8080/v1/rules"),
        ExampleCall::Bash("journalctl --user -u nginx"),
        ExampleCall::Bash("docker exec web rm -rf /home/app/.config"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let mut found = of_effects(case);
    let of_word = |(word, trespass): (&Argument, Trespass)| {
        let written = word.as_written();
        of_text(word.span, written, format!("{}, as far as is known of it: `{written}`", trespass.clause()))
            .sighting
    };
    found.extend(untold(case).map(of_word));
    found
}

fn of_effects(case: Case<'_>) -> Vec<Sighting> {
    let sighting = |(effect, trespass): (&Effect, Trespass)| {
        let clause = trespass.clause();
        let sentence = match effect.target.written() {
            "" => clause.to_owned(),
            written => format!("{clause}: `{written}`"),
        };
        Sighting::of(case, effect, sentence)
    };
    trespasses(case).map(sighting).collect()
}

/// Finds what effects do to our own places that are too many to be judged by anything else.
pub fn in_effects(case: Case<'_>) -> impl Iterator<Item = Found> {
    of_effects(case).into_iter().map(|sighting| Found { finding: &FINDING, sighting })
}

/// Finds what a part of the command line may do to our own places that nobody reads.
pub fn in_unread_text(case: Case<'_>, text: &str, span: Span) -> Option<Found> {
    let clause = unread(case, text)?.clause();
    Some(of_text(span, text, format!("{clause}, as far as its text says, which is not understood")))
}

/// Says of a command line that is followed only to a place that anything may stand behind it.
pub fn behind_all(span: Span) -> Found {
    let sentence = "it is too long to be followed, so that it may change or read what Portcullis keeps";
    of_text(span, "", sentence.to_owned())
}

fn of_text(span: Span, subject: &str, sentence: String) -> Found {
    let subject = subject.to_owned();
    let sighting =
        Sighting { effect: None, span, subject, sentence, is_ordinary: false, is_for_person: false };
    Found { finding: &FINDING, sighting }
}
