//! Files that are nearly right.

use serde_json::Value;

/// A stream of random numbers (SplitMix64, doi:10.1145/2660193.2660195).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Bytes that mean something to some reader.
const WORDS: [&[u8]; 24] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\n",
    b"\r\n",
    b",",
    b"\"",
    b"\"\"",
    b"NaN",
    b"inf",
    b"1e999",
    b"-0",
    b"9223372036854775808",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"PAR1",
    b"ARROW1",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b":",
    b"#",
    b"[",
    b"{",
    b"'",
];

/// Values that are at the end of some range.
fn odd_value(random: &mut Random) -> Value {
    let texts = [
        "0",
        "-1",
        "1",
        "2",
        "0.5",
        "1e308",
        "-1e308",
        "1e-320",
        "4611686018427387905",
        "null",
        "true",
        "9223372036854775807",
        "18446744073709551615",
        "4294967296",
        "16777217",
        "\"\"",
        "\"a\"",
        "\"\\u0000\\u202e\"",
        "[]",
        "[[]]",
        "{}",
        "[0,0]",
        "[1e300,null]",
        "\"max\"",
    ];
    let text: &&str = random.of(&texts);
    serde_json::from_str(text).expect("a value")
}

/// A file made of a good one and, perhaps, of another one.
pub fn mutated(good: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    if random.below(2) == 0
        && let Ok(mut value) = serde_json::from_slice::<Value>(good)
    {
        for _ in 0..=random.below(2) {
            change(&mut value, random);
        }
        return value.to_string().into_bytes();
    }
    let mut bytes = good.to_vec();
    for _ in 0..=random.below(2) {
        change_bytes(&mut bytes, other, random);
    }
    bytes
}

/// Changes something of bytes.
fn change_bytes(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let length = bytes.len();
    // Half of the changes are at the end, where footers are.
    let from = if random.below(2) == 0 { 0 } else { length - length / 4 };
    let at = from + random.below(length - from + 1);
    let until = at + random.below((length - at).min(64) + 1);
    match random.below(8) {
        0 if at < length => bytes[at] ^= 1 << random.below(8),
        1 if at < length => bytes[at] = random.next() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..until)),
        4 => {
            let part = bytes[at..until].to_vec();
            let times = 1 + random.below(3);
            bytes.splice(at..at, std::iter::repeat_n(part, times).flatten());
        }
        5 => drop(bytes.splice(at..until, random.of(&WORDS).iter().copied())),
        6 if !other.is_empty() => {
            let start = random.below(other.len());
            let end = start + random.below((other.len() - start).min(256) + 1);
            bytes.splice(at..until, other[start..end].iter().copied());
        }
        _ => {
            // A number in four or eight bytes, as lengths are.
            let number = *random.of(&[0, 1, 1 << 20, 1 << 31, u64::MAX >> 1, u64::MAX]);
            let size = *random.of(&[4usize, 8]);
            if at + size <= length {
                bytes[at..at + size].copy_from_slice(&number.to_le_bytes()[..size]);
            }
        }
    }
}

/// Changes one of the values inside a value.
fn change(value: &mut Value, random: &mut Random) {
    let inside = match value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if inside == 0 || random.below(8) == 0 {
        *value = odd_value(random);
        return;
    }
    let (at, to) = (random.below(inside), random.below(inside));
    // Three steps of four go deeper.
    let here = random.below(4) == 0;
    match value {
        Value::Array(list) if here => match random.below(4) {
            0 => drop(list.remove(at)),
            1 => list.insert(to, list[at].clone()),
            2 => list.swap(at, to),
            _ => list.extend(list.clone()),
        },
        Value::Object(map) if here => {
            let names: Vec<String> = map.keys().cloned().collect();
            let taken = map.get(&names[to]).cloned().unwrap_or_default();
            match random.below(3) {
                0 => drop(map.remove(&names[at])),
                1 => drop(map.insert(names[at].clone(), taken)),
                _ => drop(map.insert(format!("{}x", names[at]), taken)),
            }
        }
        Value::Array(list) => change(&mut list[at], random),
        Value::Object(map) => {
            if let Some(inner) = map.values_mut().nth(at) {
                change(inner, random);
            }
        }
        _ => {}
    }
}
