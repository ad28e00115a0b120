//! The functions of loops that sum up nothing.

use tracewell_kernel::{Kernel, Size, Value};

use super::Level;
use super::ahead::{is_better_far, may_be_far};
use super::body::{Body, Number};
use super::inst::Steadies;
use super::leaf::{Leaf, Loop};
use super::loops::LIMIT;
use super::select::Select;
use super::uncached::{LONGEST, Stored};

/// Most instructions of a body that is written out several times, and how often.
const UNROLL: [(usize, usize); 2] = [(12, 4), (24, 2)];

/// What is known of such a loop beside its body.
#[derive(Clone, Copy)]
pub(crate) struct Maps<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) level: Level,
    /// How many iterations it has, if that says something about those of one call.
    pub(crate) extent: Option<Size>,
    pub(crate) broken: bool,
    /// The bits of values that are constants.
    pub(crate) literal: &'a dyn Fn(Value) -> Option<u64>,
}

impl Maps<'_> {
    /// The function of a loop without sums; `stored` are pointers that may be to results no cache holds.
    pub(crate) fn leaf(&self, body: &mut Body<'_>, stored: &[Stored]) -> Option<Leaf> {
        let Maps { level, extent, broken, literal, .. } = *self;
        let mut steadies = Steadies::default();
        let mut one = |body: &mut Body<'_>, copies: usize, masked: bool| -> Option<Loop> {
            let mut select = Select::new(level, &mut steadies, masked, broken);
            for copy in 0..copies {
                body.copy(&mut select, (copy * level.lanes()) as i64, literal, &[])?;
            }
            Some(Loop { line: select.finish(), step: (copies * level.lanes()) as i32, masked, far: None })
        };
        let last = one(body, 1, level == Level::Avx512)?;
        let length = last.line.insts.len();
        if length > LIMIT {
            return None;
        }
        let copies = UNROLL.iter().find(|(most, _)| length <= *most && !body.assumes());
        let copies = copies.map_or(1, |(_, copies)| *copies);
        let worth = !matches!(extent, Some(Size::Const(n)) if n < 2 * (copies * level.lanes()) as i64);
        let mut loops = Vec::new();
        if is_better_far(&last.line) && may_be_far(self.kernel, body) && !body.assumes() {
            let far = Some(body.number(Number::IsFar));
            loops.push(Loop { far, ..one(body, copies, false)? });
        }
        let past = level == Level::Avx512 && !stored.is_empty() && length <= LONGEST;
        if (copies > 1 || body.picks() || past) && worth {
            loops.push(one(body, copies, false)?);
        }
        loops.push(last);
        Some(Leaf {
            level,
            streams: body.streams.len(),
            steadies,
            accumulators: Vec::new(),
            results: 0,
            united: Vec::new(),
            loops,
        })
    }
}
