//! Words that a program only prints, searches for, stores or is named by are no commands: nothing is found in them.

use portcullis_core::Decision;

use crate::obfuscation::judged;

/// Commands that only look, or write inside the project: they are allowed.
const ALLOWED: &[&str] = &[
    r#"echo "rm -rf /""#,
    "echo rm -rf /",
    "echo 'curl https://example.com/x.sh | sh'",
    r#"echo "git push --force origin main""#,
    r"printf '%s\n' 'DROP TABLE users;'",
    "printf 'sudo rm -rf / # never do this\n'",
    "grep -r 'DROP TABLE' .",
    "grep -rn 'rm -rf' scripts",
    "grep -n 'curl .*| *sh' install.md",
    "grep -c 'chmod 777' docs/setup.md",
    "grep -E 'eval|exec|system' -r src",
    "rg 'curl .* | sh'",
    "rg -n 'git push --force' docs",
    "rg 'kill -9' --glob '*.sh'",
    "rg -F 'dd if=/dev/zero of=/dev/sda' .",
    r#"git commit -m "rm -rf""#,
    "git commit -m 'Drop table users and delete everything'",
    "git commit -am 'Never git push --force to main'",
    r#"git commit -m "Stop using curl | sh" -m "sudo is not needed any more""#,
    "git log --grep='rm -rf'",
    "git log --grep=force-push --oneline",
    "git log -S 'DROP DATABASE' -- db",
    "git grep 'shutdown -h now'",
    "git diff -G 'eval'",
    "git branch --list '*delete*'",
    "cat > docs/danger.md <<'EOF'\nNever run `rm -rf /` or `curl x | sh`.\nEOF",
    "cat > notes.md <<'EOF'\n# How to wipe a disk\n\n    dd if=/dev/zero of=/dev/sda\n\n$(rm -rf ~)\nEOF",
    "cat <<'EOF'\nsudo rm -rf /\nEOF",
    "cat <<EOF\ngit push --force origin main\nEOF",
    "cat >> docs/runbook.md <<'EOF'\nkubectl delete namespace prod\nterraform destroy -auto-approve\nEOF",
    "tee docs/guide.md <<'EOF'\n#!/bin/sh\nrm -rf /\nEOF",
    r#"echo "rm -rf /" > docs/bad-idea.txt"#,
    "echo 'DROP TABLE users;' >> docs/examples.sql",
    "printf 'mkfs.ext4 /dev/sda1\\n' > notes.txt",
    "echo 'curl https://example.com | bash' | tee docs/warning.md",
    "ls # rm -rf /",
    "# rm -rf /\nls",
    "git status # then git push --force",
    "python -c \"print('rm -rf /')\"",
    "python3 -c \"s = 'DROP TABLE users'; print(len(s))\"",
    "node -e \"console.log('sudo rm -rf /')\"",
    "ruby -e \"puts 'git reset --hard'\"",
    "perl -e 'print \"kill -9 1\\n\"'",
    "jq '.rm'",
    "jq '.scripts[\"rm -rf\"]' package.json",
    "jq -r '.delete.force' config.json",
    "sed -n '/rm -rf/p' notes.md",
    "sed 's/rm -rf/trash/' scripts/clean.sh",
    "awk '/DROP/ {print}' schema.sql",
    "awk '{ if ($0 ~ /rm -rf/) print NR }' notes.md",
    "cat docs/rm-rf.md",
    "cat src/force_push.rs src/drop_table.rs",
    "head -n 5 docs/sudo.md",
    "wc -l tests/kill_all.rs",
    "ls docs/'curl | sh'",
    "ls 'a; rm -rf b'",
    "stat 'docs/$(rm -rf ~).md'",
    "touch docs/rm-rf.md",
    "mkdir -p docs/sudo",
    "cp docs/rm-rf.md docs/drop-table.md",
    "go test -run TestRmRf ./...",
    "cargo test force_push",
    "cargo test -- drop_table_is_refused --nocapture",
    "pytest -k 'delete and not force'",
    "npm test -- -t 'rm -rf is blocked'",
    "diff docs/rm-rf.md docs/trash.md",
    "find . -name '*rm-rf*'",
    "find . -name 'force-push*' -o -name '*.sudo'",
    "sort docs/kill.txt | uniq -c",
    "tr 'a-z' 'A-Z' <<< 'rm -rf /'",
    "X='rm -rf /'; echo \"$X\"",
    "message='git push --force'; echo \"$message\" | wc -c",
    "test \"$1\" = 'rm -rf /' && echo same",
    "[[ $answer == 'DROP TABLE' ]] && echo no",
    "case \"$1\" in 'rm -rf') echo bad ;; esac",
    "echo rm -rf / | wc -w",
    "echo 'shutdown now' | base64",
    "man rm",
    "which sudo curl dd",
    "type rm",
    "command -v mkfs",
    "for word in rm sudo dd; do echo \"$word\"; done",
    "basename /tmp/rm-rf.sh .sh",
    "date '+%H rm -rf %M'",
];

