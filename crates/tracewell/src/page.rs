//! Pages for people: one self-contained file of HTML, without the network. Everything in it is escaped, trees fold, and a
//! box at the top searches. `#search=words` at the end of the address searches at once, `#fold` folds all.

use std::fmt::Write;

/// A page: sections, one below the other.
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
}

/// A part of a page, which folds.
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    /// Lines that fold into each other.
    Tree(Vec<Item>),
    /// A table, with its head.
    Table(Vec<&'static str>, Vec<Vec<String>>),
    /// Text as it is.
    Text(String),
}

/// One line, and what is inside of it.
pub(crate) struct Item {
    pub(crate) text: String,
    /// What is said beside, in grey.
    pub(crate) aside: String,
    /// A number of a group, shown by a colour.
    pub(crate) group: Option<usize>,
    pub(crate) children: Vec<Item>,
}

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;margin:0;color:#222;background:#fff}
header{position:sticky;top:0;background:#f5f5f5;border-bottom:1px solid #ccc;padding:8px 16px;z-index:1}
h1{font-size:16px;margin:0 16px 0 0;display:inline}
main{padding:8px 16px}
details{margin-left:14px}
main>details{margin:0 0 12px 0}
summary{cursor:pointer}
main>details>summary{font-weight:600;font-size:15px}
.n,.n>summary,td,th,pre{font-family:ui-monospace,monospace;font-size:12.5px}
div.n{margin-left:28px}
.a{color:#777;margin-left:12px}
.g{border-left:6px solid hsl(var(--h) 65% 60%);padding-left:4px}
.hit{background:#fff3b0}
.off{display:none}
table{border-collapse:collapse;margin:4px 14px}
td,th{border:1px solid #ddd;padding:2px 8px;text-align:left;white-space:pre}
pre{margin:4px 14px;overflow:auto;max-height:60vh}
";

/// Searching shows lines that match, with what is around them.
const SCRIPT: &str = "\
'use strict';
const all=[...document.querySelectorAll('.n')];
const own=e=>(e.tagName==='DETAILS'?e.firstElementChild:e).textContent.toLowerCase();
const box=document.getElementById('search'),said=document.getElementById('said');
function search(words){
  words=words.toLowerCase().trim();let hits=0;
  for(const e of all){e.classList.remove('hit');e.classList.toggle('off',words!=='')}
  if(words==='')  {said.textContent='';document.body.dataset.hits='';return}
  for(const e of all)if(own(e).includes(words)){
    hits++;e.classList.add('hit');
    for(let p=e;p&&p!==document.body;p=p.parentElement){p.classList.remove('off');if(p!==e&&p.tagName==='DETAILS')p.open=true}
  }
  said.textContent=hits+' of '+all.length;document.body.dataset.hits=hits;
}
function fold(open){for(const e of document.querySelectorAll('details.n'))e.open=open;
  document.body.dataset.open=document.querySelectorAll('details.n[open]').length}
let timer;box.addEventListener('input',()=>{clearTimeout(timer);timer=setTimeout(()=>search(box.value),120)});
document.getElementById('fold').addEventListener('click',()=>fold(false));
document.getElementById('open').addEventListener('click',()=>fold(true));
const asked=decodeURIComponent(location.hash);
if(asked.startsWith('#search=')){box.value=asked.slice(8);search(box.value)}
if(asked==='#fold')fold(false);
document.body.dataset.lines=all.length;
";

/// Text that means itself in HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // A browser would read it as something else, or refuse it.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

impl Item {
    pub(crate) fn new(text: impl Into<String>, aside: impl Into<String>) -> Item {
        Item { text: text.into(), aside: aside.into(), group: None, children: Vec::new() }
    }

    fn write(&self, out: &mut String) {
        let aside = match self.aside.is_empty() {
            true => String::new(),
            false => format!("<span class=\"a\">{}</span>", escape(&self.aside)),
        };
        // Neighbouring groups get colours that are far apart.
        let group =
            self.group.map(|group| format!(" style=\"--h:{}\"", group * 137 % 360)).unwrap_or_default();
        let class = if self.group.is_some() { "n g" } else { "n" };
        let text = escape(&self.text);
        // Writing to a String cannot fail.
        let _ = match self.children.is_empty() {
            true => writeln!(out, "<div class=\"{class}\"{group}>{text}{aside}</div>"),
            false => writeln!(out, "<details class=\"{class}\"{group} open><summary>{text}{aside}</summary>"),
        };
        if !self.children.is_empty() {
            self.children.iter().for_each(|child| child.write(out));
            out.push_str("</details>\n");
        }
    }
}

impl Page {
    /// The file.
    pub(crate) fn html(&self) -> String {
        let title = escape(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style></head><body>\n\
             <header><h1>{title}</h1><input id=\"search\" type=\"search\" placeholder=\"search\"> \
             <button id=\"fold\">fold all</button> <button id=\"open\">open all</button> \
             <span id=\"said\"></span></header>\n<main>\n"
        );
        for section in &self.sections {
            let _ = writeln!(out, "<details open><summary>{}</summary>", escape(&section.title));
            match &section.content {
                Content::Tree(items) => items.iter().for_each(|item| item.write(&mut out)),
                Content::Text(text) => {
                    let _ = writeln!(out, "<pre>{}</pre>", escape(text));
                }
                Content::Table(head, rows) => {
                    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
                        let cells: String =
                            cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
                        format!("<tr>{cells}</tr>\n")
                    };
                    out.push_str("<table>\n");
                    out.push_str(&cells("th", &mut head.iter().copied()));
                    for row in rows {
                        out.push_str(&cells("td", &mut row.iter().map(String::as_str)));
                    }
                    out.push_str("</table>\n");
                }
            }
            out.push_str("</details>\n");
        }
        let _ = write!(out, "</main>\n<script>\n{SCRIPT}</script>\n</body></html>\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Item, Page, Section, escape};

    #[test]
    fn everything_is_escaped() {
        let bad = "</script><img src=x onerror='alert(1)'>&\"\u{1}";
        let item = Item { children: vec![Item::new(bad, bad)], ..Item::new(bad, bad) };
        let table = Content::Table(vec!["a"], vec![vec![bad.to_string()]]);
        let sections = [Content::Tree(vec![item]), table, Content::Text(bad.to_string())];
        let sections =
            sections.into_iter().map(|content| Section { title: bad.to_string(), content }).collect();
        let html = Page { title: bad.to_string(), sections }.html();
        assert!(!html.contains("<img") && !html.contains('\u{1}'));
        assert_eq!(html.matches("</script>").count(), 1, "only our own");
        assert_eq!(escape("<&>\"'"), "&lt;&amp;&gt;&quot;&#39;");
    }

    #[test]
    fn nothing_is_loaded() {
        let html = Page { title: String::new(), sections: Vec::new() }.html();
        for word in ["http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!html.contains(word), "{word}");
        }
    }
}
