//! A tape as a page of HTML.

use super::{Kind, Node, Tape};
use crate::page::{Content, Item, Page, Section};

pub(super) fn page(tape: &Tape) -> Page {
    let mut sections = Vec::new();
    if let Some(error) = tape.error() {
        sections.push(Section { title: "the error".to_string(), content: Content::Text(error.to_string()) });
    }
    let title = format!("the tape, {} nodes", tape.nodes().len());
    sections.push(Section { title, content: Content::Tree(vec![item(tape.root())]) });
    Page { title: "tape".to_string(), sections }
}

fn item(node: Node<'_>) -> Item {
    // Places are said in full beside; the line itself is what `levels` prints.
    let aside = node.location().map(ToString::to_string).unwrap_or_default();
    let children = node.children().map(item).collect();
    let group = matches!(node.kind(), Kind::Branch | Kind::Failure { .. }).then_some(0);
    Item { children, group, ..Item::new(node.to_string(), aside) }
}
