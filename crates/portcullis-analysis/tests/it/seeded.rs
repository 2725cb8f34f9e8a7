//! Choices that a seed makes.

/// A source of choices that is the same for the same seed.
pub(crate) struct Seeded {
    state: u64,
}

impl Seeded {
    /// Begins with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Returns one of several.
    pub(crate) fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let place = usize::try_from(self.state >> 33).unwrap_or(0) % all.len().max(1);
        all.get(place).copied().unwrap_or_default()
    }
}
