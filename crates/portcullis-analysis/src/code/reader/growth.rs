//! Lists that do not stay as they are made: `x.append(a)`, `list.push(a, b)`, `push @x, $a`, `x[0] = a`, `x.sort()`; and
//! texts where a language changes them in place.
//!
//! A change counts for every name that may stand for what is changed, and where nobody knows what that is, for all.

use std::collections::BTreeSet;

use super::chain::{Chain, ChainCutter, ChainStep, GroupSpan};
use super::scope::{NameMeaning, ProgramNames};
use super::sharing::{ChainOwner, DEEP, NameSharing, is_fixed, names_known, rest_of_statement};
use super::targets::SetPlaces;
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece};

/// Methods that put what they are given into what they are called on.
const ADDING: &str =
    "__iadd__ __setitem__ add append appendleft fill insert prepend push setdefault splice store unshift";

/// Methods that put the elements of what they are given there.
const JOINING: &str = "extend extendleft merge! update";

/// Methods that do so in Ruby alone; elsewhere they leave what they are called on as it is.
const JOINING_IN_RUBY: &str = "concat replace";

/// Methods and functions after which elements stand in other places, or some are gone.
const MOVING: &str = "__delitem__ appendleft array_shift array_splice array_unshift clear copyWithin del delete_at \
    heapify heappop heappush heappushpop heapreplace insert insort insort_left insort_right pop popleft prepend \
    remove reverse reverse! rotate rotate! shift shuffle shuffle! sort sort! sort_by! splice unshift";

/// Methods after which they do so in Ruby alone.
const MOVING_IN_RUBY: &str = "compact! delete delete_if filter! keep_if reject! select! slice! uniq!";

/// Methods of Ruby that change a text in place, or call what nobody reads. Those that end in `!` do so too.
const SHAKING_IN_RUBY: &str = "__send__ append_as_bytes bind bind_call force_encoding instance_eval instance_exec \
    instance_method method public_send send setbyte";

/// Methods of Ruby that read into the text that is their second argument.
const FILLING: &str = "pread read read_nonblock readpartial recv sysread";

/// Functions that put something into their first argument.
const FUNCTIONS: &str =
    "array_push array_splice array_unshift heappush heappushpop heapreplace insort insort_left insort_right";

/// Functions of Perl that do so; elsewhere these are methods.
const FUNCTIONS_OF_PERL: &str = "push splice unshift";

/// Functions that move the elements of their first argument.
const MOVING_FUNCTIONS: &str = "heapify heappop shuffle";

/// Functions that set elements or members of their first argument.
const SETTING_FUNCTIONS: &str = "assign defineProperties defineProperty deleteProperty delitem iadd iconcat imul ior \
    setPrototypeOf setattr setitem";

/// Functions of Perl that set the variables they are given.
const REFERRING_IN_PERL: &str = "chomp chop read recv sysread undef vec";

/// Functions of PHP that set variables they are given, from some place on.
const REFERRING_IN_PHP: &[(usize, &str)] = &[
    (
        0,
        "array_multisort array_pop array_push array_shift array_splice array_unshift array_walk array_walk_recursive",
    ),
    (
        0,
        "arsort asort each end krsort ksort mb_convert_variables natcasesort natsort next prev reset rsort settype",
    ),
    (0, "shuffle sodium_memzero sort uasort uksort usort xml_parse_into_struct"),
    (
        1,
        "dns_get_mx exec getimagesize getmxrr iptcparse mb_parse_str openssl_csr_export openssl_pkcs12_export",
    ),
    (1, "openssl_pkey_export openssl_private_decrypt openssl_private_encrypt openssl_public_decrypt"),
    (1, "openssl_public_encrypt openssl_seal openssl_sign parse_str passthru system"),
    (
        2,
        "fsockopen is_callable openssl_open pfsockopen preg_match preg_match_all proc_open similar_text sscanf",
    ),
];

/// Functions that give names a meaning that nobody reads.
const NAMING: &str = "extract parse_str";

