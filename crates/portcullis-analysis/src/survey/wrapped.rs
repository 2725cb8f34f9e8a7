//! Invocations and what they wrap: other commands, shell text in arguments or on standard input.

use portcullis_shell::{Span, parse};

use super::walk::Walk;
use crate::argument::Argument;
use crate::directories::Directories;
use crate::feed::Feed;
use crate::interpreter;
use crate::invocation::{Invocation, Wrapping, base_name, join};
use crate::wrapper::{self, Inside, Peeled};

/// Shell text inside shell text inside … is followed this far.
const DEEPEST: usize = 8;

/// A command line with more invocations than this is opaque.
const MOST_INVOCATIONS: usize = 20_000;

impl Walk<'_> {
    /// Records an invocation and walks what it wraps.
    pub(super) fn invoke(&mut self, mut invocation: Invocation, feed: Feed) {
        if self.found.invocations.len() >= MOST_INVOCATIONS {
            self.opaque(invocation.span, "the command line is too long to follow".to_owned());
            return;
        }
        if let Some(program) = invocation.program()
            && program.fixed().is_none_or(str::is_empty)
        {
            let why = format!("the program `{}` is only known at run time", program.as_written());
            self.opaque(invocation.span, why);
        }
        if changes_reading(&invocation) {
            let why = "it changes how later commands are read".to_owned();
            self.opaque(invocation.span, why);
        }
        let peeled =
            wrapper::peel(&invocation.arguments).or_else(|| interpreter::peel(&invocation.arguments));
        if let Some(peeled) = &peeled {
            invocation.wrapping = peeled.wrapping;
        }
        let index = self.found.invocations.len();
        let outer = invocation.clone_surroundings();
        self.found.invocations.push(invocation);
        if let Some(peeled) = peeled {
            self.wrapped(peeled, index, &outer, feed);
        }
    }

    fn wrapped(&mut self, peeled: Peeled, index: usize, outer: &Invocation, feed: Feed) {
        if self.depth >= DEEPEST {
            self.opaque(outer.span, "commands are nested too deep to follow".to_owned());
            return;
        }
        let parent = self.parent.replace(index);
        self.depth += 1;
        let directories = match &peeled.directory {
            None => outer.directories.clone(),
            Some(directory) => match directory.fixed() {
                Some(target) => outer.directories.enter(target),
                None => Directories::Unknown,
            },
        };
        match peeled.inside {
            Inside::Commands(commands) => {
                for arguments in commands {
                    let mut assignments = outer.assignments.clone();
                    assignments.extend(peeled.assignments.iter().cloned());
                    let directories = directories.clone();
                    let inner = Invocation {
                        arguments,
                        assignments,
                        directories,
                        parent: Some(index),
                        ..outer.clone()
                    };
                    self.invoke(inner, feed.clone());
                }
            }
            Inside::Text(words) => self.text_of(&words, outer.span, directories),
            Inside::Input => self.input(feed, outer.span, directories),
            Inside::Unknown(why) => self.opaque(outer.span, why.to_owned()),
        }
        self.depth -= 1;
        self.parent = parent;
    }

    /// Walks shell text that stands in arguments.
    fn text_of(&mut self, words: &[Argument], span: Span, directories: Directories) {
        if words.iter().any(|word| !word.is_known()) {
            self.opaque(span, "the shell text it runs is only known at run time".to_owned());
        }
        let text = join(words.iter().map(|word| word.text.as_str()));
        let span = words.iter().map(|word| word.span).reduce(Span::cover).unwrap_or(span);
        self.inner(&text, span, directories);
    }

    /// Walks shell text that arrives on standard input.
    fn input(&mut self, feed: Feed, span: Span, directories: Directories) {
        match feed {
            Feed::Nothing => {}
            Feed::Text(text) => self.inner(&text, span, directories),
            Feed::Partly(text) => {
                self.opaque(span, "the shell text it reads is only known at run time".to_owned());
                self.inner(&text, span, directories);
            }
            Feed::Unknown => {
                self.opaque(span, "the shell text it reads is only known at run time".to_owned());
            }
        }
    }

    fn inner(&mut self, text: &str, span: Span, directories: Directories) {
        let script = parse(text);
        let mut walk = Walk {
            text,
            fixed_span: Some(self.fixed_span.unwrap_or(span)),
            home: self.home,
            depth: self.depth,
            background: self.background,
            parent: self.parent,
            input: self.input.clone(),
            hidden: None,
            found: std::mem::take(&mut self.found),
        };
        walk.script(&script, directories);
        self.found = walk.found;
    }
}

impl Invocation {
    /// Copies everything a wrapped command inherits; the files it is redirected to belong to the wrapper.
    fn clone_surroundings(&self) -> Self {
        Self {
            span: self.span,
            arguments: Vec::new(),
            assignments: self.assignments.clone(),
            redirections: Vec::new(),
            directories: self.directories.clone(),
            parent: None,
            background: self.background,
            wrapping: Wrapping::Nothing,
        }
    }
}

/// Builtins after which the same text may mean something else.
fn changes_reading(invocation: &Invocation) -> bool {
    let Some(name) = invocation.program().and_then(Argument::fixed).map(base_name) else {
        return false;
    };
    let has = |flag: &str| invocation.operands().iter().any(|argument| argument.text.starts_with(flag));
    match name {
        "alias" => invocation.operands().iter().any(|argument| argument.text.contains('=')),
        "shopt" => has("-s") || has("-u"),
        "hash" => has("-p"),
        "enable" => has("-f") || has("-n"),
        _ => false,
    }
}
