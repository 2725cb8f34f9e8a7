//! Forms of secrets that users add in their settings.
//!
//! They are known to the whole process: texts are blacked out in many places that know no settings, and forms come from
//! settings of the user alone, which are the same for every project.

use std::sync::{Arc, PoisonError, RwLock};

use portcullis_core::secret_form::{SecretForm, SecretPart};

use super::SecretSpan;
use super::text::{RedactedText, is_key_byte};

/// What a secret of such a form is called.
const KIND: &str = "custom";

/// How many bytes of a class are read where more parts follow.
const LONGEST_PART: usize = 512;

static FORMS: RwLock<Option<Arc<[SecretForm]>>> = RwLock::new(None);

/// Sets the forms that count besides the built-in ones, in place of those that were set before.
pub fn set_custom_forms(forms: Vec<SecretForm>) {
    let mut known = FORMS.write().unwrap_or_else(PoisonError::into_inner);
    if known.as_deref().unwrap_or_default() != forms.as_slice() {
        *known = Some(forms.into());
    }
}

/// Finds secrets of the forms that were set.
pub(super) fn find(text: RedactedText<'_>, spans: &mut Vec<SecretSpan>) {
    let forms = FORMS.read().unwrap_or_else(PoisonError::into_inner).clone();
    for form in forms.iter().flat_map(|forms| forms.iter()) {
        find_form(text, form, spans);
    }
}

fn find_form(text: RedactedText<'_>, form: &SecretForm, spans: &mut Vec<SecretSpan>) {
    let mut place = 0;
    while place < text.len() {
        let found = if text.has(place, form.text.as_bytes()) { read(text, place, form) } else { None };
        place = found.map_or(place + 1, |span| span.end);
        spans.extend(found);
    }
}

fn read(text: RedactedText<'_>, place: usize, form: &SecretForm) -> Option<SecretSpan> {
    let count = form.before.map_or(0, |(_, count)| count);
    let start = place.checked_sub(count)?;
    if let Some((class, _)) = form.before {
        let is_all = (1..=count).all(|distance| class.has(text.before(place, distance)));
        if !is_all || (class.has(text.before(start, 1)) && !text.is_after_escape(start)) {
            return None;
        }
    }
    if !text.is_start(start) {
        return None;
    }
    let mut end = place + form.text.len();
    for (index, part) in form.rest.iter().enumerate() {
        let is_last = index + 1 == form.rest.len();
        end = match part {
            SecretPart::Text(expected) if text.has(end, expected.as_bytes()) => end + expected.len(),
            SecretPart::Text(_) => return None,
            SecretPart::Bytes { class, least, is_exact } => {
                let most = if *is_exact {
                    *least
                } else if is_last {
                    usize::MAX
                } else {
                    LONGEST_PART
                };
                let stop = text.run(end, most, |byte| class.has(byte));
                let is_longer = is_last && *is_exact && is_key_byte(text.at(stop));
                if stop < end + least || is_longer {
                    return None;
                }
                stop
            }
        };
    }
    Some(SecretSpan { start, end, kind: KIND })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(form: &str, line: &str) -> Vec<String> {
        let mut spans = Vec::new();
        find_form(RedactedText::new(line), &SecretForm::parse(form).unwrap(), &mut spans);
        spans.iter().map(|span| line.get(span.start..span.end).unwrap().to_owned()).collect()
    }

    #[test]
    fn a_form_of_a_user_finds_its_secrets_and_nothing_else() {
        let found = |form, line| redacted(form, line).concat();
        assert_eq!(found("acme_[key 12+]", "use acme_abcdefghijkl-9 now"), "acme_abcdefghijkl-9");
        assert_eq!(found("acme_[key 12+]", "use acme_short now"), "");
        assert_eq!(found("acme_[key 12+]", "the macme_abcdefghijklmn"), "");
        assert_eq!(found("acme_[hex 8]", "acme_0123abcd acme_0123abcde"), "acme_0123abcd");
        assert_eq!(found("[digits 6]:corp:[hex 8]", "id 123456:corp:0123abcd."), "123456:corp:0123abcd");
        assert_eq!(found("[digits 6]:corp:[hex 8]", "id 1234567:corp:0123abcd."), "");
    }
}
