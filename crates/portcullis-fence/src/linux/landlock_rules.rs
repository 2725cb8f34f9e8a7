//! Landlock as the second wall: writes only below the granted places, whatever the mounts say, and nothing read by a name
//! that is masked.
//!
//! The mounts hold already; this holds if one of them should be wrong, and on kernels that know how it keeps signals and
//! sockets apart too. A mask goes away with the file that it lies on, when somebody outside puts another one in its place, as
//! editors do: that one has no rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};

use crate::error::FenceError;
use crate::policy::FencePolicy;

/// The newest interface that these rules were written for; an older kernel takes what it knows of them.
const NEWEST: ABI = ABI::V9;

/// Places that every command may write besides the granted ones: the fence made them.
const OWN_PLACES: [&str; 4] = ["/dev", "/tmp", "/var/tmp", "/proc"];

/// Restricts this process and all that it starts. Returns the version that holds, or nothing if the kernel has no
/// Landlock.
pub(super) fn restrict(policy: &FencePolicy) -> Result<Option<u8>, FenceError> {
    let failed = |error: RulesetError| FenceError::SetUp {
        what: "restrict it by Landlock".to_owned(),
        reason: error.to_string(),
        hint: None,
    };
    let mut opened = open(policy)?;
    opened.extend(open_readable(&policy.masked)?);
    let status = rules(opened).and_then(RulesetCreated::restrict_self).map_err(failed)?;
    Ok(match status.landlock {
        LandlockStatus::NotImplemented | LandlockStatus::NotEnabled => None,
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u8),
    })
}

/// What a rule is about, and what it grants there.
type OpenedPlace = (PathFd, BitFlags<AccessFs>);

/// Opens the places; one that does not exist needs no rule.
fn open(policy: &FencePolicy) -> Result<Vec<OpenedPlace>, FenceError> {
    let mut opened = Vec::new();
    let written = policy.places().chain(OWN_PLACES.iter().map(Path::new));
    let granted = written.filter_map(|place| {
        let is_directory = fs::metadata(place).ok()?.is_dir();
        Some((place, if is_directory { AccessFs::from_all(NEWEST) } else { AccessFs::from_file(NEWEST) }))
    });
    // Directories are listed and programs started everywhere; files are read where `open_readable` says so.
    let everywhere = AccessFs::from_read(NEWEST) & !BitFlags::from(AccessFs::ReadFile);
    for (place, access) in std::iter::once((Path::new("/"), everywhere)).chain(granted) {
        let place = PathFd::new(place)
            .map_err(|error| FenceError::set_up_at("open", place, &io::Error::other(error.to_string())))?;
        opened.push((place, access));
    }
    Ok(opened)
}

/// Opens what files may be read in: all that lies beside the way to a masked name, and the masks themselves, which are empty.
/// What comes to lie under a masked name, or beside the way, later than this has no rule.
fn open_readable(masked: &[PathBuf]) -> Result<Vec<OpenedPlace>, FenceError> {
    let hidden = hidden_names(masked);
    let ways: BTreeSet<&Path> = hidden
        .iter()
        .flat_map(|name| name.ancestors().skip(1))
        .chain(std::iter::once(Path::new("/")))
        .collect();
    let mut opened = Vec::new();
    for way in &ways {
        let entries = match fs::read_dir(way) {
            Ok(entries) => entries,
            // What cannot be listed has no names that anybody could look for one by one, or is a mask itself.
            Err(error) if is_closed(&error) => continue,
            Err(error) => return Err(FenceError::set_up_at("list", way, &error)),
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            // A link leads to what has a rule of its own, or none.
            if kind.is_symlink() || ways.contains(path.as_path()) || hidden.contains(&path) && kind.is_dir() {
                continue;
            }
            // What is gone by now cannot be read, and what is masked must be the mask.
            let Ok(place) = PathFd::new(&path) else { continue };
            if !hidden.contains(&path) || is_device(&place) {
                opened.push((place, AccessFs::ReadFile.into()));
            }
        }
    }
    Ok(opened)
}

/// Returns the names under which masked files are found: as they are named, with the links on their way followed, and those of
/// the files which they lead to. Of a name whose directory is missing, the first part that is missing stands for the rest.
fn hidden_names(masked: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut hidden = BTreeSet::new();
    // Most lie in a few directories.
    let mut known: BTreeMap<&Path, Option<PathBuf>> = BTreeMap::new();
    for path in masked {
        let named = path.ancestors().find_map(|part| {
            let (directory, name) = (part.parent()?, part.file_name()?);
            let place = known.entry(directory).or_insert_with(|| fs::canonicalize(directory).ok());
            Some(place.as_ref()?.join(name))
        });
        let is_link = named.as_ref().is_some_and(|named| named.is_symlink());
        hidden.extend(is_link.then(|| fs::canonicalize(path).ok()).flatten());
        hidden.extend(named);
    }
    hidden
}

fn is_device(place: &PathFd) -> bool {
    rustix::fs::fstat(place)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_char_device())
}

fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
    )
}

fn rules(opened: Vec<OpenedPlace>) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for (place, access) in opened {
        rules = rules.add_rule(PathBeneath::new(place, access))?;
    }
    // A command may open its own output anew (`> /dev/stderr`), and that can be a terminal, on a mount of its own as well.
    rules = grant_file(rules, io::stdout(), AccessFs::from_file(NEWEST))?;
    rules = grant_file(rules, io::stderr(), AccessFs::from_file(NEWEST))?;
    // Its input is on a mount of its own, which lies below nothing.
    grant_file(rules, io::stdin(), AccessFs::from_file(NEWEST) & AccessFs::from_read(NEWEST))
}

fn grant_file(
    rules: RulesetCreated,
    file: impl AsFd,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let kind = rustix::fs::fstat(&file).map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode));
    let is_file = kind.is_ok_and(|kind| kind.is_file() || kind.is_char_device());
    if is_file { rules.add_rule(PathBeneath::new(file, access)) } else { Ok(rules) }
}
