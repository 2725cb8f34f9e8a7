//! What a compiled rule means, in sentences and examples.

use portcullis_core::rule::{
    Behavior, DomainPattern, Matcher, PathAccess, PathAnchor, PathPattern, Rule, ShellPattern, ToolPattern,
    Wildcard,
};

use super::path_examples::path_examples;

/// How a rule is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Explanation {
    /// The shape of the rule, in a few words.
    pub(super) shape: &'static str,
    /// What it means.
    pub(super) meaning: Vec<String>,
    /// Calls it matches.
    pub(super) hits: Vec<String>,
    /// Calls near by that it does not match.
    pub(super) misses: Vec<String>,
}

impl Explanation {
    /// Explains a rule.
    pub(super) fn of(rule: &Rule) -> Self {
        let mut explanation = match &rule.matcher {
            Matcher::Tool(pattern) => of_tool(pattern),
            Matcher::Shell { tool, pattern } => of_shell(tool, pattern, rule.behavior),
            Matcher::Path { access, pattern } => of_path(*access, pattern, rule),
            Matcher::Domain(pattern) => of_domain(pattern, rule),
            Matcher::Name { tool, pattern } => of_name(tool, pattern),
            Matcher::Parameter { tool, field, value } => of_parameter(tool, field, value),
        };
        explanation.meaning.push(effect(rule.behavior).to_owned());
        explanation
    }

    fn new(shape: &'static str, meaning: impl Into<String>) -> Self {
        Self { shape, meaning: vec![meaning.into()], hits: Vec::new(), misses: Vec::new() }
    }

    fn also(mut self, sentence: impl Into<String>) -> Self {
        self.meaning.push(sentence.into());
        self
    }

    fn hits(mut self, examples: &[String]) -> Self {
        self.hits.extend_from_slice(examples);
        self
    }

    fn misses(mut self, examples: &[String]) -> Self {
        self.misses.extend_from_slice(examples);
        self
    }
}

const fn effect(behavior: Behavior) -> &'static str {
    match behavior {
        Behavior::Allow => {
            "as an allow rule it lets a call run that no deny rule, ask rule or safety check stops"
        }
        Behavior::Ask => "as an ask rule it has a person asked, whatever the mode",
        Behavior::Deny => "as a deny rule it stops the call, whatever other rules and the mode say",
    }
}

fn of_tool(pattern: &ToolPattern) -> Explanation {
    match pattern {
        ToolPattern::Name(name) => Explanation::new("tool-wide", format!("every call of the tool `{name}`")),
        ToolPattern::Server(server) => {
            Explanation::new("MCP server", format!("every tool of the MCP server `{server}`"))
                .hits(&[format!("mcp__{server}__anything")])
                .misses(&[format!("mcp__{server}2__anything")])
        }
        ToolPattern::Glob(glob) => {
            Explanation::new("tool glob", format!("every tool whose name matches `{}`", glob.as_str()))
        }
    }
}

fn of_shell(tool: &str, pattern: &ShellPattern, behavior: Behavior) -> Explanation {
    let explanation = match pattern {
        ShellPattern::Exact(command) => {
            Explanation::new("exact command", format!("the {tool} command `{command}` and no other"))
                .hits(std::slice::from_ref(command))
                .misses(&[format!("{command} --more")])
        }
        ShellPattern::Prefix(prefix) => Explanation::new(
            "command prefix",
            format!("the {tool} command `{prefix}`, alone or with anything after it"),
        )
        .hits(&[prefix.clone(), format!("{prefix} --more")])
        .misses(&[format!("{prefix}x")]),
        ShellPattern::Wildcard(wildcard) => of_shell_wildcard(tool, wildcard),
    };
    match behavior {
        Behavior::Allow => explanation.also(
            "a command line runs only if allow rules cover every simple command and every redirection in it",
        ),
        Behavior::Ask | Behavior::Deny => explanation.also(
            "it is also found in a part of a longer command line, behind wrappers such as `env`, `sudo` and `bash -c`, \
             with a path before the program, and however it is quoted",
        ),
    }
}

fn of_shell_wildcard(tool: &str, wildcard: &Wildcard) -> Explanation {
    let pattern = wildcard.as_str();
    let explanation = Explanation::new(
        "command wildcard",
        format!("every {tool} command like `{pattern}`, where `*` is any text"),
    );
    match wildcard.optional_tail() {
        Some(bare) => explanation
            .also("the star at the end is the only one, so the command alone matches as well")
            .hits(&[bare.to_owned(), format!("{bare} more")])
            .misses(&[format!("{bare}x")]),
        None => explanation.hits(&[wildcard.literals().join("more")]),
    }
}

