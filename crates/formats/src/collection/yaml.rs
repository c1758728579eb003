//! One line of a LAVA log: a flow mapping, `{"dt": "...", "lvl": "target", "msg": "..."}`.

/// The scalars of a mapping, in order; a nested mapping or list is left out.
pub fn scalars(line: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut rest = line.trim_ascii();
    rest = rest.strip_prefix(b"-").unwrap_or(rest).trim_ascii_start();
    rest = rest.strip_prefix(b"{")?;
    let mut found = Vec::new();
    // `dt`, `lvl`, `msg`, `ns`: a line with many more keys is none of LAVA's.
    for _ in 0..16 {
        rest = rest.trim_ascii_start();
        if rest.is_empty() || rest.starts_with(b"}") {
            break;
        }
        let (key, after) = scalar(rest, b":")?;
        rest = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        if let Some(b'{' | b'[') = rest.first() {
            break;
        }
        let (value, after) = scalar(rest, b",}")?;
        found.push((key, value));
        let after = after.trim_ascii_start();
        rest = after.strip_prefix(b",").unwrap_or(after);
    }
    Some(found)
}

/// One scalar and what comes after it; a plain one ends at one of *ends*. One that is cut off ends where the line does.
fn scalar<'a>(bytes: &'a [u8], ends: &[u8]) -> Option<(Vec<u8>, &'a [u8])> {
    match bytes.first()? {
        b'"' => Some(double(&bytes[1..])),
        b'\'' => Some(single(&bytes[1..])),
        _ => {
            // A colon within a plain scalar is part of it, as in a time, unless a blank follows.
            let stop = |&at: &usize| {
                ends.contains(&bytes[at]) && (bytes[at] != b':' || bytes.get(at + 1).is_none_or(|byte| *byte == b' '))
            };
            let end = (0..bytes.len()).find(stop).unwrap_or(bytes.len());
            Some((bytes[..end].trim_ascii_end().to_vec(), &bytes[end..]))
        }
    }
}

fn single(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == b'\'' {
            if bytes.get(at) != Some(&b'\'') {
                break;
            }
            at += 1;
        }
        value.push(byte);
    }
    (value, &bytes[at..])
}

fn double(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => break,
            b'\\' => {
                let Some(&escape) = bytes.get(at) else { break };
                at += 1;
                let digits = match escape {
                    b'x' => 2,
                    b'u' => 4,
                    b'U' => 8,
                    _ => 0,
                };
                if digits > 0 {
                    let code = bytes.get(at..at + digits).and_then(|digits| std::str::from_utf8(digits).ok());
                    let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
                    at = (at + digits).min(bytes.len());
                    let character = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                    value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    continue;
                }
                value.push(match escape {
                    b'0' => 0,
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'e' => 27,
                    other => other,
                });
            }
            _ => value.push(byte),
        }
    }
    (value, &bytes[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &str) -> Vec<String> {
        scalars(line.as_bytes())
            .unwrap_or_default()
            .into_iter()
            .map(|(key, value)| format!("{}={}", String::from_utf8_lossy(&key), String::from_utf8_lossy(&value)))
            .collect()
    }

    #[test]
    fn every_style_of_scalar() {
        let expected = ["dt=2026-01-02T03:04:05.678901", "lvl=target", "msg=it's \"so\", 1"];
        assert_eq!(
            values(r#"- {"dt": "2026-01-02T03:04:05.678901", "lvl": "target", "msg": "it's \"so\", 1"}"#),
            expected
        );
        assert_eq!(values(r#"- {dt: '2026-01-02T03:04:05.678901', lvl: target, msg: 'it''s "so", 1'}"#), expected);
        assert_eq!(values(r#"- {"lvl": "results", "msg": {"case": "x"}}"#), ["lvl=results"]);
        assert_eq!(values(r#"{"msg": "\x1b[0m\u00e9 cut"#), ["msg=\u{1b}[0mé cut"]);
        assert_eq!(scalars(b"no mapping"), None);
    }
}
