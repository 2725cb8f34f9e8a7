//! `find`: starting points, then an expression that may write, remove or run.

use super::CommandContext;
use super::{certain, certain_here, possible};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::invocation::base_name;
use crate::lists::readers::find::{NARROWING, PLAIN, VALUED};
use crate::profile::{Match, Use};
use crate::shape::Shape;
use crate::survey::{found_by_find, is_found_by_name};

/// Words after which a test may let through what it does not name.
const WIDENING: &[&str] = &["!", ",", "-not", "-o", "-or"];

/// A pattern that names everything.
const EVERYTHING: &[&str] = &["*", ".*", "./*", "*.*", ""];

/// Reads the arguments of `find`.
pub(super) fn read(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let mut expression = FindExpression::default();
    let mut words = context.invocation.operands().iter();
    while let Some(word) = words.next() {
        if expression.is_start(word) {
            if may_be_primary(word) {
                expression.uses.push(possible(Act::Unknown, word));
            }
            expression.starts.push(word.clone());
        } else {
            expression.primary(word, &mut words);
        }
    }
    expression.finish(context)
}

#[derive(Default)]
struct FindExpression {
    starts: Vec<Argument>,
    uses: Vec<Use>,
    has_begun: bool,
    deletes: bool,
    reach: FindReach,
}

/// How much of what lies below the starting points is left to find.
#[derive(Default, PartialEq, Eq)]
enum FindReach {
    #[default]
    Everything,
    Narrowed,
    Widened,
}

impl FindExpression {
    /// Says whether a word is a place to start from: those stand before the expression.
    fn is_start(&self, word: &Argument) -> bool {
        !self.has_begun && !word.text.starts_with('-') && !matches!(word.text.as_str(), "!" | "(" | ")" | ",")
    }

    /// Reads one test or action with its values.
    fn primary(&mut self, word: &Argument, rest: &mut std::slice::Iter<'_, Argument>) {
        let text = word.text.as_str();
        let is_option =
            matches!(text, "-H" | "-L" | "-P" | "-E" | "-X" | "-d" | "-s" | "-x" | "-D" | "-f" | "--")
                || text.starts_with("-O");
        self.has_begun |= !is_option || !self.starts.is_empty();
        if WIDENING.contains(&text) {
            self.reach = FindReach::Widened;
        }
        match text {
            _ if word.knowledge == Knowledge::Dynamic => self.uses.push(possible(Act::Unknown, word)),
            "-delete" => self.deletes = true,
            "-fprint" | "-fprint0" | "-fls" => self.value(Act::Write, rest),
            "-fprintf" => {
                self.value(Act::Write, rest);
                rest.next();
            }
            "-f" => self.starts.extend(rest.next().cloned()),
            "-anewer" | "-cnewer" | "-newer" | "-samefile" => self.value(Act::List, rest),
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.deletes |= removes(rest),
            "--" => {}
            _ if text.starts_with("-O") => {}
            // The last letter says what the value is: a time, or a file whose time counts.
            _ if text.starts_with("-newer") && text.ends_with('t') => _ = rest.next(),
            _ if text.starts_with("-newer") => self.value(Act::List, rest),
            _ if PLAIN.contains(&text) => self.narrow(text),
            _ if VALUED.contains(&text) => {
                let value = rest.next();
                let is_open = value.is_none_or(|value| EVERYTHING.contains(&value.text.as_str()));
                if !is_open {
                    self.narrow(text);
                }
                // Without quotes it may become several words.
                let splits =
                    |value: &&Argument| value.knowledge == Knowledge::Dynamic && !value.is_one_word();
                self.uses.extend(value.filter(splits).map(|value| possible(Act::Unknown, value)));
            }
            _ => self.uses.push(certain(Act::Unknown, word)),
        }
    }

    /// Notes a test that leaves only some files for what follows.
    fn narrow(&mut self, test: &str) {
        if NARROWING.contains(&test) && self.reach == FindReach::Everything {
            self.reach = FindReach::Narrowed;
        }
    }

    fn value(&mut self, act: Act, rest: &mut std::slice::Iter<'_, Argument>) {
        self.uses.extend(rest.next().map(|file| certain(act, file)));
    }

