//! Lines over concurrencies: where each turns.
//!
//! Must not know: what a line is of.

use svg::node::element::Group;

use super::frame::{
    Caption, Scale, WIDTH, brief, cut, label, mark, picture, rule, short, stroke, text_of, ticks,
};

const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 250.0;
/// A name of more signs than this does not fit into the fourth of a legend's width.
const SHORT_NAME_SIGNS: usize = 12;

/// A line with its name.
#[derive(Debug, Clone)]
pub(in crate::report) struct Line {
    pub(in crate::report) name: String,
    /// Concurrency, above 0, and rate; ascending.
    pub(in crate::report) points: Vec<(f64, f64)>,
    /// Which of them is to be seen at once.
    pub(in crate::report) marked: Option<usize>,
}

/// Rates over concurrencies, these on a logarithmic axis; what is no number is left out.
pub(in crate::report) fn curve(caption: &Caption<'_>, lines: &[Line]) -> String {
    let is_drawn = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && *x > 0.0 && *y >= 0.0;
    let all = || lines.iter().flat_map(|line| &line.points).copied().filter(is_drawn);
    let largest = all().map(|(_, y)| y).fold(0.0, f64::max);
    let steps = ticks(largest);
    let highest = steps.last().copied().unwrap_or(1.0);
    let mut levels: Vec<f64> = all().map(|(x, _)| x).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let domain = (levels.first().copied().unwrap_or(1.0), levels.last().copied().unwrap_or(1.0));
    let x = Scale { domain, range: (LEFT + 12.0, RIGHT - 12.0), is_log: true };
    let y = Scale { domain: (0.0, highest), range: (BOTTOM, TOP), is_log: false };
    let mut body = Group::new();
    for step in &steps {
        body = body.add(rule((LEFT, y.at(*step)), (RIGHT, y.at(*step))));
        body = body.add(label(&brief(*step), (LEFT - 6.0, y.at(*step) + 4.0), "end"));
    }
    let mut last = f64::NEG_INFINITY;
    for level in levels.iter().filter(|level| {
        // Levels that stand too close share a label.
        let is_apart = x.at(**level) - last > 30.0;
        if is_apart {
            last = x.at(**level);
        }
        is_apart
    }) {
        body = body.add(label(&brief(*level), (x.at(*level), BOTTOM + 17.0), "middle"));
    }
    for (number, line) in lines.iter().enumerate() {
        let kept = line.points.iter().enumerate().filter(|(_, point)| is_drawn(point));
        let places: Vec<(usize, (f64, f64))> =
            kept.map(|(index, (at, rate))| (index, (x.at(*at), y.at(*rate)))).collect();
        let path: Vec<(f64, f64)> = places.iter().map(|(_, place)| *place).collect();
        body = body.add(stroke(&path, number));
        for (index, place) in places {
            let (at, rate) = line.points[index];
            let words = format!("{} @ {}: {:.0}", line.name, short(at), rate);
            body = body.add(mark(number, place, &words, line.marked == Some(index)));
        }
    }
    let (legend, height) = legend(lines);
    text_of(&picture(caption, height, body.add(legend)))
}

/// The names below the axis, each with its mark, and where they end.
fn legend(lines: &[Line]) -> (Group, f64) {
    let mut legend = Group::new();
    let is_long = |line: &Line| line.name.chars().count() > SHORT_NAME_SIGNS;
    let columns = if lines.iter().any(is_long) { 3 } else { 4 };
    let step = (RIGHT - LEFT) / columns as f64;
    let mut bottom = BOTTOM + 24.0;
    for (number, line) in lines.iter().enumerate() {
        let x = LEFT + step * (number % columns) as f64;
        bottom = BOTTOM + 40.0 + 18.0 * (number / columns) as f64;
        legend = legend.add(stroke(&[(x, bottom - 4.0), (x + 24.0, bottom - 4.0)], number));
        legend = legend.add(mark(number, (x + 12.0, bottom - 4.0), &line.name, false));
        legend = legend.add(label(&cut(&line.name), (x + 30.0, bottom), "start"));
    }
    (legend, bottom + 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::frame::tests::CAPTION;

    #[test]
    fn each_line_has_its_name_its_marks_and_a_ring_where_it_is_published() {
        let points = vec![(32.0, 20e3), (64.0, 40e3), (128.0, 30e3)];
        let lines = [
            Line { name: "2c4g".into(), points: points.clone(), marked: Some(1) },
            Line { name: "4c8g".into(), points, marked: None },
        ];
        let text = curve(&CAPTION, &lines);
        assert_eq!(text.matches("r=\"6.5\"").count(), 1);
        assert!(text.contains("<title>2c4g @ 64: 40000</title>"), "{text}");
        insta::assert_snapshot!(text.replace("><", ">\n<"));
    }

    #[test]
    fn what_is_no_number_is_left_out_and_nothing_is_a_chart_too() {
        let points = vec![(0.0, 1.0), (f64::NAN, 1.0), (8.0, f64::INFINITY), (16.0, 3.0)];
        let text = curve(&CAPTION, &[Line { name: "a".into(), points, marked: Some(0) }]);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(curve(&CAPTION, &[]).contains("</svg>"));
    }
}
