//! Reductions down columns: a tile of accumulators on the stack, walked along memory once for each row.
//!
//! For elements next to each other in the result, the elements that are combined are far apart in memory. So
//! the innermost independent loop is cut into tiles, each with its accumulators in a stack buffer:
//!
//! ```text
//! each tile { each j { acc[j] = identity }
//!             for row { each j { acc[j] = acc[j] ∘ x[row, tile + j] } }
//!             each j { out[tile + j] = f(acc[j]) } }
//! ```
//!
//! The accumulators are combined one after the other, so the result depends on no tile size.
//! This file decides where tiles suit and how wide they are; `tiles` writes them.

use crate::classify::Flow;
use crate::cluster::Form;
use crate::emit::Emitted;
use crate::loops::LoopId;
use crate::nest::{Nest, Scalar};
use crate::tiles::{TILE, tiles};

/// Tiles are not narrower than this where there is a choice.
const NARROW: i64 = 128;
/// Tiles that keep threads busy.
const TILES: i64 = 4;

/// Writes a nest by tiles, if that suits it: a kernel for all whole tiles and one for what is left.
pub(crate) fn columns(flow: &Flow, nest: &Nest) -> Option<Vec<Emitted>> {
    let &inner = nest.loops.each.last()?;
    if nest.form != Form::Columns || !suits(nest, inner) {
        return None;
    }
    let extent = nest.loops.extent(inner);
    let tile = tile(extent);
    let (whole, rest) = (extent / tile, extent % tile);
    let mut emitted = vec![tiles(flow, part(nest, inner, 0, whole * tile), inner, tile)?];
    if rest > 0 {
        emitted.push(tiles(flow, part(nest, inner, whole * tile, rest), inner, rest)?);
    }
    Some(emitted)
}

/// Whether all reductions are done in the innermost independent loop, and fewer of their accesses stride over
/// that loop than over their own.
fn suits(nest: &Nest, inner: LoopId) -> bool {
    let (mut over_inner, mut over_own) = (0, 0);
    for scalar in &nest.scalars {
        match scalar {
            Scalar::Reduce { loops, .. } if nest.loops.parent(loops[0]) != Some(inner) => return false,
            // Where it is read depends on other scalars, which tiles do not look through.
            Scalar::Load { plus, .. } if !plus.is_empty() => return false,
            Scalar::Load { at, .. } => {
                let mut own = at.terms.iter().filter(|(l, _)| !nest.loops.each.contains(l)).peekable();
                over_own += usize::from(own.peek().is_some() && own.all(|&(_, c)| c != 1));
                over_inner += usize::from(!matches!(at.coefficient(inner), 0 | 1));
            }
            _ => {}
        }
    }
    over_inner < over_own
}

/// A tile size, if possible one that leaves nothing over.
fn tile(extent: i64) -> i64 {
    if extent <= NARROW {
        return extent;
    }
    let most = (extent / TILES).clamp(NARROW, TILE);
    (NARROW / 2..=most).rev().find(|size| extent % size == 0).unwrap_or(most)
}

/// The nest over part of a loop.
fn part(nest: &Nest, inner: LoopId, start: i64, extent: i64) -> Nest {
    let mut part = nest.clone();
    part.loops.set_extent(inner, extent);
    part.each_access(|at| at.offset += start * at.coefficient(inner));
    part
}
