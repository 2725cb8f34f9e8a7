//! Compiles the command profiles of `data/` into tables.
//!
//! A profile that is not understood stops the build with the file, the place and what is wrong.
#![expect(clippy::disallowed_methods, reason = "a build script reads the files it compiles")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "src/act.rs"]
#[expect(dead_code, unreachable_pub, reason = "the build needs only the names of the acts")]
mod act;
#[path = "src/profile/compile.rs"]
#[expect(unreachable_pub, reason = "the library offers it to users")]
mod compile;

#[path = "build/tables/mod.rs"]
mod tables;

use act::Act;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    for input in ["data", "src/act.rs", "src/profile/compile.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    tables::write(&out)?;
    let mut data: Vec<u8> = Vec::new();
    for (folder, index_file) in [("data/commands", "commands.bin"), ("data/cmdlets", "cmdlets.bin")] {
        let mut places: BTreeMap<String, [u32; 2]> = BTreeMap::new();
        for file in files(Path::new(folder))? {
            let text = fs::read_to_string(&file)?;
            let compiled = compile::compile(&text).map_err(|error| format!("{}:{error}", file.display()))?;
            for profile in compiled {
                let form = put(&mut data, &profile.form)?;
                for name in profile.names {
                    let summary = put(&mut data, &short(&name.summary)?)?;
                    if places.insert(name.name.clone(), [summary, form]).is_some() {
                        let name = name.name;
                        return Err(
                            format!("{}: `{name}` has another profile already", file.display()).into()
                        );
                    }
                }
            }
        }
        let mut index: Vec<u8> = Vec::new();
        for (name, [summary, form]) in places {
            for place in [put(&mut data, &short(&name)?)?, summary, form] {
                index.extend(place.to_le_bytes());
            }
        }
        fs::write(out.join(index_file), index)?;
    }
    fs::write(out.join("profiles.bin"), data)?;
    Ok(())
}

/// Appends a piece and returns where it begins.
fn put(data: &mut Vec<u8>, piece: &[u8]) -> Result<u32> {
    let place = u32::try_from(data.len())?;
    data.extend(piece);
    Ok(place)
}

/// Encodes a text behind its length in one byte.
fn short(text: &str) -> Result<Vec<u8>> {
    let mut all = vec![u8::try_from(text.len())?];
    all.extend(text.as_bytes());
    Ok(all)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