/// Methods that leave what they are called on as it is. Others may change it, whoever defines them.
const READING: &str = "all? any? at basename bytes call capitalize center chars chomp chop chr clone codepoints \
    collect compact concat copy count cycle delete_prefix delete_suffix detect difference dig dirname downcase drop \
    drop_while dump dup each each_char each_cons each_entry each_index each_key each_line each_pair each_slice \
    each_value each_with_index each_with_object empty? encode end_with? entries eql? every expand_path extname fetch \
    filter filter_map find findIndex findLast find_index first flat flatMap flat_map flatten forEach format freeze \
    get getbyte group_by gsub has hash hex include? includes index indexOf inject inspect intersection is_a? items \
    join key? keys last lastIndexOf length lines ljust lstrip map match match? max max_by merge min min_by nil? none? \
    one? ord pack partition permutation position product raw reduce reduceRight reject respond_to? rindex rjust \
    rpartition rstrip sample scan select size slice some squeeze start_with? startsWith strip sub sum swapcase take \
    take_while tally to_a to_enum to_f to_h to_i to_json to_path to_r to_s to_str to_sym toLocaleString toReversed \
    toSorted toSpliced toString tr transpose trim union uniq unpack unpack1 upcase upto valueOf values values_at with \
    with_index zip";

/// Says whether a list in one text has a name.
pub(super) fn has(list: &str, name: &str) -> bool {
    list.split(' ').any(|word| word == name)
}

/// A change of what some names stand for, or of something inside of it; of anything if there are no names at all.
struct NameChange {
    owners: Option<BTreeSet<String>>,
    /// How far inside it lies.
    depth: usize,
    /// What is put there.
    held: Option<GroupSpan>,
    /// Whether other names that stand for the same are changed with them.
    is_shared: bool,
    meaning: NameMeaning,
}

/// Gives every name that may stand for something that is changed what becomes of it.
pub(super) fn bind(cutter: ChainCutter<'_>, places: &SetPlaces<'_>, scope: &mut ProgramNames) {
    let mut tokens = (0..cutter.tree.groups.len()).flat_map(|group| cutter.tree.items(group));
    scope.moves_elements = tokens.any(|token| token.item.name().is_some_and(|name| has(MOVING, name)));
    let finder = ChangeFinder { cutter, places, scope };
    let changes = finder.changes();
    if changes.is_empty() {
        return;
    }
    let mut sharing = NameSharing::of(cutter, scope);
    for change in &changes {
        let held = change.held.into_iter().flat_map(|held| names_known(cutter, scope, held));
        for held in held {
            for owner in change.owners.iter().flatten() {
                sharing.hold(owner, &held, change.depth);
            }
        }
    }
    let reached = |change: NameChange| {
        let names = match change.owners {
            Some(owners) if change.is_shared => sharing.reached(scope, &owners, change.depth),
            owners => owners,
        };
        (names.unwrap_or_else(|| sharing.everything(scope)), change.meaning)
    };
    let reached: Vec<_> = changes.into_iter().map(reached).collect();
    for (names, meaning) in reached {
        for name in names {
            match scope.bounds.get(&name) {
                Some(bounds) if is_fixed(cutter, bounds) => {}
                Some(_) => scope.bind(&name, meaning.clone()),
                // What the program does not set itself has no other meaning.
                None => scope.bind(&name, NameMeaning::Unknown),
            }
        }
    }
}

/// Finds what a program changes.
struct ChangeFinder<'a> {
    cutter: ChainCutter<'a>,
    places: &'a SetPlaces<'a>,
    scope: &'a ProgramNames,
}

