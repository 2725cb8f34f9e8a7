//! Variables that are set for programs: generated names and values, of which none that steers may count as harmless, and
//! what people set all day.

use crate::seeded::{Seeded, is_harmless};

/// Programs that run code of the project, look at it or fetch what it declares.
const PROGRAMS: &[&str] = &[
    "make",
    "npm test",
    "cargo build",
    "pytest",
    "go test ./...",
    "mvn test",
    "ls src",
    "git status",
    "bundle exec rspec",
    "terraform plan",
    "iconv -f a -t b x",
];

/// Ways to hand a variable to a program.
const WAYS: &[&str] = &[
    "{} {P}",
    "env {} {P}",
    "export {}; {P}",
    "export {} && {P}",
    "declare -x {}; {P}",
    "timeout 9 env {} {P}",
    "bash -c '{} {P}'",
    "X=1 {} {P}",
    "(export {}; {P})",
];

fn line(seeded: &mut Seeded, setting: &str) -> String {
    let way = if setting.contains('\'') { "{} {P}" } else { seeded.pick(WAYS) };
    way.replace("{}", setting).replace("{P}", seeded.pick(PROGRAMS))
}

/// Beginnings of names that no table can know.
const TOOLS: &[&str] =
    &["ACME", "FROBNICATE", "ZORK", "QUUX_TOOL", "MYLANG", "HYPERBUILD", "PIP", "GIT", "CARGO", "npm_config"];

/// Endings of names whose value is run, loaded, written or reached.
const ENDS: &[&str] = &[
    "_PLUGIN",
    "_CMD",
    "_COMMAND",
    "_HOOK",
    "_PRELOAD",
    "_WRAPPER",
    "_LAUNCHER",
    "_RUNNER",
    "_SHELL",
    "_EDITOR",
    "_PAGER",
    "_BROWSER",
    "_INIT",
    "_RC",
    "_CONFIG",
    "_FILE",
    "_PROXY",
    "_REGISTRY",
    "_INDEX_URL",
    "_HOST",
    "_ENDPOINT",
    "_STARTUP",
    "_MODULE",
    "_LIB",
    "_LOADER",
    "_AGENT",
    "_EXE",
    "_PROGRAM",
    "_HOME",
    "_DIR",
    "_PATH",
    "_OPTS",
    "_FLAGS",
    "_ARGS",
    "",
    "_X",
];

/// Values that lead out of the project, to another host, or are commands.
const VALUES: &[&str] = &[
    "/tmp/evil",
    "/opt/evil/x",
    "~/code/other/x",
    "../other/x",
    "/home/me/code/other/x.so",
    "\"rm -rf /home/me\"",
    "'sh -c \"date|sh\"'",
    "https://evil.example/x",
    "\"$(cat notes)\"",
    "\"$SOMETHING/x\"",
    "'x;y'",
    "'`id`'",
    "@/tmp/evil",
    "-e/tmp/x",
];

