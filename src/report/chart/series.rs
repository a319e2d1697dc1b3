//! One trial second by second, small: hundreds of them stand on a page.
//!
//! Must not know: what is counted.

use svg::Node;
use svg::node::element::{Group, Path, Rectangle};

use super::frame::{
    ALARM, Caption, Scale, WIDTH, brief, colour, label, picture, rule, short, text_of,
};

const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 96.0;
/// So many pieces, each from its lowest to its highest second.
const PIECES: usize = 84;

/// Seconds in a row that are to be looked at: from and to, from the start.
pub(in crate::report) type Stall = (usize, usize);

/// Counts by the second, each stall marked; `rate` is drawn as a line.
pub(in crate::report) fn series(
    caption: &Caption<'_>,
    seconds: &[u64],
    rate: f64,
    stalls: &[Stall],
) -> String {
    let highest = seconds.iter().copied().max().unwrap_or(0).max(1) as f64;
    let y = Scale { domain: (0.0, highest * 1.05), range: (BOTTOM, TOP), is_log: false };
    let length = seconds.len().max(1) as f64;
    let x = Scale { domain: (0.0, length), range: (LEFT, RIGHT), is_log: false };
    let mut body = Group::new();
    for value in [0.0, highest] {
        body = body.add(rule((LEFT, y.at(value)), (RIGHT, y.at(value))));
        body = body.add(label(&brief(value), (LEFT - 5.0, y.at(value) + 6.0), "end"));
    }
    if rate.is_finite() && rate > 0.0 && rate < highest {
        let line = rule((LEFT, y.at(rate)), (RIGHT, y.at(rate)));
        body = body.add(line.set("stroke-dasharray", "4 3").set("stroke-opacity", "0.5"));
    }
    for (from, to) in stalls {
        let (from, to) = (x.at(*from as f64), x.at(*to as f64));
        let mark = Rectangle::new()
            .set("x", short(from))
            .set("y", short(TOP))
            .set("width", short((to - from).max(2.0)))
            .set("height", short(BOTTOM - TOP))
            .set("fill", ALARM)
            .set("fill-opacity", "0.3");
        body = body.add(mark);
    }
    let area = Path::new().set("d", outline(seconds, x, y)).set("stroke", colour(0));
    body = body.add(area.set("fill", colour(0)).set("fill-opacity", "0.35"));
    body = body.add(label("0 s", (LEFT, BOTTOM + 20.0), "middle"));
    body = body.add(label(&format!("{} s", seconds.len()), (RIGHT, BOTTOM + 20.0), "end"));
    let mut picture = picture(caption, BOTTOM + 26.0, body);
    // Three of them stand side by side: their figures are as large as a page's other small ones.
    picture.assign("font-size", 19);
    // Where the seconds begin and end, for who points at one.
    picture.assign("data-left", LEFT);
    picture.assign("data-right", RIGHT);
    text_of(&picture)
}

/// Along the highest seconds of all pieces, and back along the lowest.
fn outline(seconds: &[u64], x: Scale, y: Scale) -> String {
    let count = seconds.len().min(PIECES);
    let piece = |index: usize| {
        let (from, to) = (index * seconds.len() / count, (index + 1) * seconds.len() / count);
        let values = || seconds[from..to].iter().copied();
        let middle = x.at((from + to) as f64 / 2.0);
        Some((middle, y.at(values().min()? as f64), y.at(values().max()? as f64)))
    };
    let pieces: Vec<(f64, f64, f64)> = (0..count).filter_map(piece).collect();
    let highs = pieces.iter().map(|(at, _, high)| (*at, *high));
    let lows = pieces.iter().rev().map(|(at, low, _)| (*at, *low));
    let mut data = String::new();
    for (number, (at, value)) in highs.chain(lows).enumerate() {
        data += if number == 0 { "M" } else { "L" };
        data += &format!("{:.0} {}", at, short(value));
    }
    if !data.is_empty() {
        data.push('Z');
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::frame::tests::CAPTION;

    #[test]
    fn a_series_of_any_length_is_small_and_keeps_its_holes() {
        let mut seconds: Vec<u64> = (0..600).map(|second| 40_000 + second * 7 % 900).collect();
        seconds[317] = 0;
        let text = series(&CAPTION, &seconds, 40_400.0, &[(317, 318)]);
        assert!(text.len() < 3_200, "{} bytes", text.len());
        assert!(text.contains(" 96L"), "the hole reaches the axis");
        assert_eq!(text.matches(ALARM).count(), 1);
        let long = series(&CAPTION, &vec![1; 86_400], 1.0, &[]);
        assert!(long.len() < 3_200, "{} bytes", long.len());
    }

    #[test]
    fn few_seconds_and_none_are_drawn_as_they_are() {
        insta::assert_snapshot!(
            series(&CAPTION, &[10, 12, 3, 11], 9.0, &[(2, 3)]).replace("><", ">\n<")
        );
        assert!(series(&CAPTION, &[], f64::NAN, &[]).contains("</svg>"));
    }
}