impl ChangeFinder<'_> {
    fn language(&self) -> Language {
        self.cutter.profile.language
    }

    fn changes(&self) -> Vec<NameChange> {
        let mut changes = Vec::new();
        for group in 0..self.cutter.tree.groups.len() {
            let length = self.cutter.tree.items(group).len();
            let mut at = 0;
            while at < length {
                changes.extend(self.by_mark(group, at));
                let Some(chain) = self.cutter.chain(group, at, length.min(at + super::CHAIN_LIMIT)) else {
                    at += 1;
                    continue;
                };
                self.by_chain(&chain, &mut changes);
                at = chain.next.max(at + 1);
            }
        }
        let takes_method = |bound: &NameMeaning| match bound {
            NameMeaning::Member(_, name) => has(ADDING, name) || has(MOVING, name),
            _ => false,
        };
        if self.scope.bounds.values().flatten().any(takes_method) {
            changes.push(everything(NameMeaning::Shaken));
        }
        changes
    }

    /// Finds what the steps of a chain change, and whether it is set at its end.
    fn by_chain(&self, chain: &Chain, changes: &mut Vec<NameChange>) {
        let mut owner = ChainOwner::of(self.cutter, self.scope, chain);
        let mut last = owner.clone();
        for (place, step) in chain.steps.iter().enumerate() {
            last = owner.clone();
            let arguments = match chain.steps.get(place + 1) {
                Some(ChainStep::Call(arguments)) => Some(*arguments),
                _ => None,
            };
            match step {
                ChainStep::Member(name) => {
                    changes.extend(self.by_method(&owner, name, arguments));
                    owner.enter_member(self.scope, name);
                }
                ChainStep::Call(arguments) => {
                    changes.extend(self.by_function(&owner, *arguments));
                    owner.enter_call(self.cutter, self.scope, *arguments);
                }
                ChainStep::Index(inner) => {
                    if arguments.is_some() {
                        let name = self.cutter.plain_text(*inner).unwrap_or_default();
                        changes.extend(self.by_method(&owner, &name, arguments));
                    }
                    owner.enter_element();
                }
            }
        }
        changes.extend(self.by_setting(chain, &last, &owner));
    }

    /// Returns what a method changes; without arguments, one that somebody takes who calls it with anything.
    fn by_method(&self, owner: &ChainOwner, name: &str, arguments: Option<GroupSpan>) -> Option<NameChange> {
        let is_ruby = self.language() == Language::Ruby;
        if is_ruby && has(FILLING, name) {
            let parts = arguments.map(|arguments| self.cutter.split(arguments)).unwrap_or_default();
            return parts.get(1).map(|filled| self.given(*filled, NameMeaning::Shaken));
        }
        let adds = has(ADDING, name);
        let joins = has(JOINING, name) || is_ruby && has(JOINING_IN_RUBY, name);
        let moves = has(MOVING, name) || is_ruby && has(MOVING_IN_RUBY, name);
        // A method whose name is computed may be any.
        let shakes = name.is_empty() || is_ruby && (has(SHAKING_IN_RUBY, name) || name.ends_with('!'));
        let meaning = match arguments {
            Some(arguments) if adds || joins => NameMeaning::Added { arguments, joins },
            None if adds || joins => NameMeaning::Shaken,
            _ if moves => NameMeaning::Moved,
            _ if shakes => NameMeaning::Shaken,
            // What nobody knows changes nothing but what it is called on.
            _ if (arguments.is_some() || is_ruby) && !has(READING, name) && !name.ends_with('?') => {
                let owners = owner.names.clone().filter(|_| !owner.is_foreign && owner.depth == 0)?;
                let owners = Some(owners);
                return Some(NameChange {
                    owners,
                    depth: 0,
                    held: None,
                    is_shared: false,
                    meaning: NameMeaning::Shaken,
                });
            }
            _ => return None,
        };
        let mut owners = owner.names.clone();
        if owners.as_ref().is_some_and(BTreeSet::is_empty) {
            // `list.append(x, a)` changes what it is given.
            owners = match arguments {
                Some(arguments) if owner.is_type => Some(names_known(self.cutter, self.scope, arguments)),
                // `[].push.call(x, a)` changes anything.
                None if owner.is_type || !owner.is_foreign => None,
                _ => return None,
            };
        }
        let held = arguments.filter(|_| adds || joins);
        Some(NameChange { owners, depth: owner.depth, held, is_shared: true, meaning })
    }

    /// Returns what a function changes that is given it.
    fn by_function(&self, owner: &ChainOwner, arguments: GroupSpan) -> Option<NameChange> {
        // A function of PHP whose name is computed may be any.
        if owner.is_variable {
            return Some(self.given(arguments, NameMeaning::Unknown));
        }
        let called = owner.called.as_deref().filter(|_| owner.is_foreign)?;
        let parts = self.cutter.split(arguments);
        let of_language = |list: &str, language| self.language() == language && has(list, called);
        let later = REFERRING_IN_PHP.iter().find(|(_, list)| of_language(list, Language::Php));
        if let Some((place, _)) = later {
            let rest = parts.get(*place)?;
            return Some(self.given(GroupSpan { end: arguments.end, ..*rest }, NameMeaning::Unknown));
        }
        if of_language(NAMING, Language::Php) {
            return Some(everything(NameMeaning::Unknown));
        }
        // With four arguments `substr` puts a text into another.
        let refers = of_language(REFERRING_IN_PERL, Language::Perl)
            || of_language("substr", Language::Perl) && parts.len() > 3;
        if refers {
            let given = self.given(arguments, NameMeaning::Unknown);
            let is_default = given.owners.as_ref().is_some_and(BTreeSet::is_empty);
            return Some(if is_default { default_variable() } else { given });
        }
        let first = parts.first()?;
        let meaning = if has(FUNCTIONS, called) || of_language(FUNCTIONS_OF_PERL, Language::Perl) {
            NameMeaning::Added { arguments, joins: false }
        } else if has(MOVING_FUNCTIONS, called) || of_language("pop shift", Language::Perl) {
            NameMeaning::Moved
        } else if has(SETTING_FUNCTIONS, called) || owner.is_type && called == "set" {
            NameMeaning::Shaken
        } else {
            return None;
        };
        let is_new = matches!(self.cutter.items(*first), [token] if !matches!(token.item, CodeItem::Name(_)));
        let given = self.given(*first, meaning.clone());
        let is_nameless = given.owners.as_ref().is_some_and(BTreeSet::is_empty);
        Some(if is_nameless && !is_new { everything(meaning) } else { given })
    }

    /// Returns a change of what some arguments name.
    fn given(&self, arguments: GroupSpan, meaning: NameMeaning) -> NameChange {
        let owners = Some(names_known(self.cutter, self.scope, arguments));
        NameChange { owners, depth: DEEP, held: None, is_shared: true, meaning }
    }

    /// Returns what a chain changes at the end of which something is set, or that is handed on to be changed.
    fn by_setting(&self, chain: &Chain, last: &ChainOwner, owner: &ChainOwner) -> Option<NameChange> {
        let is_mention = owner.is_foreign
            && !self.scope.skips.contains(&(chain.span.group, chain.span.start))
            && owner.called.as_deref().is_some_and(|name| {
                has(FUNCTIONS, name) || has(MOVING_FUNCTIONS, name) || has(SETTING_FUNCTIONS, name)
            });
        if is_mention {
            return Some(everything(NameMeaning::Shaken));
        }
        let Some(step) = chain.steps.last() else { return self.by_name(chain, owner) };
        if !self.places.is_set(chain.span) {
            return None;
        }
        let is_copied = matches!(self.language(), Language::Perl | Language::Php);
        let is_ruby = self.language() == Language::Ruby;
        let meaning = if is_copied { NameMeaning::Unknown } else { NameMeaning::Shaken };
        let next = self.cutter.tree.item(chain.span.group, chain.span.end);
        let (owners, depth) = match step {
            // What is set may be a text that is changed in place.
            ChainStep::Index(_) => (last.names.clone(), last.depth + usize::from(is_ruby)),
            ChainStep::Member(name) if name == "length" => (last.names.clone(), last.depth),
            _ if is_ruby
                && next.is_some_and(|item| matches!(item, CodeItem::Mark("<<" | "." | "&." | "::"))) =>
            {
                (owner.names.clone(), owner.depth)
            }
            ChainStep::Member(name) if !next.is_some_and(|item| item.is_mark("=")) => {
                let owners = Some(BTreeSet::from([format!(".{name}")]));
                let meaning = NameMeaning::Unknown;
                return Some(NameChange { owners, depth: 0, held: None, is_shared: false, meaning });
            }
            ChainStep::Call(arguments) if is_copied => return Some(self.given(*arguments, meaning)),
            _ => return None,
        };
        let held = Some(rest_of_statement(self.cutter, chain.span.group, chain.span.end));
        Some(NameChange { owners, depth, held, is_shared: true, meaning })
    }

    /// Returns what changes with a name that stands alone: a text or a list that is changed in place, a variable to which
    /// somebody gets a reference, the variable of a loop of Perl, which is the element itself.
    fn by_name(&self, chain: &Chain, owner: &ChainOwner) -> Option<NameChange> {
        let next = self.cutter.tree.item(chain.span.group, chain.span.end);
        let is_next = |marks: &[&str]| marks.iter().any(|mark| next.is_some_and(|item| item.is_mark(mark)));
        let meaning = match self.language() {
            Language::Python if is_next(&["+=", "*="]) => NameMeaning::Shaken,
            Language::Ruby if is_next(&["<<", ".", "&.", "::"]) => NameMeaning::Shaken,
            Language::Php if self.places.before(chain.span).is_some_and(|item| item.is_mark("&")) => {
                let is_reference = self.places.is_set(chain.span);
                return is_reference.then(|| everything(NameMeaning::Unknown));
            }
            Language::Perl if self.places.is_set(chain.span) => {
                let base = self.cutter.tree.item(chain.span.group, chain.span.start);
                let name = base.and_then(CodeItem::name).unwrap_or_default();
                let goes_over = |bound: &NameMeaning| matches!(bound, NameMeaning::Element(_));
                let is_element =
                    self.scope.bounds.get(name).is_some_and(|bounds| bounds.iter().any(goes_over));
                if is_next(&["="]) && !is_element && name != "$_" {
                    return None;
                }
                if name == "$_" {
                    return Some(default_variable());
                }
                NameMeaning::Unknown
            }
            _ => return None,
        };
        let owners = owner.names.clone();
        Some(NameChange { owners, depth: owner.depth, held: None, is_shared: true, meaning })
    }

    /// Returns what a mark changes that belongs to no chain: a replacement in `$_`, a method that is named to be called.
    fn by_mark(&self, group: usize, at: usize) -> Option<NameChange> {
        let before = at.checked_sub(1).and_then(|at| self.cutter.tree.item(group, at));
        let next = || self.cutter.tree.item(group, at + 1);
        match (self.language(), self.cutter.tree.item(group, at)?) {
            (Language::Perl, CodeItem::Replacement(_)) => {
                let is_named = before.is_some_and(|item| item.is_mark("=~") || item.is_mark("!~"));
                (!is_named).then(default_variable)
            }
            (Language::Perl, CodeItem::Mark("*")) => {
                let is_glob = matches!(next(), Some(CodeItem::Name(_) | CodeItem::Group('{', _)))
                    && self.cutter.tree.item(group, at + 2).is_some_and(|item| item.is_mark("="));
                is_glob.then(|| everything(NameMeaning::Unknown))
            }
            (Language::Ruby, CodeItem::Mark("&")) => match next() {
                Some(CodeItem::Text(pieces)) => {
                    let name = match pieces.as_slice() {
                        [StringPiece::Plain(name)] => name.as_str(),
                        _ => "",
                    };
                    let reads = has(READING, name) || name.ends_with('?');
                    (!reads).then(|| everything(NameMeaning::Shaken))
                }
                _ => None,
            },
            (Language::Php, CodeItem::Name(name)) if name == "$" || name == "$GLOBALS" => {
                Some(everything(NameMeaning::Unknown))
            }
            _ => None,
        }
    }
}

fn everything(meaning: NameMeaning) -> NameChange {
    NameChange { owners: None, depth: 0, held: None, is_shared: true, meaning }
}

/// Returns a change of the variable that Perl takes where none is named.
fn default_variable() -> NameChange {
    let owners = Some(BTreeSet::from(["$_".to_owned()]));
    NameChange { owners, depth: 0, held: None, is_shared: true, meaning: NameMeaning::Unknown }
}
