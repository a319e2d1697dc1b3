//! Where markers stand, what is replaced, and that nothing else is.

use proptest::prelude::*;

use super::*;

const KINDS: [DocumentKind; 4] =
    [DocumentKind::Markdown, DocumentKind::Mdx, DocumentKind::Rst, DocumentKind::Html];

/// `[words]` as a marker of this kind.
fn marker(kind: DocumentKind, words: &str) -> String {
    let (open, close) = kind.comment();
    format!("{open} gridbench:{words} {close}").trim_end().to_owned()
}

fn filled(text: &str, kind: DocumentKind, table: &str) -> String {
    let places = places(text, kind).unwrap();
    let tables = vec![table.to_owned(); places.len()];
    fill(text, kind, &places, &tables).unwrap()
}

fn faults(text: &str, kind: DocumentKind) -> Vec<String> {
    let faults = places(text, kind).unwrap_err();
    faults.into_iter().map(|fault| format!("{}: {}", fault.line, fault.message)).collect()
}

#[test]
fn what_stands_between_the_markers_is_replaced_and_nothing_else() {
    let md = "a\n<!-- gridbench:table x -->\nold\n<!-- gridbench:end -->\nb";
    let wanted = "a\n<!-- gridbench:table x -->\n\n| 1 |\n| 2 |\n\n<!-- gridbench:end -->\nb";
    assert_eq!(filled(md, DocumentKind::Markdown, "| 1 |\n| 2 |\n"), wanted);
    assert_eq!(filled(wanted, DocumentKind::Markdown, "| 1 |\n| 2 |\n"), wanted);
    let html = "<p>\n\t<!-- gridbench:table x -->\n\t<!--gridbench:end-->\n";
    let wanted = "<p>\n\t<!-- gridbench:table x -->\n\t<i>\n\t<!--gridbench:end-->\n";
    assert_eq!(filled(html, DocumentKind::Html, "<i>\n"), wanted);
}

#[test]
fn ends_of_lines_mark_and_indentation_are_the_documents() {
    let text = "\u{feff}<!-- gridbench:table x -->\r\n  <!-- gridbench:end -->\r\n1. a\n\n   \
                <!-- gridbench:table y -->\n<!-- gridbench:end -->";
    let wanted = [
        "\u{feff}<!-- gridbench:table x -->\r\n\r\n| 1 |\r\n\r\n| 2 |\r\n\r\n",
        "  <!-- gridbench:end -->\r\n1. a\n\n",
        "   <!-- gridbench:table y -->\n\n   | 1 |\n\n   | 2 |\n\n<!-- gridbench:end -->",
    ]
    .concat();
    assert_eq!(filled(text, DocumentKind::Markdown, "| 1 |\n\n| 2 |\n"), wanted);
}

#[test]
fn a_marker_in_code_is_only_shown() {
    let text = "```md\n<!-- gridbench:table x -->\n```\n`<!-- gridbench:tabel x -->` in words\n";
    assert!(places(text, DocumentKind::Markdown).unwrap().is_empty());
    let text = "So::\n\n   .. gridbench:table x\n\n.. gridbench:table y\n.. gridbench:end\n";
    let found = places(text, DocumentKind::Rst).unwrap();
    assert_eq!((found.len(), found[0].line), (1, 5));
    // A fence between two markers is ours, and closed with them.
    let text = "<!-- gridbench:table x -->\n```\n<!-- gridbench:end -->\n\
                <!-- gridbench:table y -->\n<!-- gridbench:end -->\n";
    assert_eq!(places(text, DocumentKind::Markdown).unwrap().len(), 2);
}

#[test]
fn a_marker_says_whose_table_and_how() {
    let words = "\"my runs/a b\" scenario=s template=\"t t.md\" lang=zh caption=yes";
    let text = format!("<!-- gridbench:table {words} -->\n<!-- gridbench:end -->\n");
    let wanted = TableRequest {
        chart: None,
        results: "my runs/a b".to_owned(),
        scenario: Some("s".to_owned()),
        template: Some("t t.md".to_owned()),
        language: Some(Language::Chinese),
        caption: true,
    };
    assert_eq!(places(&text, DocumentKind::Markdown).unwrap()[0].request, wanted);
}

#[test]
fn every_fault_is_told_with_its_line_and_what_was_meant() {
    let cases = [
        (
            "tabel x",
            "1: there is no marker `gridbench:tabel`; there are gridbench:table, \
                     gridbench:chart, gridbench:end; did you mean `gridbench:table`?",
        ),
        (
            "table x senario=y",
            "1: there is no key `senario`; there are scenario, template, lang, \
                               caption; did you mean `scenario`?",
        ),
        ("table", "1: say whose: `gridbench:table RUN|BASELINE`"),
        ("table x y", "1: one table has one name: `x` or `y`"),
        ("table x lang=de", "1: `lang` is en or zh, not `de`"),
        ("table x caption=1", "1: `caption` is yes or no, not `1`"),
        ("table x lang=en lang=zh", "1: `lang` stands there twice"),
        ("table x scenario=", "1: `scenario` has no value"),
        ("table \"x", "1: a quotation mark is not closed"),
        ("table x", "1: `gridbench:table` without a `gridbench:end` after it"),
        ("end", "1: `gridbench:end` without a `gridbench:table` or `gridbench:chart` before it"),
        ("end x", "1: `gridbench:end` stands alone, without `x`"),
    ];
    for kind in KINDS {
        for (words, wanted) in cases {
            assert_eq!(faults(&marker(kind, words), kind), [wanted], "{kind:?}");
        }
    }
    let nested = "<!-- gridbench:table a -->\n\n<!-- gridbench:table b -->\n<!-- gridbench:end -->";
    let wanted = ["1: `gridbench:table` without a `gridbench:end` after it"];
    assert_eq!(faults(nested, DocumentKind::Html), wanted);
}

