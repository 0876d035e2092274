//! `preset` under `[privacy]`: a threshold that others have set before, by name and with its source.

use super::section::{Section, Value, nearest};
use crate::Result;
use crate::number::K;

/// A threshold in use, and whose it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name in a policy.
    pub name: &'static str,
    k: u64,
    /// The highest risk, as its source writes it, if the source states a risk.
    pub max_risk: Option<&'static str>,
    /// Its meaning, in one sentence.
    pub meaning: &'static str,
    /// Names whose number it is.
    pub source: &'static str,
}

/// The presets, the mildest first.
pub const PRESETS: [Preset; 5] = [
    Preset {
        name: "trusted-recipient",
        k: 5,
        max_risk: Some("0.2"),
        meaning: "Nobody is re-identified with a probability above 0.2: for a trusted recipient who is bound by an \
             agreement.",
        source: "The minimum cell size of five of many data custodians; El Emam, Guide to the De-Identification of Personal Health Information (2013), on cell size precedents.",
    },
    Preset {
        name: "cms-cells",
        k: 11,
        max_risk: None,
        meaning: "No group of fewer than 11 people is shown, so that no cell counts 1 to 10.",
        source: "Cell size suppression policy of the US Centers for Medicare & Medicaid Services (ResDAC).",
    },
    Preset {
        name: "ema-health-canada",
        k: 12,
        max_risk: Some("0.09"),
        meaning: "Nobody is re-identified with a probability above 0.09: for clinical data that become public. A \
             class of 11 would mean 0.0909, so k is 12.",
        source: "European Medicines Agency, Policy 0070; Health Canada, Public Release of Clinical Information.",
    },
    Preset {
        name: "public-file",
        k: 20,
        max_risk: Some("0.05"),
        meaning: "Nobody is re-identified with a probability above 0.05: for a file that everybody may download.",
        source: "Heritage Health Prize (El Emam and others 2012); public use file of the Canadian Discharge Abstract Database (El Emam and others 2011).",
    },
    Preset {
        name: "public-file-strict",
        k: 25,
        max_risk: Some("0.04"),
        meaning: "Nobody is re-identified with a probability above 0.04: for a public file, with a safety margin.",
        source: "The stricter threshold tried for the public use file of the Canadian Discharge Abstract Database (El Emam and others 2011).",
    },
];

impl Preset {
    /// The least number of people in a class.
    pub fn k(&self) -> K {
        K::new(self.k).unwrap_or(K::LEAST)
    }

    /// The preset that a section names. Beside it, another number for the same thing is refused.
    pub(super) fn read(section: &Section) -> Result<Option<&'static Preset>> {
        let Some(item) = section.get("preset") else { return Ok(None) };
        let known = || PRESETS.iter().map(|p| p.name);
        let list = || known().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let Value::Text(name) = &item.value else {
            return Err(section.wrong("preset", format!("must be one of {}.", list())));
        };
        let Some(preset) = PRESETS.iter().find(|p| p.name == name) else {
            let hint = nearest(name, known()).map_or(String::new(), |near| format!(" Did you mean \"{near}\"?"));
            return Err(section.wrong("preset", format!("unknown preset. Available: {}.{hint}", list())));
        };
        let twice = ["k", "max_risk"].into_iter().find_map(|key| Some((key, section.get(key)?)));
        if let Some((key, other)) = twice {
            return Err(section.wrong(
                "preset",
                format!(
                    "\"{name}\" means k = {}, but line {} also sets `{key}`. Keep one of them.",
                    preset.k, other.line
                ),
            ));
        }
        Ok(Some(preset))
    }

    /// Its meaning and its source, for the custodian.
    pub fn note(&self) -> String {
        format!("preset = \"{}\" means k = {}. {} Source: {}", self.name, self.k, self.meaning, self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Decimal, Fraction};

    #[test]
    fn k_is_what_the_risk_asks_for() {
        for preset in &PRESETS {
            if let Some(risk) = preset.max_risk {
                let risk = Fraction::from_decimal(Decimal::parse(risk, b'.').unwrap()).unwrap();
                assert_eq!(K::for_risk(risk), Some(preset.k()), "{}", preset.name);
            }
        }
        assert!(PRESETS.is_sorted_by_key(|p| p.k));
    }

    #[test]
    fn a_preset_beside_another_number_is_refused_at_both_places() {
        let read = |text: &str| Preset::read(&Section::parse("p.toml", text).unwrap());
        assert_eq!(read("preset = \"public-file\"").unwrap().unwrap().k().get(), 20);
        assert_eq!(read("k = 5").unwrap(), None);
        let message = |text: &str| read(text).unwrap_err().message;
        let twice = message("k = 5\npreset = \"public-file\"");
        assert!(twice.contains("line 2") && twice.contains("line 1") && twice.contains("k = 20"), "{twice}");
        assert!(message("max_risk = 0.05\npreset = \"public-file\"").contains("max_risk"));
        assert!(message("preset = \"public_file\"").contains("Did you mean \"public-file\"?"));
        assert!(message("preset = 5").contains("trusted-recipient"));
    }
}
