//! Windows as text: what a repro keeps of a call that failed by its window, and reads again.

use super::{Conv, Layout, Padding, PerAxis, Window};
use crate::array::listed;

impl PerAxis {
    fn written(&self) -> String {
        match self {
            PerAxis::All(all) => all.to_string(),
            PerAxis::Each(each) => format!("[{}]", listed(each)),
        }
    }

    fn read(text: &str) -> Option<PerAxis> {
        let Some(each) = text.strip_prefix('[') else { return text.parse().ok().map(PerAxis::All) };
        let each = each.strip_suffix(']')?.split(',').filter(|size| !size.is_empty());
        each.map(|size| size.parse().ok()).collect::<Option<_>>().map(PerAxis::Each)
    }
}

impl Padding {
    fn written(&self) -> String {
        match self {
            Padding::Valid => "valid".to_string(),
            Padding::Same => "same".to_string(),
            Padding::Explicit(each) => listed(each.iter().map(|(low, high)| format!("{low}:{high}"))),
        }
    }

    fn read(text: &str) -> Option<Padding> {
        let pair = |text: &str| {
            let (low, high) = text.split_once(':')?;
            Some((low.parse().ok()?, high.parse().ok()?))
        };
        match text {
            "valid" => Some(Padding::Valid),
            "same" => Some(Padding::Same),
            each => {
                let each = each.split(',').filter(|pair| !pair.is_empty());
                each.map(pair).collect::<Option<_>>().map(Padding::Explicit)
            }
        }
    }
}

impl Layout {
    pub(super) fn written(self) -> &'static str {
        match self {
            Layout::ChannelsLast => "last",
            Layout::ChannelsFirst => "first",
        }
    }

    /// What was written.
    pub(crate) fn read(text: &str) -> Option<Layout> {
        [Layout::ChannelsLast, Layout::ChannelsFirst].into_iter().find(|layout| layout.written() == text)
    }
}

impl Window {
    pub(super) fn written(&self) -> String {
        let Window { size, strides, padding, dilation, input_dilation, layout } = self;
        let strides = strides.as_ref().map_or("-".to_string(), PerAxis::written);
        let numbers =
            [size.written(), strides, padding.written(), dilation.written(), input_dilation.written()];
        format!("{} {}", numbers.join(" "), layout.written())
    }

    /// What was written.
    pub(crate) fn read(text: &str) -> Option<Window> {
        let parts: [&str; 6] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let [size, strides, padding, dilation, input_dilation, layout] = parts;
        Some(Window {
            size: PerAxis::read(size)?,
            strides: if strides == "-" { None } else { Some(PerAxis::read(strides)?) },
            padding: Padding::read(padding)?,
            dilation: PerAxis::read(dilation)?,
            input_dilation: PerAxis::read(input_dilation)?,
            layout: Layout::read(layout)?,
        })
    }
}

impl Conv {
    pub(super) fn written(&self) -> String {
        let Conv { strides, padding, dilation, input_dilation, groups, layout } = self;
        let numbers = [strides.written(), padding.written(), dilation.written(), input_dilation.written()];
        format!("{} {groups} {}", numbers.join(" "), layout.written())
    }

    /// What was written.
    pub(crate) fn read(text: &str) -> Option<Conv> {
        let parts: [&str; 6] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let [strides, padding, dilation, input_dilation, groups, layout] = parts;
        Some(Conv {
            strides: PerAxis::read(strides)?,
            padding: Padding::read(padding)?,
            dilation: PerAxis::read(dilation)?,
            input_dilation: PerAxis::read(input_dilation)?,
            groups: groups.parse().ok()?,
            layout: Layout::read(layout)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let window = Window::new([2, 3]).strides(2).padding([(1, -2), (0, 0)]).dilation([1, 2]);
        for window in [window.layout(Layout::ChannelsFirst), Window::new(5).padding(Padding::Same)] {
            assert_eq!(Window::read(&window.written()), Some(window));
        }
        let conv = Conv::new().strides([1, 2]).input_dilation(3).groups(4).padding(Padding::Same);
        assert_eq!(Conv::read(&conv.written()), Some(conv));
        assert_eq!(Window::read("1 - valid 1 1"), None);
    }
}
