//! Text that a terminal prints and does not obey.
//!
//! Must not know: where it came from. Names and messages come from files and servers, and an
//! escape sequence in one of them could redraw what was printed before it.

use std::borrow::Cow;

/// The text with every control character, line breaks included, and every sign that turns the
/// direction of what follows it shown as `\u{fffd}`.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(is_command, "\u{fffd}"))
}

fn is_command(sign: char) -> bool {
    let turns = matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    sign.is_control() || turns || matches!(sign, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_to_the_terminal_is_shown_and_not_obeyed() {
        assert_eq!(plain("4 核 x"), "4 核 x");
        assert_eq!(
            plain("\u{1b}[2Ja\nb\u{9b}1m\u{202e}c"),
            "\u{fffd}[2Ja\u{fffd}b\u{fffd}1m\u{fffd}c"
        );
    }
}
