//! A length that the arrays do not have
//!
//! The arrays say how often; a length is for where there are none.

pub mod wrong {
    use tracewell::prelude::*;

    pub fn main() {
        let options = ScanOptions { length: Some(5), ..ScanOptions::default() };
        let xs = Array::ones([8], F32);
        let (sum, _) = scan_with(Array::from(0.0f32), &xs, options, |sum, x| (sum + x, ()));
        println!("{sum}");
    }
}

pub mod right {
    use tracewell::prelude::*;

    pub fn main() {
        let xs = Array::ones([8], F32);
        let (sum, _) = scan(Array::from(0.0f32), &xs.slice(s![..5]), |sum, x| (sum + x, ()));
        println!("{sum}");
    }
}
