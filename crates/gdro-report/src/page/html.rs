//! Texts as HTML.

use std::fmt::Write as _;

use crate::plain;

/// A text as it stands in an element or in a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// A text that has lines, likewise.
pub fn escape_lines(text: &str) -> String {
    text.lines().map(|line| escape(line) + "\n").collect()
}

/// JSON as it stands in a script element: nothing in it can end the element.
pub fn json(text: &str) -> String {
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A text in which parts between backquotes are names of the user: `<code>`, whose direction of
/// writing does not spill over.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 1 {
            let _ = write!(out, "<code dir=\"auto\">{}</code>", escape(part));
        } else {
            out += &escape(part);
        }
    }
    out
}

/// Texts as paragraphs.
pub fn paragraphs<'a>(texts: impl IntoIterator<Item = &'a String>) -> String {
    texts.into_iter().map(|t| format!("<p>{}</p>\n", prose(t))).collect()
}

/// Names and what they are.
pub fn definitions(list: &[(String, String)]) -> String {
    let entry = |(name, text): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", prose(name), prose(text))
    };
    format!("<dl>\n{}</dl>\n", list.iter().map(entry).collect::<String>())
}

/// A table with a caption; the first cell of each line names it.
pub fn table(caption: &str, header: &[String], lines: &[Vec<String>]) -> String {
    let cell = |at: usize, text: &str| match at {
        0 => format!("<th scope=\"row\">{}</th>", prose(text)),
        _ => format!("<td>{}</td>", prose(text)),
    };
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\
         <table class=\"short\"><caption>{0}</caption>\n<thead><tr>",
        escape(caption)
    );
    for name in header {
        // A column of names may need none itself.
        let _ = match name.as_str() {
            "" => write!(out, "<td></td>"),
            name => write!(out, "<th scope=\"col\">{}</th>", escape(name)),
        };
    }
    out += "</tr></thead>\n<tbody>\n";
    for line in lines {
        let cells: String = line.iter().enumerate().map(|(at, text)| cell(at, text)).collect();
        let _ = writeln!(out, "<tr>{cells}</tr>");
    }
    out + "</tbody></table></div>\n"
}

/// A place where the script draws.
pub fn chart(id: &str) -> String {
    format!("<div class=\"chart\" id=\"{id}\"></div>\n")
}

/// What can be opened.
pub fn details(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>\n{body}</details>\n", escape(summary))
}

/// A part of the page that the list of contents names.
pub struct Section {
    /// Its name in addresses.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// Its HTML.
    pub body: String,
}

impl Section {
    /// A part of this name, with this title and HTML.
    pub fn new(id: &'static str, title: &str, body: String) -> Self {
        Section { id, title: title.to_owned(), body }
    }

    /// Its entry in the list of contents.
    pub fn link(&self) -> String {
        format!("<li><a href=\"#{}\">{}</a></li>\n", self.id, escape(&self.title))
    }

    /// Its HTML with the title.
    pub fn text(&self) -> String {
        let Section { id, title, body } = self;
        let title = escape(title);
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{body}</section>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        assert_eq!(escape("<b> & \"it's\"\u{7}"), "&lt;b&gt; &amp; &quot;it&#39;s&quot;\\u{7}");
        assert_eq!(prose("of `<i>` rows"), "of <code dir=\"auto\">&lt;i&gt;</code> rows");
        let text = json(r#"{"name":"</script><!--&"}"#);
        assert!(!text.contains(['<', '>', '&']), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["name"], "</script><!--&");
    }
}
