//! A statement's text cut at its parameters and placeholders, and what is plainly wrong with it.
//!
//! Must not know: what a parameter stands for, or whether a server would take the statement.

/// Bytes of a statement's text: a whole screen of SQL.
const MAX_BYTES: usize = 10_000;

/// A piece of a statement, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// SQL as it stands.
    Text(&'a str),
    /// `?`
    Parameter,
    /// `{name}`, without its braces.
    Placeholder(&'a str),
}

/// Cuts a statement. What stands in quotes and comments is text, whatever it looks like.
///
/// # Errors
/// What is wrong, as the rest of a sentence that begins with the statement.
pub(super) fn cut(sql: &str) -> Result<Vec<Token<'_>>, String> {
    if sql.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if sql.len() > MAX_BYTES {
        return Err(format!("has more than {MAX_BYTES} bytes"));
    }
    if sql.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err("has a control character".to_owned());
    }
    let mut cutter = Cutter { sql, from: 0, tokens: Vec::new() };
    let mut at = 0;
    while at < sql.len() {
        at = cutter.step(at)?;
    }
    cutter.text_until(sql.len());
    Ok(cutter.tokens)
}

/// The first word of a statement, in upper case: `SELECT`.
pub(super) fn first_word(sql: &str) -> String {
    let text = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let word = text.chars().take_while(char::is_ascii_alphabetic);
    word.collect::<String>().to_ascii_uppercase()
}

struct Cutter<'a> {
    sql: &'a str,
    /// Where the text under way begins.
    from: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Cutter<'a> {
    /// Takes what stands at `at`; returns where to go on.
    fn step(&mut self, at: usize) -> Result<usize, String> {
        let sql = self.sql;
        let rest = &sql[at..];
        let Some(first) = rest.chars().next() else { return Ok(sql.len()) };
        match first {
            '\'' | '"' | '`' => self.quoted(at, first),
            '#' => Ok(line_end(sql, at)),
            '-' if rest.starts_with("-- ") => Ok(line_end(sql, at)),
            '/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(length) => Ok(at + 2 + length + 2),
                None => Err(format!("has a comment that does not end: `{}`", near(rest))),
            },
            ';' => Err(match sql[at + 1..].trim() {
                "" => "ends in `;`, which is not sent".to_owned(),
                next => format!("holds several statements; the second is `{}`", near(next)),
            }),
            '?' => Ok(self.take(at, at + 1, Token::Parameter)),
            '{' => match rest.find('}') {
                Some(end) => {
                    let token = Token::Placeholder(&sql[at + 1..at + end]);
                    Ok(self.take(at, at + end + 1, token))
                }
                None => Err(format!("has a `{{` without its `}}`: `{}`", near(rest))),
            },
            other => Ok(at + other.len_utf8()),
        }
    }

    /// A doubled quote stands for one, and so does, but for names, one after a backslash.
    fn quoted(&self, at: usize, quote: char) -> Result<usize, String> {
        let bytes = self.sql.as_bytes();
        let mut next = at + 1;
        while let Some(byte) = bytes.get(next) {
            match char::from(*byte) {
                '\\' if quote != '`' => next += 2,
                found if found == quote && bytes.get(next + 1) == Some(byte) => next += 2,
                found if found == quote => return Ok(next + 1),
                _ => next += 1,
            }
        }
        Err(format!("has a quote that does not end: `{}`", near(&self.sql[at..])))
    }

    /// Ends the text before `at`, and goes on after `end`.
    fn take(&mut self, at: usize, end: usize, token: Token<'a>) -> usize {
        self.text_until(at);
        self.tokens.push(token);
        self.from = end;
        end
    }

    fn text_until(&mut self, at: usize) {
        if self.from < at {
            self.tokens.push(Token::Text(&self.sql[self.from..at]));
        }
    }
}

fn line_end(sql: &str, at: usize) -> usize {
    sql[at..].find('\n').map_or(sql.len(), |length| at + length)
}

/// Its first words.
fn near(text: &str) -> String {
    const CHARS: usize = 40;
    let mut shown: String = text.chars().take(CHARS).collect();
    if text.chars().count() > CHARS {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Token::{Parameter, Placeholder, Text};
    use super::*;

    #[test]
    fn a_statement_is_cut_at_parameters_and_placeholders() {
        assert_eq!(
            cut("SELECT c FROM sbtest{table} WHERE id=?").unwrap(),
            [Text("SELECT c FROM sbtest"), Placeholder("table"), Text(" WHERE id="), Parameter]
        );
        assert_eq!(cut("?{list}").unwrap(), [Parameter, Placeholder("list")]);
    }

    #[test]
    fn quotes_and_comments_hold_no_parameter() {
        for sql in [
            "SELECT '?', \"{x};\", `?`",
            "SELECT 'it''s ?', 'a\\'?' /* ? ; ' */",
            "SELECT 1 -- ? '\n+ 2 # ? ;",
            "SELECT 5 - -1",
            "SELECT 'é宽?'",
        ] {
            assert_eq!(cut(sql).unwrap(), [Text(sql)], "{sql}");
        }
    }

    #[test]
    fn what_is_plainly_wrong_is_said() {
        let faults = [
            ("  ", "is empty"),
            ("SELECT 'a", "has a quote that does not end: `'a`"),
            ("SELECT `a", "has a quote that does not end"),
            ("SELECT 'a\\'", "has a quote that does not end"),
            ("SELECT 1 /* x", "has a comment that does not end"),
            ("SELECT 1; DROP TABLE x", "holds several statements; the second is `DROP TABLE x`"),
            ("SELECT 1; ", "ends in `;`"),
            ("SELECT {table", "has a `{` without its `}`"),
            ("SELECT \u{1b}[2J", "has a control character"),
        ];
        for (sql, words) in faults {
            let said = cut(sql).unwrap_err();
            assert!(said.starts_with(words), "{sql}: {said}");
        }
        assert!(cut(&"x".repeat(10_001)).is_err());
    }

    #[test]
    fn the_first_word_is_found_behind_blanks_and_brackets() {
        assert_eq!(first_word(" \n(select 1)"), "SELECT");
        assert_eq!(first_word("42"), "");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_into_itself_or_refused(
            sql in "[ a-z?{}'\"`\\\\;#/*\n-]{0,30}|\\PC{0,20}",
        ) {
            let Ok(tokens) = cut(&sql) else { return Ok(()) };
            let again: String = tokens.iter().map(|token| match token {
                Text(text) => (*text).to_owned(),
                Parameter => "?".to_owned(),
                Placeholder(name) => format!("{{{name}}}"),
            }).collect();
            prop_assert_eq!(again, sql);
        }
    }
}
