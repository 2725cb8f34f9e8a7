//! Where our own places lie on this machine, as far as variables and the running program say.

use std::path::Path;

use portcullis_core::OwnLocations;
use portcullis_settings::{HeadSettings, SettingsLocations};

use crate::env_vars;

/// What our program is called.
const NAMES: [&str; 3] = ["portcullis", "portcullis-full", "portcullis-amp"];

/// Works out where our places lie that are not in their usual paths below the home directory.
pub(crate) fn own_locations(locations: &SettingsLocations, head: &HeadSettings) -> OwnLocations {
    let above = |directory: &Option<std::path::PathBuf>| {
        directory.as_deref().and_then(Path::parent).and_then(Path::to_str).map(str::to_owned)
    };
    let codex = env_vars::agent_folder("CODEX_HOME").ok().flatten();
    let named = [
        (".config", above(&locations.config)),
        (".local/state", above(&locations.state)),
        (".claude", locations.claude.as_deref().and_then(Path::to_str).map(str::to_owned)),
        (".codex", codex.as_deref().and_then(Path::to_str).map(str::to_owned)),
    ];
    let home = locations.home.as_deref().and_then(Path::to_str).unwrap_or_default();
    let is_moved = |(usual, place): &(&str, String)| {
        place.strip_prefix(home).and_then(|rest| rest.strip_prefix('/')) != Some(*usual)
    };
    let present = named.into_iter().filter_map(|(usual, place)| Some((usual, place?)));
    let moved = present.filter(is_moved).map(|(usual, place)| (usual.to_owned(), place)).collect();
    OwnLocations { moved, programs: programs(), files: files(head) }
}

/// Returns the file that the end of the trail is kept in, and where links lead it.
fn files(head: &HeadSettings) -> Vec<String> {
    let Some(file) = &head.file else { return Vec::new() };
    let real = file.canonicalize().ok().filter(|real| real != file);
    [Some(file.clone()), real]
        .into_iter()
        .flatten()
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect()
}

/// Returns the files of the running program and of those that stand beside it.
fn programs() -> Vec<String> {
    let Ok(running) = std::env::current_exe() else { return Vec::new() };
    let is_ours =
        running.file_name().and_then(|name| name.to_str()).is_some_and(|name| NAMES.contains(&name));
    let beside = NAMES.iter().filter(|_| is_ours).map(|name| running.with_file_name(name));
    beside.filter_map(|path| path.to_str().map(str::to_owned)).collect()
}
