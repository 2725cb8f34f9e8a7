//! Systems without fences: no call is contained.

use portcullis_core::{Case, FenceOffer, FenceRequest, ToolInput};
use portcullis_hosts::HookCall;

use super::fence_builder::FenceBuilder;
use crate::Failure;
use crate::session_settings::SessionSettings;

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
