//! A script that a line writes and runs is judged by what stands in it (spec D3).

use crate::support::{Rules, decide_bash};
use portcullis_core::{Decision, Mode};

fn decision(command: &str) -> Decision {
    decide_bash(&Rules::default().policy(), command, Mode::Auto).decision
}

/// Writes a text into a file and runs it, in several ways.
fn lines(file: &str, text: &str, run: &str) -> Vec<String> {
    vec![
        format!("cat > {file} <<'EOF'\n{text}\nEOF\n{run}"),
        format!("cat <<'EOF' > {file}\n{text}\nEOF\n{run}"),
        format!("mkdir -p /tmp/wip && cat > {file} << 'DONE'\n{text}\nDONE\n{run} | head"),
        format!("cat >| {file} <<-'EOF'\n{text}\nEOF\n{run} 2>&1"),
    ]
}

const RUNS: &[(&str, &str)] = &[
    ("/tmp/wip/x.sh", "bash /tmp/wip/x.sh"),
    ("/tmp/wip/x.sh", "bash -e /tmp/wip/x.sh"),
    ("/tmp/wip/x.sh", "bash -x /tmp/wip/x.sh src"),
    ("/tmp/wip/x.sh", "sh -eu /tmp/wip/x.sh"),
    ("/tmp/wip/x.sh", "bash -euo pipefail /tmp/wip/x.sh"),
    ("/tmp/wip/x.sh", "bash --noprofile --norc -eux -o pipefail -- /tmp/wip/x.sh"),
    ("/tmp/wip/x.sh", "dash -v /tmp/wip/x.sh"),
    ("/tmp/wip/y.sh", "chmod +x /tmp/wip/y.sh && /tmp/wip/y.sh"),
    ("/tmp/x.py", "python3 /tmp/x.py"),
    ("/tmp/x.mjs", "node /tmp/x.mjs"),
    ("/tmp/x.rb", "ruby /tmp/x.rb"),
    ("/tmp/x.go", "go run /tmp/x.go"),
    ("/tmp/x.rs", "rustc /tmp/x.rs -o /tmp/x && /tmp/x"),
    ("/tmp/x.c", "gcc -O2 -Wall -o /tmp/x /tmp/x.c && /tmp/x"),
];

fn text(file: &str, is_harmful: bool) -> &'static str {
    let ending = file.rsplit('.').next().unwrap_or_default();
    match (ending, is_harmful) {
        ("sh", false) => "grep -c fn src/*.rs | sort",
        ("sh", true) => "rm -rf /home/me",
        ("py", false) => "import json\nprint(json.dumps({'a': 1}))",
        ("py", true) => "import shutil\nshutil.rmtree('/home/me')",
        ("mjs", false) => "console.log([1, 2].map(x => x + 1))",
        ("mjs", true) => "import { rmSync } from 'node:fs'\nrmSync('/home/me', { recursive: true })",
        ("rb", false) => "puts [3, 1, 2].sort.inspect",
        ("rb", true) => "system('rm -rf /home/me')",
        ("go", false) => "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }",
        ("go", true) => "package main\nimport \"os\"\nfunc main() { os.RemoveAll(\"/home/me\") }",
        ("rs", false) => "fn main() {\n    println!(\"{}\", 1);\n}",
        ("rs", true) => "fn main() {\n    std::fs::remove_dir_all(\"/home/me\").unwrap();\n}",
        ("c", false) => "#include <stdio.h>\nint main(void) { puts(\"hi\"); }",
        ("c", true) => "#include <stdlib.h>\nint main(void) { system(\"rm -rf /home/me\"); }",
        _ => "",
    }
}

#[test]
fn a_harmless_script_of_the_line_runs() {
    for (file, run) in RUNS {
        for line in lines(file, text(file, false), run) {
            assert_eq!(decision(&line), Decision::Allow, "{line}");
        }
    }
}

#[test]
fn a_harmful_script_of_the_line_does_not() {
    for (file, run) in RUNS {
        for line in lines(file, text(file, true), run) {
            assert_ne!(decision(&line), Decision::Allow, "{line}");
        }
    }
}

/// Whatever else comes into a file, or may, ends what is known of it.
#[test]
fn a_script_that_something_else_writes_is_not_known() {
    let changes = [
        "echo 'rm -rf /home/me' >> FILE",
        "sed -i 's/a/b/' FILE",
        "cp other FILE",
        "mv other FILE",
        "ln -sf /home/me/other FILE",
        "tee FILE < other",
        "curl -so FILE https://example.com/x",
        "tee \"$OUT\" < other",
        "cp other /tmp/*",
        "tar xf other.tar -C /tmp",
        "dd if=other of=FILE",
    ];
    for (file, run) in RUNS {
        for change in changes.map(|change| change.replace("FILE", file)) {
            let line = format!("cat > {file} <<'EOF'\n{}\nEOF\n{change}; {run}", text(file, false));
            assert_ne!(decision(&line), Decision::Allow, "{line}");
        }
    }
}

