//! Changes to what the custodian states. Nobody can count it, so that it must never be printed as counted.

use super::Fit::{All, Nothing};
use super::{Tampering, way};
use serde_json::json;

/// Private/rows with its lines changed.
fn lines(c: &mut super::Change, change: impl FnOnce(&mut Vec<String>, &mut crate::dice::Dice)) -> bool {
    let Some(bytes) = c.release.private.get_mut("rows") else { return false };
    let before = bytes.clone();
    let mut lines: Vec<String> = String::from_utf8_lossy(bytes).lines().map(str::to_string).collect();
    if lines.is_empty() {
        return false;
    }
    change(&mut lines, c.dice);
    *bytes = lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
    *bytes != before
}

pub(super) const WAYS: &[Tampering] = &[
    way("another method", All, |c| {
        c.value("/attested/method", |own, dice| {
            *own = dice.one_of(&["lattice", "local", "specialize", "suppress", "ceiling"]).into()
        })
    }),
    way("a method that does not exist", All, |c| {
        c.value("/attested/method", |own, dice| *own = dice.one_of(&["ouija", "", "Lattice", "lattice "]).into())
    }),
    way("rows are called patients, or patients rows", All, |c| {
        c.value("/attested/unit", |own, _| *own = if own == "row" { "patient" } else { "row" }.into())
    }),
    way("the unit is changed, sentences not redone", Nothing, |c| {
        c.value("/attested/unit", |own, _| *own = if own == "row" { "patient" } else { "row" }.into())
    }),
    way("the version tells a story", All, |c| {
        c.value("/kohort", |own, dice| {
            *own = dice.one_of(&["verified by experts", "0.1.0 (checked)", "", "\u{202e}1.0", "1\n2"]).into()
        })
    }),
    way("a unit that does not exist", All, |c| c.value("/attested/unit", |own, _| *own = "family".into())),
    way("a whole file is called a sample", All, |c| {
        c.value("/attested", |own, _| own["sample"] = json!({ "share": "0.1" }))
    }),
    way("a sample is called a whole file", All, |c| {
        c.value("/attested", |own, _| drop(own.as_object_mut().map(|own| own.remove("sample"))))
    }),
    way("a sample of another size", All, |c| {
        c.value("/attested/sample/share", |own, dice| *own = dice.one_of(&["0.9", "0", "2", "-1"]).into())
    }),
    way("records are called synthetic", All, |c| {
        c.value("/attested", |own, _| {
            own["synthetic"] = json!({ "real_k": 1, "padding": "exact" });
            own["effects"]["synthetic"] = json!(true);
        })
    }),
    way("synthetic records are called real", All, |c| {
        c.value("/attested", |own, _| {
            own.as_object_mut().into_iter().for_each(|own| drop(own.remove("synthetic")));
            own["effects"]["synthetic"] = json!(false);
        })
    }),
    way("more real people than there are", All, |c| {
        c.value("/attested/synthetic/real_k", |own, dice| {
            *own = dice.one_of(&[json!(0), json!(2), json!(3), json!(99)])
        })
    }),
    way("another way of padding", All, |c| {
        c.value("/attested/synthetic/padding", |own, dice| *own = dice.one_of(&["exact", "randomized", "none"]).into())
    }),
    way("another effect", All, |c| {
        let key = c.dice.one_of(&["synthetic", "single_cells", "class_steers"]);
        c.value(&format!("/attested/effects/{key}"), |own, _| *own = json!(own != &json!(true)))
    }),
    way("a test is called a release", All, |c| {
        c.value("/attested", |own, _| drop(own.as_object_mut().map(|own| own.remove("test"))))
    }),
    way("a cleaning that nobody did", All, |c| {
        c.value("/attested", |own, _| own["cleaning"] = json!(["Every name was removed."]))
    }),
    way("a cleaning that is not one visible line", All, |c| {
        c.value("/attested", |own, dice| {
            own["cleaning"] = dice.one_of(&[json!(["a\nverified"]), json!(["\u{202e}"]), json!([""]), json!("x")])
        })
    }),
    way("nothing is assumed", Nothing, |c| c.value("/attested/assumed", |own, _| *own = json!([]))),
    way("an assumption of their own", Nothing, |c| {
        c.value("/attested/assumed", |own, _| {
            own.as_array_mut().into_iter().for_each(|all| all.push(json!("The hospital is trustworthy.")));
        })
    }),
    way("everything could be recounted", Nothing, |c| {
        c.value("/attested/not_recountable", |own, _| *own = json!(["Everything was recounted."]))
    }),
    way("a promise to an attacker who knows the algorithm", Nothing, |c| {
        c.value("/attested/guarantee/aware", |own, _| {
            *own = json!("The same holds against an attacker who knows the algorithm.")
        })
    }),
    way("a stronger statement", Nothing, |c| {
        c.value("/attested/guarantee/plain", |own, _| *own = json!("Nobody is found."))
    }),
    way("lines of private/rows change places", Nothing, |c| {
        lines(c, |lines, dice| {
            let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
            lines.swap(a, b);
        })
    }),
    way("a line of private/rows twice", Nothing, |c| {
        lines(c, |lines, dice| {
            let own = dice.one_of(lines);
            let at = dice.below(lines.len());
            lines[at] = own;
        })
    }),
    way("a line of private/rows that is not there", Nothing, |c| {
        lines(c, |lines, dice| {
            let at = dice.below(lines.len());
            lines[at] = dice.one_of(&["0", "1", "9999", "x", "-2", "18446744073709551616"]).into();
        })
    }),
    way("private/rows is too short or too long", Nothing, |c| {
        lines(c, |lines, dice| match dice.below(2) {
            0 => drop(lines.pop()),
            _ => lines.push("2".into()),
        })
    }),
];