fn of_path(access: PathAccess, pattern: &PathPattern, rule: &Rule) -> Explanation {
    let content = rule.text.content.as_deref().unwrap_or_default();
    let (shape, verb) = match access {
        PathAccess::Read => ("path that is read", "reads of"),
        PathAccess::Edit => ("path that is written", "writes, by any tool or redirection, to"),
    };
    let anchor = match pattern.anchor() {
        PathAnchor::Root => "the root of the file system",
        PathAnchor::Home => "the home directory",
        PathAnchor::Source => "the project, or the directory of a user settings file",
        PathAnchor::Cwd => "the current directory",
    };
    let explanation = Explanation::new(
        shape,
        format!("{verb} paths that match the gitignore pattern `{content}` below {anchor}"),
    );
    if pattern.is_negated() {
        return explanation.also("the `!` takes such paths out of the relative patterns before it");
    }
    if pattern.is_exact_only() {
        return explanation.also("it is not a usable pattern, so only the path it spells is guarded");
    }
    let (hits, misses) = path_examples(pattern, content);
    let explanation = explanation.hits(&hits).misses(&misses);
    match rule.behavior {
        Behavior::Allow => explanation.also("through a symbolic link, every spelling of the path must match"),
        Behavior::Ask | Behavior::Deny => {
            explanation.also("through a symbolic link, one spelling of the path is enough")
        }
    }
}

fn of_domain(pattern: &DomainPattern, rule: &Rule) -> Explanation {
    let content = rule.text.content.as_deref().unwrap_or_default();
    let domain = content.strip_prefix("domain:").unwrap_or(content);
    let mut explanation = Explanation::new(
        "web domain",
        format!("fetches whose host is `{domain}`, where `*` stands for labels"),
    );
    let plain = domain.replace('*', "docs");
    for host in [plain.clone(), format!("evil-{plain}"), format!("{plain}.evil.example")] {
        let url = format!("https://{host}/");
        if pattern.matches(&host) { explanation.hits.push(url) } else { explanation.misses.push(url) }
    }
    explanation
}

fn of_name(tool: &str, pattern: &Wildcard) -> Explanation {
    Explanation::new("named", format!("calls of `{tool}` for the name `{}`", pattern.as_str()))
}

fn of_parameter(tool: &str, field: &str, value: &Wildcard) -> Explanation {
    Explanation::new(
        "input field",
        format!("calls of `{tool}` whose input field `{field}` is `{}` as the model sent it", value.as_str()),
    )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use portcullis_gate::session_settings::compile;

    #[test]
    fn every_shape_is_told_apart() {
        let table = [
            ("Bash", Behavior::Allow, "tool-wide"),
            ("mcp__github", Behavior::Deny, "MCP server"),
            ("mcp__*", Behavior::Deny, "tool glob"),
            ("Bash(ls)", Behavior::Allow, "exact command"),
            ("Bash(npm run:*)", Behavior::Allow, "command prefix"),
            ("Bash(git * main)", Behavior::Deny, "command wildcard"),
            ("Read(~/.ssh/**)", Behavior::Deny, "path that is read"),
            ("Edit(src/**)", Behavior::Allow, "path that is written"),
            ("WebFetch(domain:*.example.org)", Behavior::Allow, "web domain"),
            ("Agent(reviewer)", Behavior::Deny, "named"),
            ("Bash(run_in_background:true)", Behavior::Deny, "input field"),
        ];
        for (text, behavior, shape) in table {
            assert_eq!(Explanation::of(&compile(text, behavior).unwrap()).shape, shape, "{text}");
        }
    }

    #[test]
    fn shell_examples_are_true() {
        for text in ["Bash(ls)", "Bash(npm run:*)", "Bash(git push *)", "Bash(git * main)", "Bash(echo \\*)"]
        {
            let rule = compile(text, Behavior::Allow).unwrap();
            let Matcher::Shell { pattern, .. } = &rule.matcher else { panic!("{text}") };
            let explanation = Explanation::of(&rule);
            assert!(!explanation.hits.is_empty(), "{text}");
            for example in &explanation.hits {
                assert!(pattern.matches(example), "{text} should match {example}");
            }
            for example in &explanation.misses {
                assert!(!pattern.matches(example), "{text} should not match {example}");
            }
        }
    }
}
