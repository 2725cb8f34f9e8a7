//! `cargo dev package`: the files of a release: the two static programs with their pages, one archive an architecture.
//!
//! The programs are linked against musl, wholly static and at a fixed address, because a hook is started for every tool
//! call and what a dynamic linker does takes longer than the decision. C parts are compiled by zig, which brings the
//! headers of every target along; it is installed into `target/package` where it is not there. The functions that a hook
//! runs are put side by side, because every part of the file that is touched costs a page fault, and those cost most.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::hot_functions;
use crate::{output, process, repository};

/// The architectures a release is made for.
const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];

/// No relocations and no dynamic linker.
const LINKING: &str = "-C relocation-model=static -C target-feature=+crt-static";

const ZIG: &str = "ziglang==0.17.0";

/// What lies in an archive as it lies here. `doctor` sends people to the profile of `AppArmor`.
const SHIPPED: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "packaging/apparmor/portcullis",
];

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let architectures = match arguments {
        [] => ARCHITECTURES.to_vec(),
        [flag, name] if flag == "--arch" => match ARCHITECTURES.iter().find(|known| *known == name) {
            Some(known) => vec![*known],
            None => bail!("`{name}` is not one of {}", ARCHITECTURES.join(", ")),
        },
        _ => bail!("usage: cargo dev package [--arch x86_64|aarch64]"),
    };
    let root = repository::root();
    for architecture in architectures {
        let program = build(&root, architecture)?;
        let archive = pack(&root, architecture, &program)?;
        output::say(&format!("{}", archive.display()));
    }
    Ok(())
}

/// Builds the programs as they are released and returns where the one is that agents start; the other lies beside it.
pub(super) fn build(root: &Path, architecture: &str) -> Result<PathBuf> {
    let target = format!("{architecture}-unknown-linux-musl");
    process::run(Command::new("rustup").current_dir(root).args(["target", "add", &target]))
        .context("the target could not be added to the toolchain")?;
    let tools = compilers(root, architecture)?;
    let built = root.join("target").join(&target);
    process::run(&mut cargo(root, &target, &tools, "portcullis-full"))?;
    let program = built.join("hook/portcullis");
    let link = |more: &[&str]| process::run(cargo(root, &target, &tools, "portcullis").arg("--").args(more));
    if architecture != std::env::consts::ARCH || process::find_program("valgrind").is_none() {
        output::say("without valgrind for this architecture the functions stay where the compiler put them");
        link(&[])?;
        return beside(&built, program);
    }
    // Symbols first, to learn which functions a hook runs; then those together.
    link(&["-C", "strip=debuginfo"])?;
    let order = root.join("target/package").join(format!("functions-{architecture}"));
    fs::write(&order, hot_functions::list(&program)?)?;
    let argument = format!("link-arg=--symbol-ordering-file={}", order.display());
    link(&["-C", &argument, "-C", "link-arg=--no-warn-symbol-ordering"])?;
    beside(&built, program)
}

/// Puts the full program beside the one that agents start, which is built by a profile of its own.
fn beside(built: &Path, program: PathBuf) -> Result<PathBuf> {
    fs::copy(built.join("dist/portcullis-full"), program.with_file_name("portcullis-full"))?;
    Ok(program)
}

/// Returns the profile by which a program is built: one runs its code once, the other lives on.
fn profile(program: &str) -> &'static str {
    if program == "portcullis" { "hook" } else { "dist" }
}

/// Returns the command that builds a program for a target; arguments of its linking may follow.
fn cargo(root: &Path, target: &str, tools: &Compilers, program: &str) -> Command {
    let variable = |name: &str| format!("{name}_{}", target.replace('-', "_"));
    let linker = format!("CARGO_TARGET_{}_LINKER", target.replace('-', "_").to_uppercase());
    let mut command = process::cargo(root);
    command
        .args([
            "rustc",
            "--profile",
            profile(program),
            "--locked",
            "--package",
            "portcullis",
            "--bin",
            program,
        ])
        .args(["--target", target])
        .env(variable("CC"), &tools.compiler)
        .env(variable("AR"), &tools.archiver)
        .env(linker, "rust-lld")
        .env("RUSTFLAGS", LINKING);
    command
}

