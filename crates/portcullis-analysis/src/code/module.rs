//! Where the files of a module may lie that a program loads by its name.

use super::Language;

/// Directories below which projects keep the packages that they install from their own tree.
const ROOTS: &[&str] = &["", "src/", "lib/"];

/// Endings that a program of JavaScript leaves out, and files that stand for their directory.
const ENDINGS: &[&str] = &[".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", "/index.js", "/index.ts"];

/// Returns the files that a module may be, relative to where the program runs: it is one of them.
pub(crate) fn module_places(language: Language, name: &str) -> Vec<String> {
    match language {
        Language::Python => of_python(name),
        Language::JavaScript if name.starts_with(['.', '/']) => of_javascript(name),
        Language::JavaScript => vec![format!("node_modules/{name}")],
        Language::Ruby => vec![format!("{}.rb", name.trim_end_matches(".rb"))],
        _ => vec![name.to_owned()],
    }
}

/// Returns the places of `package.module`, or of `package:member` where the member may be a module.
fn of_python(name: &str) -> Vec<String> {
    let (module, member) = name.split_once(':').unwrap_or((name, ""));
    let path = module.replace('.', "/");
    let each = |root: &&str| {
        let of_member = (!member.is_empty()).then(|| format!("{root}{path}/{member}.py"));
        [format!("{root}{path}.py"), format!("{root}{path}/__init__.py")].into_iter().chain(of_member)
    };
    ROOTS.iter().flat_map(each).collect()
}

/// Returns the places of `./path`, with the ending it leaves out or a compiler puts in the place of the one it has.
fn of_javascript(name: &str) -> Vec<String> {
    let file = name.rsplit('/').next().unwrap_or(name);
    match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js" | "jsx") => {
            let stem = name.trim_end_matches('x').trim_end_matches(".js");
            vec![name.to_owned(), format!("{stem}.ts"), format!("{stem}.tsx")]
        }
        Some("json" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "node") => vec![name.to_owned()],
        _ => {
            let stem = name.trim_end_matches('/');
            ENDINGS.iter().map(|ending| format!("{stem}{ending}")).collect()
        }
    }
}
