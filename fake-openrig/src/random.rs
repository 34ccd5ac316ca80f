//! Random identifiers in the forms OpenRig uses.

use std::fs::File;
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Error, Result};

/// `N` bytes from the system's random source.
fn bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(Error::Random)?;
    Ok(bytes)
}

/// 64 lowercase hexadecimal digits, the form of an activity token.
pub(crate) fn hex_64() -> Result<String> {
    Ok(bytes::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A UUID of version 4, the form of an attempt and of an occupant generation.
pub(crate) fn uuid() -> Result<String> {
    Ok(uuid_from(u128::from_be_bytes(bytes()?)))
}

/// A ULID, the form of a node id.
pub(crate) fn ulid() -> Result<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let random = u128::from_be_bytes(bytes()?) & ((1 << 80) - 1);
    Ok(ulid_from(since.as_millis() << 80 | random))
}

fn uuid_from(random: u128) -> String {
    let version = 0x4 << 76;
    let variant = 0b10 << 62;
    let bits = random & !(0xf << 76) & !(0b11 << 62) | version | variant;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The lowest 128 bits in 26 digits of Crockford's base 32, which leaves out I, L, O and U.
fn ulid_from(bits: u128) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    (0..26)
        .rev()
        .map(|place| char::from(DIGITS[(bits >> (5 * place) & 31) as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert_eq!(uuid_from(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid_from(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(ulid_from(0), "00000000000000000000000000");
        assert_eq!(ulid_from(u128::MAX), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        assert_eq!(ulid_from(32), "00000000000000000000000010");
    }

    #[test]
    fn values_are_fresh() {
        assert_eq!(hex_64().unwrap().len(), 64);
        assert_ne!(hex_64().unwrap(), hex_64().unwrap());
        assert_ne!(uuid().unwrap(), uuid().unwrap());
        assert_ne!(ulid().unwrap(), ulid().unwrap());
    }
}
