//! The directories a command may run in, followed through `cd`.

/// The set of absolute directories a command may run in, or nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directories {
    /// One of these; never empty.
    OneOf(Vec<String>),
    /// Not known before it runs.
    Unknown,
}

/// The longest path that is followed, in bytes.
const LONGEST: usize = 4_096;

/// More alternatives than this are not worth following.
const MOST: usize = 16;

impl Directories {
    /// Makes the set of one directory.
    pub fn only(directory: &str) -> Self {
        Self::OneOf(vec![directory.to_owned()])
    }

    /// Returns the alternatives; `None` if nobody knows.
    pub fn alternatives(&self) -> Option<&[String]> {
        match self {
            Self::OneOf(directories) => Some(directories),
            Self::Unknown => None,
        }
    }

    /// Returns the set after either of two ways.
    pub(crate) fn either(self, other: Self) -> Self {
        match (self, other) {
            (Self::OneOf(mut all), Self::OneOf(more)) => {
                for directory in more {
                    if !all.contains(&directory) {
                        all.push(directory);
                    }
                }
                if all.len() > MOST { Self::Unknown } else { Self::OneOf(all) }
            }
            _ => Self::Unknown,
        }
    }

    /// Returns the set after a successful change into `target`.
    pub(crate) fn enter(&self, target: &str) -> Self {
        if target.starts_with('/') {
            return Self::only(target);
        }
        match self {
            // A longer path is none that a program could be given.
            Self::OneOf(all) if all.iter().all(|directory| directory.len() + target.len() < LONGEST) => {
                Self::OneOf(
                    all.iter()
                        .map(|directory| format!("{}/{target}", directory.trim_end_matches('/')))
                        .collect(),
                )
            }
            Self::OneOf(_) | Self::Unknown => Self::Unknown,
        }
    }
}
