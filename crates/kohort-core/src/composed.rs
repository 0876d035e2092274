//! Letters with marks, such as é and ガ, which Unicode writes in two ways: as one character, or as a letter and a mark
//! behind it. Both look the same; a file from one system has the one, a file from another the other.

use std::collections::HashMap;
use std::iter::successors;
use std::sync::LazyLock;

/// For each mark pairs of a letter and of the same letter with the mark (the canonical decompositions of Unicode).
#[rustfmt::skip]
const WITH_MARKS: &[(char, &str)] = &[
    (
        '\u{300}',
        "AÀEÈIÌOÒUÙaàeèiìoòuùÜǛüǜNǸnǹЕЀИЍеѐиѝĒḔēḕŌṐōṑWẀwẁÂẦâầĂẰăằÊỀêềÔỒôồƠỜơờƯỪưừYỲyỳἀἂἁἃἈἊἉἋἐἒἑἓἘἚἙἛἠἢἡἣ\
         ἨἪἩἫἰἲἱἳἸἺἹἻὀὂὁὃὈὊὉὋὐὒὑὓὙὛὠὢὡὣὨὪὩὫαὰεὲηὴιὶοὸυὺωὼΑᾺΕῈΗῊ᾿῍ϊῒΙῚ῾῝ϋῢΥῪ¨῭ΟῸΩῺ",
    ),
    (
        '\u{301}',
        "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźÜǗüǘGǴgǵÅǺåǻÆǼæǽØǾøǿ\u{308}\u{344}¨΅ΑΆΕΈΗΉΙΊΟΌΥΎ\
         ΩΏϊΐαάεέηήιίϋΰοόυύωώϒϓГЃКЌгѓкќÇḈçḉĒḖēḗÏḮïḯKḰkḱMḾmḿÕṌõṍŌṒōṓPṔpṕŨṸũṹWẂwẃÂẤâấĂẮăắÊẾêếÔỐôốƠỚơớƯỨưứἀἄ\
         ἁἅἈἌἉἍἐἔἑἕἘἜἙἝἠἤἡἥἨἬἩἭἰἴἱἵἸἼἹἽὀὄὁὅὈὌὉὍὐὔὑὕὙὝὠὤὡὥὨὬὩὭαάεέηήιίοόυύωώΑΆΕΈΗΉ᾿῎ϊΐΙΊ῾῞ϋΰΥΎ¨΅ΟΌΩΏ",
    ),
    ('\u{302}', "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑẠẬạậẸỆẹệỌỘọộ"),
    ('\u{303}', "AÃNÑOÕaãnñoõIĨiĩUŨuũVṼvṽÂẪâẫĂẴăẵEẼeẽÊỄêễÔỖôỗƠỠơỡƯỮưữYỸyỹ"),
    ('\u{304}', "AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖÄǞäǟȦǠȧǡÆǢæǣǪǬǫǭÖȪöȫÕȬõȭȮȰȯȱYȲyȳИӢиӣУӮуӯGḠgḡḶḸḷḹṚṜṛṝαᾱΑᾹιῑΙῙυῡΥῩ"),
    ('\u{306}', "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуўЖӁжӂАӐаӑЕӖеӗȨḜȩḝẠẶạặαᾰΑᾸιῐΙῘυῠΥῨ"),
    ('\u{307}', "CĊcċEĖeėGĠgġIİZŻzżAȦaȧOȮoȯBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠsṡŚṤśṥŠṦšṧṢṨṣṩTṪtṫWẆwẇXẊxẋYẎyẏſẛ"),
    (
        '\u{308}',
        "AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋϒϔЕЁІЇеёіїАӒаӓӘӚәӛЖӜжӝЗӞзӟИӤиӥОӦоӧӨӪөӫЭӬэӭУӰуӱЧӴчӵЫӸыӹHḦhḧÕṎõṏŪṺ\
         ūṻWẄwẅXẌxẍtẗ",
    ),
    ('\u{309}', "AẢaảÂẨâẩĂẲăẳEẺeẻÊỂêểIỈiỉOỎoỏÔỔôổƠỞơởUỦuủƯỬưửYỶyỷ"),
    ('\u{30a}', "AÅaåUŮuůwẘyẙAÅ"),
    ('\u{30b}', "OŐoőUŰuűУӲуӳ"),
    ('\u{30c}', "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚGǦgǧKǨkǩƷǮʒǯjǰHȞhȟ"),
    ('\u{30f}', "AȀaȁEȄeȅIȈiȉOȌoȍRȐrȑUȔuȕѴѶѵѷ"),
    ('\u{311}', "AȂaȃEȆeȇIȊiȋOȎoȏRȒrȓUȖuȗ"),
    ('\u{313}', "αἀΑἈεἐΕἘηἠΗἨιἰΙἸοὀΟὈυὐωὠΩὨρῤ"),
    ('\u{314}', "αἁΑἉεἑΕἙηἡΗἩιἱΙἹοὁΟὉυὑΥὙωὡΩὩρῥΡῬ"),
    ('\u{31b}', "OƠoơUƯuư"),
    ('\u{323}', "BḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓAẠaạEẸeẹIỊiịOỌoọƠỢơợUỤuụƯỰưựYỴyỵ"),
    ('\u{324}', "UṲuṳ"),
    ('\u{325}', "AḀaḁ"),
    ('\u{326}', "SȘsșTȚtț"),
    ('\u{327}', "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩDḐdḑHḨhḩ"),
    ('\u{328}', "AĄaąEĘeęIĮiįUŲuųOǪoǫ"),
    ('\u{32d}', "DḒdḓEḘeḙLḼlḽNṊnṋTṰtṱUṶuṷ"),
    ('\u{32e}', "HḪhḫ"),
    ('\u{330}', "EḚeḛIḬiḭUṴuṵ"),
    ('\u{331}', "BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ"),
    ('\u{338}', "←↚→↛↔↮⇐⇍⇔⇎⇒⇏∃∄∈∉∋∌∣∤∥∦∼≁≃≄≅≇≈≉=≠≡≢≍≭<≮>≯≤≰≥≱≲≴≳≵≶≸≷≹≺⊀≻⊁⊂⊄⊃⊅⊆⊈⊇⊉⊢⊬⊨⊭⊩⊮⊫⊯≼⋠≽⋡⊑⋢⊒⋣⊲⋪⊳⋫⊴⋬⊵⋭⫝⫝̸"),
    ('\u{342}', "ἀἆἁἇἈἎἉἏἠἦἡἧἨἮἩἯἰἶἱἷἸἾἹἿὐὖὑὗὙὟὠὦὡὧὨὮὩὯαᾶ¨῁ηῆ᾿῏ιῖϊῗ῾῟υῦϋῧωῶ"),
    (
        '\u{345}',
        "ἀᾀἁᾁἂᾂἃᾃἄᾄἅᾅἆᾆἇᾇἈᾈἉᾉἊᾊἋᾋἌᾌἍᾍἎᾎἏᾏἠᾐἡᾑἢᾒἣᾓἤᾔἥᾕἦᾖἧᾗἨᾘἩᾙἪᾚἫᾛἬᾜἭᾝἮᾞἯᾟὠᾠὡᾡὢᾢὣᾣὤᾤὥᾥὦᾦὧᾧὨᾨὩᾩὪᾪὫᾫὬᾬὭᾭὮᾮὯᾯ\
         ὰᾲαᾳάᾴᾶᾷΑᾼὴῂηῃήῄῆῇΗῌὼῲωῳώῴῶῷΩῼ",
    ),
    ('\u{3099}', "かがきぎくぐけげこごさざしじすずせぜそぞただちぢつづてでとどはばひびふぶへべほぼうゔゝゞカガキギクグケゲコゴサザシジスズセゼソゾタダチヂツヅテデトドハバヒビフブヘベホボウヴワヷヰヸヱヹヲヺヽヾ"),
    ('\u{309a}', "はぱひぴふぷへぺほぽハパヒピフプヘペホポ"),
];

