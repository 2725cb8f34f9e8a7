//! The files a call touches: its effects on paths, each with every spelling that the disk knows of it.
//!
//! INVARIANT: nothing else in the crate says which files a call touches. Words, redirections, inline code, scripts and
//! tool inputs all come here as effects of the analysis.

use portcullis_analysis::Access;
use portcullis_analysis::effect::{Act, Certainty, Effect, PathTarget, Target};
use portcullis_analysis::place::is_free;
use portcullis_shell::Span;

/// One file or tree a call touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathUse<'e> {
    pub(crate) act: Act,
    pub(crate) access: Access,
    /// Where it is, links followed.
    pub(crate) target: &'e PathTarget,
    pub(crate) span: Span,
    pub(crate) certainty: Certainty,
}

impl<'e> PathUse<'e> {
    /// Makes the use of an effect; `None` if it is nothing that is done to a file.
    pub(crate) fn of(effect: &'e Effect) -> Option<Self> {
        let access = effect.act.access()?;
        let Target::Path(target) = &effect.target else {
            return None;
        };
        Some(Self { act: effect.act, access, target, span: effect.span, certainty: effect.certainty })
    }

    /// Returns every spelling of the path: one for each directory the command may run in, and where links lead.
    /// `None` if it is only known at run time, was not looked up, or cannot be resolved.
    pub(crate) fn variants(&self) -> Option<&'e [String]> {
        let target = self.target;
        let is_known = !target.paths.is_empty() && (!target.is_lost || self.is_free());
        is_known.then_some(target.paths.as_slice())
    }

    /// Returns the spellings that are known, even if not all are.
    pub(crate) fn known_variants(&self) -> &'e [String] {
        &self.target.paths
    }

    /// Returns the path as the text resolves; `None` if it is only known at run time.
    pub(crate) fn path(&self) -> Option<&'e str> {
        self.target.paths.first().map(String::as_str)
    }

    /// Returns it as it is written.
    pub(crate) fn shown(&self) -> &'e str {
        &self.target.written
    }

    /// Says whether it is a device or descriptor that holds nothing.
    pub(crate) fn is_free(&self) -> bool {
        !self.target.paths.is_empty() && self.target.paths.iter().all(|path| is_free(path))
    }
}

/// Replaces a leading `~`; `None` if there is none or the home directory is not known.
pub(crate) fn expand_home(text: &str, home: Option<&str>) -> Option<String> {
    let rest = text.strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| home.map(|home| format!("{home}{rest}")))?
}

/// Returns the directory part before the first component with a pattern in it; `.` if there is none.
pub(crate) fn fixed_beginning(pattern: &str) -> &str {
    let at = pattern.find(['*', '?', '[', '{', '(']).unwrap_or(pattern.len());
    let fixed = pattern.get(..at).unwrap_or_default();
    match fixed.rfind('/') {
        Some(0) => "/",
        Some(slash) => fixed.get(..slash).unwrap_or("."),
        None => ".",
    }
}
