//! Characters, some of which are hard to type and have names.

use serde::{Deserialize, Deserializer};

/// Names of characters that a shell or a job file would need quoted.
const NAMES: [(&str, char); 7] = [
    ("tab", '\t'),
    ("\\t", '\t'),
    ("space", ' '),
    ("comma", ','),
    ("semicolon", ';'),
    ("pipe", '|'),
    ("apostrophe", '\''),
];

/// Reads a character by itself or by its name.
pub(super) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<char>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) => Ok(Some(one)),
        _ => match NAMES.iter().find(|(name, _)| *name == text) {
            Some((_, one)) => Ok(Some(*one)),
            None => Err(serde::de::Error::custom(format!(
                "{text:?}: expected one character, or tab, space, comma, semicolon, pipe or \
                 apostrophe"
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::DataOptions;

    #[test]
    fn characters_have_names() {
        let read = |json: &str| serde_json::from_str::<DataOptions>(json);
        for (text, expected) in
            [("tab", '\t'), ("\\\\t", '\t'), ("\\t", '\t'), ("semicolon", ';'), ("|", '|')]
        {
            let found = read(&format!(r#"{{"delimiter":"{text}"}}"#)).unwrap();
            assert_eq!(found.delimiter, Some(expected), "{text}");
            let again = serde_json::to_string(&found).unwrap();
            assert_eq!(read(&again).unwrap(), found);
        }
        let message = read(r#"{"delimiter":"tabs"}"#).unwrap_err().to_string();
        assert!(
            message.starts_with("\"tabs\": expected one character, or tab, space"),
            "{message}"
        );
        assert!(read(r#"{"delimiter":""}"#).is_err());
    }
}
