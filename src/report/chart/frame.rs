//! What all charts share: the picture's frame, scales, ticks, labels, the marks of a series.
//!
//! Must not know: what is drawn in it.

use svg::Node;
use svg::node::element::{
    Circle, Description, Element, Group, Line, Path, Polygon, Rectangle, Text, Title,
};

use crate::ui::plain;

/// Width of every chart in its own units; a page scales it.
pub(super) const WIDTH: f64 = 560.0;
/// Longer names are cut, and whole in the mark's title.
const NAME_SIGNS: usize = 16;

/// Colours that stand out from white (3:1) and from near-black (3:1).
const COLOURS: [&str; 6] = ["#3079c2", "#b8650f", "#2f8a55", "#8d63c7", "#c8484c", "#5f7f8f"];
const DASHES: [&str; 3] = ["none", "7 3", "2 3"];
/// Of what is to be looked at.
pub(super) const ALARM: &str = "#d0453f";
/// Of what is there to compare with.
pub(super) const HOLLOW: &str = "#7d868f";

/// What a chart is called; both texts are for those who do not see it, too.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Caption<'a> {
    pub(in crate::report) title: &'a str,
    pub(in crate::report) description: &'a str,
}

/// The whole picture, so high.
pub(super) fn picture(caption: &Caption<'_>, height: f64, body: Group) -> Element {
    let (title, description) = (plain(caption.title), plain(caption.description));
    let mut picture = Element::new("svg");
    picture.assign("viewBox", format!("0 0 {WIDTH} {}", short(height)));
    picture.assign("role", "img");
    // Not by reference: charts of several results in one document have no ids to collide.
    picture.assign("aria-label", format!("{title}. {description}"));
    picture.assign("font-size", 12);
    picture.assign("fill", "currentColor");
    picture.append(Title::new(title));
    picture.append(Description::new().add(svg::node::Text::new(description)));
    picture.append(body);
    picture
}

/// The text of a picture.
pub(super) fn text_of(picture: &Element) -> String {
    picture.to_string().replace('\n', "")
}

/// A number with a tenth at most: a hundredth of a unit is not seen.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Numbers to places on the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// What stands at either end.
    pub(super) domain: (f64, f64),
    /// Where that is.
    pub(super) range: (f64, f64),
    pub(super) is_log: bool,
}

impl Scale {
    pub(super) fn at(&self, value: f64) -> f64 {
        let to = |value: f64| if self.is_log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (from, end) = (to(self.domain.0), to(self.domain.1));
        let share = if end > from { (to(value) - from) / (end - from) } else { 0.5 };
        self.range.0 + share.clamp(0.0, 1.0) * (self.range.1 - self.range.0)
    }
}

/// Round numbers from 0 to at least `largest`, five or six of them.
pub(super) fn ticks(largest: f64) -> Vec<f64> {
    if !largest.is_finite() || largest <= 0.0 {
        return vec![0.0, 1.0];
    }
    let rough = largest / 5.0;
    let unit = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * unit);
    let step = step.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(10.0 * unit);
    let count = (largest / step).ceil().max(1.0) as u32;
    (0..=count).map(|number| f64::from(number) * step).collect()
}

