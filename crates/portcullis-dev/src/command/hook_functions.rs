//! `cargo dev hook-functions`: writes the linker script by which a plain build, too, puts the functions side by side that a
//! hook runs.
//!
//! Every part of the file that is touched costs a page fault, and without this the functions of a hook lie scattered over
//! twelve megabytes. `package` names functions exactly, for the very program that it measured; this script is for programs
//! that others build, whose names have other hashes, so it names them up to those. One that is not there is passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Result, ensure};

use super::hot_functions;
use crate::{output, process, repository};

/// What the script is called; `build.rs` beside it hands it to the linker.
const SCRIPT: &str = "crates/portcullis/hook-functions.ld";

/// The objects of the program itself.
const PROGRAM: &str = "*portcullis-*.rcgu.o";

/// How the names of functions begin that are made once: those of our crates that are not made for a type.
const OWN: [&str; 4] =
    [".text._ZN15portcullis_", ".text._ZN16portcullis_", ".text._ZN17portcullis_", ".text._ZN19portcullis_"];

/// What runs on processors that have more than the one that valgrind makes believe.
const ON_PROCESSORS: [&str; 6] = [
    "*libsha2-*.rlib:*(.text._ZN4sha26sha2567x86_sha*)",
    "*portcullis-*.rcgu.o(.text._ZN4sha26sha2567x86_sha*)",
    "*libc.a:mem*-evex*.o(.text.evex)",
    "*libc.a:mem*-avx512*.o(.text.evex512)",
    "*libc.a:str*len-evex.o(.text.evex)",
    "*libc.a:str*chr-evex.o(.text.evex)",
];

pub(super) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "usage: cargo dev hook-functions");
    let root = repository::root();
    let map = root.join("target/hook-functions.map");
    let mut build = process::cargo(&root);
    build.args(["rustc", "--release", "--locked", "--package", "portcullis", "--bin", "portcullis", "--"]);
    build.args(["-C", "strip=none", "-C", &format!("link-arg=-Wl,-Map={}", map.display())]);
    process::run(&mut build)?;
    let functions = hot_functions::list(&root.join("target/release/portcullis"))?;
    let text = fs::read_to_string(&map)?;
    let places = FunctionPlaces::read(&text);
    let mut patterns = Vec::new();
    let mut known = BTreeSet::new();
    for pattern in functions.lines().flat_map(|function| places.patterns(function)) {
        if known.insert(pattern.clone()) {
            patterns.push(pattern);
        }
    }
    ensure!(patterns.len() > 100, "the map of the linker names only {} of the functions", patterns.len());
    patterns.extend(ON_PROCESSORS.map(str::to_owned));
    fs::write(root.join(SCRIPT), script(&patterns))?;
    output::say(&format!("{SCRIPT}: {} patterns", patterns.len()));
    Ok(())
}

fn script(patterns: &[String]) -> String {
    let lines = patterns.join("\n    ");
    format!(
        "/* What a hook runs, side by side; written by `cargo dev hook-functions`. */\n\
         SECTIONS\n{{\n  .text.hook :\n  {{\n    {lines}\n  }}\n}}\nINSERT BEFORE .text;\n"
    )
}

/// Where functions stand, as the map of the linker says.
struct FunctionPlaces<'a> {
    /// The files and sections, by the name of the function: several crates may each have made it for themselves.
    places: BTreeMap<&'a str, BTreeSet<(&'a str, &'a str)>>,
}

impl<'a> FunctionPlaces<'a> {
    /// Reads the lines of sections, `ADDRESS ADDRESS SIZE ALIGN         FILE:(SECTION)`, and of symbols in them, which are
    /// set in further. Functions of Rust have a section each, named after them, with a word before it if they are thought to
    /// run rarely; those of C do not.
    fn read(map: &'a str) -> Self {
        let mut places: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
        let mut section = None;
        for line in map.lines() {
            let Some((_, entry)) = line.rsplit_once("         ") else { continue };
            if let Some((file, name)) = entry.strip_suffix(')').and_then(|entry| entry.rsplit_once(":(")) {
                section = Some((file, name)).filter(|_| name.starts_with(".text"));
                let function = name.strip_prefix(".text.unlikely.").or_else(|| name.strip_prefix(".text."));
                if let (Some(place), Some(function)) = (section, function) {
                    places.entry(function).or_default().insert(place);
                }
            } else if let Some(place) = section {
                places.entry(entry).or_default().insert(place);
            }
        }
        Self { places }
    }

    /// Returns the lines of the script that name a function; none if it is not known where it stands.
    fn patterns(&self, function: &str) -> Vec<String> {
        let places = self.places.get(function).into_iter().flatten();
        let mut patterns: Vec<String> =
            places.flat_map(|(file, section)| place_patterns(file, section)).collect();
        patterns.sort_unstable();
        patterns.dedup();
        patterns
    }
}

