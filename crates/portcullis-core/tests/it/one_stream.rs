//! Rules for paths, protected paths and critical removals hold for whatever touches the file: words, redirections, inline
//! code, code that nobody reads, scripts of the project, tool inputs (spec A2, A6, A7).

use portcullis_core::{
    Context, Decision, DiskAnswer, DiskQuestion, Mode, Policy, ToolCall, ToolInput, Value,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{Rules, context, decide_bash, decide_call, decide_on_disk};

/// Command lines that read a file and that the analysis understands.
const READING: &[&str] = &[
    "cat {}",
    "cat < {}",
    "bash -c 'head -n 3 {}'",
    "awk 'BEGIN{while((getline l < \"{}\")>0) print l}'",
    "awk 'BEGIN{f=\"{}\"; getline l < f; print l}'",
    "python3 -c \"print(open('{}').read())\"",
    "python3 -c \"from pathlib import Path; print(Path('{}').read_text())\"",
    "ruby -e 'puts File.read(\"{}\")'",
    "ruby -e 'IO.foreach(\"{}\"){|l| puts l}'",
    "perl -e 'open(F,\"<\",\"{}\"); print <F>'",
    "php -r 'readfile(\"{}\");'",
    "node -e \"console.log(require('fs').readFileSync('{}','utf8'))\"",
    "deno eval 'console.log(Deno.readTextFileSync(\"{}\"))'",
    "bun -e 'console.log(await Bun.file(\"{}\").text())'",
    "sed -n 1p {}",
    "jq -R . {}",
    "diff {} /dev/null",
];

/// Command lines that read a file in a way that nobody understands.
const READING_UNSEEN: &[&str] = &[
    "lua -e 'print(io.open(\"{}\"):read(\"a\"))'",
    "julia -e 'print(read(\"{}\",String))'",
    "Rscript -e 'cat(readLines(\"{}\"))'",
    "elixir -e 'IO.puts(File.read!(\"{}\"))'",
    "frobnicate --input={}",
    "python3 -c \"import frobnicate; frobnicate.show('{}')\"",
    "psql -c '\\copy t from {}'",
];

/// Command lines that write or remove a file.
const WRITING: &[&str] = &[
    "echo x > {}",
    "echo x | tee {}",
    "awk 'BEGIN{print \"x\" > \"{}\"}'",
    "awk '{print >> \"{}\"}' README.md",
    "python3 -c \"open('{}','w').write('x')\"",
    "python3 -c \"import os; os.remove('{}')\"",
    "ruby -e 'File.write(\"{}\",\"x\")'",
    "ruby -e 'File.delete(\"{}\")'",
    "perl -e 'open(F,\">\",\"{}\"); print F 1'",
    "perl -e 'unlink \"{}\"'",
    "perl -pi -e 's/a/b/' {}",
    "php -r 'file_put_contents(\"{}\",\"x\");'",
    "node -e \"require('fs').writeFileSync('{}','x')\"",
    "deno eval 'Deno.writeTextFileSync(\"{}\",\"x\")'",
    "bun -e 'await Bun.write(\"{}\",\"x\")'",
    "lua -e 'io.open(\"{}\",\"w\"):write(\"x\")'",
    "julia -e 'write(\"{}\",\"x\")'",
    "Rscript -e 'writeLines(\"x\",\"{}\")'",
    "sed -n 'w {}' README.md",
    "sort -o {} README.md",
    "cp README.md {}",
    "duckdb -c \"copy (select 1) to '{}'\"",
    "psql -c '\\copy t to {}'",
];

/// Texts of scripts that read or write a file, with the command that runs them.
const SCRIPTS: &[(&str, &str, &str, &str)] = &[
    ("sh scripts/a.sh", "scripts/a.sh", "cat {}\n", "echo x > {}\n"),
    ("python3 scripts/a.py", "scripts/a.py", "print(open('{}').read())\n", "open('{}', 'w').write('x')\n"),
    ("ruby scripts/a.rb", "scripts/a.rb", "puts File.read('{}')\n", "File.write('{}', 'x')\n"),
    (
        "node scripts/a.js",
        "scripts/a.js",
        "console.log(require('fs').readFileSync('{}'))\n",
        "require('fs').writeFileSync('{}', 'x')\n",
    ),
    ("awk -f scripts/a.awk", "scripts/a.awk", "BEGIN{getline l < \"{}\"}\n", "BEGIN{print 1 > \"{}\"}\n"),
    (
        "npm run a",
        "package.json",
        "{\"scripts\":{\"a\":\"cat {}\"}}",
        "{\"scripts\":{\"a\":\"echo x > {}\"}}",
    ),
    ("make a", "Makefile", "a:\n\tcat {}\n", "a:\n\techo x > {}\n"),
];

const MODES: &[Mode] = &[Mode::Default, Mode::AcceptEdits, Mode::Auto, Mode::BypassPermissions];

fn decide_script(policy: &Policy, (command, file, text): (&str, &str, &str), mode: Mode) -> Decision {
    let disk = |question: &DiskQuestion| match question {
        DiskQuestion::Text(asked) if *asked == format!("/code/app/{file}") => {
            Some(DiskAnswer::Text(text.to_owned()))
        }
        _ => None,
    };
    decide_on_disk(policy, ToolCall::bash(command), context(mode), disk).decision
}

fn check_denied(policy: &Policy, lines: &[&str], file: &str) {
    for line in lines {
        let line = line.replace("{}", file);
        for &mode in MODES {
            let decision = decide_bash(policy, &line, mode).decision;
            assert_ne!(decision, Decision::Allow, "{line} in {mode:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, rng_seed: RngSeed::Fixed(14), ..ProptestConfig::default() })]

    #[test]
    fn a_rule_for_a_path_holds_whatever_touches_it(
        directory in "[a-z]{3,8}",
        name in "[a-z]{3,8}\\.(txt|yml|key|toml)",
        whole in any::<bool>(),
    ) {
        let file = format!("{directory}/{name}");
        let pattern = if whole { format!("./{directory}/**") } else { format!("./{file}") };
        let (reads, edits) = (format!("Read({pattern})"), format!("Edit({pattern})"));
        let denies_read = Rules { deny: &[&reads], ..Rules::default() }.policy();
        let asks_edit = Rules { ask: &[&edits], ..Rules::default() }.policy();
        check_denied(&denies_read, READING, &file);
        check_denied(&denies_read, READING_UNSEEN, &file);
        check_denied(&denies_read, WRITING, &file);
        check_denied(&asks_edit, WRITING, &file);
        for &(command, script, reading, writing) in SCRIPTS {
            for &mode in MODES {
                let reading = reading.replace("{}", &file);
                let decision = decide_script(&denies_read, (command, script, &reading), mode);
                prop_assert_ne!(decision, Decision::Allow, "{} {}", command, reading);
                let writing = writing.replace("{}", &file);
                let decision = decide_script(&asks_edit, (command, script, &writing), mode);
                prop_assert_ne!(decision, Decision::Allow, "{} {}", command, writing);
            }
        }
    }

    #[test]
    fn another_file_is_nobody_s_business(name in "[a-z]{3,8}\\.(txt|md|csv)") {
        let rules = Rules { deny: &["Read(.env)", "Edit(vendor/**)"], ..Rules::default() }.policy();
        for line in READING.iter().chain(WRITING) {
            let line = line.replace("{}", &name);
            for &mode in MODES {
                let without = decide_bash(&Policy::default(), &line, mode).decision;
                prop_assert_eq!(decide_bash(&rules, &line, mode).decision, without, "{}", line);
            }
        }
    }

    #[test]
    fn no_code_writes_a_protected_path(
        path in prop::sample::select(vec![
            ".husky/pre-push", ".git/hooks/post-merge", ".envrc", ".npmrc", ".vscode/launch.json", ".idea/x.iml",
            ".gitmodules", "lefthook.yml", "/home/me/.zshrc", "sub/.mcp.json", ".devcontainer/devcontainer.json",
        ]),
    ) {
        check_denied(&Policy::default(), WRITING, path);
        for &(command, script, _, writing) in SCRIPTS {
            for &mode in MODES {
                let writing = writing.replace("{}", path);
                let decision = decide_script(&Policy::default(), (command, script, &writing), mode);
                prop_assert_ne!(decision, Decision::Allow, "{} {}", command, writing);
            }
        }
    }
}

#[test]
fn no_code_removes_what_cannot_be_made_good() {
    const REMOVING: &[&str] = &[
        "python3 -c \"import shutil; shutil.rmtree('{}')\"",
        "ruby -e 'require \"fileutils\"; FileUtils.rm_rf(\"{}\")'",
        "perl -MFile::Path -e 'rmtree(\"{}\")'",
        "perl -e 'system(\"rm -rf {}\")'",
        "node -e \"require('fs').rmSync('{}',{recursive:true,force:true})\"",
        "deno eval 'Deno.removeSync(\"{}\",{recursive:true})'",
        "julia -e 'rm(\"{}\",recursive=true)'",
        "Rscript -e 'unlink(\"{}\",recursive=TRUE)'",
        "lua -e 'os.execute(\"rm -rf {}\")'",
        "vim -c '!rm -rf {}'",
        "emacs --batch --eval '(delete-directory \"{}\" t)'",
        "rimraf {}",
        "mv {} /tmp/x",
        "shred -u {}",
    ];
    for path in ["/", "/home/me", "/code", "/etc"] {
        check_denied(&Policy::default(), REMOVING, path);
        for (command, file, text) in [
            ("npm run clean", "package.json", "{\"scripts\":{\"clean\":\"rm -rf {}\"}}"),
            ("make clean", "Makefile", "clean:\n\trm -rf {}\n"),
            ("sh tools/clean.sh", "tools/clean.sh", "rm -rf {}\n"),
            ("python3 tools/clean.py", "tools/clean.py", "import shutil\nshutil.rmtree('{}')\n"),
        ] {
            let text = text.replace("{}", path);
            let decision = decide_script(&Policy::default(), (command, file, &text), Mode::BypassPermissions);
            assert_ne!(decision, Decision::Allow, "{text}");
        }
    }
    for line in [
        "rm -rf build",
        "python3 -c \"import shutil; shutil.rmtree('build')\"",
        "find . -name '*.pyc' -delete",
    ] {
        assert_eq!(
            decide_bash(&Policy::default(), line, Mode::BypassPermissions).decision,
            Decision::Allow,
            "{line}"
        );
    }
}

#[test]
fn a_program_from_standard_input_is_no_look() {
    for line in
        ["tclsh <<< 'puts [read [open .env]]'", "lua < a.txt", "julia", "echo 'system(\"x\")' | octave"]
    {
        for mode in [Mode::Default, Mode::Auto] {
            assert_eq!(decide_bash(&Policy::default(), line, mode).decision, Decision::Ask, "{line}");
        }
    }
}

#[test]
fn inputs_of_tools_are_read_like_words() {
    let rules = Rules { deny: &["Read(.env)", "Edit(src/**)"], ..Rules::default() }.policy();
    let call = |tool: &str, field: &str, value: &str| ToolCall::new(tool, ToolInput::of_text(field, value));
    for call in [
        call("Read", "file_path", "sub/../.env"),
        call("Grep", "path", ".env"),
        call("Write", "file_path", "src/a.rs"),
        call("mcp__files__read_file", "path", ".env"),
        call("mcp__files__write_file", "path", "/code/app/src/a.rs"),
        call("PowerShell", "command", "Get-Content .env"),
        call("PowerShell", "command", "Set-Content -Path src/a.rs -Value x"),
    ] {
        for &mode in MODES {
            let decision = decide_call(&rules, call.clone(), context(mode)).decision;
            assert_eq!(decision, Decision::Deny, "{call:?} in {mode:?}");
        }
    }
    let hook = call("mcp__files__write_file", "path", ".git/hooks/pre-commit");
    let decision = decide_call(&Policy::default(), hook, context(Mode::BypassPermissions)).decision;
    assert_eq!(decision, Decision::Ask);
}

#[test]
fn a_directory_is_not_taken_whole_with_a_guarded_file_in_it() {
    let rules = Rules { deny: &["Read(.env)", "Read(./keys/**)", "Edit(docs/final.md)"], ..Rules::default() }
        .policy();
    let decide = |line: &str, there: &[&str]| {
        let disk = |question: &DiskQuestion| match question {
            DiskQuestion::Text(file) if there.contains(&file.as_str()) => Some(DiskAnswer::Broken),
            DiskQuestion::Text(_) => Some(DiskAnswer::Absent),
            _ => None,
        };
        decide_on_disk(&rules, ToolCall::bash(line), context(Mode::Auto), disk).decision
    };
    let there = &["/code/app/.env", "/code/app/keys", "/code/app/docs/final.md"];
    for line in [
        "grep -rn x .",
        "cp -r . /tmp/copy",
        "tar cf /tmp/a.tar .",
        "cd /code && zip -r /tmp/a.zip app",
        "mv keys other",
        "rm -rf docs",
        "rg --hidden x .",
        "rg -uu x .",
        "git grep --no-index x",
        "grep -r --exclude-dir=x x .",
        "tar cf /tmp/a.tar --exclude=x .",
        "tar cf /tmp/a.tar --exclude '*.md' .",
    ] {
        assert_eq!(decide(line, there), Decision::Deny, "{line}");
        let names_it = line == "mv keys other";
        assert!(names_it || decide(line, &[]) != Decision::Deny, "{line}");
    }
    for line in [
        "grep -rn x src",
        "grep -rn --include='*.rs' x .",
        "grep -rn --exclude=.env --exclude-dir=keys x .",
        "rg x",
        "git grep x",
        "ls -la",
        "cp -r src /tmp/copy",
    ] {
        assert_eq!(decide(line, there), Decision::Allow, "{line}");
    }
    // Which files such options leave out is not followed.
    assert_eq!(decide("grep -rn --exclude-from=.gitignore x .", there), Decision::Ask);
}

#[test]
fn code_of_the_project_may_run_beside_a_rule_for_a_path() {
    let rules = Rules { deny: &["Read(.env)", "Edit(src/**)"], ..Rules::default() }.policy();
    for line in
        ["npm test", "cargo test", "make test", "pytest", "python3 scripts/report.py", "python3 src/main.py"]
    {
        assert_eq!(decide_bash(&rules, line, Mode::Auto).decision, Decision::Allow, "{line}");
    }
    // What a script of the project reads at the user's word is its own business, and what an agent writes is not.
    let text = "import sys\nprint(open(sys.argv[1]).read())\n";
    let script = ("python3 scripts/a.py notes.txt", "scripts/a.py", text);
    assert_eq!(decide_script(&rules, script, Mode::Auto), Decision::Allow);
    let line = "python3 -c \"print(open(input()).read())\"";
    assert_eq!(decide_bash(&rules, line, Mode::BypassPermissions).decision, Decision::Ask);
}

#[test]
fn a_script_that_is_not_there_proves_nothing() {
    let absent =
        |question: &DiskQuestion| matches!(question, DiskQuestion::Text(_)).then_some(DiskAnswer::Absent);
    let decide = |command: &str| {
        decide_on_disk(&Policy::default(), ToolCall::bash(command), context(Mode::Auto), absent).decision
    };
    for command in
        ["bash ./nope.sh", "sh nope", "python3 tools/nope.py", "./nope.sh", "node nope.js", "ruby x/nope.rb"]
    {
        assert_eq!(decide(command), Decision::Ask, "{command}");
    }
    for command in ["make && ./app", "npm run build && node dist/index.js", "./target/debug/app --help"] {
        assert_eq!(decide(command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_home_below_the_temp_directory_is_a_home() {
    let at = |home: &str| Context {
        home: Some(home.to_owned()),
        ..Context::new(Mode::Auto, &format!("{home}/code/app"))
    };
    let decide = |home: &str, command: &str| {
        decide_call(&Policy::default(), ToolCall::bash(command), at(home)).decision
    };
    for command in
        ["rm -rf ~/.ssh", "rm -rf ~/Documents", "rm -rf ~/code/other", "cp evil ~/.config/autostart/x"]
    {
        assert_eq!(decide("/tmp/ci/home", command), decide("/home/me", command), "{command}");
        assert_ne!(decide("/tmp/ci/home", command), Decision::Allow, "{command}");
    }
    assert_eq!(decide("/tmp/ci/home", "rm -rf /tmp/ci-scratch-1/x"), Decision::Allow);
}

#[test]
fn a_power_shell_rule_names_a_command_by_each_of_its_names() {
    let call = |command: &str| {
        let input = [("command".to_owned(), Value::Text(command.to_owned()))].into_iter().collect();
        ToolCall::new("PowerShell", input)
    };
    for rule in ["PowerShell(Remove-Item:*)", "PowerShell(rm *)", "PowerShell(del *)"] {
        let policy = Rules { deny: &[rule], allow: &["PowerShell"], ..Rules::default() }.policy();
        for command in
            ["rm x", "ri x", "del x", "erase x", "RD x", "Remove-Item x", "if ($a) { rm x }", "ls | ri"]
        {
            let decision = decide_call(&policy, call(command), context(Mode::BypassPermissions)).decision;
            let is_open_ended = rule.ends_with(":*)");
            if is_open_ended || command != "ls | ri" {
                assert_eq!(decision, Decision::Deny, "{rule} {command}");
            }
        }
        let decision =
            decide_call(&policy, call("Get-ChildItem x"), context(Mode::BypassPermissions)).decision;
        assert_eq!(decision, Decision::Allow, "{rule}");
    }
    let policy = Rules { allow: &["PowerShell(Get-ChildItem *)"], ..Rules::default() }.policy();
    assert_eq!(decide_call(&policy, call("gci src"), context(Mode::Default)).decision, Decision::Allow);
}

#[test]
fn auto_mode_looks_at_what_a_broad_rule_would_wave_through() {
    let policy =
        Rules { allow: &["Bash(git:*)", "Bash(poetry run:*)", "Bash(gh:*)"], ..Rules::default() }.policy();
    for line in
        ["git push --force origin main", "poetry run python -c 'import x; x.y()'", "gh repo delete a/b --yes"]
    {
        assert_ne!(decide_bash(&policy, line, Mode::Auto).decision, Decision::Allow, "{line}");
        assert_eq!(decide_bash(&policy, line, Mode::Default).decision, Decision::Allow, "{line}");
    }
    for line in ["git status", "git commit -m x", "git push origin topic"] {
        assert_eq!(decide_bash(&policy, line, Mode::Auto).decision, Decision::Allow, "{line}");
    }
}
