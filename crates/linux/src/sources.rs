//! The sources that `tailback kernel build` compiles, stored in this crate so that both sides of their protocols change together.

use sha2::{Digest, Sha256};

/// The guest's only program.
const GUEST: &str = include_str!("guest/guest.c");
/// The table of the layout of a connection's state.
const LAYOUT: &str = include_str!("guest/layout.c");
/// The configuration of a kernel, without its tick rate.
const CONFIGURATION: &str = include_str!("guest/kernel.config");

/// Names and contents.
pub const FILES: [(&str, &str); 3] = [("guest.c", GUEST), ("layout.c", LAYOUT), ("kernel.config", CONFIGURATION)];

/// The hash of the guest program's source (SHA-256, hexadecimal), which the manifest of a kernel contains.
pub fn guest_hash() -> String {
    hexadecimal(&Sha256::digest(GUEST.as_bytes()))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_hexadecimal() {
        assert_eq!(hexadecimal(&[0, 0xab, 7]), "00ab07");
        assert_eq!(guest_hash().len(), 64);
    }
}
