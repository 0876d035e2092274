//! Changes bytes in ways that readers dislike: some anywhere, some where the structure is.

use crate::dice::Dice;

/// No input grows beyond this.
const LARGEST: usize = 1 << 20;

/// Words to put in: they mean something to one reader or another.
const WORDS: [&str; 64] = [
    ",",
    ";",
    "\t",
    "|",
    "\"",
    "\"\"",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "*",
    "\u{feff}",
    "é",
    "\u{202e}",
    "NA",
    "=1+1",
    "2010-02-30",
    "9999-99-99",
    "0000-00-00",
    "<0",
    ">=100",
    "[0,5)",
    "250.01",
    "V08",
    "E950",
    "042-044",
    "true",
    "null",
    "{}",
    "[]",
    "[[]]",
    "{\"k\":",
    "\\u0000",
    "\\ud800",
    "-1",
    "0",
    "1e308",
    "-0.0",
    "NaN",
    "1e-400",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "4294967295",
    "4294967296",
    "2147483648",
    "[privacy]",
    "[[exclude]]",
    "knows = 40",
    "k = 2",
    "role = \"quasi\"",
    "hierarchy = \"icd9\"",
    "levels = [0]",
    "unmapped = \"suppress\"",
    "from = \"x\"",
    "of = [\"x\"]",
    "missing = [\"*\"]",
    "\"size\":",
    "\"members\":[",
    "\"domain\":[",
    "PAR1",
    "\u{1f}\u{8b}",
    "../../x",
    "/dev/zero",
];

/// Changes `bytes` once or a few times; `other` is a further example of their kind.
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..1 + dice.below(4) {
        once(bytes, other, dice);
        bytes.truncate(LARGEST);
    }
}

fn once(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    match dice.below(16) {
        0 | 1 => flip(bytes, dice),
        2 => set(bytes, dice),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..(at + 1 + dice.below(16)).min(bytes.len()).max(at))),
        5 => insert(bytes, at, &(0..1 + dice.below(8)).map(|_| dice.bits() as u8).collect::<Vec<_>>()),
        6 | 7 => insert(bytes, at, dice.one_of(&WORDS).as_bytes()),
        8 => number(bytes, dice),
        9 => copy(bytes, dice),
        10 => splice(bytes, other, dice),
        11 => lines(bytes, other, dice),
        12 => nest(bytes, at, dice),
        13 => long(bytes, at, dice),
        14 => repeat(bytes, dice),
        _ => word_for_word(bytes, dice),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, what: &[u8]) {
    bytes.splice(at..at, what.iter().copied());
}

fn flip(bytes: &mut [u8], dice: &mut Dice) {
    if !bytes.is_empty() {
        let at = dice.below(bytes.len());
        bytes[at] ^= 1 << dice.below(8);
    }
}

fn set(bytes: &mut [u8], dice: &mut Dice) {
    let at = dice.below(bytes.len());
    let width = *dice.one_of(&[1, 2, 4, 8]);
    let value = *dice.one_of(&[0u8, 1, 0x7f, 0x80, 0xff]);
    bytes.iter_mut().skip(at).take(width).for_each(|b| *b = value);
}

/// Another number where one stands.
fn number(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let Some((from, to)) = run_of(bytes, dice, |b| b.is_ascii_digit()) else { return };
    let other = match dice.below(4) {
        0 => dice.below(12).to_string(),
        1 => (1u64 << dice.below(64)).to_string(),
        2 => format!("-{}", dice.below(1000)),
        _ => dice
            .one_of(&["18446744073709551615", "18446744073709551616", "1e308", "0.5", "4294967295", "007"])
            .to_string(),
    };
    bytes.splice(from..to, other.into_bytes());
}

/// A word of the list where a word stands.
fn word_for_word(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if let Some((from, to)) = run_of(bytes, dice, |b| b.is_ascii_alphanumeric() || b == b'_') {
        bytes.splice(from..to, dice.one_of(&WORDS).bytes());
    }
}

/// A run of bytes of a kind, from somewhere on.
fn run_of(bytes: &[u8], dice: &mut Dice, is: impl Fn(u8) -> bool) -> Option<(usize, usize)> {
    let start = dice.below(bytes.len());
    let from = start + bytes.get(start..)?.iter().position(|b| is(*b))?;
    let to = from + bytes[from..].iter().position(|b| !is(*b)).unwrap_or(bytes.len() - from);
    Some((from, to))
}

fn copy(bytes: &mut [u8], dice: &mut Dice) {
    let length = 1 + dice.below(64).min(bytes.len() / 2);
    if length * 2 <= bytes.len() {
        let (from, to) = (dice.below(bytes.len() - length), dice.below(bytes.len() - length));
        bytes.copy_within(from..from + length, to);
    }
}

/// One's beginning and another's end.
fn splice(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    bytes.truncate(dice.below(bytes.len() + 1));
    bytes.extend_from_slice(&other[dice.below(other.len() + 1)..]);
}

fn lines(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let strange: Vec<&[u8]> = other.split_inclusive(|b| *b == b'\n').collect();
    if lines.is_empty() || strange.is_empty() {
        return;
    }
    let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(4) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a].clone()),
        2 => lines.swap(a, b),
        _ => lines.insert(a, dice.one_of(&strange).to_vec()),
    }
    *bytes = lines.concat();
}

/// Brackets in brackets, deeper than anybody reads.
fn nest(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let (open, close) =
        *dice.one_of(&[("[", "]"), ("{\"a\":", "}"), ("{a=", "}"), ("{\"members\":[", "],\"shared_chunks\":[]}")]);
    let depth = size([5, 130], 20_000, dice);
    insert(bytes, at, format!("{}{}", open.repeat(depth), close.repeat(depth)).as_bytes());
}

/// Mostly small: large inputs take the time of thousands of small ones.
fn size(small: [usize; 2], large: usize, dice: &mut Dice) -> usize {
    if dice.once_in(64) { large } else { *dice.one_of(&small) }
}

fn long(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let what = *dice.one_of(&["a", "\"", ",", "9", " ", "é", "a,", "\"x\","]);
    insert(bytes, at, what.repeat(size([300, 5000], 200_000, dice)).as_bytes());
}

/// A stretch many times over.
fn repeat(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let from = dice.below(bytes.len());
    let to = (from + 1 + dice.below(200)).min(bytes.len());
    let stretch = bytes[from.min(to)..to].to_vec();
    insert(bytes, to, &stretch.repeat(size([2, 50], 2000, dice)));
}
