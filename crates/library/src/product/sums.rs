//! What every tile does with its sums, which stay in registers: they begin with nothing or with what the result holds, and
//! end there.
//!
//! These are macros: in functions the compiler would keep the sums in memory, from where it hands them on.

/// Steps of the contraction that are written out: every addition of an address takes a turn from a multiplication.
pub(super) const TURNS: usize = 4;

/// Does the same for each row of a tile. Loops of so many turns with so much in them the compiler leaves as they are,
/// and then keeps the sums in memory.
macro_rules! each_row {
    ($rows:ident, |$row:ident| $body:expr) => { each_row!($rows, |$row| $body, 0 1 2 3 4 5 6 7 8 9 10 11 12) };
    ($rows:ident, |$row:ident| $body:expr, $($number:literal)*) => {$(
        if $number < $rows {
            let $row: usize = $number;
            $body
        }
    )*};
}

/// The sums that a tile begins with: what a part of the result holds if they go on from there, else zeros.
/// Vectors that are not whole have the lanes of a mask.
///
/// That the result may be read is promised by the function that uses this.
macro_rules! begin {
    ($rows:ident, $vectors:ident, $c:expr, |$vector:ident| $is_whole:expr, $mask:expr) => {{
        let mut sums = [[splat(T::ZERO); $vectors]; $rows];
        if $c.goes_on {
            each_row!($rows, |row| {
                for ($vector, sum) in sums[row].iter_mut().enumerate() {
                    let at = $c.part(row, $vector * T::LANES).at;
                    *sum = if $is_whole {
                        // SAFETY: the caller's promise: a whole vector of a row of the result.
                        unsafe { load(at) }
                    } else {
                        // SAFETY: the caller's promise: the last vector has these lanes.
                        unsafe { load_lanes($mask, at) }
                    };
                }
            });
        } else if $c.is_far {
            // What is far is asked for before it is written. To go on from it, it was read.
            each_row!($rows, |row| {
                for vector in 0..$vectors {
                    fetch($c.part(row, vector * T::LANES).at);
                }
            });
        }
        sums
    }};
}

/// Writes the sums of a tile to the result, as they [began](begin).
///
/// That it may be written is promised by the function that uses this.
macro_rules! end {
    ($rows:ident, $sums:ident, $c:expr, |$vector:ident| $is_whole:expr, $mask:expr) => {
        each_row!($rows, |row| {
            for ($vector, &sum) in $sums[row].iter().enumerate() {
                let at = $c.part(row, $vector * T::LANES).at;
                if $is_whole {
                    // SAFETY: the caller's promise: a whole vector of a row of the result.
                    unsafe { store(at, sum) };
                } else {
                    // SAFETY: the caller's promise: the last vector has these lanes.
                    unsafe { store_lanes(at, $mask, sum) };
                }
            }
        })
    };
}

pub(super) use {begin, each_row, end};
