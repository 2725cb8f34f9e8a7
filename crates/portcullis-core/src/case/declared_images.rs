//! Images of containers that a call fetches, and which of them the project declares: those are part of the work on it
//! (spec D3). What the session itself wrote declares nothing.

use portcullis_analysis::container_image::{declares, declaring_files};
use portcullis_analysis::effect::{Act, Effect};

use super::judgement::is_agents_own;
use super::view::CaseView;
use crate::disk::DiskQuestion;

/// Lists the files in which the project may declare the images that a call fetches.
pub(super) fn questions(view: &CaseView<'_>) -> Vec<DiskQuestion> {
    let fetches = view.case.effects().iter().any(|effect| effect.act == Act::PullImage);
    if fetches { files(view).map(DiskQuestion::Text).collect() } else { Vec::new() }
}

/// Says whether an effect fetches an image that the project declares.
pub(super) fn is_declared(view: &CaseView<'_>, effect: &Effect) -> bool {
    let is_declaring = |file: String| {
        let text = view.case.answers.text(&file).filter(|_| !is_agents_own(view, &file));
        text.is_some_and(|text| declares(text, effect.target.written()))
    };
    effect.act == Act::PullImage && files(view).any(is_declaring)
}

fn files(view: &CaseView<'_>) -> impl Iterator<Item = String> {
    let below = |root: &String| {
        declaring_files().iter().map(move |file| format!("{root}/{file}")).collect::<Vec<_>>()
    };
    view.roots.iter().flat_map(below)
}