/// The first syllable of Hangul, and the first letter of each kind before it.
const HANGUL: [u32; 4] = [0xac00, 0x1100, 0x1161, 0x11a7];
/// The number of syllables, and how many of them share the first two letters.
const SYLLABLES: [u32; 3] = [11_172, 588, 28];

/// For each letter with a mark: the letter and the mark.
static APART: LazyLock<HashMap<char, (char, char)>> = LazyLock::new(|| {
    let of_mark = |&(mark, pairs): &(char, &'static str)| {
        let letters = pairs.chars().step_by(2);
        letters.zip(pairs.chars().skip(1).step_by(2)).map(move |(letter, with_mark)| (with_mark, (letter, mark)))
    };
    WITH_MARKS.iter().flat_map(of_mark).collect()
});

/// Writes a character as a letter and the marks behind it, and a full-width letter or digit as a usual one.
pub(crate) fn taken_apart(c: char) -> impl Iterator<Item = char> {
    let usual = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    };
    let apart = |c: char| if c.is_ascii() { None } else { APART.get(&c).copied() };
    let steps: Vec<(char, char)> = successors(apart(usual), |step| apart(step.0)).collect();
    let letter = steps.last().map_or(usual, |step| step.0);
    let marks = steps.into_iter().rev().map(|step| step.1);
    syllable(letter).into_iter().flatten().chain(marks)
}

/// The letters of a syllable of Hangul; any other character as it is.
fn syllable(c: char) -> [Option<char>; 3] {
    let ([first, lead, vowel, tail], [number, block, row]) = (HANGUL, SYLLABLES);
    match (c as u32).checked_sub(first).filter(|own| *own < number) {
        None => [Some(c), None, None],
        Some(own) => {
            let last = Some(own % row).filter(|last| *last > 0).and_then(|last| char::from_u32(tail + last));
            [char::from_u32(lead + own / block), char::from_u32(vowel + own % block / row), last]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_with_marks_is_taken_apart() {
        for (c, expected) in [
            ('a', "a"),
            ('é', "e\u{301}"),
            ('ế', "e\u{302}\u{301}"),
            ('ậ', "a\u{323}\u{302}"),
            ('Й', "И\u{306}"),
            ('ガ', "カ\u{3099}"),
            ('ΰ', "υ\u{308}\u{301}"),
            ('한', "\u{1112}\u{1161}\u{11ab}"),
            ('가', "\u{1100}\u{1161}"),
            ('Ｈ', "H"),
            ('！', "!"),
            ('ß', "ß"),
            ('糖', "糖"),
            ('ø', "ø"),
        ] {
            assert_eq!(taken_apart(c).collect::<String>(), expected, "{c}");
        }
    }

    #[test]
    fn the_pairs_of_a_mark_are_whole() {
        for (mark, pairs) in WITH_MARKS {
            assert!(!pairs.is_empty() && pairs.chars().count().is_multiple_of(2), "{:x}", u32::from(*mark));
        }
    }
}
