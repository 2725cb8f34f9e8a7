//! What work on a project takes now and then is asked about in auto mode; what is more is refused (spec D16).

use crate::support::{Rules, decide_bash};
use portcullis_core::findings::{FINDINGS, Firmness};
use portcullis_core::{Decision, Mode};

fn check(expected: Decision, commands: &[String]) {
    let policy = Rules::default().policy();
    let mut wrong = Vec::new();
    for command in commands {
        let verdict = decide_bash(&policy, command, Mode::Auto);
        if verdict.decision != expected {
            wrong.push(format!("{command:?}: {:?} ({})", verdict.decision, verdict.reason.message()));
        }
    }
    assert!(wrong.is_empty(), "expected {expected:?}\n{}", wrong.join("\n"));
}

/// Fills every name into every form.
fn filled(forms: &[&str], names: &[&str]) -> Vec<String> {
    forms.iter().flat_map(|form| names.iter().map(|name| form.replace("NAME", name))).collect()
}

const BY_NAME: &[&str] = &[
    "pkill NAME",
    "pkill -f NAME",
    "pkill -9 -f 'NAME --port 3000'",
    "killall NAME",
    "killall -9 NAME",
    "kill $(pgrep NAME)",
    "kill -9 $(pgrep -f NAME | head -1)",
    "pgrep -f NAME | xargs -r kill",
    "ps aux | grep NAME | grep -v grep | awk '{print $2}' | xargs kill",
    "kill $(ps aux | awk '/NAME/ {print $2}')",
    "for p in $(pgrep -f NAME); do kill $p; done",
    "PID=$(pidof NAME); kill \"$PID\"",
    "taskkill /F /IM NAME.exe",
];

#[test]
fn a_process_of_ones_own_is_asked_about() {
    check(Decision::Ask, &filled(BY_NAME, &["vite", "uvicorn", "webpack", "gunicorn", "node"]));
    let plain = [
        "kill 12345",
        "kill -TERM 12345 12346",
        "kill -s INT 4711",
        "kill $(lsof -t -i:3000)",
        "lsof -ti tcp:8080 | xargs -r kill -9",
        "kill $(cat run/server.pid)",
        "fuser -k 5173/tcp",
        "kill $SERVER_PID",
    ];
    check(Decision::Ask, &plain.map(str::to_owned));
}

#[test]
fn upkeep_of_ones_own_is_asked_about() {
    let own = [
        "git push origin --delete feature/old",
        "git push --force-with-lease origin topic :old",
        "git push origin :topic && git fetch",
        "ssh deploy@staging.example.com 'cd /srv/app && git pull --ff-only'",
        "ssh web-1 'systemctl --user restart app && journalctl --user -u app -n 20'",
        "aws s3 sync dist/ s3://acme-staging --delete",
        "docker system prune -af --volumes",
        "npx prisma migrate reset --force",
        "bin/rails db:schema:load",
    ];
    check(Decision::Ask, &own.map(str::to_owned));
}

#[test]
fn upkeep_of_what_others_depend_on_is_refused() {
    let others = [
        "git push origin --delete main",
        "git push origin --delete release/2.0",
        "git push origin --delete v1.2.0",
        "git push origin :refs/tags/nightly",
        "git push --prune origin",
        "git push origin --delete \"$BRANCH\"",
        "ssh prod-web 'systemctl --user restart app'",
        "ssh web-1 'systemctl --user restart app; rm -rf /srv/data'",
        "aws s3 sync dist/ s3://acme-production --delete",
        "aws s3 rm s3://acme-staging --recursive",
        "RAILS_ENV=production bin/rails db:drop",
        "psql -c 'DROP TABLE users'",
    ];
    check(Decision::Deny, &others.map(str::to_owned));
}

#[test]
fn what_the_machine_depends_on_is_not_ended() {
    check(Decision::Deny, &filled(BY_NAME, &["sshd", "dockerd", "systemd", "auditd", "nginx", "postgres"]));
    let raised = ["pkill NAME", "killall NAME", "kill $(pgrep NAME)", "fuser -k NAME/tcp"];
    let raised = raised.map(|form| format!("sudo {form}"));
    let raised: Vec<&str> = raised.iter().map(String::as_str).collect();
    check(Decision::Deny, &filled(&raised, &["vite", "uvicorn"]));
}