fn place_patterns(file: &str, section: &str) -> Vec<String> {
    let is_own = OWN.iter().any(|prefix| section.starts_with(prefix));
    let section = section_pattern(section, is_own);
    let file = file_pattern(file);
    let files = match file.ends_with(".rlib:*") {
        _ if is_own => vec!["*"],
        // Optimised as a whole, it is the program's.
        true => vec![file.as_str(), PROGRAM],
        false => vec![file.as_str()],
    };
    files.into_iter().map(|file| format!("{file}({section})")).collect()
}

/// Names a file of the linker wherever it lies: `*libportcullis_core-*.rlib:*`, `*libc.a:memchr.o`.
fn file_pattern(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let Some((archive, member)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) else {
        return if name.starts_with("portcullis-") { PROGRAM.to_owned() } else { format!("*{name}") };
    };
    match archive.strip_suffix(".rlib").and_then(|archive| archive.rsplit_once('-')) {
        Some((library, _)) => format!("*{library}-*.rlib:*"),
        None => format!("*{archive}:{member}"),
    }
}

/// Names a section without what differs from build to build: the hashes of crates inside of a name, and for functions that
/// are made once their own at the end. One that is made for many types keeps it: all of its kind would be too much.
fn section_pattern(section: &str, is_made_once: bool) -> String {
    if section.contains("._ZN") {
        let name = section.split_once(".llvm.").map_or(section, |(name, _)| name);
        let without = name.rfind("17h").and_then(|place| name.get(..place + 3)).filter(|_| is_made_once);
        return without.unwrap_or(name).to_owned() + "*";
    }
    let mut parts = section.split("Cs");
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // The hash of a crate ends with an underscore; anything else only looks like one.
        match part.split_once('_') {
            Some((hash, rest)) if hash.len() > 8 && hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                pattern += "Cs*_";
                pattern += rest;
            }
            _ => {
                pattern += "Cs";
                pattern += part;
            }
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn functions_are_named_without_what_differs_from_build_to_build() {
        let map = "             VMA              LMA     Size Align Out     In      Symbol
          63e020           63e020      4dd    16         /x/libportcullis_core-0123456789abcdef.rlib(core.1-cgu.0.rcgu.o):(.text._ZN15portcullis_core4case3new17h0123456789abcdefE)
          63e020           63e020      4dd     1                 case::new::h0123456789abcdef
          63e500           63e500      11d    16         /x/libstd-0123456789abcdef.rlib(std.o):(.text._RNvNtCs6d7GoaNTBIz_3std3now)
          63e510           63e510      11d    16         /x/libportcullis_core-0123456789abcdef.rlib(core.2-cgu.0.rcgu.o):(.text._RNvNtCs6d7GoaNTBIz_3std3now)
          63e520           63e520      11d    16         /x/libportcullis_core-0123456789abcdef.rlib(core.2-cgu.0.rcgu.o):(.text.unlikely._ZN5alloc7raw_vec8grow_one17h00112233445566ffE.llvm.42)
          63e600           63e600      11d    16         /usr/lib/libc.a(memchr-evex.o):(.text.evex)
          63e600           63e600      11d     1                 __memchr_evex
          63e700           63e700      11d    16         /x/deps/portcullis-0123456789abcdef.portcullis.cgu.0.rcgu.o:(.text.main)
";
        let places = FunctionPlaces::read(map);
        let table: [(&str, &[&str]); 6] = [
            (
                "_ZN15portcullis_core4case3new17h0123456789abcdefE",
                &["*(.text._ZN15portcullis_core4case3new17h*)"],
            ),
            (
                "_RNvNtCs6d7GoaNTBIz_3std3now",
                &[
                    "*libportcullis_core-*.rlib:*(.text._RNvNtCs*_3std3now)",
                    "*libstd-*.rlib:*(.text._RNvNtCs*_3std3now)",
                    "*portcullis-*.rcgu.o(.text._RNvNtCs*_3std3now)",
                ],
            ),
            (
                "_ZN5alloc7raw_vec8grow_one17h00112233445566ffE.llvm.42",
                &[
                    "*libportcullis_core-*.rlib:*(.text.unlikely._ZN5alloc7raw_vec8grow_one17h00112233445566ffE*)",
                    "*portcullis-*.rcgu.o(.text.unlikely._ZN5alloc7raw_vec8grow_one17h00112233445566ffE*)",
                ],
            ),
            ("__memchr_evex", &["*libc.a:memchr-evex.o(.text.evex)"]),
            ("main", &["*portcullis-*.rcgu.o(.text.main)"]),
            ("elsewhere", &[]),
        ];
        for (function, expected) in table {
            assert_eq!(places.patterns(function), expected, "{function}");
        }
    }
}
