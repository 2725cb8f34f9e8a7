//! Profiles as the build encodes them: pieces of bytes that are read where they lie.
//!
//! Numbers are little-endian. A text is its length in one byte and its bytes; a list of acts is its length in one byte
//! and one byte an act. What cannot be read ends a list: the build writes nothing that cannot.

use super::{Flag, FlagValue, OtherOptions, Profile, Role, Slot, Style, Twist};
use crate::act::Act;

/// A piece of the encoded profiles.
pub(super) type Bytes<'a> = &'a [u8];

static DATA: Bytes<'static> = include_bytes!(concat!(env!("OUT_DIR"), "/profiles.bin"));
static COMMANDS: Bytes<'static> = include_bytes!(concat!(env!("OUT_DIR"), "/commands.bin"));
static CMDLETS: Bytes<'static> = include_bytes!(concat!(env!("OUT_DIR"), "/cmdlets.bin"));

/// Which profiles.
#[derive(Debug, Clone, Copy)]
pub(super) enum Table {
    Commands,
    Cmdlets,
}

/// How the arguments of a program or subcommand are read.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    /// How options are written.
    pub style: Style,
    /// Whether a beginning of a long option stands for it.
    pub abbreviates: bool,
    /// What is taken of options that are not listed.
    pub other_options: OtherOptions,
    /// Whether options may stand after operands.
    pub permutes: bool,
    /// Code that reads the arguments where a table cannot; empty if there is none.
    pub reader: &'a str,
    does: Bytes<'a>,
    operands: Bytes<'a>,
    options: Bytes<'a>,
    subcommands: Bytes<'a>,
}

/// Bytes in one entry of an index: where the name lies, where the summary, and where the form.
const ENTRY: usize = 12;

/// Finds a profile by name.
pub(super) fn find(table: Table, name: &str) -> Option<Profile<'static>> {
    profile_at(index_of(table), place_of(table, name)?)
}

