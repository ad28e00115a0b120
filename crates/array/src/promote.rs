//! The dtype of an operation on two dtypes: the whole table, in one place.
//!
//! Invariant: [`promote`] is symmetric and depends on nothing but its arguments; there is no global switch.

use crate::DType;

/// The dtype, and whether it is weak, that two operands are converted to.
///
/// A *weak* operand is a Rust scalar such as the `2` in `2 * x`: it has a category (bool, integer, float,
/// complex) but leaves the width to its partner. `i*` is a weak integer of any width, `f*` a weak float, `c*` a weak
/// complex number; a star in the table says that the result is weak again.
///
/// ```text
///       bool  u8    u32   i32   i64   f32   f64   c64   c128  i*    f*    c*
/// bool  bool  u8    u32   i32   i64   f32   f64   c64   c128  i32*  f32*  c64*
/// u8    u8    u8    u32   i32   i64   f32   f64   c64   c128  u8    f32*  c64*
/// u32   u32   u32   u32   i64   i64   f32   f64   c64   c128  u32   f32*  c64*
/// i32   i32   i32   i64   i32   i64   f32   f64   c64   c128  i32   f32*  c64*
/// i64   i64   i64   i64   i64   i64   f32   f64   c64   c128  i64   f64*  c128*
/// f32   f32   f32   f32   f32   f32   f32   f64   c64   c128  f32   f32   c64
/// f64   f64   f64   f64   f64   f64   f64   f64   c128  c128  f64   f64   c128
/// c64   c64   c64   c64   c64   c64   c64   c128  c64   c128  c64   c64   c64
/// c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
/// ```
///
/// Two weak operands meet as if they were strong, and the result is weak.
pub fn promote(a: DType, a_weak: bool, b: DType, b_weak: bool) -> (DType, bool) {
    match (a_weak, b_weak) {
        (false, true) => yield_to(a, b),
        (true, false) => yield_to(b, a),
        (weak, _) => (join(a, b), weak),
    }
}

/// A weak operand takes the dtype of a strong one, unless that would lose its category.
fn yield_to(strong: DType, weak: DType) -> (DType, bool) {
    if category(weak) <= category(strong) {
        (strong, false)
    } else if weak.is_integer() {
        (DType::I32, true)
    } else {
        // A strong float keeps its width; what is exact has none to keep.
        let float = if strong == DType::I64 || strong == DType::F64 { DType::F64 } else { DType::F32 };
        let dtype = if weak.is_complex() { float.complex() } else { Some(float) };
        (dtype.expect("floats have complex numbers"), !strong.is_float())
    }
}

/// The least dtype above both in the lattice.
fn join(a: DType, b: DType) -> DType {
    // The larger in the order of the table is above the smaller, but for two pairs:
    // neither `u32` nor `i32` holds the other, and neither does `f64` or `c64`.
    match (a.min(b), a.max(b)) {
        (DType::U32, DType::I32) => DType::I64,
        (DType::F64, DType::C64) => DType::C128,
        (_, above) => above,
    }
}

