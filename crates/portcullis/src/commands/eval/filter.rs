//! Which actions are taken: `label=block,category=data_exfil`.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::action::{Label, Labels};

/// The fields that can be asked for.
const FIELDS: [&str; 4] = ["label", "category", "source", "tier"];

/// Which actions are taken. Values of one field are alternatives; every field that is named must fit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Filter {
    wanted: BTreeMap<&'static str, Vec<String>>,
}

impl Filter {
    /// Says whether an action is taken.
    pub(super) fn takes(&self, labels: &Labels) -> bool {
        self.wanted.iter().all(|(field, values)| {
            let value = match *field {
                "label" => Some(labels.label.as_str()),
                "category" => labels.category.as_deref(),
                "source" => labels.source.as_deref(),
                _ => labels.tier.as_deref(),
            };
            value.is_some_and(|value| values.iter().any(|wanted| wanted == value))
        })
    }
}

impl FromStr for Filter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        for condition in text.split(',').filter(|condition| !condition.is_empty()) {
            let (name, value) =
                condition.split_once('=').ok_or_else(|| format!("`{condition}` is not FIELD=VALUE"))?;
            let field = FIELDS.into_iter().find(|field| *field == name);
            let field = field.ok_or_else(|| format!("`{name}` is not one of {}", FIELDS.join(", ")))?;
            if field == "label" && Label::find(value).is_none() {
                return Err(format!("the label `{value}` is not one of {}", Label::names()));
            }
            filter.wanted.entry(field).or_default().push(value.to_owned());
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(label: Label, category: &str) -> Labels {
        Labels { label, category: Some(category.to_owned()), source: None, tier: None }
    }

    #[test]
    fn values_of_a_field_are_alternatives_and_fields_must_all_fit() {
        let table = [
            ("", true, true),
            ("label=block", true, false),
            ("label=block,label=allow", true, true),
            ("label=block,category=theft", false, false),
            ("category=none,category=loss", true, true),
            ("source=here", false, false),
        ];
        for (text, block, allow) in table {
            let filter: Filter = text.parse().unwrap();
            assert_eq!(filter.takes(&labels(Label::Block, "loss")), block, "{text}");
            assert_eq!(filter.takes(&labels(Label::Allow, "none")), allow, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_condition_is_refused() {
        for text in ["block", "colour=red", "label=danger"] {
            assert!(text.parse::<Filter>().is_err(), "{text}");
        }
    }
}
