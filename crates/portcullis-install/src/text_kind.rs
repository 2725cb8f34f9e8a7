//! What of a file is ours, so that writing, comparing and taking back treat it alike.

/// Kinds of files, by what of them is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    /// JSON with entries of ours.
    Json,
    /// TOML with keys of ours.
    Toml,
    /// All of it is ours.
    Whole,
}
