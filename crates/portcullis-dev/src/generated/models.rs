//! The page of models, from the capability table.

use std::fmt::Write as _;

use portcullis_classifier::model::{ModelInfo, ModelProvider, ModelTable};

use super::{NOTICE, cell};

pub(super) fn page() -> String {
    let table = ModelTable::built_in();
    let mut page = format!(
        "{NOTICE}\n\n# Models\n\n\
         What is known of models, as of {}.\n\
         Rows of your own, in the same form as [the table itself](../../crates/portcullis-classifier/data/models.json), go \
         into the file that `classifier.modelsFile` names; a row with a known id changes only the fields it has.\n\
         The row `*` stands for every other model of a provider.\n\
         Prices are dollars for a million tokens: of the prompt, read from the cache, written to it, and of the answer.\n\
         A model that decides untested is one that big agents use as such a judge, and does so at its provider's own \
         address alone; every other must pass the [self-test](../guides/auto-mode.md#the-self-test) first.\n",
        table.as_of()
    );
    for provider in ModelProvider::ALL {
        let default = table.default_model(provider).map_or_else(
            || "There is no default model: name one in `classifier.model`.".to_owned(),
            |id| format!("The default is `{id}`."),
        );
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "\n## {provider}\n\n{default}\n\n\
             | model | verdict | temperature | stop | forced tool | schema | thinking is kept off by | cached from | prices | \
             decides untested | switched off | note |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        );
        for model in table.models().iter().filter(|model| model.provider == provider) {
            let _ = writeln!(page, "{}", row(model));
        }
    }
    page
}

fn row(model: &ModelInfo) -> String {
    let mark = |is_so: bool| if is_so { "yes" } else { "no" };
    let cached = model.least_cached.map_or_else(|| "–".to_owned(), |tokens| format!("{tokens} tokens"));
    let prices = model.prices.as_ref().map_or_else(
        || "not known".to_owned(),
        |prices| {
            format!("{} / {} / {} / {}", prices.input, prices.cache_read, prices.cache_write, prices.output)
        },
    );
    format!(
        "| `{}` | {} | {} | {} | {} | {} | {} | {cached} | {prices} | {} | {} | {} |",
        model.id,
        model.shape.as_str(),
        mark(model.temperature),
        mark(model.stop),
        mark(model.forced_tool),
        mark(model.schema),
        model.thinking_off.as_str(),
        mark(model.decides_untested),
        model.retires.as_deref().unwrap_or("–"),
        cell(&model.note),
    )
}