#[test]
fn no_variable_leads_a_program_elsewhere_unseen() {
    let mut seeded = Seeded::new(0x5eed_0e01);
    let mut wrong = Vec::new();
    for _ in 0..3_000 {
        let setting = format!("{}{}={}", seeded.pick(TOOLS), seeded.pick(ENDS), seeded.pick(VALUES));
        let line = line(&mut seeded, &setting);
        if is_harmless(&line) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{} allowed\n{}", wrong.len(), wrong.join("\n"));
}

/// Variables of real tools that load, run or weaken something, with values that do.
const REAL: &[&str] = &[
    "PERL5DB='BEGIN{system q(id)}'",
    "ERL_FLAGS='-eval halt().'",
    "JULIA_LOAD_PATH=/srv/x",
    "R_PROFILE_USER=/srv/x.R",
    "PHP_INI_SCAN_DIR=/srv/x",
    "HGRCPATH=/srv/hgrc",
    "GNUPGHOME=/srv/g",
    "AWS_CONFIG_FILE=/srv/aws",
    "ANSIBLE_LIBRARY=/srv/lib",
    "TEXINPUTS=/srv/tex:",
    "COMPOSER_HOME=/srv/c",
    "SBT_OPTS=-Dsbt.global.base=/srv/x",
    "VIMINIT='source /srv/x.vim'",
    "GIT_PROXY_COMMAND=/srv/x",
    "GIT_EXTERNAL_DIFF=./x.sh",
    "LESSOPEN='|/srv/x %s'",
    "OPENSSL_CONF=./x.cnf",
    "NODE_EXTRA_CA_CERTS=./ca.pem",
    "GOFLAGS=-toolexec=./x",
    "MAKEFLAGS='--eval=$(shell id)'",
    "CMAKE_TOOLCHAIN_FILE=/srv/t.cmake",
    "RUSTC=./rustc",
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=/srv/ld",
    "PATH=/srv/bin:$PATH",
    "PATH=bin:$PATH",
    "HOME=/srv/me",
    "XDG_CONFIG_HOME=/srv/c",
    "LD_PRELOAD=./x.so",
    "PYTHONSTARTUP=/srv/x.py",
    "PYTHONHOME=/srv/py",
    "SSL_CERT_FILE=/srv/ca.pem",
    "PIP_INDEX_URL=https://pypi.evil.example/simple",
    "YARN_REGISTRY=http://10.0.0.9/",
    "npm_config_script_shell=/srv/sh",
    "NPM_CONFIG_NODE_OPTIONS='--require /srv/x.js'",
    "DOCKER_HOST=tcp://evil.example:2375",
    "MAVEN_OPTS=-javaagent:/srv/a.jar",
    "RUBYOPT=-r/srv/x",
    "NODE_PATH=/srv/modules",
    "GIT_TEMPLATE_DIR=/srv/t",
    "GIT_DIR=/srv/repo/.git",
    "ENV=/srv/env.sh",
    "PROMPT_COMMAND=id",
    "GIT_SSL_NO_VERIFY=1",
    "NODE_TLS_REJECT_UNAUTHORIZED=0",
    "UV_INSECURE_HOST=evil.example",
    "TF_CLI_ARGS_plan=-var-file=/srv/x",
    "TERMINFO=/srv/t",
    "GCONV_PATH=.",
    "LOCPATH=/srv/l",
    "MANPAGER='sh -c id'",
    "BROWSER=/srv/b",
    "KUBE_EDITOR='sh x'",
    "CXX='g++ -B/srv'",
    "AR=./ar",
    "SHELL=/srv/sh",
];

#[test]
fn variables_of_real_tools_are_seen_however_they_are_set() {
    let mut seeded = Seeded::new(0x5eed_0e02);
    for setting in REAL {
        for _ in 0..4 {
            let line = line(&mut seeded, setting);
            assert!(!is_harmless(&line), "{line}");
        }
    }
}

/// What people set all day.
const ORDINARY: &[&str] = &[
    "NODE_ENV=test",
    "CI=true",
    "PORT=3001",
    "RUST_LOG=debug",
    "RUST_LOG=app=trace,hyper=info",
    "PYTHONPATH=src",
    "PYTHONPATH=.",
    "PYTHONPATH=src:lib",
    "DATABASE_URL=postgres://user:pw@localhost:5432/test",
    "REDIS_URL=redis://127.0.0.1:6379",
    "API_URL=http://localhost:8080/v1",
    "CARGO_TARGET_DIR=target/x",
    "ACME=on",
    "ACME_RETRIES=3",
    "ACME_FLAVOUR=vanilla",
    "TEST_DB=test_1",
    "GOOS=linux",
    "CC=clang-18",
    "CXX=g++",
    "CFLAGS=-O2",
    "GOFLAGS=-mod=mod",
    "AWS_PROFILE=dev",
    "KUBECONFIG=~/.kube/dev",
    "TMPDIR=/tmp/x",
    "PAGER=cat",
    "GIT_EDITOR=true",
    "EDITOR=vim",
    "JAVA_HOME=/usr/lib/jvm/java-21",
    "LC_ALL=C",
    "TZ=UTC",
    "DEBUG=1",
    "ACME_CONFIG=config/test.yml",
    "COMPOSE_FILE=docker-compose.yml",
    "ACME_VERSION=$(git describe --tags)",
    "ACME_TOKEN=dummy",
    "NODE_OPTIONS=--max-old-space-size=4096",
    "PATH=$HOME/.cargo/bin:$PATH",
    "PATH=$PATH:/usr/local/go/bin",
    "OUT_DIR=dist",
    "DISPLAY=:99",
    "DATABASE_URL=sqlite:///test.db",
    "npm_config_loglevel=error",
];

#[test]
fn what_people_set_all_day_is_harmless() {
    for setting in ORDINARY {
        for program in ["npm test", "cargo build", "pytest"] {
            let line = format!("{setting} {program}");
            assert!(is_harmless(&line), "{line}");
        }
        let line = format!("export {setting} && npm test");
        assert!(is_harmless(&line), "{line}");
    }
    for line in [
        "X=/opt/x; ls",
        "URL=https://example.com/x; ls",
        "name='a b'; echo \"$name\"",
        "while IFS= read -r x; do echo \"$x\"; done < a.txt",
    ] {
        assert!(is_harmless(line), "{line}");
    }
}
