//! Systems without fences: no call is contained.

use std::path::{Path, PathBuf};

use portcullis_core::{Case, FenceOffer, FenceRequest, ToolInput};
use portcullis_hosts::HookCall;

use super::fence_builder::FenceBuilder;
use super::held_run::HeldRun;
use crate::Failure;
use crate::session_settings::SessionSettings;
use crate::text_difference::{DifferenceLimit, DifferenceLine};

/// A fence that cannot be had.
#[derive(Debug)]
pub enum HostFence {}

impl HostFence {
    /// Returns nothing: only Linux has fences.
    pub fn new(_session: &SessionSettings, _host: &str, _asked: &HookCall) -> Option<Self> {
        None
    }

    /// Keeps no record.
    pub fn put_up(&self, _case: &Case, _fence: &FenceRequest) -> Result<ToolInput, Failure> {
        match *self {}
    }
}

impl FenceBuilder for HostFence {
    fn offer(&self) -> Option<FenceOffer> {
        match *self {}
    }

    fn goes_up(&self, _case: &Case) -> bool {
        match *self {}
    }

    fn held_changes(&self) -> Option<String> {
        match *self {}
    }
}

/// Runs whose changes wait, of which there are none.
#[derive(Debug, Clone)]
pub struct HeldRuns;

impl HeldRuns {
    /// Returns those below the state of a user.
    pub fn below(_state: &Path) -> Self {
        Self
    }

    /// Lists none.
    pub fn list(&self) -> Result<Vec<HeldRun>, Failure> {
        Ok(Vec::new())
    }

    /// Finds none.
    pub fn find(&self, _start: &str) -> Result<Option<HeldRun>, Failure> {
        Ok(None)
    }

    /// Shows nothing.
    pub fn difference(&self, _id: &str, _limit: DifferenceLimit) -> Result<Vec<DifferenceLine>, Failure> {
        Err(no_runs())
    }

    /// Keeps nothing.
    pub fn keep(&self, _id: &str, _paths: &[PathBuf]) -> Result<usize, Failure> {
        Err(no_runs())
    }

    /// Throws nothing away.
    pub fn discard(&self, _id: &str) -> Result<(), Failure> {
        Err(no_runs())
    }
}

fn no_runs() -> Failure {
    Failure::usage("commands run inside a fence on Linux alone")
}
