//! What a fenced command may do: which places it writes, what it cannot see, what it can reach.
//!
//! A policy is data that comes from a verdict or from a person's own command line, never from the words of the command.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::FenceError;
use crate::host::AllowedHost;

/// What a fenced command may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FencePolicy {
    /// The directory it works in, which it may write.
    pub workspace: PathBuf,
    /// Whether what it writes lands at once.
    pub mode: WriteMode,
    /// Other places it may write, such as the cache of a package manager.
    pub writable: Vec<PathBuf>,
    /// Files and directories it must not see.
    pub masked: Vec<PathBuf>,
    /// Names below the workspace that it must not change, at any depth.
    pub protected: Vec<ProtectedName>,
    /// What it can reach.
    pub network: NetworkAccess,
    /// Variables that it gets besides the usual ones.
    pub environment: Vec<String>,
    /// The directory that it sees as `/tmp`; an empty one that ends with it if none is named.
    pub temporary: Option<PathBuf>,
    /// How much it may use.
    pub limits: RunLimits,
    /// A directory of this program's own through which runs of one session share a network; each has its own if there is
    /// none. It is masked.
    #[serde(default)]
    pub session: Option<PathBuf>,
}

/// Where writes go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteMode {
    /// They land in the places themselves.
    Direct,
    /// They land in layers over the places, and nothing below changes.
    Observe(Vec<OverlayLayer>),
}

/// A layer that takes the writes to one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlayLayer {
    /// The place: the workspace or one of the other writable places.
    pub place: PathBuf,
    /// Where the changes are.
    pub upper: PathBuf,
    /// An empty directory beside it, which the kernel needs.
    pub work: PathBuf,
}

/// What a fenced command can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkAccess {
    /// Its own loopback and nothing else.
    None,
    /// These hosts besides, at their ports, by TCP.
    Hosts(Vec<AllowedHost>),
}

/// How many hosts with a port may be listed: so many sockets can be handed over at once.
pub(crate) const MOST_DOORS: usize = 200;

/// How much a fenced command may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLimits {
    /// Processes and threads at a time.
    pub processes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes in `/tmp` and in shared memory, each.
    pub temporary_bytes: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { processes: 4_096, file_bytes: 16 << 30, temporary_bytes: 4 << 30 }
    }
}

/// A path below any directory of the workspace, such as `.git/hooks`; a component `*` stands for any name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProtectedName(Vec<String>);

impl ProtectedName {
    /// Returns its components, of which there is at least one.
    pub fn components(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<String> for ProtectedName {
    type Error = FenceError;

    fn try_from(text: String) -> Result<Self, FenceError> {
        let components: Vec<String> = text.split('/').map(ToOwned::to_owned).collect();
        let is_plain = |component: &String| !matches!(component.as_str(), "" | "." | "..");
        if components.iter().all(is_plain) && components.first().is_some_and(|first| first != "*") {
            return Ok(Self(components));
        }
        Err(FenceError::Policy(format!("`{text}` is no path below a directory")))
    }
}

impl From<ProtectedName> for String {
    fn from(name: ProtectedName) -> Self {
        name.0.join("/")
    }
}

impl FencePolicy {
    /// Returns a policy that lets a command write its workspace and nothing else.
    pub fn for_workspace(workspace: PathBuf) -> Self {
        Self {
            workspace,
            mode: WriteMode::Direct,
            writable: Vec::new(),
            masked: Vec::new(),
            protected: Vec::new(),
            network: NetworkAccess::None,
            environment: Vec::new(),
            temporary: None,
            limits: RunLimits::default(),
            session: None,
        }
    }

    /// Returns the places that are empty inside. What may be written in one of them is there nevertheless.
    pub fn hidden(&self) -> impl Iterator<Item = &Path> {
        let replaced = SERVICES.iter().chain(&TEMPORARY).chain(&OTHER_NAMES).map(Path::new);
        replaced.chain(self.masked.iter().map(PathBuf::as_path))
    }

    /// Returns every place that may be written, the workspace first.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.workspace.as_path()).chain(self.writable.iter().map(PathBuf::as_path))
    }

    /// Returns the layers, of which there are none where writes land at once.
    pub(crate) fn layers(&self) -> &[OverlayLayer] {
        match &self.mode {
            WriteMode::Direct => &[],
            WriteMode::Observe(layers) => layers,
        }
    }

    /// Checks that every path is plain and absolute, and that no grant takes back what the fence is for.
    pub fn check(&self) -> Result<(), FenceError> {
        let layers = self.layers().iter().flat_map(|layer| [&layer.place, &layer.upper, &layer.work]);
        let paths = self.places().chain(self.masked.iter().map(PathBuf::as_path));
        let paths = paths.chain(layers.map(PathBuf::as_path)).chain(self.temporary.as_deref());
        let paths = paths.chain(self.session.as_deref());
        for path in paths {
            if !is_plain(path) {
                return Err(FenceError::Policy(format!("`{}` is no plain absolute path", path.display())));
            }
        }
        for place in self.places() {
            if let Some(reason) = self.refuse_place(place) {
                return Err(FenceError::Policy(format!("`{}` {reason}", place.display())));
            }
        }
        if let NetworkAccess::Hosts(hosts) = &self.network
            && hosts.iter().map(|host| host.ports().len()).sum::<usize>() > MOST_DOORS
        {
            return Err(FenceError::Policy("it lists too many hosts".to_owned()));
        }
        self.check_layers()
    }

    fn refuse_place(&self, place: &Path) -> Option<&'static str> {
        if self.masked.iter().any(|masked| place.starts_with(masked)) {
            return Some("is both granted and masked");
        }
        WHOLE_SYSTEM
            .iter()
            .any(|system| Path::new(system).starts_with(place))
            .then_some("is too wide to be granted")
    }

    fn check_layers(&self) -> Result<(), FenceError> {
        if let WriteMode::Observe(layers) = &self.mode {
            let is_covered = |place: &Path| layers.iter().any(|layer| layer.place == place);
            if let Some(bare) = self.places().find(|place| !is_covered(place)) {
                return Err(FenceError::Policy(format!("no layer is over `{}`", bare.display())));
            }
            let inside = |path: &Path| self.places().any(|place| path.starts_with(place));
            if layers.iter().any(|layer| inside(&layer.upper) || inside(&layer.work)) {
                return Err(FenceError::Policy("a layer lies in a place that it is over".to_owned()));
            }
        }
        Ok(())
    }
}

/// Where services keep their sockets and where other programs keep their temporary files.
pub(crate) const SERVICES: [&str; 1] = ["/run"];
pub(crate) const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// A directory of temporary files that comes with the devices, and the usual other name of the place of services.
const OTHER_NAMES: [&str; 2] = ["/dev/shm", "/var/run"];

/// Places that no grant may hold: the fence replaces them, or they are the system itself.
const WHOLE_SYSTEM: [&str; 8] = ["/dev", "/proc", "/sys", "/run", "/tmp", "/usr", "/etc", "/home"];

/// Says whether a path is absolute, goes nowhere but down, and can be handed to the kernel as it is.
fn is_plain(path: &Path) -> bool {
    let goes_down = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    path.is_absolute()
        && path.components().all(goes_down)
        && path.to_str().is_some_and(|text| !text.contains(['\0', '\n']))
}
