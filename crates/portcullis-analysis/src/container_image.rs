//! Names of container images: whose they are, and which of them a project declares.

use crate::lists::readers::container::{DECLARING, PUBLISHERS};

/// Keys of the lines that name an image in files of compose, of containers for development and of pipelines.
const KEYS: &[&str] = &["container", "image", "name", "uses"];

/// Names of the registry that is meant where none is named.
const USUAL_REGISTRIES: &[&str] = &["docker.io/", "index.docker.io/"];

/// Returns the files in which a project declares images, below its folder.
pub fn declaring_files() -> &'static [&'static str] {
    DECLARING
}

/// Says whether everybody knows who makes an image, or this machine does.
pub(crate) fn is_well_known(image: &str) -> bool {
    let repository = repository_of(image);
    !repository.contains('/') || PUBLISHERS.iter().any(|publisher| repository.starts_with(publisher))
}

/// Says whether a file of a project names an image, of whatever version, as one that it uses.
pub fn declares(text: &str, image: &str) -> bool {
    let wanted = repository_of(image);
    text.lines().any(|line| named_in(line).any(|name| repository_of(name) == wanted))
}

/// Returns the words of a line that may name an image; none of a comment and of a line about something else.
fn named_in(line: &str) -> impl Iterator<Item = &str> {
    let line = line.split(" #").next().unwrap_or(line).trim_start_matches([' ', '\t', '-', '{', '"', '\'']);
    let first = line.split([' ', '\t', ':', '"', '\'']).next().unwrap_or_default();
    let is_about_images = first.eq_ignore_ascii_case("from") || KEYS.contains(&first);
    let words = line.split([' ', '\t', ',', '"', '\'', '{', '}', '[', ']']).skip(1);
    words.filter(move |word| is_about_images && !word.is_empty())
}

/// Returns the name of an image without its version, and without the registry that is meant anyway.
fn repository_of(image: &str) -> &str {
    let image = image.strip_prefix("docker://").unwrap_or(image);
    let image = image.split('@').next().unwrap_or(image);
    let name = image.rfind('/').map_or(0, |at| at + 1);
    let version = image.get(name..).and_then(|name| name.find(':')).map(|at| name + at);
    let image = version.and_then(|at| image.get(..at)).unwrap_or(image);
    let image = USUAL_REGISTRIES.iter().find_map(|registry| image.strip_prefix(registry)).unwrap_or(image);
    image.strip_prefix("library/").unwrap_or(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_the_usual_registry_do_not_matter() {
        for (image, expected) in [
            ("redis", "redis"),
            ("docker.io/library/redis:7", "redis"),
            ("library/redis", "redis"),
            ("docker://ghcr.io/acme/app:1.2@sha256:ab", "ghcr.io/acme/app"),
            ("localhost:5000/app", "localhost:5000/app"),
            ("localhost:5000/app:2", "localhost:5000/app"),
            ("node@sha256:ab", "node"),
        ] {
            assert_eq!(repository_of(image), expected, "{image}");
        }
    }

    #[test]
    fn an_image_is_declared_by_a_line_that_uses_it() {
        for line in [
            "FROM acme/tool:1 AS build",
            "from --platform=linux/amd64 docker.io/acme/tool",
            "    image: acme/tool:2",
            "    image: \"acme/tool\" # pinned",
            "  - image: 'acme/tool@sha256:ab'",
            "  \"image\": \"acme/tool:1\",",
            "container: acme/tool:1",
            "- uses: docker://acme/tool:1",
            "  name: acme/tool",
        ] {
            assert!(declares(line, "acme/tool:3"), "{line}");
        }
        for line in [
            "# FROM acme/tool",
            "RUN docker pull acme/tool",
            "    image: acme/tools",
            "    image: ghcr.io/acme/tool",
            "    image: ${OWNER}/tool",
            "description: acme/tool",
            "    image: redis # not acme/tool",
            "COPY --from acme/tool / /",
        ] {
            assert!(!declares(line, "acme/tool:3"), "{line}");
        }
    }
}
