//! Landlock as the second wall: writes only below the granted places, whatever the mounts say.
//!
//! The mounts hold already; this holds if one of them should be wrong, and on kernels that know how it keeps signals and
//! sockets apart too.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};

use crate::error::FenceError;

/// The newest interface that these rules were written for; an older kernel takes what it knows of them.
const NEWEST: ABI = ABI::V9;

/// Places that every command may write besides the granted ones: the fence made them.
const OWN_PLACES: [&str; 4] = ["/dev", "/tmp", "/var/tmp", "/proc"];

/// Restricts this process and all that it starts. Returns the version that holds, or nothing if the kernel has no
/// Landlock.
pub(super) fn restrict(places: &mut dyn Iterator<Item = &Path>) -> Result<Option<u8>, FenceError> {
    let places: Vec<PathBuf> = places.map(Path::to_path_buf).collect();
    let failed = |error: RulesetError| FenceError::SetUp {
        what: "restrict it by Landlock".to_owned(),
        reason: error.to_string(),
        hint: None,
    };
    let status = rules(open(&places)?).and_then(RulesetCreated::restrict_self).map_err(failed)?;
    Ok(match status.landlock {
        LandlockStatus::NotImplemented | LandlockStatus::NotEnabled => None,
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u8),
    })
}

/// What a rule is about, and what it grants there.
type OpenedPlace = (PathFd, BitFlags<AccessFs>);

/// Opens the places; one that does not exist needs no rule.
fn open(places: &[PathBuf]) -> Result<Vec<OpenedPlace>, FenceError> {
    let mut opened = Vec::new();
    let written = places.iter().map(PathBuf::as_path).chain(OWN_PLACES.iter().map(Path::new));
    let granted = written.filter_map(|place| {
        let is_directory = fs::metadata(place).ok()?.is_dir();
        Some((place, if is_directory { AccessFs::from_all(NEWEST) } else { AccessFs::from_file(NEWEST) }))
    });
    for (place, access) in std::iter::once((Path::new("/"), AccessFs::from_read(NEWEST))).chain(granted) {
        let place = PathFd::new(place)
            .map_err(|error| FenceError::set_up_at("open", place, &io::Error::other(error.to_string())))?;
        opened.push((place, access));
    }
    Ok(opened)
}

fn rules(opened: Vec<OpenedPlace>) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for (place, access) in opened {
        rules = rules.add_rule(PathBeneath::new(place, access))?;
    }
    // A command may open its own output anew (`> /dev/stderr`), and that can be a file anywhere.
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
    let is_file = rustix::fs::fstat(&file)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file());
    if is_file { rules.add_rule(PathBeneath::new(file, access)) } else { Ok(rules) }
}