fn category(dtype: DType) -> u8 {
    u8::from(!dtype.is_bool()) + u8::from(dtype.is_inexact()) + u8::from(dtype.is_complex())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn whole_table() {
        let operands: Vec<(DType, bool)> = [false, true]
            .into_iter()
            .flat_map(|weak| DType::ALL.iter().map(move |&dtype| (dtype, weak)))
            .collect();
        let name = |(dtype, weak): (DType, bool)| format!("{dtype}{}", if weak { "*" } else { "" });
        let row = |head: String, cells: Vec<String>| {
            let line: String = std::iter::once(head).chain(cells).map(|cell| format!("{cell:<6}")).collect();
            format!("{}\n", line.trim_end())
        };
        let mut text = row("-".to_owned(), operands.iter().map(|&b| name(b)).collect());
        for &a in &operands {
            text += &row(name(a), operands.iter().map(|&b| name(promote(a.0, a.1, b.0, b.1))).collect());
        }
        expect![[r#"
            -     bool  u8    u32   i32   i64   f32   f64   c64   c128  bool* u8*   u32*  i32*  i64*  f32*  f64*  c64*  c128*
            bool  bool  u8    u32   i32   i64   f32   f64   c64   c128  bool  i32*  i32*  i32*  i32*  f32*  f32*  c64*  c64*
            u8    u8    u8    u32   i32   i64   f32   f64   c64   c128  u8    u8    u8    u8    u8    f32*  f32*  c64*  c64*
            u32   u32   u32   u32   i64   i64   f32   f64   c64   c128  u32   u32   u32   u32   u32   f32*  f32*  c64*  c64*
            i32   i32   i32   i64   i32   i64   f32   f64   c64   c128  i32   i32   i32   i32   i32   f32*  f32*  c64*  c64*
            i64   i64   i64   i64   i64   i64   f32   f64   c64   c128  i64   i64   i64   i64   i64   f64*  f64*  c128* c128*
            f32   f32   f32   f32   f32   f32   f32   f64   c64   c128  f32   f32   f32   f32   f32   f32   f32   c64   c64
            f64   f64   f64   f64   f64   f64   f64   f64   c128  c128  f64   f64   f64   f64   f64   f64   f64   c128  c128
            c64   c64   c64   c64   c64   c64   c64   c128  c64   c128  c64   c64   c64   c64   c64   c64   c64   c64   c64
            c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
            bool* bool  u8    u32   i32   i64   f32   f64   c64   c128  bool* u8*   u32*  i32*  i64*  f32*  f64*  c64*  c128*
            u8*   i32*  u8    u32   i32   i64   f32   f64   c64   c128  u8*   u8*   u32*  i32*  i64*  f32*  f64*  c64*  c128*
            u32*  i32*  u8    u32   i32   i64   f32   f64   c64   c128  u32*  u32*  u32*  i64*  i64*  f32*  f64*  c64*  c128*
            i32*  i32*  u8    u32   i32   i64   f32   f64   c64   c128  i32*  i32*  i64*  i32*  i64*  f32*  f64*  c64*  c128*
            i64*  i32*  u8    u32   i32   i64   f32   f64   c64   c128  i64*  i64*  i64*  i64*  i64*  f32*  f64*  c64*  c128*
            f32*  f32*  f32*  f32*  f32*  f64*  f32   f64   c64   c128  f32*  f32*  f32*  f32*  f32*  f32*  f64*  c64*  c128*
            f64*  f32*  f32*  f32*  f32*  f64*  f32   f64   c64   c128  f64*  f64*  f64*  f64*  f64*  f64*  f64*  c128* c128*
            c64*  c64*  c64*  c64*  c64*  c128* c64   c128  c64   c128  c64*  c64*  c64*  c64*  c64*  c64*  c128* c64*  c128*
            c128* c64*  c64*  c64*  c64*  c128* c64   c128  c64   c128  c128* c128* c128* c128* c128* c128* c128* c128* c128*
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn order_does_not_matter() {
        for (&a, &b) in DType::ALL.iter().flat_map(|a| DType::ALL.iter().map(move |b| (a, b))) {
            for (a_weak, b_weak) in [(false, false), (false, true), (true, false), (true, true)] {
                assert_eq!(
                    promote(a, a_weak, b, b_weak),
                    promote(b, b_weak, a, a_weak),
                    "{a} {a_weak} {b} {b_weak}"
                );
            }
        }
    }

    #[test]
    fn the_documented_table_is_true() {
        let source = include_str!("promote.rs");
        let table: Vec<Vec<&str>> = source
            .lines()
            .skip_while(|line| *line != "/// ```text")
            .skip(1)
            .take_while(|line| *line != "/// ```")
            .map(|line| line.trim_start_matches('/').split_whitespace().collect())
            .collect();
        let operand = |name: &str| match name {
            "i*" => (DType::I64, true),
            "f*" => (DType::F64, true),
            "c*" => (DType::C128, true),
            _ => (DType::parse(name.trim_end_matches('*')).expect("a dtype"), name.ends_with('*')),
        };
        assert_eq!(table.len(), DType::ALL.len() + 1);
        for row in &table[1..] {
            for (column, cell) in table[0].iter().zip(&row[1..]) {
                let ((a, a_weak), (b, b_weak)) = (operand(row[0]), operand(column));
                assert_eq!(promote(a, a_weak, b, b_weak), operand(cell), "{} {column}", row[0]);
            }
        }
    }
}
