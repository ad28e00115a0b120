//! Settings go back to the usual ones.

use super::Strategy;
use crate::tree::CallTree;

pub(super) struct Settings;

impl Strategy for Settings {
    fn name(&self) -> &'static str {
        "drop settings"
    }

    fn places(&self, tree: &CallTree) -> usize {
        tree.settings.len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let left = tree.settings.iter().enumerate().filter(|(at, _)| !places.contains(at));
        CallTree { settings: left.map(|(_, setting)| setting.clone()).collect(), ..tree.clone() }
    }
}