#[test]
fn a_marker_that_shares_its_line_is_a_fault() {
    let alone = "1: a marker stands alone on its line: `<!-- gridbench:... -->`";
    for line in [
        "<!-- gridbench:table x --> y",
        "<!-- gridbench:table x --><!-- gridbench:end -->",
        "<!-- gridbench:table x",
    ] {
        assert_eq!(faults(line, DocumentKind::Markdown), [alone]);
    }
    assert_eq!(faults("<p><!-- gridbench:table x -->", DocumentKind::Html), [alone]);
    let mdx = faults("<!-- gridbench:table x -->", DocumentKind::Mdx);
    assert_eq!(mdx, ["1: in MDX a marker is `{/* gridbench:... */}`"]);
}

#[test]
fn a_table_that_holds_a_marker_is_refused() {
    let text = "\n<!-- gridbench:table x -->\n<!-- gridbench:end -->\n";
    let found = places(text, DocumentKind::Markdown).unwrap();
    let tables = ["<!-- gridbench:end -->\n".to_owned()];
    assert_eq!(fill(text, DocumentKind::Markdown, &found, &tables).unwrap_err().line, 2);
}

/// Lines that mean something, in any order: what a document can be made of.
fn documents() -> impl Strategy<Value = (DocumentKind, String)> {
    let kind = proptest::sample::select(KINDS.to_vec());
    let piece = (0..14_usize, "[ \t>\\-1.]{0,4}", ".{0,8}", "(\n|\r\n|\r|)");
    (kind, proptest::collection::vec(piece, 0..24)).prop_map(|(kind, pieces)| {
        let line = |(choice, before, any, end): (usize, String, String, String)| match choice {
            0..=2 => format!("{before}{}{end}", marker(kind, "table x")),
            3..=5 => format!("{before}{}{end}", marker(kind, "end")),
            6 => format!("{before}```{any}{end}"),
            7 => format!("{any}::{end}"),
            8 => format!("{}{end}", marker(kind, &any)),
            9 => format!("\u{feff}{end}"),
            _ => format!("{before}{any}{end}"),
        };
        (kind, pieces.into_iter().map(line).collect())
    })
}

/// A document with pairs of markers, and its other lines.
fn sound_documents() -> impl Strategy<Value = (DocumentKind, Vec<String>, String)> {
    let kind = proptest::sample::select(KINDS.to_vec());
    let words = "[a-z0-9 |*é宽]{0,12}";
    let piece = (words, words, "[ \t]{0,3}");
    let end = proptest::sample::select(vec!["\n", "\r\n"]);
    (kind, proptest::collection::vec(piece, 1..6), end).prop_map(|(kind, pieces, end)| {
        let (mut text, mut others) = (String::new(), Vec::new());
        for (other, inner, indent) in pieces {
            let begin = format!("{other}{end}{indent}{}{end}", marker(kind, "table x"));
            text.extend([begin.as_str(), &inner, end]);
            others.push(begin);
            let after = format!("{indent}{}{end}", marker(kind, "end"));
            text.push_str(&after);
            others.push(after);
        }
        (kind, others, text)
    })
}

proptest! {
    #[test]
    fn no_document_makes_us_panic_and_what_is_filled_stays(
        (kind, text) in documents(), table in "([|a-z `:]{0,9}\n){0,4}",
    ) {
        if let Ok(found) = places(&text, kind) {
            let tables = vec![table; found.len()];
            let once = fill(&text, kind, &found, &tables).unwrap();
            let again = places(&once, kind).unwrap();
            prop_assert_eq!(again.len(), found.len());
            prop_assert_eq!(fill(&once, kind, &again, &tables).unwrap(), once);
        }
    }

    #[test]
    fn every_byte_outside_of_the_markers_stays((kind, others, text) in sound_documents()) {
        let found = places(&text, kind).unwrap();
        prop_assert_eq!(found.len() * 2, others.len());
        let tables: Vec<String> = (0..found.len()).map(|at| format!("| {at} |\n")).collect();
        let whole = fill(&text, kind, &found, &tables).unwrap();
        let mut rest = whole.as_str();
        for (at, other) in others.iter().enumerate() {
            prop_assert!(rest.starts_with(other.as_str()), "{:?} at {:?}", other, rest);
            rest = &rest[other.len()..];
            // After a first marker comes what was inserted, up to its second one.
            if at % 2 == 0 {
                let end = rest.find(others[at + 1].as_str()).unwrap();
                prop_assert!(rest[..end].contains(tables[at / 2].trim_end()));
                rest = &rest[end..];
            }
        }
        prop_assert!(rest.is_empty());
    }
}
