//! Who may choose the judge: the strongest source that names a provider, and nobody weaker.
//!
//! An address, a model and a key belong to the provider they were written for. Taken one by one from several sources
//! they would make a judge nobody chose, or send one's key to another's address.

use portcullis_core::Source;

use crate::keys::KeyId;
use crate::layer::{IgnoredReason, Setting, SettingsLayer};

/// The keys that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClassifierKeyGroup {
    /// Whom to ask, and how to reach them.
    Endpoint,
    /// Whom to ask instead.
    Fallback,
    /// Files that say what models are and what they are told.
    Files,
}

impl ClassifierKeyGroup {
    const fn of(id: KeyId) -> Option<Self> {
        match id {
            KeyId::ClassifierProvider
            | KeyId::ClassifierModel
            | KeyId::ClassifierBaseUrl
            | KeyId::ClassifierAuth
            | KeyId::ClassifierKeyVariable
            | KeyId::ClassifierKeyCommand
            | KeyId::ClassifierCaFile
            | KeyId::ClassifierProxy => Some(Self::Endpoint),
            KeyId::FallbackProvider
            | KeyId::FallbackModel
            | KeyId::FallbackBaseUrl
            | KeyId::FallbackAuth
            | KeyId::FallbackKeyVariable
            | KeyId::FallbackKeyCommand => Some(Self::Fallback),
            KeyId::ClassifierModelsFile
            | KeyId::TemplateBase
            | KeyId::TemplateIntent
            | KeyId::TemplatePermissions => Some(Self::Files),
            _ => None,
        }
    }
}

/// Says whether a key has a part in who judges, so that a wrong value of it must not be replaced by a guess.
pub(crate) const fn names_judge(id: KeyId) -> bool {
    ClassifierKeyGroup::of(id).is_some()
}

/// Where a layer stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LayerRank {
    source: Source,
    /// Its place among all layers; inside one source the later one is the stronger.
    place: usize,
}

impl LayerRank {
    /// Says whether it must give way. Managed files have one author, so none of them gives way to another.
    fn is_weaker_than(self, other: Self) -> bool {
        self.source > other.source
            || (self.source == other.source && self.source != Source::Policy && self.place < other.place)
    }
}

/// The layers that choose the judge and the fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClassifierLock {
    endpoint: Option<LayerRank>,
    fallback: Option<LayerRank>,
}

impl ClassifierLock {
    /// Finds who chooses among layers that come in order of strength. A wrong choice is one as well.
    pub(crate) fn new(layers: &[SettingsLayer]) -> Self {
        Self {
            endpoint: find_owner(layers, KeyId::ClassifierProvider),
            fallback: find_owner(layers, KeyId::FallbackProvider),
        }
    }

    /// Says whether managed settings choose the judge.
    pub(crate) fn is_managed(&self) -> bool {
        self.endpoint.is_some_and(|owner| owner.source == Source::Policy)
    }

    /// Says why a setting of the layer at `place` is not used, if it is not.
    pub(crate) fn reason_against(&self, setting: &Setting, place: usize) -> Option<IgnoredReason> {
        let rank = LayerRank { source: setting.origin.source, place };
        let over = |owner: Option<LayerRank>| owner.filter(|owner| rank.is_weaker_than(*owner));
        let owner = match ClassifierKeyGroup::of(setting.key.id)? {
            ClassifierKeyGroup::Endpoint => over(self.endpoint),
            ClassifierKeyGroup::Fallback => over(self.endpoint).or_else(|| over(self.fallback)),
            ClassifierKeyGroup::Files => over(self.endpoint.filter(|owner| owner.source == Source::Policy)),
        }?;
        Some(match owner.source {
            Source::Policy => IgnoredReason::ManagedClassifier,
            _ => IgnoredReason::OtherClassifier,
        })
    }
}

fn find_owner(layers: &[SettingsLayer], id: KeyId) -> Option<LayerRank> {
    let mut owner: Option<LayerRank> = None;
    for (place, layer) in layers.iter().enumerate() {
        let rank = LayerRank { source: layer.source, place };
        let sets = layer.settings.iter().any(|setting| setting.key.id == id);
        if sets && owner.is_none_or(|owner| owner.source == rank.source || owner.is_weaker_than(rank)) {
            owner = Some(rank);
        }
    }
    owner
}
