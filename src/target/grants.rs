//! What an account may do in a schema, by the statements of SHOW GRANTS.
//!
//! Must not know: connections. Source of the form: SHOW GRANTS in the MySQL and MariaDB manuals.

/// What loading a dataset and running every workload on it takes.
const NEEDED: [&str; 8] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX"];

/// What of it these grants do not give on this schema. What is granted through a role counts only
/// where the server lists it. As the server decides it: what is granted on everything, and of what
/// is granted on schemas only the statement that names this one most closely.
pub(super) fn missing_privileges(grants: &[String], database: &str) -> Vec<&'static str> {
    let grants: Vec<Grant<'_>> = grants.iter().filter_map(|grant| Grant::read(grant)).collect();
    let global = grants.iter().filter(|grant| grant.schema == "*");
    let fits = |grant: &&Grant<'_>| grant.schema != "*" && matches_pattern(&grant.schema, database);
    let closest = grants.iter().filter(fits).max_by_key(|grant| closeness(&grant.schema));
    let held: Vec<&String> = global.chain(closest).flat_map(|grant| &grant.privileges).collect();
    let is_held = |needed: &str| {
        held.iter().any(|held| *held == needed || *held == "ALL PRIVILEGES" || *held == "ALL")
    };
    NEEDED.into_iter().filter(|needed| !is_held(needed)).collect()
}

/// All that is needed, as a GRANT lists it.
pub(super) fn all_privileges() -> String {
    NEEDED.join(", ")
}

/// A statement about all tables of a schema.
struct Grant<'a> {
    /// In capitals.
    privileges: Vec<String>,
    /// A pattern, or `*` for every schema.
    schema: std::borrow::Cow<'a, str>,
}

impl<'a> Grant<'a> {
    /// `None` for a statement about something else, a role or a table.
    fn read(grant: &'a str) -> Option<Self> {
        let rest = grant.strip_prefix("GRANT ")?;
        let (privileges, rest) = rest.split_once(" ON ")?;
        let (object, _) = rest.split_once(" TO ")?;
        let schema = object.trim().strip_suffix(".*")?;
        let named = schema.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
        let schema = named.map_or_else(|| schema.into(), |name| name.replace("``", "`").into());
        let words = privileges.split(',').map(|word| word.trim().to_ascii_uppercase());
        Some(Self { privileges: words.collect(), schema })
    }
}

/// How many signs of a pattern stand before its first wildcard.
fn closeness(pattern: &str) -> usize {
    let mut escaped = false;
    let is_wild = |sign: char| {
        let is_wild = !escaped && matches!(sign, '%' | '_');
        escaped = !escaped && sign == '\\';
        is_wild
    };
    pattern.find(is_wild).unwrap_or(usize::MAX)
}

/// Whether a name matches a pattern of LIKE: `%` any text, `_` any sign, `\` takes both as they
/// are.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Which lengths of the name the pattern so far can have taken: no pattern takes more than
    // its length times the name's.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    let mut index = 0;
    while index < pattern.len() {
        let mut next = vec![false; name.len() + 1];
        let (sign, is_plain) = match (pattern[index], pattern.get(index + 1)) {
            ('\\', Some(escaped)) => {
                index += 1;
                (*escaped, true)
            }
            (sign, _) => (sign, false),
        };
        index += 1;
        match (sign, is_plain) {
            ('%', false) => {
                let mut any = false;
                for (place, next) in next.iter_mut().enumerate() {
                    any |= reached[place];
                    *next = any;
                }
            }
            _ => {
                for place in 0..name.len() {
                    let fits = (sign == '_' && !is_plain) || sign == name[place];
                    next[place + 1] = reached[place] && fits;
                }
            }
        }
        reached = next;
    }
    reached[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(grants: &[&str]) -> Vec<&'static str> {
        missing_privileges(&grants.iter().map(|g| (*g).to_owned()).collect::<Vec<_>>(), "sbtest")
    }

    #[test]
    fn everything_on_everything_or_on_the_schema_is_enough() {
        for grant in [
            "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` IDENTIFIED VIA unix_socket",
            "GRANT ALL PRIVILEGES ON `sbtest`.* TO `bench`@`%`",
            "GRANT ALL PRIVILEGES ON `sb%`.* TO `bench`@`%`",
            &format!("GRANT {} ON `sb_est`.* TO `b`@`%`", all_privileges()),
        ] {
            assert!(missing(&[grant]).is_empty(), "{grant}");
        }
    }

    #[test]
    fn what_other_schemas_tables_and_roles_give_does_not_count() {
        for grant in [
            "GRANT ALL PRIVILEGES ON `other`.* TO `bench`@`%`",
            "GRANT ALL PRIVILEGES ON `sb\\_est`.* TO `bench`@`%`",
            "GRANT ALL PRIVILEGES ON `sbtest`.`sbtest1` TO `bench`@`%`",
            "GRANT USAGE ON *.* TO `bench`@`%`",
            "GRANT `reader`@`%` TO `bench`@`%`",
            "GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION",
            "nonsense ON TO",
        ] {
            assert_eq!(missing(&[grant]).len(), NEEDED.len(), "{grant}");
        }
    }

    #[test]
    fn what_is_granted_on_everything_adds_up_and_of_schemas_the_closest_counts() {
        let everywhere = "GRANT SELECT, INSERT ON *.* TO `b`@`%`";
        let here = "GRANT UPDATE, DELETE, CREATE ON `sbtest`.* TO `b`@`%`";
        let around = "GRANT ALL PRIVILEGES ON `sb%`.* TO `b`@`%`";
        assert_eq!(missing(&[everywhere, here]), ["DROP", "ALTER", "INDEX"]);
        assert_eq!(missing(&[around, everywhere, here]), ["DROP", "ALTER", "INDEX"]);
        assert!(missing(&[around]).is_empty());
        assert_eq!(closeness("a\\_b_c"), 4);
    }

    #[test]
    fn patterns_match_as_the_server_matches_them() {
        for (pattern, name, matches) in [
            ("sb%", "sbtest", true),
            ("%", "", true),
            ("a%b%c", "axxbyyc", true),
            ("a%b%c", "axxbyy", false),
            ("a\\%", "a%", true),
            ("a\\%", "ab", false),
            ("_", "数", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), matches, "{pattern} {name}");
        }
    }
}
