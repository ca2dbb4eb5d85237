//! One state of the model, packed into a few words.
//!
//! ```text
//!   word   0 … K-1      K … 2K-1     …            N-1
//!        ┌───────────┬───────────┬─────┬───────┬────────┐
//!        │ keys, 1st │ keys, 2nd │  …  │ zeros │ shared │
//!        └───────────┴───────────┴─────┴───────┴────────┘
//! ```
//!
//! Everything that belongs to a key, its worker included, lies in that key's words, and nothing
//! names a key by its number. Keys are therefore interchangeable: sorting their words gives one
//! state for all the permutations. Workers need no such care, as they are only counted.

/// A state of `N` words.
pub type State<const N: usize> = [u64; N];

/// Where some bits of a state lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// For a key: the word of key 0. Shared: the distance from the last word.
    word: u8,
    shift: u8,
    per_key: bool,
    mask: u64,
}

impl Place {
    #[inline]
    fn index<const N: usize>(self, key: u8) -> usize {
        if self.per_key { usize::from(self.word + key) } else { N - 1 - usize::from(self.word) }
    }

    /// The bits; `key` does not matter for shared ones.
    #[inline]
    pub(super) fn get<const N: usize>(self, state: &State<N>, key: u8) -> u64 {
        (state[self.index::<N>(key)] >> self.shift) & self.mask
    }

    #[inline]
    pub(super) fn set<const N: usize>(self, state: &mut State<N>, key: u8, value: u64) {
        debug_assert_eq!(value & !self.mask, 0, "{value} fits");
        let word = &mut state[self.index::<N>(key)];
        *word = (*word & !(self.mask << self.shift)) | (value << self.shift);
    }

    #[inline]
    pub(super) fn is_set<const N: usize>(self, state: &State<N>, key: u8) -> bool {
        self.get(state, key) != 0
    }

    /// Whether there are any bits.
    pub(super) fn is_used(self) -> bool {
        self.mask != 0
    }
}

/// Hands out places.
#[derive(Debug)]
pub(super) struct Allocator {
    keys: u8,
    key_words: Vec<u8>,
    shared_words: Vec<u8>,
}

const WORD_BITS: u8 = 64;

impl Allocator {
    pub(super) fn new(keys: u8) -> Self {
        Self { keys, key_words: vec![], shared_words: vec![] }
    }

    /// Reserves `bits` bits, at most 64. A single key shares its words with everything else.
    pub(super) fn place(&mut self, bits: u8, per_key: bool) -> Place {
        let per_key = per_key || self.keys == 1;
        let words = if per_key { &mut self.key_words } else { &mut self.shared_words };
        let index = words.iter().position(|used| used + bits <= WORD_BITS).unwrap_or_else(|| {
            words.push(0);
            words.len() - 1
        });
        let shift = if bits == 0 { 0 } else { words[index] };
        words[index] += bits;
        let word = u8::try_from(index).unwrap_or(u8::MAX);
        let word = if per_key { word.saturating_mul(self.keys) } else { word };
        let mask = if bits == WORD_BITS { u64::MAX } else { (1 << bits) - 1 };
        Place { word, shift, per_key, mask }
    }

    /// How many words a state takes.
    pub(super) fn words(&self) -> usize {
        self.key_words.len() * usize::from(self.keys) + self.shared_words.len()
    }

    pub(super) fn bits(&self) -> u32 {
        let sum = |words: &[u8]| words.iter().map(|bits| u32::from(*bits)).sum::<u32>();
        sum(&self.key_words) * u32::from(self.keys) + sum(&self.shared_words)
    }

    pub(super) fn key_words(&self) -> usize {
        self.key_words.len()
    }
}

/// How many bits tell `count` values apart.
pub(super) fn bits_for(count: usize) -> u8 {
    u8::try_from(usize::BITS - count.saturating_sub(1).leading_zeros()).unwrap_or(WORD_BITS)
}

/// Sorts the keys of a state.
#[inline]
pub(super) fn sort_keys<const N: usize>(state: &mut State<N>, keys: u8, key_words: usize) {
    let keys = usize::from(keys);
    if key_words == 1 {
        state[..keys].sort_unstable();
        return;
    }
    for end in 1..keys {
        let mut at = end;
        while at > 0 && is_after(state, at - 1, at, keys, key_words) {
            for word in 0..key_words {
                state.swap(word * keys + at - 1, word * keys + at);
            }
            at -= 1;
        }
    }
}

/// As many keys as a scenario may have.
pub(super) const MAX_KEYS: usize = 6;

#[inline]
fn is_after<const N: usize>(
    state: &State<N>,
    left: usize,
    right: usize,
    keys: usize,
    key_words: usize,
) -> bool {
    for word in 0..key_words {
        let (left, right) = (state[word * keys + left], state[word * keys + right]);
        if left != right {
            return left > right;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap() {
        const N: usize = 8;
        let mut allocator = Allocator::new(2);
        let places: Vec<Place> = [60, 3, 1, 7, 64, 1, 1]
            .into_iter()
            .enumerate()
            .map(|(index, bits)| allocator.place(bits, index % 2 == 0))
            .collect();
        assert!(allocator.words() <= N);
        for place in &places {
            for key in 0..2 {
                let mut state = [0; N];
                place.set(&mut state, key, place.mask);
                for other in &places {
                    for other_key in 0..2 {
                        let same = place == other && (!place.per_key || key == other_key);
                        let expected = if same { place.mask } else { 0 };
                        assert_eq!(other.get(&state, other_key), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn sorting_gives_one_state_for_all_permutations() {
        let mut states = vec![];
        for permutation in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let blocks = [[5, 1], [5, 0], [2, 9]];
            let mut state = [0_u64; 7];
            for (key, block) in permutation.into_iter().enumerate() {
                state[key] = blocks[block][0];
                state[3 + key] = blocks[block][1];
            }
            sort_keys(&mut state, 3, 2);
            states.push(state);
        }
        states.dedup();
        assert_eq!(states, [[2, 5, 5, 9, 0, 1, 0]]);
    }

    #[test]
    fn bits_are_counted() {
        assert_eq!([1, 2, 3, 4, 5, 64, 65].map(bits_for), [0, 1, 2, 2, 3, 6, 7]);
    }
}