/// Finds the place of a name in an index.
pub(super) fn place_of(table: Table, name: &str) -> Option<usize> {
    let index = index_of(table);
    let (mut low, mut high) = (0, index.len() / ENTRY);
    while low < high {
        let middle = low + (high - low) / 2;
        // Texts are in the order of their bytes.
        match name_at(index, middle)?.cmp(name.as_bytes()) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// Returns every name with its profile.
pub(super) fn all(table: Table) -> impl Iterator<Item = (&'static str, Profile<'static>)> {
    let index = index_of(table);
    let named = move |place| {
        let name = std::str::from_utf8(name_at(index, place)?).ok()?;
        Some((name, profile_at(index, place)?))
    };
    (0..index.len() / ENTRY).filter_map(named)
}

fn index_of(table: Table) -> Bytes<'static> {
    match table {
        Table::Commands => COMMANDS,
        Table::Cmdlets => CMDLETS,
    }
}

fn name_at(index: Bytes<'_>, place: usize) -> Option<Bytes<'static>> {
    let mut entry = Cursor(index.get(place * ENTRY..)?);
    Some(Cursor(DATA.get(entry.number()..)?).piece())
}

fn profile_at(index: Bytes<'_>, place: usize) -> Option<Profile<'static>> {
    let mut entry = Cursor(index.get(place * ENTRY..)?);
    let mut piece = || Some(Cursor(DATA.get(entry.number()..)?));
    let (_, mut summary, mut form) = (piece()?, piece()?, piece()?);
    Some(Profile { summary: summary.text(), form: form.form() })
}

impl<'a> Form<'a> {
    /// Reads a form that was encoded.
    pub(super) fn of(encoded: Bytes<'a>) -> Self {
        Cursor(encoded).form()
    }

    /// Returns what it does whatever the arguments are.
    pub fn does(self) -> impl Iterator<Item = Act> {
        acts(self.does)
    }

    /// Returns what its operands are, in order.
    pub fn operands(self) -> Vec<Slot> {
        let slot = |pair: &[u8]| match pair {
            [role, is_many] => Some(Slot { role: role_of(*role), is_many: *is_many == 1 }),
            _ => None,
        };
        self.operands.chunks(2).filter_map(slot).collect()
    }

    /// Says whether it takes operands.
    pub fn has_operands(self) -> bool {
        !self.operands.is_empty()
    }

    /// Returns its options.
    pub fn options(self) -> impl Iterator<Item = Flag<'a>> {
        let mut rest = Cursor(self.options);
        std::iter::from_fn(move || (!rest.0.is_empty()).then(|| rest.flag()))
    }

    /// Returns its subcommands.
    pub fn subcommands(self) -> impl Iterator<Item = (&'a str, Self)> {
        let mut rest = Cursor(self.subcommands);
        std::iter::from_fn(move || {
            (!rest.0.is_empty()).then(|| {
                let name = rest.text();
                (name, Cursor(rest.long_piece()).form())
            })
        })
    }

    /// Finds a subcommand by its very name.
    pub(super) fn subcommand(self, name: &str, ignores_case: bool) -> Option<(&'a str, Self)> {
        let mut rest = Cursor(self.subcommands);
        while !rest.0.is_empty() {
            let listed = rest.piece();
            let form = rest.long_piece();
            if is_same(listed, name, ignores_case) {
                return Some((std::str::from_utf8(listed).unwrap_or_default(), Cursor(form).form()));
            }
        }
        None
    }

    /// Says whether it has subcommands.
    pub fn has_subcommands(self) -> bool {
        !self.subcommands.is_empty()
    }
}

impl<'a> Flag<'a> {
    /// Returns its spellings.
    pub fn spellings(self) -> impl Iterator<Item = &'a str> {
        let mut rest = Cursor(self.spellings);
        std::iter::from_fn(move || (!rest.0.is_empty()).then(|| rest.text()))
    }

    /// Says whether one of its spellings is this.
    pub(super) fn is_spelled(self, spelling: &str, ignores_case: bool) -> bool {
        let mut rest = Cursor(self.spellings);
        std::iter::from_fn(|| (!rest.0.is_empty()).then(|| rest.piece()))
            .any(|listed| is_same(listed, spelling, ignores_case))
    }

    /// Returns what it makes the program do.
    pub fn acts(self) -> impl Iterator<Item = Act> {
        acts(self.acts)
    }
}

fn is_same(listed: Bytes<'_>, text: &str, ignores_case: bool) -> bool {
    if ignores_case { listed.eq_ignore_ascii_case(text.as_bytes()) } else { listed == text.as_bytes() }
}

fn acts(bytes: Bytes<'_>) -> impl Iterator<Item = Act> {
    bytes.iter().map(|place| act_of(*place))
}

fn act_of(place: u8) -> Act {
    Act::ALL.get(usize::from(place)).copied().unwrap_or(Act::Unknown)
}

fn role_of(byte: u8) -> Role {
    match byte {
        0 => Role::Text,
        1 => Role::Target,
        2 => Role::Data,
        3 => Role::Command,
        4 => Role::Key,
        act => Role::Act(act_of(act - 5)),
    }
}

/// Reads from the front.
struct Cursor<'a>(Bytes<'a>);

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Bytes<'a> {
        let (piece, rest) = self.0.split_at_checked(length).unwrap_or((self.0, &[]));
        self.0 = rest;
        piece
    }

    fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    fn number(&mut self) -> usize {
        let Some((number, rest)) = self.0.split_first_chunk() else { return 0 };
        self.0 = rest;
        u32::from_le_bytes(*number) as usize
    }

    /// Reads a piece behind its length in one byte.
    fn piece(&mut self) -> Bytes<'a> {
        let length = usize::from(self.byte());
        self.take(length)
    }

    /// Reads a piece behind its length in four bytes.
    fn long_piece(&mut self) -> Bytes<'a> {
        let length = self.number();
        self.take(length)
    }

    fn text(&mut self) -> &'a str {
        std::str::from_utf8(self.piece()).unwrap_or_default()
    }

    fn form(&mut self) -> Form<'a> {
        let traits = self.byte();
        let style = match traits & 3 {
            0 => Style::Gnu,
            1 => Style::SingleDash,
            _ => Style::Windows,
        };
        Form {
            style,
            abbreviates: traits & 4 != 0,
            other_options: match (traits >> 3) & 3 {
                0 => OtherOptions::Unknown,
                1 => OtherOptions::Harmless,
                2 => OtherOptions::Common,
                _ => OtherOptions::Parameters,
            },
            permutes: traits & 32 != 0,
            reader: self.text(),
            does: self.piece(),
            operands: self.piece(),
            options: self.long_piece(),
            subcommands: self.long_piece(),
        }
    }

    fn flag(&mut self) -> Flag<'a> {
        let spellings = self.long_piece();
        let kind = self.byte();
        let role = role_of(self.byte());
        let value = match kind {
            0 => FlagValue::None,
            1 => FlagValue::Required(role),
            _ => FlagValue::Attached(role),
        };
        let acts = self.piece();
        let twist = match self.byte() {
            0 => Twist::None,
            1 => Twist::Dry,
            2 => Twist::Drop,
            3 => Twist::Instead,
            _ => Twist::Rest,
        };
        Flag { spellings, value, acts, twist }
    }
}
