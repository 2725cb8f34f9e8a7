//! Where the daemon listens.

use crate::classifier::{SettingLookup, number};
use crate::keys::KeyId;

/// What settings say about the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DaemonSettings {
    /// The port that it listens at; 0 is any that is free. `None` for the usual ones.
    pub port: Option<u16>,
}

impl DaemonSettings {
    /// Finds them among the settings in force.
    pub(crate) fn assemble<'settings>(find: &impl SettingLookup<'settings>) -> Self {
        Self { port: number(find, KeyId::DaemonPort).and_then(|port| u16::try_from(port).ok()) }
    }
}
