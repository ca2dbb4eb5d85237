use crate::Key;

/// Keys in order, each at most once, at most `N`. What lies behind the last is always zero, so that
/// equal lines are equal values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Line<const N: usize> {
    keys: [Key; N],
    len: u16,
}

impl<const N: usize> Line<N> {
    pub(crate) const EMPTY: Self = Self { keys: [0; N], len: 0 };

    pub(crate) fn as_slice(&self) -> &[Key] {
        &self.keys[..usize::from(self.len)]
    }

    /// Appends a key that is not in the line.
    pub(crate) fn push(&mut self, key: Key) {
        self.keys[usize::from(self.len)] = key;
        self.len += 1;
    }

    /// Takes a key out; returns whether it was there.
    pub(crate) fn remove(&mut self, key: Key) -> bool {
        let Some(index) = self.as_slice().iter().position(|&k| k == key) else { return false };
        let len = usize::from(self.len);
        self.keys.copy_within(index + 1..len, index);
        self.keys[len - 1] = 0;
        self.len -= 1;
        true
    }
}
