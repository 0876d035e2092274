//! The one user of the page: whoever opened the single-use address, in one browser.

use kohort_core::Result;
use kohort_core::random::Randomness;
use std::sync::{Mutex, PoisonError};

/// The address of a studio, and the secrets that open it.
pub(crate) struct Session {
    /// The only Host that is answered: `127.0.0.1:PORT`. A name that another site makes point here is refused.
    pub(crate) host: String,
    /// Cookies ignore ports, so each studio has a name of its own.
    cookie: String,
    secret: String,
    tokens: Mutex<Vec<String>>,
}

impl Session {
    /// Makes the secrets of a studio at this port.
    pub(crate) fn new(port: u16) -> Result<Session> {
        Ok(Session {
            host: format!("127.0.0.1:{port}"),
            cookie: format!("kohort-{}", random_text(1)?),
            secret: random_text(4)?,
            tokens: Mutex::new(Vec::new()),
        })
    }

    /// Makes an address that opens the studio once.
    pub(crate) fn new_address(&self) -> Result<String> {
        let token = random_text(4)?;
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        // An address that nobody used is void as soon as there is a newer one.
        tokens.clear();
        tokens.push(token.clone());
        Ok(format!("http://{}/open?token={token}", self.host))
    }

    /// Uses a token up. Returns the cookie if the token was valid.
    pub(crate) fn open(&self, token: &str) -> Option<String> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let place = tokens.iter().position(|own| is_same(own, token))?;
        tokens.remove(place);
        Some(format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.secret))
    }

    /// Returns whether a Cookie header holds the secret.
    pub(crate) fn knows(&self, cookies: &str) -> bool {
        let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie && is_same(value, &self.secret))
    }
}

/// Compares without stopping at the first difference, so that the time tells nothing.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// A text of so many random 64-bit numbers.
fn random_text(numbers: usize) -> Result<String> {
    let mut random = Randomness::new(None)?;
    Ok((0..numbers).map(|_| format!("{:016x}", random.bits())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_once_and_a_cookie_again_and_again() {
        let session = Session::new(4711).unwrap();
        let address = session.new_address().unwrap();
        let token = address.split_once("token=").unwrap().1.to_string();
        let cookie = session.open(&token).unwrap();
        assert!(session.open(&token).is_none(), "a token is used up");
        let pair = cookie.split(';').next().unwrap();
        assert!(session.knows(pair) && session.knows(&format!("a=b; {pair}")));
        assert!(!session.knows(&format!("{pair}0")) && !session.knows(""));
    }

    #[test]
    fn an_older_address_is_void() {
        let session = Session::new(4711).unwrap();
        let old = session.new_address().unwrap();
        session.new_address().unwrap();
        assert!(session.open(old.split_once("token=").unwrap().1).is_none());
    }
}