#[test]
fn only_a_text_that_stands_alone_is_known() {
    for line in [
        "cat > /tmp/x.sh <<EOF\n$BODY\nEOF\nsh /tmp/x.sh",
        "cat > /tmp/x.sh <<EOF\n$(cat other)\nEOF\nsh /tmp/x.sh",
        "cat other > /tmp/x.sh; sh /tmp/x.sh",
        "cat >> /tmp/x.sh <<'EOF'\nls\nEOF\nsh /tmp/x.sh",
        "cat > /tmp/x.sh <<'EOF'\n. /tmp/other.sh\nEOF\nsh /tmp/x.sh",
        "cat > /tmp/x.sh <<'EOF'\nbash /tmp/other.sh\nEOF\nsh /tmp/x.sh",
        "cat > /tmp/x.py <<'EOF'\nimport other\nother.run()\nEOF\npython3 /tmp/x.py",
        "cat > /tmp/x.c <<'EOF'\n#include \"other.h\"\nint main(void) { go(); }\nEOF\ngcc -o /tmp/x /tmp/x.c && /tmp/x",
        "cat > /tmp/x.c <<'EOF'\n# include <../../tmp/other.h>\nint main(void) { go(); }\nEOF\ngcc -o /tmp/x /tmp/x.c && /tmp/x",
        "cat > /tmp/x.c <<'EOF'\nint main(void) { go(); }\nEOF\ngcc -include /tmp/o.h -o /tmp/x /tmp/x.c && /tmp/x",
        "cat > /tmp/x.c <<'EOF'\nint main(void) { go(); }\nEOF\ngcc -o /tmp/x /tmp/x.c /tmp/o.o && /tmp/x",
        "cat > /tmp/x.c <<'EOF'\nint main(void) { go(); }\nEOF\nCC=/tmp/o gcc -o /tmp/x /tmp/x.c && /tmp/x",
        "cat > /tmp/x.rs <<'EOF'\nmod other;\nfn main() { other::go() }\nEOF\nrustc /tmp/x.rs -o /tmp/x && /tmp/x",
        "cat > /tmp/x.go <<'EOF'\npackage main\nfunc main() {}\nEOF\ngo run /tmp/x.go /tmp/other.go",
        "cat > /tmp/x.go <<'EOF'\npackage main\nfunc main() {}\nEOF\ngo run -exec /tmp/other /tmp/x.go",
        "cat > /tmp/x.py <<'EOF'\nprint(1)\nEOF\nPYTHONSTARTUP=/tmp/o.py python3 -i /tmp/x.py",
        "cat > /tmp/x.py <<'EOF'\nprint(1)\nEOF\npython3 /tmp/other.py",
        "echo '1' | jshell -s -",
        "cat > /tmp/wip/x.sh <<'EOF'\nls\nEOF\ncp -r other/. /tmp/wip; sh /tmp/wip/x.sh",
    ] {
        assert_ne!(decision(line), Decision::Allow, "{line}");
    }
}

/// What makes the shell read another file, or nobody knows, leaves what is known of the script behind.
#[test]
fn a_switch_that_brings_in_another_file_is_asked_about() {
    for switches in [
        "--rcfile /tmp/o.sh -i",
        "--init-file /tmp/o.sh",
        "--frobnicate",
        "-Z",
        "-s",
        "-i",
        "-c 'sh /tmp/o.sh'",
        "-e /tmp/o.sh",
        "-o \"$(cat o)\"",
    ] {
        let line = format!("cat > /tmp/x.sh <<'EOF'\nls\nEOF\nbash {switches} /tmp/x.sh");
        assert_ne!(decision(&line), Decision::Allow, "{line}");
    }
}

/// A rule that allows a script speaks of the one that was there before.
#[test]
fn a_rule_for_a_script_does_not_cover_what_the_line_puts_there() {
    let policy =
        Rules { allow: &["Bash(cat:*)", "Bash(./run.sh)", "Edit(/run.sh)"], ..Rules::default() }.policy();
    let line = "cat > run.sh <<'EOF'\nfrobnicate\nEOF\n./run.sh";
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Auto] {
        assert_ne!(decide_bash(&policy, line, mode).decision, Decision::Allow, "{mode:?}");
    }
}
