//! Links the program that agents start statically and for a fixed place, on Linux with the GNU library too: a host starts it
//! before every tool call, and what a dynamic linker does takes longer than the decision.
//!
//! Cargo has no such setting for one program of several, and the full program must stay dynamic, because a static GNU
//! library cannot look up names everywhere. So the linker is given libraries of the usual names that lead to the static
//! ones. Where the machine has no static library, the program is linked as any other.
//!
//! The functions that a hook runs are put side by side, by a script that `cargo dev hook-functions` writes: each part of the
//! file that is touched costs a page fault.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The program that is linked statically.
const PROGRAM: &str = "portcullis";

/// Which functions stand together.
const FUNCTIONS: &str = "hook-functions.ld";

/// The libraries that the standard library names, and where each leads.
const LIBRARIES: [(&str, &str); 3] = [
    ("libc.so", "GROUP ( -l:libc.a -l:libgcc.a -l:libgcc_eh.a )"),
    ("libgcc_s.so", "GROUP ( -l:libgcc_eh.a -l:libgcc.a -l:libc.a )"),
    ("libm.so", "INPUT ( -l:libm.a )"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let is_gnu_linux =
        variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_native = variable("HOST") == variable("TARGET");
    let is_static_already =
        variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if !is_gnu_linux
        || !is_native
        || is_static_already
        || !["libc.a", "libgcc_eh.a"].iter().all(|name| is_there(name))
    {
        return Ok(());
    }
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    for (name, script) in LIBRARIES {
        fs::write(folder.join(name), format!("{script}\n"))?;
    }
    let mut arguments = vec![format!("-L{}", folder.display()), "-static".to_owned(), "-no-pie".to_owned()];
    if has_usual_linker() {
        let script = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(FUNCTIONS);
        println!("cargo::rerun-if-changed={}", script.display());
        arguments.push(format!("-T{}", script.display()));
    }
    for argument in arguments {
        println!("cargo::rustc-link-arg-bin={PROGRAM}={argument}");
    }
    Ok(())
}

/// Says whether the linker is the one the script is tried with: rustc's own, which it takes on this machine unless somebody
/// names another.
fn has_usual_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_named = env::var_os("RUSTC_LINKER").is_some()
        || ["linker", "fuse-ld"].iter().any(|word| flags.contains(word));
    env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|machine| machine == "x86_64") && !is_named
}

/// Says whether the linker finds a library.
fn is_there(library: &str) -> bool {
    let asked = Command::new("cc").arg(format!("-print-file-name={library}")).output();
    // What is not found is answered with its bare name.
    asked.is_ok_and(|output| {
        output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute()
    })
}
