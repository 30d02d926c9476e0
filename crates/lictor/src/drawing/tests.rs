use lictor_core::{All, Graph, Not, Verdict, guard_fn};

use super::svg::{Look, draw};
use super::*;

fn outline() -> Outline {
    let asks = |name: &str| guard_fn(name, |_, _| Verdict::pass());
    Graph::new(All::new((asks("first"), Not::new(asks("y<z>"), "why", "how")))).unwrap().outline()
}

#[test]
fn names_cannot_break_out_of_a_picture() {
    for look in [Look::Alone, Look::InPage] {
        let svg = draw(&outline(), None, look);
        assert!(svg.contains("y&lt;z&gt;") && !svg.contains("y<z>"), "{svg}");
        assert_eq!(svg, draw(&outline(), None, look), "the same graph gives the same bytes");
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }
}

#[test]
fn a_picture_in_a_page_has_no_style_of_its_own() {
    let outline = outline();
    let first = outline.children.first().unwrap().path.to_string();
    let path: Path =
        [(outline.path.to_string(), Visit::Counts(Value::Block)), (first, Visit::Superseded(Value::Ask))]
            .into_iter()
            .collect();
    let svg = draw(&outline, Some(&path), Look::InPage);
    for own in ["fill=", "stroke=", "style=", "font-"] {
        assert!(!svg.contains(own), "{own}: {svg}");
    }
    assert!(svg.contains("class=\"node n-block\"") && svg.contains("ask, does not count"), "{svg}");
    assert!(draw(&outline, Some(&path), Look::Alone).contains("#fce8e6"), "alone it has colours");
}

#[test]
fn text_stays_text() {
    assert_eq!(escaped("<a href='x'>\"&\u{7}"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp; ");
}
