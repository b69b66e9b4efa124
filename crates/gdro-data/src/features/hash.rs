//! A hash of texts that is the same on every machine and in every version.

/// The bucket of a text: FNV-1a with 64 bits over its UTF-8 bytes, modulo the number of buckets.
///
/// G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake: The FNV Non-Cryptographic Hash Algorithm (IETF
/// draft-eastlake-fnv). Models that were saved depend on it: it must never change.
pub(crate) fn bucket(text: &str, buckets: u32) -> usize {
    (fnv_1a(text.as_bytes()) % u64::from(buckets)) as usize
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    let (basis, prime) = (0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3);
    bytes.iter().fold(basis, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(prime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv_1a(text.as_bytes()), hash, "{text}");
        }
        // 0xaf63dc4c8601ec8c modulo 1024 and 10.
        assert_eq!((bucket("a", 1024), bucket("a", 10)), (0x08c, 6));
    }
}
