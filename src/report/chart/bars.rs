//! Bars in rows: a number for each name, beside the one that it is held against.
//!
//! Must not know: what a bar is of.

use svg::node::element::{Group, Rectangle, Title};

use super::frame::{
    Caption, HOLLOW, Scale, WIDTH, brief, colour, cut, label, picture, rule, short, text_of, ticks,
};
use crate::ui::plain;

const LEFT: f64 = 132.0;
const RIGHT: f64 = WIDTH - 52.0;
const TOP: f64 = 8.0;
const BAR: f64 = 11.0;
const GAP: f64 = 9.0;

/// A name with its numbers; either may be missing.
#[derive(Debug, Clone)]
pub(in crate::report) struct Bar {
    pub(in crate::report) name: String,
    pub(in crate::report) value: Option<f64>,
    pub(in crate::report) baseline: Option<f64>,
}

/// A row for each name, in their order: its bar, and a hollow one for the baseline.
pub(in crate::report) fn bars(caption: &Caption<'_>, bars: &[Bar]) -> String {
    let has_baseline = bars.iter().any(|bar| bar.baseline.is_some());
    let row = if has_baseline { BAR * 2.0 + GAP } else { BAR + GAP };
    let values = bars.iter().flat_map(|bar| [bar.value, bar.baseline]).flatten();
    let steps = ticks(values.filter(|value| value.is_finite()).fold(0.0, f64::max));
    let domain = (0.0, steps.last().copied().unwrap_or(1.0));
    let x = Scale { domain, range: (LEFT, RIGHT), is_log: false };
    let bottom = TOP + row * bars.len() as f64;
    let mut body = Group::new();
    for step in &steps {
        body = body.add(rule((x.at(*step), TOP), (x.at(*step), bottom)));
        body = body.add(label(&brief(*step), (x.at(*step), bottom + 15.0), "middle"));
    }
    for (number, bar) in bars.iter().enumerate() {
        let top = TOP + row * number as f64 + GAP / 2.0;
        body = body.add(label(&cut(&bar.name), (LEFT - 8.0, top + BAR - 1.0), "end"));
        let value = bar.value.filter(|value| value.is_finite());
        if let Some(value) = value {
            let words = format!("{}: {value:.0}", bar.name);
            let solid = block((x.at(0.0), x.at(value)), top, &words);
            body = body.add(solid.set("fill", colour(0)));
        }
        let (end, words) = match value {
            Some(value) => (x.at(value) + 5.0, brief(value)),
            None => (LEFT + 5.0, "–".to_owned()),
        };
        body = body.add(label(&words, (end, top + BAR - 2.0), "start"));
        if let Some(baseline) = bar.baseline.filter(|baseline| baseline.is_finite()) {
            let words = format!("{}: {baseline:.0}", bar.name);
            let hollow = block((x.at(0.0), x.at(baseline)), top + BAR + 1.0, &words);
            let hollow = hollow.set("fill", HOLLOW).set("fill-opacity", "0.15");
            body = body.add(hollow.set("stroke", HOLLOW).set("stroke-dasharray", "3 2"));
        }
    }
    text_of(&picture(caption, bottom + 22.0, body))
}

fn block((from, to): (f64, f64), top: f64, words: &str) -> Rectangle {
    Rectangle::new()
        .set("x", short(from))
        .set("y", short(top))
        .set("width", short((to - from).max(0.5)))
        .set("height", short(BAR - 1.0))
        .add(Title::new(plain(words)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::frame::tests::CAPTION;

    #[test]
    fn a_bar_stands_beside_its_baseline_and_a_gap_is_said() {
        let rows = [
            Bar { name: "2c4g".into(), value: Some(40e3), baseline: Some(44613.74) },
            Bar { name: "<b>".into(), value: None, baseline: Some(58183.91) },
            Bar { name: "規".repeat(200), value: Some(0.0), baseline: None },
        ];
        let text = bars(&CAPTION, &rows);
        assert!(!text.contains("<b>") && text.contains("&lt;b&gt;"), "{text}");
        insta::assert_snapshot!(text.replace("><", ">\n<"));
    }
}
