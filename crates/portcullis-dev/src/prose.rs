//! The prose of a source file: the sentences of its `//!` lines, which its page is made of.

/// Returns the paragraphs of the comment a file begins with, each a list of sentences.
///
/// A sentence that is written over several lines becomes one.
pub fn paragraphs(source: &str) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut is_open = false;
    let mut begins_paragraph = true;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim) {
        if line.is_empty() {
            begins_paragraph = true;
            is_open = false;
            continue;
        }
        if std::mem::take(&mut begins_paragraph) {
            all.push(Vec::new());
        }
        let Some(paragraph) = all.last_mut() else {
            continue;
        };
        match paragraph.last_mut() {
            Some(sentence) if is_open => {
                sentence.push(' ');
                sentence.push_str(line);
            }
            _ => paragraph.push(line.to_owned()),
        }
        is_open = !line.ends_with(['.', '!', '?']);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_sentences_are_kept_and_broken_lines_are_joined() {
        let source = "//! First.\n//!\n//! A long\n//! second.\n//! Third.\n\nuse a;\n//! no more\n";
        assert_eq!(paragraphs(source), [vec!["First."], vec!["A long second.", "Third."]]);
        assert_eq!(paragraphs("use a;\n"), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_paragraph_without_a_full_stop_ends_at_the_empty_line() {
        assert_eq!(paragraphs("//! Open\n//!\n//! Next.\n"), [vec!["Open"], vec!["Next."]]);
    }
}
