//! Caches bounded in bytes: the least recently used entries leave first.

use std::borrow::Borrow;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A map that forgets what has not been used for longest when its entries outgrow a number of bytes.
#[derive(Debug)]
pub(crate) struct ByteCache<K, V> {
    entries: FxHashMap<K, Entry<V>>,
    bytes: usize,
    limit: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    used: u64,
}

impl<K: Eq + Hash + Clone, V: Clone> ByteCache<K, V> {
    pub(crate) fn new(limit: usize) -> ByteCache<K, V> {
        ByteCache { entries: FxHashMap::default(), bytes: 0, limit, clock: 0 }
    }

    /// The entry, which counts as used now.
    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.value.clone())
    }

    /// Adds an entry of this size; returns whether others had to leave.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: usize) -> bool {
        self.clock += 1;
        if let Some(old) = self.entries.insert(key, Entry { value, bytes, used: self.clock }) {
            self.bytes -= old.bytes;
        }
        self.bytes += bytes;
        if self.bytes <= self.limit {
            return false;
        }
        // Down to three quarters at once, so that a full cache does not sort for every insertion.
        let mut by_age: Vec<(u64, K)> = self.entries.iter().map(|(k, e)| (e.used, k.clone())).collect();
        by_age.sort_unstable_by_key(|(used, _)| *used);
        for (used, key) in by_age {
            if self.bytes <= self.limit / 4 * 3 || used == self.clock {
                break;
            }
            if let Some(old) = self.entries.remove(&key) {
                self.bytes -= old.bytes;
            }
        }
        true
    }

    /// Forgets entries.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|key, entry| {
            let kept = keep(key);
            if !kept {
                *bytes -= entry.bytes;
            }
            kept
        });
    }

    /// The entries that satisfy a condition, the last used first.
    pub(crate) fn find_all(&self, which: impl Fn(&V) -> bool) -> Vec<(K, V)> {
        let found = self.entries.iter().filter(|(_, entry)| which(&entry.value));
        let mut found: Vec<(&K, &Entry<V>)> = found.collect();
        found.sort_unstable_by_key(|(_, entry)| std::cmp::Reverse(entry.used));
        found.into_iter().map(|(key, entry)| (key.clone(), entry.value.clone())).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::ByteCache;

    #[test]
    fn the_least_recently_used_leave_first() {
        let mut cache = ByteCache::new(100);
        for i in 0..10 {
            assert!(!cache.insert(i, i, 10));
        }
        assert_eq!(cache.get(&0), Some(0));
        assert!(cache.insert(10, 10, 10), "the eleventh entry does not fit");
        assert_eq!(cache.get(&0), Some(0), "used a moment ago");
        assert_eq!(cache.get(&10), Some(10), "just added");
        assert_eq!(cache.get(&1), None, "the oldest");
        assert!(cache.bytes() <= 100 && cache.bytes() == cache.len() * 10);
    }

    #[test]
    fn entries_are_found_the_last_used_first() {
        let mut cache = ByteCache::new(100);
        (0..4).for_each(|i| assert!(!cache.insert(i, i, 1)));
        cache.get(&0);
        assert_eq!(cache.find_all(|i| *i < 3), [(0, 0), (2, 2), (1, 1)]);
    }

    #[test]
    fn an_entry_larger_than_the_cache_stays_until_the_next() {
        let mut cache = ByteCache::new(100);
        cache.insert(1, 1, 1000);
        assert_eq!(cache.get(&1), Some(1));
        cache.insert(2, 2, 10);
        assert_eq!((cache.get(&1), cache.get(&2)), (None, Some(2)));
    }
}
