//! Integer and character constants of `#if`.

/// A number of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) bits: u64,
    pub(super) unsigned: bool,
}

impl Value {
    pub(super) fn signed(value: i64) -> Self {
        Self { bits: value as u64, unsigned: false }
    }

    pub(super) fn truth(value: bool) -> Self {
        Self::signed(i64::from(value))
    }

    pub(super) fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// Value of an integer constant of C.
pub(super) fn number(word: &str) -> Result<Value, String> {
    let lower = word.to_ascii_lowercase();
    let (base, rest) = if let Some(hex) = lower.strip_prefix("0x") {
        (16, hex)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (2, binary)
    } else if lower.starts_with('0') {
        (8, &lower[..])
    } else {
        (10, &lower[..])
    };
    // Digits of decimal are read in every base, so that a wrong one is found.
    let is_digit = |byte: &u8| if base == 16 { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    let len = rest.bytes().take_while(|byte| is_digit(byte)).count();
    let (digits, suffix) = rest.split_at(len);
    let wrong = |what: &str| Err(format!("`{word}` {what}"));
    if suffix.starts_with('.') || suffix.starts_with('e') || (base == 16 && suffix.starts_with('p')) {
        return wrong("is a floating-point number");
    }
    if digits.is_empty() {
        return wrong("has no digits");
    }
    let Some(unsigned) = unsigned_suffix(&word[word.len() - suffix.len()..]) else {
        return wrong("is not an integer in C: widths as in `8w1` are not allowed in a condition");
    };
    let mut value: u128 = 0;
    let mut large = false;
    for byte in digits.bytes() {
        let Some(digit) = char::from(byte).to_digit(base) else {
            return wrong("has a digit that is invalid in its base");
        };
        value = value * u128::from(base) + u128::from(digit);
        large |= value > u128::from(u64::MAX);
        value &= u128::from(u64::MAX);
    }
    let bits = value as u64;
    Ok(Value { bits, unsigned: unsigned || (!large && i64::try_from(bits).is_err()) })
}

/// Whether a suffix makes a number unsigned; `None` if C has no such suffix.
fn unsigned_suffix(suffix: &str) -> Option<bool> {
    let long = |rest: &str| matches!(rest, "" | "l" | "L" | "ll" | "LL");
    if long(suffix) {
        return Some(false);
    }
    let without = suffix.strip_prefix(['u', 'U']).or_else(|| suffix.strip_suffix(['u', 'U']))?;
    long(without).then_some(true)
}

/// Value of a character constant: its bytes in a number of 32 bits, one alone with its sign; of a wide
/// constant the last character.
pub(super) fn character(word: &str) -> Result<Value, String> {
    let (wide, quoted) = match word.strip_prefix('L') {
        Some(quoted) => (true, quoted),
        None => (false, word),
    };
    let inner = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or("");
    let units =
        unescaped(inner, wide).ok_or_else(|| format!("`{word}` has an escape sequence without digits"))?;
    let bits = match units[..] {
        [] => return Err("a character constant is empty".to_owned()),
        [.., last] if wide => last,
        [byte] => return Ok(Value::signed(i64::from((byte as u8).cast_signed()))),
        _ => units.iter().fold(0, |value, byte| (value << 8) | (byte & 0xff)),
    };
    Ok(Value::signed(i64::from(bits.cast_signed())))
}

/// Bytes, or characters if `wide`.
fn unescaped(text: &str, wide: bool) -> Option<Vec<u32>> {
    let mut units = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        if char != '\\' {
            let mut bytes = [0; 4];
            match wide {
                true => units.push(u32::from(char)),
                false => units.extend(char.encode_utf8(&mut bytes).bytes().map(u32::from)),
            }
            continue;
        }
        let unit = match rest.next()? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'v' => 11,
            'f' => 12,
            'e' | 'E' => 27,
            first @ '0'..='7' => {
                let mut value = first.to_digit(8)?;
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|next| next.is_digit(8)) {
                        value = value * 8 + digit.to_digit(8)?;
                    }
                }
                value
            }
            'x' => {
                let mut value: Option<u32> = None;
                while let Some(digit) = rest.next_if(char::is_ascii_hexdigit) {
                    value = Some((value.unwrap_or(0) << 4) | digit.to_digit(16)?);
                }
                value?
            }
            other => u32::from(other),
        };
        units.push(unit);
    }
    Some(units)
}
