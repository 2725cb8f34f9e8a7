//! Programs of a developer's day: looking with them is harmless, and what runs, loads, writes or sends is held.

use crate::seeded::{Seeded, is_harmless};

const SEED: u64 = 0x00de_7001;

#[test]
fn looking_is_harmless() {
    let lines = [
        "readelf -Wl build/app",
        "objdump -d -M intel build/app | head -40",
        "size -A build/app",
        "addr2line -f -e build/app 0x4011d6",
        "c++filt _ZN3app3runEv",
        "lsb_release -a",
        "lsns -t net",
        "tomlq -r .package.version Cargo.toml",
        "xq -r .project.version pom.xml",
        "dasel -f config.yaml .server.port",
        "mlr --icsv --ojson head -n 4 data.csv",
        "csvcut -c name data.csv | csvlook",
        "csvgrep -c city -m Bern data.csv",
        "xsv stats --everything data.csv",
        "ocamlformat --check src/a.ml",
        "jps -l",
        "jstack -l 4711",
        "jcmd 4711 Thread.print",
        "prove -lr t",
        "bats -r test",
        "asciidoctor -o out.html guide.adoc",
        "hugo --minify",
        "zola build",
        "doxygen docs/Doxyfile",
        "git diff | delta --side-by-side",
        "tldr tar",
        "procs node",
        "btm --basic",
        "gcov -b src/a.c",
        "lcov -c -d build -o coverage.info",
        "gcovr -r . --html-details out/index.html",
        "tidy -q -e index.html",
        "htmlhint site/index.html",
        "b3sum a.txt",
        "optipng -o2 logo.png",
        "mutool info report.pdf",
        "tesseract scan.png out -l eng",
        "trivy fs --severity HIGH .",
        "grype dir:.",
        "syft . --output=json",
        "kubeconform -strict -summary deploy",
        "checkov -d infra --quiet",
        "tfsec infra",
        "grpcurl -plaintext localhost:50051 list",
        "cosign verify --key cosign.pub registry.example/app:1",
        "ag --python --js --go foo src",
        "pnpm -r run build",
        "pnpm --recursive run test",
        "pnpm --filter web run build",
    ];
    let wrong: Vec<&str> = lines.into_iter().filter(|line| !is_harmless(line)).collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

#[test]
fn what_acts_elsewhere_is_held() {
    const WRITING: &[&str] = &[
        "strip -s",
        "strip app -o",
        "objcopy -O binary app.elf",
        "dasel put -v 1 .a -f",
        "xsv sort data.csv -o",
        "tomlq -t -i '.a = 1'",
        "ocamlformat src/a.ml -o",
        "lcov -c -o",
        "gcovr --html",
        "hugo -d",
        "trivy fs . -o",
        "tfsec infra --out",
        "optipng",
        "mutool draw report.pdf -o",
        "tidy index.html -o",
    ];
    const RUNNING: &[&str] = &[
        "ldd",
        "prove",
        "prove -e",
        "bats",
        "bats --formatter",
        "asciidoctor guide.adoc -r",
        "doxygen",
        "wasmtime",
        "delta a b --pager",
        "gcovr --gcov-executable",
        "lcov -c --gcov-tool",
        "checkov -d infra --external-checks-dir",
        "trivy fs . --module-dir",
        "htmlhint site -R",
        "strip app --plugin",
        "jcmd 4711 JVMTI.agent_load",
        "mutool run",
    ];
    let mut seeded = Seeded::new(SEED);
    let mut wrong = Vec::new();
    for command in WRITING {
        let place = seeded.pick(&["/home/me/.bashrc", "~/.ssh/authorized_keys", "/etc/cron.d/x"]);
        wrong.push(format!("{command} {place}"));
    }
    for command in RUNNING {
        wrong.push(format!("{command} {}", seeded.pick(&["/tmp/x", "/var/tmp/y/x", "~/Downloads/x"])));
    }
    wrong.retain(|line| is_harmless(line));
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn expressions_calls_and_chains_are_held() {
    let lines = [
        "mlr --csv put '$x = system(\"id\")' data.csv",
        "mlr --csv cat then put '$x = system(\"id\")' data.csv",
        "mlr --csv head -n 1 then tee /etc/x data.csv",
        "dasel 'readFile(\"/home/me/.netrc\")'",
        "tomlq 'import \"/home/me/x\" as $x; $x' a.toml",
        "qsv luau map x 'os.execute(\"id\")' data.csv",
        "grpcurl -d '{}' api.example:443 app.Users/Delete",
        "cosign sign registry.example/app:1",
        "syft . -o json=/home/me/.bashrc",
        "delta git push",
        "pnpm -r exec rm -rf /srv/data",
        "pnpm -r publish",
        "hugo deploy",
    ];
    let wrong: Vec<&str> = lines.into_iter().filter(|line| is_harmless(line)).collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

#[test]
fn a_trial_under_which_code_runs_elsewhere_is_no_trial() {
    const TRIALS: &[(&str, &str)] = &[
        ("ansible web -m shell -a uptime", "-C"),
        ("ansible web -m shell -a uptime", "--check"),
        ("ansible-playbook site.yml", "-C"),
        ("ansible-playbook site.yml", "--check"),
        ("chef-client", "--why-run"),
        ("chef-solo", "-W"),
        ("puppet apply site.pp", "--noop"),
        ("puppet agent", "--noop"),
        ("salt web state.apply", "test=True"),
        ("salt-call state.apply", "test=True"),
    ];
    let lines = TRIALS.iter().map(|(command, trial)| format!("{command} {trial}"));
    let wrong: Vec<String> = lines.filter(|line| is_harmless(line)).collect();
    assert_eq!(wrong, Vec::<String>::new());
}