    /// Makes acts of the expression: it always lists, and what it deletes are whole trees unless a test narrows it.
    fn finish(self, context: &CommandContext<'_>) -> Vec<Use> {
        let mut uses = self.uses;
        let mut acts = vec![Act::List];
        let operands = context.invocation.operands();
        let is_narrow = match self.reach {
            FindReach::Everything => false,
            FindReach::Narrowed => true,
            FindReach::Widened => is_found_by_name(operands),
        };
        if self.deletes {
            acts.push(if is_narrow { Act::Delete } else { Act::DeleteTree });
        }
        if self.deletes && is_narrow {
            let program = context.invocation.program();
            let found = found_by_find(operands, context.home);
            if let (Some(program), Some(shapes)) = (program, found) {
                acts.pop();
                let file = |shape| self.starts.first().unwrap_or(program).clone().bounded(Some(shape), true);
                uses.extend(shapes.into_iter().map(|shape| certain(Act::Delete, &file(shape))));
            }
        }
        for act in acts {
            uses.extend(self.starts.iter().map(|start| certain(act, start)));
            if self.starts.is_empty() {
                uses.extend(certain_here(context, act));
            }
        }
        uses
    }
}

/// Passes over a command, which the survey lists on its own, and says whether it removes what is found.
fn removes(rest: &mut std::slice::Iter<'_, Argument>) -> bool {
    let mut is_after_place = false;
    let mut removes = false;
    for (at, word) in rest.by_ref().enumerate() {
        if word.text == ";" || (word.text == "+" && is_after_place) {
            break;
        }
        is_after_place = word.text == "{}";
        removes |= at == 0 && matches!(base_name(&word.text), "rm" | "grm" | "shred" | "srm" | "unlink");
    }
    removes
}

/// Says whether a starting point could turn out to be a part of the expression.
fn may_be_primary(word: &Argument) -> bool {
    match word.knowledge {
        Knowledge::Fixed | Knowledge::Tilde => false,
        Knowledge::Glob => word.text.starts_with(['*', '?', '[', '@', '+', '!']),
        Knowledge::Dynamic if word.shape().is_some_and(Shape::begins_plainly) => !word.is_one_word(),
        Knowledge::Dynamic => !word.is_one_word() || word.text.starts_with(['$', '`', '…']),
    }
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn looking_for_names_lists_the_starting_points() {
        assert_eq!(effects("find src lib -name '*.rs' -not -path './x/*'"), ["list lib", "list src"]);
        assert_eq!(effects("find -L . -maxdepth 2 -type f -newer a.txt"), ["list .", "list a.txt"]);
        assert_eq!(effects("find . -newermt 2030-01-01"), ["list ."]);
        assert_eq!(effects("find"), ["list ."]);
    }

    #[test]
    fn removing_counts_by_how_much_is_left_to_find() {
        assert_eq!(effects("find . -delete"), ["delete-tree .", "list ."]);
        assert_eq!(effects("find . -name '*.pyc' -delete"), ["delete .", "list ."]);
        assert_eq!(effects("find . -not -name '*.rs' -delete"), ["delete-tree .", "list ."]);
        assert_eq!(effects("find . -name '*' -delete"), ["delete-tree .", "list ."]);
        assert_eq!(effects("find -type f -delete"), ["delete-tree .", "list ."]);
        assert!(effects("find / -exec rm -rf {} +").contains(&"delete-tree /".to_owned()));
    }

    #[test]
    fn alternatives_narrow_only_where_each_of_them_names_what_it_finds() {
        for named in [
            "find . \\( -name a -o -name 'b*' \\) -delete",
            "find . -type d \\( -name a -o -name b \\) -not -path './x/*' -exec rm -rf {} +",
            "find . -path ./x -prune -o -name a -delete",
            "find . -name a -exec grep -o x {} + -o -name b -delete",
        ] {
            assert!(!effects(named).contains(&"delete-tree .".to_owned()), "{named}");
        }
        for open in [
            "find . -name a -name b -o -type f -delete",
            "find . \\( -name a -o -type f \\) -delete",
            "find . ! \\( -name a -o -name b \\) -delete",
            "find . -name a -exec echo {} ';' -o -exec rm -rf {} ';' -prune",
            "find . -path ./x -prune -o -delete",
        ] {
            assert!(effects(open).contains(&"delete-tree .".to_owned()), "{open}");
        }
    }

    #[test]
    fn output_files_are_written_and_what_is_not_known_stays_unknown() {
        assert_eq!(effects("find . -fprintf out '%p'"), ["list .", "write out"]);
        assert_eq!(effects("find . -files0-from x"), ["list .", "unknown -files0-from", "unknown x"]);
        assert_eq!(effects("find $x -type f"), ["list $x", "unknown $x"]);
        assert_eq!(effects("find . -name $x"), ["list .", "unknown $x"]);
    }
}
