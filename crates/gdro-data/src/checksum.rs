//! Checksums.

use std::io::{self, Read};

/// The CRC-32 of a content (RFC 1952, section 8), and how many bytes it has. It tells a change by
/// accident, not one on purpose.
///
/// # Errors
/// Those of reading.
pub fn crc32(mut content: impl Read) -> io::Result<(u32, u64)> {
    let mut crc = flate2::Crc::new();
    let (mut piece, mut bytes) = (vec![0; 1 << 16], 0);
    loop {
        match content.read(&mut piece) {
            Ok(0) => return Ok((crc.sum(), bytes)),
            Ok(read) => {
                crc.update(&piece[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the catalogue of parametrised CRC algorithms (CRC-32/ISO-HDLC).
    #[test]
    fn the_check_value() {
        assert_eq!(crc32(&b"123456789"[..]).unwrap(), (0xCBF4_3926, 9));
        assert_eq!(crc32(io::empty()).unwrap(), (0, 0));
    }
}
