//! The fence of a verdict, for whoever puts it up.

use crate::decision::Decision;
use crate::fence::FenceRequest;
use crate::verdict::{Reason, Verdict};

impl Verdict {
    /// Returns the fence that the call must run in, if it is contained.
    pub fn fence(&self) -> Option<&FenceRequest> {
        match &self.reason {
            Reason::Contained { fence } if self.decision == Decision::Contained => Some(fence),
            _ => None,
        }
    }
}
