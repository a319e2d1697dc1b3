//! Charts as SVG: numbers in, a picture out.
//!
//! A chart stands on any page, light or dark: its text and axes have the colour of the text around
//! it, its marks have colours that are told from white and from black, and differ in shape and dash
//! where they differ in colour. Text is text, escaped by the library that writes the elements; no
//! text goes into an attribute. Must not know: results, pages, languages.

mod bars;
mod curve;
mod frame;
mod ranges;
mod series;

pub(super) use bars::{Bar, bars};
pub(super) use curve::{Line, curve};
pub(super) use frame::Caption;
pub(super) use ranges::{Range, ranges};
pub(super) use series::{Stall, series};
