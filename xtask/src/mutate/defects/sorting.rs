//! Defects of sorting, scans along an axis and random numbers.

use super::Defect;

const SORTING: &str = "-p tests --test face sorting::";
const CUMULATIVE: &str = "-p tests --test face cumulative::";
const RANDOM: &str = "-p tests --test face random::";
const DRAWS: &str = "-p tests --test face oracle::draws";
const RADIX: &str = "-p tracewell-library --lib sort";
const CIPHER: &str = "-p tracewell-graph --lib threefry";

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        breaks: "cotangents of sorted elements stay where they are",
        file: "crates/graph/src/prim/sort.rs",
        text: "let mut columns = vec![came_from.expect(\"one result for each operand\")];",
        with: "let mut columns = vec![came_from.and(Some(self.places(cx, &shape)?)).expect(\"one\")];",
        test: laws!("sort"),
    },
    Defect {
        breaks: "a batch of arrays is sorted along the axis before",
        file: "crates/graph/src/prim/sort.rs",
        text: "let sorted = cx.bind_all(self.along(self.axis + 1), &operands)?;",
        with: "let sorted = cx.bind_all(self.along(self.axis), &operands)?;",
        test: laws!("sort"),
    },
    Defect {
        breaks: "NaN of either sign is sorted by its sign",
        file: "crates/library/src/sort/order.rs",
        text: "is_float & (magnitude > K::INFINITY)",
        with: "is_float & (magnitude > K::INFINITY) & (element == magnitude)",
        test: RADIX,
    },
    Defect {
        breaks: "zeros of both signs are told apart",
        file: "crates/library/src/sort/order.rs",
        text: "is_float & (magnitude == K::default())",
        with: "is_float & (element == K::default())",
        test: RADIX,
    },
    Defect {
        breaks: "the first of several keys decides least",
        file: "crates/library/src/sort/mod.rs",
        text: "for key in (0..sort.keys).rev() {",
        with: "for key in (0..sort.keys).rev().map(|key| sort.keys - 1 - key) {",
        test: SORTING,
    },
    Defect {
        breaks: "of equal elements the last is selected",
        file: "crates/library/src/sort/radix.rs",
        text: "data.select_nth_unstable_by_key(count - 1, |x| x.full());",
        with: "data.select_nth_unstable_by_key(count - 1, |x| (x.full().0, u32::MAX - x.full().1));",
        test: RADIX,
    },
    Defect {
        breaks: "of equal elements those of the upper part are merged first",
        file: "crates/library/src/sort/merge.rs",
        text: "let is_high = b.key() < a.key();",
        with: "let is_high = b.key() <= a.key();",
        test: RADIX,
    },
    Defect {
        breaks: "zeros and NaN are not put back in their order",
        file: "crates/library/src/sort/order.rs",
        text: "keys.into_iter().filter(move |_| self.float != K::default())",
        with: "keys.into_iter().filter(move |_| self.float != self.float)",
        test: SORTING,
    },
    Defect {
        breaks: "the highest digit of long keys is not looked at",
        file: "crates/library/src/sort/radix.rs",
        text: "let width = u64::BITS - (low ^ high).leading_zeros();",
        with: "let width = (u64::BITS - (low ^ high).leading_zeros()).min(32);",
        test: RADIX,
    },
    Defect {
        breaks: "elements are put where others were not read yet",
        file: "crates/library/src/sort/vector/partition.rs",
        text: "let is_front = start - ends.low <= ends.high - end;",
        with: "let is_front = start < end;",
        test: RADIX,
    },
    Defect {
        breaks: "rows of half of the registers keep the order of columns",
        file: "crates/library/src/sort/vector/network.rs",
        text: "number * 2 % count + number * 2 / count",
        with: "number % count",
        test: RADIX,
    },
    Defect {
        breaks: "equal elements are searched for from the wrong side",
        file: "crates/graph/src/prim/searchsorted.rs",
        text: "let comparison = if self.right { Comparison::Le } else { Comparison::Lt };",
        with: "let comparison = if self.right { Comparison::Lt } else { Comparison::Le };",
        test: laws!("searchsorted"),
    },
    Defect {
        breaks: "the adjoint of a sum so far runs in the same direction",
        file: "crates/graph/src/prim/cumulative.rs",
        text: "cx.bind($Name { reverse: !self.reverse, ..self.clone() }, &[ct])",
        with: "cx.bind(self.clone(), &[ct])",
        test: laws!("cumsum"),
    },
    Defect {
        breaks: "a block of a long sum starts from what the last but one gave",
        file: "crates/graph/src/prim/running.rs",
        text: "smallvec![all[SIDE_BY_SIDE]]",
        with: "smallvec![all[SIDE_BY_SIDE - 1]]",
        test: CUMULATIVE,
    },
    Defect {
        breaks: "a long row that threads share starts each block with what it gives itself",
        file: "crates/graph/src/prim/running.rs",
        text: "b.store(to[1], at, handed[0]);",
        with: "b.store(to[1], at, total);",
        test: CUMULATIVE,
    },
    Defect {
        breaks: "sums so far of columns forget the blocks before",
        file: "crates/graph/src/prim/running.rs",
        text: "b.store(before, kept(column), sofar);",
        with: "b.store(before, kept(column), total);",
        test: CUMULATIVE,
    },
    Defect {
        breaks: "the adjoint of a recurrence uses the factor of the same step",
        file: "crates/graph/src/prim/linear_recurrence.rs",
        text: "let a = shifted(cx, a, self.axis, self.reverse, 0.0)?;",
        with: "let a = a.clone();",
        test: laws!("linear_recurrence"),
    },
    Defect {
        breaks: "a rotation of the cipher is off by one",
        file: "crates/graph/src/prim/threefry.rs",
        text: "[13, 15, 26, 6, 17, 29, 16, 24]",
        with: "[13, 15, 26, 6, 17, 29, 17, 24]",
        test: CIPHER,
    },
    Defect {
        breaks: "the words of the key are added in the wrong order",
        file: "crates/graph/src/prim/threefry.rs",
        text: "x = b.op(Op::Add, &[x, key[(group + 1) % 3]]);",
        with: "x = b.op(Op::Add, &[x, key[(group + 2) % 3]]);",
        test: laws!("threefry"),
    },
    Defect {
        breaks: "unsigned remainders of 64 bits forget the sign bit",
        file: "crates/tracewell/src/random/integers.rs",
        text: "let too_much = rest.ge(&span) | rest.lt(0);",
        with: "let too_much = rest.lt(0);",
        test: DRAWS,
    },
    Defect {
        breaks: "a key that is split is not used up",
        file: "crates/tracewell/src/checks/keys.rs",
        text: "all.insert(used, location.clone());",
        with: "let _ = used;",
        test: RANDOM,
    },
];
