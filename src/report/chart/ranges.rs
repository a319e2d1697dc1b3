//! Distributions in rows: from the median to the longest, on a logarithmic axis.
//!
//! Must not know: of what they are the times.

use svg::node::element::{Group, Rectangle, Title};

use super::frame::{
    Caption, Scale, WIDTH, brief, colour, cut, label, mark, picture, rule, short, text_of,
};
use crate::ui::plain;

const LEFT: f64 = 132.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 22.0;
const ROW: f64 = 20.0;

/// A name with its values, ascending, each with what it is.
#[derive(Debug, Clone)]
pub(in crate::report) struct Range {
    pub(in crate::report) name: String,
    pub(in crate::report) values: Vec<(&'static str, f64)>,
}

/// A row for each name: a band from the first value to the last, a mark at each.
pub(in crate::report) fn ranges(caption: &Caption<'_>, rows: &[Range]) -> String {
    let is_drawn = |value: &f64| value.is_finite() && *value > 0.0;
    let all = || rows.iter().flat_map(|row| &row.values).map(|(_, value)| *value).filter(is_drawn);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let from = if low.is_finite() { 10_f64.powf(low.log10().floor()) } else { 1.0 };
    let to = if high > from { 10_f64.powf(high.log10().ceil()) } else { from * 10.0 };
    let x = Scale { domain: (from, to), range: (LEFT, RIGHT), is_log: true };
    let bottom = TOP + ROW * rows.len() as f64;
    let mut body = Group::new();
    let mut tick = from;
    while tick <= to * 1.001 {
        body = body.add(rule((x.at(tick), TOP), (x.at(tick), bottom)));
        let words = if tick < 1.0 { format!("{tick}") } else { brief(tick) };
        body = body.add(label(&words, (x.at(tick), bottom + 15.0), "middle"));
        tick *= 10.0;
    }
    if let Some(first) = rows.first() {
        for (shape, (name, _)) in first.values.iter().enumerate() {
            let x = LEFT + 70.0 * shape as f64;
            body = body.add(mark(shape, (x + 4.0, TOP - 12.0), name, false));
            body = body.add(label(name, (x + 13.0, TOP - 8.0), "start"));
        }
    }
    for (number, row) in rows.iter().enumerate() {
        let middle = TOP + ROW * number as f64 + ROW / 2.0;
        body = body.add(label(&cut(&row.name), (LEFT - 8.0, middle + 4.0), "end"));
        let values: Vec<&(&str, f64)> =
            row.values.iter().filter(|(_, value)| is_drawn(value)).collect();
        if let [(_, first), .., (_, last)] = values[..] {
            let band = Rectangle::new()
                .set("x", short(x.at(*first)))
                .set("y", short(middle - 2.0))
                .set("width", short((x.at(*last) - x.at(*first)).max(0.5)))
                .set("height", 4)
                .set("fill", colour(0))
                .set("fill-opacity", "0.3")
                .add(Title::new(plain(&row.name)));
            body = body.add(band);
        }
        for (shape, (name, value)) in values.iter().enumerate() {
            let words = format!("{} {name}: {} ms", row.name, short(*value));
            body = body.add(mark(shape, (x.at(*value), middle), &words, false));
        }
    }
    text_of(&picture(caption, bottom + 22.0, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::frame::tests::CAPTION;

    #[test]
    fn a_band_reaches_from_the_median_to_the_longest() {
        let values = vec![("P50", 0.8), ("P95", 4.0), ("P99", 9.5), ("max", 120.0)];
        let rows = [
            Range { name: "2c4g".into(), values },
            Range { name: "none".into(), values: vec![("P50", 0.0), ("max", f64::NAN)] },
        ];
        insta::assert_snapshot!(ranges(&CAPTION, &rows).replace("><", ">\n<"));
        assert!(ranges(&CAPTION, &[]).contains("</svg>"));
    }
}
