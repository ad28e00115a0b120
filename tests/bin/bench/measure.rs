//! Taking times: batches long enough to be timed, medians, the spread.

use std::time::Instant;

pub(crate) type Work<'a> = Box<dyn FnMut() + 'a>;

/// One row: a name, what is measured, and optionally what it is compared with.
pub(crate) struct Row<'a> {
    name: &'static str,
    run: Work<'a>,
    against: Option<(&'static str, Work<'a>)>,
}

/// Seconds of one call, from a batch long enough to be timed.
pub(crate) fn sample(f: &mut dyn FnMut(), calls: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        f();
    }
    start.elapsed().as_secs_f64() / calls as f64
}

pub(crate) fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    // The middle, or what is between the two that are nearest to it.
    (times[(times.len() - 1) / 2] + times[times.len() / 2]) / 2.0
}

pub(crate) fn show(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s => format!("{:.2} ms", s * 1e3),
    }
}

pub(crate) fn measure(mut row: Row<'_>) {
    let mut idle: Work<'_> = Box::new(|| {});
    (row.run)();
    if let Some((_, other)) = &mut row.against {
        other();
    }
    let once = sample(&mut *row.run, 1).max(1e-9);
    let calls = ((0.004 / once) as usize).clamp(1, 20_000);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..41 {
        own.push(sample(&mut *row.run, calls));
        let against = row.against.as_mut().map_or(&mut idle, |(_, f)| f);
        other.push(sample(&mut **against, calls));
    }
    let time = median(&mut own);
    let spread = format!("{:.2}", own[own.len() * 9 / 10] / own[own.len() / 10]);
    match row.against {
        Some((name, _)) => {
            let reference = median(&mut other);
            println!(
                "{:34} {:>12} {spread:>12} {:>8.2}  {name}: {}",
                row.name,
                show(time),
                time / reference,
                show(reference)
            );
        }
        None => println!("{:34} {:>12} {spread:>12}", row.name, show(time)),
    }
}

pub(crate) fn row<'a>(name: &'static str, run: impl FnMut() + 'a) -> Row<'a> {
    Row { name, run: Box::new(run), against: None }
}

impl<'a> Row<'a> {
    pub(crate) fn against(mut self, name: &'static str, run: impl FnMut() + 'a) -> Row<'a> {
        self.against = Some((name, Box::new(run)));
        self
    }
}
