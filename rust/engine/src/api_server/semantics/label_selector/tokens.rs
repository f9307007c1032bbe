//! The words and symbols of a label selector.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    In,
    NotIn,
    Symbol(&'static str),
    Error(String),
    End,
}

const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];
pub(super) const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

impl Token {
    pub(super) fn literal(&self) -> &str {
        match self {
            Self::Word(word) | Self::Error(word) => word,
            Self::In => "in",
            Self::NotIn => "notin",
            Self::Symbol(symbol) => symbol,
            Self::End => "",
        }
    }
}

fn is_symbol(c: char) -> bool {
    "=!(),><".contains(c)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Takes a selector's text apart.
pub(super) fn scan(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_space);
        // As in the original, a NUL ends the text.
        let Some(first) = rest.chars().next().filter(|c| *c != '\0') else {
            tokens.push(Token::End);
            return tokens;
        };
        let (token, length) = if is_symbol(first) {
            match SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
                Some(symbol) => (Token::Symbol(symbol), symbol.len()),
                None => (Token::Error(format!("error expected: keyword found '{first}'")), first.len_utf8()),
            }
        } else {
            let length = rest.find(|c| is_symbol(c) || is_space(c) || c == '\0').unwrap_or(rest.len());
            let token = match &rest[..length] {
                "in" => Token::In,
                "notin" => Token::NotIn,
                word => Token::Word(word.into()),
            };
            (token, length)
        };
        tokens.push(token);
        rest = &rest[length..];
    }
}