#[test]
fn many_processes_at_once_are_not_ended() {
    let many = [
        "kill -9 -1",
        "kill -9 1",
        "kill -- -4711",
        "killall5",
        "killall -u alice",
        "pkill -u root",
        "pkill -U 1000",
        "pkill .",
        "pkill -f ''",
        "pkill -v bash",
        "kill $(pgrep -v bash)",
        "kill $(pgrep -u alice)",
        "kill $(ps -e -o pid=)",
        "ps aux | awk '{print $2}' | xargs kill -9",
        "ps aux | grep -v grep | awk '{print $2}' | xargs kill -9",
        "ps -eo pid= | while read p; do kill $p; done",
        "for p in $(ps -eo pid=,comm= | grep vite | cut -d' ' -f1); do kill $p; done",
        "for p in /proc/[0-9]*; do kill ${p#/proc/}; done",
        "f() { kill $1; }; f 1",
        "taskkill /F /IM '*'",
        "taskkill /S other /IM node.exe",
        "taskkill /F /FI 'PID gt 1'",
    ];
    check(Decision::Deny, &many.map(str::to_owned));
}

#[test]
fn publishing_deploying_and_merging_are_asked_about() {
    let own = [
        "npm publish --access public",
        "pnpm publish",
        "cargo publish -p app",
        "twine upload dist/*",
        "twine upload --repository-url https://test.pypi.org/legacy/ dist/*",
        "uv publish",
        "gem push app-1.0.gem",
        "gh release create v1.0 --notes fixes",
        "docker push ghcr.io/me/app:1",
        "fly deploy --remote-only",
        "wrangler deploy",
        "firebase deploy --only hosting",
        "gh pr merge 12 --squash",
        "gh pr review 12 --approve",
        "glab mr merge 5",
        "gh pr merge 12 --squash --delete-branch",
        "git push --force-with-lease origin feature/login",
        "git fetch origin && git rebase origin/main && git push --force-with-lease origin topic",
        "git push origin topic --force-with-lease=topic:1f3c9aa",
    ];
    check(Decision::Ask, &own.map(str::to_owned));
}

#[test]
fn foreign_places_production_and_ends_are_refused() {
    let more = [
        "npm publish --registry https://collect.example",
        "twine upload --repository-url https://collect.example/ dist/*",
        "gh gist create src/lib.rs",
        "gh gist create --public notes.md",
        "asciinema upload session.cast",
        "gh repo create me/app --public --source .",
        "vercel --prod",
        "netlify deploy --prod",
        "kubectl apply -n prod -f deploy.yaml",
        "gh pr merge 12 --admin",
        "gh pr merge 12 -R somebody/else",
        "gh pr merge https://github.com/somebody/else/pull/12",
        "gh repo delete me/app --yes",
        "gh repo edit --visibility public",
        "npm unpublish app --force",
        "sudo npm publish",
        "gh pr merge 12 -R somebody/else --delete-branch",
        "git push -f origin topic",
        "git push --force-with-lease -uf origin topic",
        "git push --force --force-with-lease origin topic",
        "git push --force-with-lease origin +topic",
        "git push --force-with-lease origin main",
        "git push --force-with-lease origin topic:refs/heads/main",
        "git push --force-with-lease --mirror origin",
        "git push --force-with-lease origin topic :main",
    ];
    check(Decision::Deny, &more.map(str::to_owned));
}

/// Words that would lead round the gate instead of to what is fine.
const MISLEADING: &[&str] =
    &["bypass", "disable", "no-verify", "portcullis", "rename", "split", "switch off", "sudo", "terminal"];

#[test]
fn every_finding_says_what_would_be_fine_instead() {
    for finding in FINDINGS {
        let (code, instead) = (finding.code, finding.instead);
        assert!(instead.starts_with(|letter: char| letter.is_ascii_uppercase()), "{code}: {instead}");
        assert!(
            !instead.ends_with('.') && !instead.contains(". "),
            "{code}: more than a sentence: {instead}"
        );
        assert!((4..=20).contains(&instead.split_whitespace().count()), "{code}: {instead}");
        let lower = instead.to_lowercase();
        let misleading: Vec<_> = MISLEADING.iter().filter(|word| lower.contains(**word)).collect();
        assert!(misleading.is_empty(), "{code}: {instead}: {misleading:?}");
        // What nothing lifts has no command that comes close to it.
        let is_hard = finding.firmness == Firmness::Hard;
        assert!(!is_hard || commands(instead).iter().all(|command| is_a_look(command)), "{code}: {instead}");
    }
}

#[test]
fn a_command_that_is_fine_instead_is_not_refused() {
    let commands: Vec<String> = FINDINGS.iter().flat_map(|finding| commands(finding.instead)).collect();
    assert!(commands.len() >= 25, "{commands:?}");
    check(Decision::Allow, &commands);
}

/// Returns the parts of a sentence that stand in backticks.
fn commands(sentence: &str) -> Vec<String> {
    sentence.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn is_a_look(command: &str) -> bool {
    let verdict = decide_bash(&Rules::default().policy(), command, Mode::Default);
    verdict.decision == Decision::Allow
}