struct Compilers {
    compiler: PathBuf,
    archiver: PathBuf,
}

/// Writes the scripts that call zig as a compiler and an archiver for one architecture.
fn compilers(root: &Path, architecture: &str) -> Result<Compilers> {
    let folder = root.join("target/package");
    fs::create_dir_all(&folder)?;
    let zig = zig(&folder)?;
    let compiler = folder.join(format!("cc-{architecture}"));
    // The target is said in zig's own words; the one that build scripts add it would not understand.
    let script = format!(
        "#!/bin/bash\nwords=()\nfor word in \"$@\"; do\n  case \"$word\" in --target=*) ;; *) words+=(\"$word\") ;; esac\n\
         done\nexec {zig} cc -target {architecture}-linux-musl \"${{words[@]}}\"\n"
    );
    write_script(&compiler, &script)?;
    let archiver = folder.join("ar");
    write_script(&archiver, &format!("#!/bin/bash\nexec {zig} ar \"$@\"\n"))?;
    Ok(Compilers { compiler, archiver })
}

fn write_script(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Finds zig, or installs it beside the build, and returns how it is called.
fn zig(folder: &Path) -> Result<String> {
    if let Some(program) = process::find_program("zig") {
        return Ok(format!("'{}'", program.display()));
    }
    let environment = folder.join("python");
    let python = environment.join("bin/python3");
    if !python.is_file() {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(&environment))
            .context("a release needs zig, or python3 with venv to install it")?;
    }
    let has_zig = Command::new(&python).args(["-c", "import ziglang"]).output();
    if !has_zig.is_ok_and(|output| output.status.success()) {
        process::run(Command::new(&python).args(["-m", "pip", "install", "--quiet", ZIG]))?;
    }
    Ok(format!("'{}' -m ziglang", python.display()))
}

/// Packs the programs, their manual pages, completions and licences; the same bytes whenever it is packed.
fn pack(root: &Path, architecture: &str, program: &Path) -> Result<PathBuf> {
    let name = format!("portcullis-{}-linux-{architecture}", env!("CARGO_PKG_VERSION"));
    let out = root.join("target/package");
    let folder = out.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("completions"))?;
    fs::copy(program, folder.join("portcullis"))?;
    fs::copy(program.with_file_name("portcullis-full"), folder.join("portcullis-full"))?;
    for file in SHIPPED {
        let target = folder.join(file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(root.join(file), target).with_context(|| format!("cannot copy {file}"))?;
    }
    // A program of another architecture cannot be asked for its own pages; those of this one are the same.
    let native = build_native(root)?;
    process::run(Command::new(&native).args(["man", "--dir"]).arg(folder.join("man")))?;
    for (shell, file) in [("bash", "portcullis.bash"), ("zsh", "_portcullis"), ("fish", "portcullis.fish")] {
        let text = process::capture(Command::new(&native).args(["completions", shell]))?;
        fs::write(folder.join("completions").join(file), text)?;
    }
    let archive = out.join(format!("{name}.tar.gz"));
    let pipeline = format!(
        "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - '{name}' | gzip -9n > '{name}.tar.gz' && \
         sha256sum '{name}.tar.gz' > '{name}.tar.gz.sha256'"
    );
    process::run(Command::new("bash").args(["-o", "pipefail", "-c", &pipeline]).current_dir(&out))?;
    ensure!(archive.is_file(), "{} was not made", archive.display());
    Ok(archive)
}

fn build_native(root: &Path) -> Result<PathBuf> {
    process::run(process::cargo(root).args(["build", "--locked", "--package", "portcullis"]))?;
    Ok(root.join("target/debug/portcullis"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_is_there() {
        for file in SHIPPED {
            assert!(repository::root().join(file).is_file(), "{file}");
        }
        let profile = SHIPPED.iter().find(|file| file.contains("apparmor")).expect("a profile is shipped");
        let profile = fs::read_to_string(repository::root().join(profile)).expect("the profile is readable");
        let lines: Vec<&str> = profile.lines().map(str::trim).collect();
        assert!(lines.contains(&"userns,"), "{profile}");
        assert!(profile.contains("portcullis{,-full} flags"), "both programs start fences:\n{profile}");
    }
}
