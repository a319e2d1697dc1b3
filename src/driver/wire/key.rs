//! A password under a server's public key.
//!
//! Must not know: sockets, plug-ins. The key is a stranger's bytes: mysql_common's encryption
//! panics on what is no key, so only what was understood here reaches it. Source of the format:
//! SubjectPublicKeyInfo in RFC 5280, RSAPublicKey in RFC 8017.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mysql_common::crypto;

const HEAD: &str = "-----BEGIN PUBLIC KEY-----";
const TAIL: &str = "-----END PUBLIC KEY-----";

/// Shorter keys protect nothing; longer ones are nobody's, and cost time.
const MODULUS_BITS: std::ops::RangeInclusive<usize> = 1024..=16_384;
/// Bytes of padding around an OAEP message under SHA-1.
const PADDING: usize = 2 * 20 + 2;

/// The secret as only the owner of this PEM key can read it; `Err` says why not.
pub(super) fn encrypt(secret: &[u8], pem: &[u8]) -> Result<Vec<u8>, &'static str> {
    match modulus_bytes(pem) {
        None => Err("what the server sent as its public key is none"),
        Some(bytes) if bytes < secret.len() + PADDING => {
            Err("the password is too long for the server's public key; use the Unix socket")
        }
        Some(_) => Ok(crypto::encrypt(secret, pem)),
    }
}

fn modulus_bytes(pem: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(pem).ok()?.trim_matches(['\0', '\n', '\r', ' ']);
    let body = text.strip_prefix(HEAD)?.strip_suffix(TAIL)?;
    let is_space = |byte: &u8| byte.is_ascii_whitespace();
    let body: Vec<u8> = body.bytes().filter(|byte| !is_space(byte)).collect();
    let der = STANDARD.decode(body).ok()?;

    let mut info = element(0x30, &mut &der[..])?;
    element(0x30, &mut info)?;
    let (unused_bits, mut key) = element(0x03, &mut info)?.split_first()?;
    let mut numbers = element(0x30, &mut key)?;
    let modulus = without_zeros(element(0x02, &mut numbers)?);
    let exponent = without_zeros(element(0x02, &mut numbers)?);
    let bits = modulus.len() * 8 - modulus.first()?.leading_zeros() as usize;
    let is_usable = *unused_bits == 0
        && MODULUS_BITS.contains(&bits)
        && modulus.last()? % 2 == 1
        && (1..=8).contains(&exponent.len());
    is_usable.then_some(bits / 8)
}

/// Takes an element of this type from the front.
fn element<'a>(tag: u8, der: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    *der = rest;
    (*found == tag).then_some(content)
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of the kind that servers make: 2048 bits. Nobody holds its other half.
    const KEY: &str = include_str!("key_of_a_server.pem");

    #[test]
    fn a_servers_key_takes_passwords_up_to_its_size() {
        assert_eq!(modulus_bytes(KEY.as_bytes()), Some(256));
        assert_eq!(encrypt(b"secret\0", KEY.as_bytes()).map(|bytes| bytes.len()), Ok(256));
        assert_eq!(encrypt(&[b'x'; 214], KEY.as_bytes()).map(|bytes| bytes.len()), Ok(256));
        assert!(encrypt(&[b'x'; 215], KEY.as_bytes()).unwrap_err().contains("too long"));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for pem in ["", HEAD, "-----BEGIN PUBLIC KEY----------END PUBLIC KEY-----", "\0", "ssh-rsa"]
        {
            assert!(encrypt(b"x", pem.as_bytes()).is_err(), "{pem}");
        }
        let private = KEY.replace("PUBLIC", "RSA PUBLIC");
        assert!(encrypt(b"x", private.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn a_damaged_key_is_encrypted_with_or_refused_and_no_panic(
            place in 0_usize..392,
            bytes in prop::collection::vec(any::<u8>(), 1..5),
        ) {
            let body = KEY.trim().trim_start_matches(HEAD).trim_end_matches(TAIL);
            let body: String = body.split_whitespace().collect();
            let mut der = STANDARD.decode(body).unwrap();
            let place = place % (der.len() - bytes.len());
            der[place..place + bytes.len()].copy_from_slice(&bytes);
            let pem = format!("{HEAD}\n{}\n{TAIL}\n", STANDARD.encode(der));
            if let Ok(encrypted) = encrypt(b"secret\0", pem.as_bytes()) {
                prop_assert!(encrypted.len() >= 128);
            }
        }
    }
}
