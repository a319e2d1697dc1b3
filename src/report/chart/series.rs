//! One trial second by second, small: hundreds of them stand on a page.
//!
//! Must not know: what is counted.

use svg::Node;
use svg::node::element::{Group, Path};

use super::frame::{ALARM, Caption, Scale, WIDTH, brief, colour, label, picture, rule, text_of};

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
    if !stalls.is_empty() {
        let marks = Path::new().set("d", marks(stalls, x)).set("fill", ALARM);
        body = body.add(marks.set("fill-opacity", "0.3"));
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

/// A bar over each stall, wide enough to be seen; those that touch are one, so that any number of
/// stalls is a short path.
fn marks(stalls: &[Stall], x: Scale) -> String {
    const NARROWEST: f64 = 2.0;
    let mut bars: Vec<(f64, f64)> = Vec::new();
    for (from, to) in stalls {
        let from = x.at(*from as f64).round().min(RIGHT - NARROWEST);
        let to = x.at(*to as f64).round().max(from + NARROWEST);
        match bars.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => bars.push((from, to)),
        }
    }
    let bar = |(from, to): &(f64, f64)| format!("M{from} {TOP}H{to}V{BOTTOM}H{from}Z");
    bars.iter().map(bar).collect()
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
    closed(highs.chain(lows))
}

/// A closed line through places, each told as the whole units from the one before it: what the
/// page of hundreds of trials has room for, and a unit is less than a pixel.
fn closed(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut data = String::new();
    let mut last: Option<(i64, i64)> = None;
    for (x, y) in places {
        let place = (x.round() as i64, y.round() as i64);
        data += &match last {
            None => format!("M{} {}l", place.0, place.1),
            Some(last) => format!(" {} {}", place.0 - last.0, place.1 - last.1),
        };
        last = Some(place);
    }
    if !data.is_empty() {
        data.push('Z');
    }
    // A sign separates as a blank does.
    data.replace(" -", "-").replace("l ", "l").replace("lZ", "Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::frame::tests::CAPTION;

    /// How far down the outline reaches.
    fn lowest(text: &str) -> f64 {
        let data = text.rsplit_once("<path d=\"M").unwrap().1.split_once('Z').unwrap().0;
        let data = data.replace('l', " ").replace('-', " -");
        let numbers: Vec<f64> = data.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let ys = numbers.chunks(2).scan(0.0, |y, step| {
            *y += step[1];
            Some(*y)
        });
        ys.fold(0.0, f64::max)
    }

    #[test]
    fn a_series_of_any_length_is_small_and_keeps_its_holes() {
        let mut seconds: Vec<u64> = (0..600).map(|second| 40_000 + second * 7 % 900).collect();
        seconds[317] = 0;
        let text = series(&CAPTION, &seconds, 40_400.0, &[(317, 318)]);
        assert!(text.len() < 2_200, "{} bytes", text.len());
        assert!(lowest(&text) >= BOTTOM, "the hole reaches the axis: {text}");
        assert_eq!(text.matches(ALARM).count(), 1);
        let long = series(&CAPTION, &vec![1; 86_400], 1.0, &[]);
        assert!(long.len() < 2_200, "{} bytes", long.len());
    }

    #[test]
    fn stalls_that_cannot_be_told_apart_are_one_mark_and_any_number_of_them_is_small() {
        let every_other: Vec<Stall> = (0..43_200).map(|at| (2 * at, 2 * at + 1)).collect();
        let text = series(&CAPTION, &vec![1; 86_400], 1.0, &every_other);
        assert!(text.len() < 3_500, "{} bytes", text.len());
        assert!(text.contains("M62 8H552V96H62Z"), "{text}");
        let apart = series(&CAPTION, &vec![1; 600], 1.0, &[(10, 11), (300, 310), (599, 600)]);
        assert_eq!(apart.matches('M').count(), 4, "three marks and the outline: {apart}");
    }

    #[test]
    fn few_seconds_and_none_are_drawn_as_they_are() {
        insta::assert_snapshot!(
            series(&CAPTION, &[10, 12, 3, 11], 9.0, &[(2, 3)]).replace("><", ">\n<")
        );
        assert!(series(&CAPTION, &[], f64::NAN, &[]).contains("</svg>"));
    }
}