/// `1.5M`, `250k`, `12`: what an axis has room for.
pub(super) fn brief(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 999_500.0 => (v / 1e6, "M"),
        v if v >= 9_999.5 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let text = if scaled >= 99.95 { format!("{scaled:.0}") } else { format!("{scaled:.1}") };
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// A label at a place; `anchor` is `start`, `middle` or `end`.
pub(super) fn label(words: &str, (x, y): (f64, f64), anchor: &str) -> Text {
    let text = Text::new(plain(words)).set("x", short(x)).set("y", short(y));
    if anchor == "start" { text } else { text.set("text-anchor", anchor) }
}

/// A name that fits beside a bar or in a legend.
pub(super) fn cut(name: &str) -> String {
    match name.chars().count() {
        0..=NAME_SIGNS => name.to_owned(),
        _ => name.chars().take(NAME_SIGNS - 1).chain(['…']).collect(),
    }
}

/// A thin line of the grid.
pub(super) fn rule((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Line {
    Line::new()
        .set("x1", short(x1))
        .set("y1", short(y1))
        .set("x2", short(x2))
        .set("y2", short(y2))
        .set("stroke", "currentColor")
        .set("stroke-opacity", "0.18")
}

/// A line through these places.
pub(super) fn stroke(points: &[(f64, f64)], number: usize) -> Path {
    let mut data = String::new();
    for (place, (x, y)) in points.iter().enumerate() {
        data += if place == 0 { "M" } else { "L" };
        data += &format!("{} {}", short(*x), short(*y));
    }
    let path = Path::new().set("d", data).set("fill", "none").set("stroke-width", "1.8");
    let path = path.set("stroke", colour(number));
    match DASHES[number / COLOURS.len() % DASHES.len()] {
        "none" => path,
        dash => path.set("stroke-dasharray", dash),
    }
}

pub(super) fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// The mark of a series at a place, with what it says under the pointer: round, square, triangle,
/// diamond in turn; a mark that is to be seen has a ring.
pub(super) fn mark(number: usize, (x, y): (f64, f64), words: &str, is_ringed: bool) -> Group {
    const R: f64 = 3.2;
    let fill = colour(number);
    let title = || Title::new(plain(words));
    let corners = |corners: &[(f64, f64)]| {
        let place = |(dx, dy): &(f64, f64)| format!("{},{}", short(x + dx), short(y + dy));
        let points: Vec<String> = corners.iter().map(place).collect();
        Polygon::new().set("points", points.join(" ")).set("fill", fill).add(title())
    };
    let group = match is_ringed {
        true => Group::new().add(
            Circle::new()
                .set("cx", short(x))
                .set("cy", short(y))
                .set("r", 6.5)
                .set("fill", "none")
                .set("stroke", "currentColor")
                .set("stroke-width", "1.4"),
        ),
        false => Group::new(),
    };
    match number % 4 {
        0 => group.add(
            Circle::new()
                .set("cx", short(x))
                .set("cy", short(y))
                .set("r", R)
                .set("fill", fill)
                .add(title()),
        ),
        1 => group.add(
            Rectangle::new()
                .set("x", short(x - R))
                .set("y", short(y - R))
                .set("width", short(2.0 * R))
                .set("height", short(2.0 * R))
                .set("fill", fill)
                .add(title()),
        ),
        2 => group.add(corners(&[(0.0, -R - 0.8), (R + 0.4, R), (-R - 0.4, R)])),
        _ => {
            group.add(corners(&[(0.0, -R - 1.0), (R + 1.0, 0.0), (0.0, R + 1.0), (-R - 1.0, 0.0)]))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::report::chart) const CAPTION: Caption<'static> =
        Caption { title: "A <title> & \"more\"", description: "what it shows" };

    #[test]
    fn ticks_are_round_and_reach_the_largest() {
        assert_eq!(ticks(944_192.0), [0.0, 200e3, 400e3, 600e3, 800e3, 1e6]);
        assert_eq!(ticks(7.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(ticks(0.0), [0.0, 1.0]);
        assert_eq!(ticks(f64::NAN), [0.0, 1.0]);
        assert!(ticks(f64::MAX / 4.0).len() < 8);
    }

    #[test]
    fn an_axis_is_brief() {
        let cases = [(0.0, "0"), (2.5, "2.5"), (9_000.0, "9000"), (250e3, "250k"), (1.5e6, "1.5M")];
        for (value, text) in cases {
            assert_eq!(brief(value), text);
        }
    }

    #[test]
    fn a_place_is_never_outside_of_its_scale() {
        let scale = Scale { domain: (1.0, 1_000.0), range: (0.0, 300.0), is_log: true };
        assert!((scale.at(10.0) - 100.0).abs() < 1e-9);
        for value in [f64::INFINITY, -5.0, 0.0, 1e12] {
            assert!((0.0..=300.0).contains(&scale.at(value)), "{value}");
        }
        let flat = Scale { domain: (0.0, 0.0), range: (0.0, 10.0), is_log: false };
        assert_eq!(flat.at(7.0), 5.0);
    }
}
