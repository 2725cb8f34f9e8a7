//! What is known of PHP: the language and its standard functions, all in lower case.

mod harmless;
mod method;
mod rows;

use super::Language;
use super::table::Profile;

/// What is known of PHP.
pub(super) static PROFILE: Profile = Profile {
    language: Language::Php,
    keywords: KEYWORDS,
    rows: &[rows::ROWS],
    modules: harmless::MODULES,
    functions: harmless::FUNCTIONS,
    methods: method::METHODS,
    imports: IMPORTS,
};

const KEYWORDS: &[&str] = &[
    "abstract",
    "and",
    "as",
    "break",
    "case",
    "catch",
    "class",
    "clone",
    "const",
    "continue",
    "declare",
    "default",
    "do",
    "else",
    "elseif",
    "enddeclare",
    "endfor",
    "endforeach",
    "endif",
    "endswitch",
    "endwhile",
    "extends",
    "final",
    "finally",
    "fn",
    "for",
    "foreach",
    "function",
    "global",
    "goto",
    "if",
    "implements",
    "instanceof",
    "insteadof",
    "interface",
    "match",
    "namespace",
    "new",
    "or",
    "php",
    "private",
    "protected",
    "public",
    "readonly",
    "return",
    "static",
    "switch",
    "throw",
    "trait",
    "try",
    "use",
    "var",
    "while",
    "xor",
    "yield",
];

/// Modules that may be loaded because rows speak of them.
const IMPORTS: &[&str] = &[];

/// Returns the code of a script without the tags around it.
pub(super) fn without_tags(text: &str) -> &str {
    let text = text.trim_start();
    let text = text.strip_prefix("<?php").or_else(|| text.strip_prefix("<?")).unwrap_or(text);
    text.trim_end().strip_suffix("?>").unwrap_or(text)
}