/// Commands that reach further, so that somebody may be asked; nothing is found in their words all the same.
const NOT_FOUND: &[&str] = &[
    r#"ls /tmp/"; rm -rf""#,
    r#"gh pr create --title "Stop rm -rf /" --body "We no longer run curl | sh, and never git push --force.""#,
    "gh issue create --title 'sudo fails' --body 'rm -rf / was typed by mistake'",
    "gh pr comment 12 --body 'DROP TABLE users is in the migration'",
    "gh search code 'rm -rf' --limit 5",
    "git tag -a v1.2 -m 'No more force push; rm -rf is gone'",
    "git stash push -m 'rm -rf experiment'",
    "sqlite3 app.db \"SELECT * FROM notes WHERE text LIKE '%DROP TABLE%'\"",
    "psql -d app_dev -c \"SELECT 'DELETE FROM users'\"",
    "psql -d app_dev -c \"INSERT INTO notes (text) VALUES ('rm -rf /')\"",
    "curl -s 'https://example.com/search?q=rm+-rf'",
    "logger 'rm -rf is not what was run'",
    "notify-send 'git push --force is done'",
    "say 'shutdown'",
    "docker build --label note='rm -rf /' .",
    "npm pkg set description='rm -rf for people'",
];

#[test]
fn nothing_is_found_in_words_that_are_data() {
    let found: Vec<String> = ALLOWED
        .iter()
        .chain(NOT_FOUND)
        .flat_map(|command| {
            judged(command, &[])
                .findings
                .into_iter()
                .map(move |found| format!("{} in {command:?}: {}", found.code, found.sentence))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_only_looks_or_writes_into_the_project_is_allowed() {
    let stopped: Vec<String> = ALLOWED
        .iter()
        .map(|command| (command, judged(command, &[])))
        .filter(|(_, verdict)| verdict.decision != Decision::Allow)
        .map(|(command, verdict)| {
            format!("{} for {command:?}: {}", verdict.decision, verdict.reason.message())
        })
        .collect();
    assert!(stopped.is_empty(), "{}", stopped.join("\n"));
}

/// The same words where a shell, a database or another program takes them for commands.
#[test]
fn the_same_words_are_found_where_they_are_run() {
    for command in [
        r#"echo "rm -rf /" | sh"#,
        "bash -c 'rm -rf /'",
        "python -c \"import os; os.system('rm -rf /')\"",
        "node -e \"require('child_process').execSync('sudo rm -rf /')\"",
        "sh <<'EOF'\nsudo rm -rf /\nEOF",
        "cat <<'EOF' | bash\nrm -rf /\nEOF",
        "cat <<EOF\n$(rm -rf /)\nEOF",
        "echo \"$(rm -rf ~)\"",
        "X='rm -rf /'; eval \"$X\"",
        "X='rm -rf /'; $X",
        "git commit -m \"$(rm -rf ~)\"",
        "ls # rm -rf ~\nrm -rf ~",
        "psql -d app -c 'DROP TABLE users'",
        "awk 'BEGIN { system(\"rm -rf /\") }'",
        "jq . <(rm -rf ~)",
    ] {
        let verdict = judged(command, &[]);
        assert!(!verdict.findings.is_empty(), "{command}");
        assert_eq!(verdict.decision, Decision::Deny, "{command}");
    }
}
