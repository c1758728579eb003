//! The names of months in other languages than English, as the C library shortens them.

/// Of each month, in small letters and without a dot behind them. Where two languages mean two months by one word, the first one
/// of German, French, Spanish, Italian, Portuguese, Dutch, the northern, the Slavonic and the other languages counts.
const NAMES: [&str; 12] = [
    "jan jän janv ene gen tammi jaan saus sty led ian яну янв січ ιαν oca sij јан jänner",
    "feb févr fév fev helmi veebr vas lut úno febr фев лют φεβ şub velj феб",
    "mär mars mar mrt maalis märts kov bře márc мар бер μαρ μάρ març ožu mrz",
    "apr avril avr abr april huhti bal kwi dub ápr апр кві απρ nis tra",
    "mai may mag mei maj touko geg kvě máj май мая тра μαΐ μάι maig svi мај",
    "jun juin giu juni kesä juuni jūn birž cze čen jún iun юни июн чер ιουν ιούν haz juny јун",
    "jul juil jui lug juli heinä juuli jūl liep lip čec júl iul юли июл лип ιουλ ιούλ tem јул",
    "aug août aoû ago elo rugp sie srp avg авг сер αυγ αύγ ağu ag kol",
    "sep sept set syys rugs wrz zář szept сеп сен вер σεπ eyl ruj",
    "okt oct ott out loka spal paź říj окт жов οκτ eki",
    "nov marras lapkr lis ное ноя лис νοε νοέ kas stu нов",
    "dez déc dic dec des joulu dets gruod gru pro дек гру δεκ ara дец",
];

/// The number of a month, from 1. Japanese, Chinese and Korean number them; an unknown word is not a month.
///
/// ```
/// # use firstlight_formats::systemd::months::foreign;
/// for (word, month) in [("Mai", 5), ("Mär", 3), ("janv.", 1), ("мая", 5), ("5月", 5)] {
///     assert_eq!(foreign(word), Some(month), "{word}");
/// }
/// assert!(["13月", "a-b", "12", ".", "urt."].iter().all(|word| foreign(word).is_none()));
/// ```
pub fn foreign(word: &str) -> Option<i64> {
    if let Some(number) = word.strip_suffix(['月', '월']) {
        return number.parse().ok().filter(|month| (1..=12).contains(month));
    }
    let word = word.strip_suffix('.').unwrap_or(word);
    if word.is_empty() || word.chars().count() > LONGEST || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let small = word.to_lowercase();
    let known = NAMES.iter().zip(1..).find(|(names, _)| names.split(' ').any(|name| name == small));
    known.map(|(_, month)| month)
}

/// Letters of the longest word that can be a month's.
const LONGEST: usize = 8;
