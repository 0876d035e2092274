//! What the name of a column says: a small list of words in English, German, French, Spanish, Dutch and romanized
//! Korean.

/// The topic of a column, according to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// Where to reach a person: telephone, e-mail, street.
    Contact,
    /// A number a state or an insurer gave: social security, passport, licence.
    Number,
    /// Notes and reports.
    FreeText,
    /// Who treated the person.
    Staff,
    BirthPlace,
    Birth,
    Death,
    Age,
    Sex,
    Postal,
    /// Race, marital status, occupation: known to whoever knows the person.
    Demographic,
    /// Known about, in numbers: weight, length of stay, income.
    Measure,
    Procedure,
    Diagnosis,
    Lab,
    Outcome,
    /// Town, district, country.
    Place,
    /// Hospital, ward, specialty.
    Facility,
    PersonName,
    /// A stay, a claim, a visit.
    Encounter,
    Patient,
    /// An id of something.
    Id,
    /// Numbers that count nothing.
    Code,
}

use Topic::*;

/// The words of each topic; earlier topics go first. A word of five letters or more may also begin a longer one,
/// a shorter one stands alone; `^` says that the name is this word and nothing else.
const WORDS: [(Topic, &str); 23] = [
    (
        Contact,
        "phone telephone telefon telefono telefoon telephon tel mobile handy handynummer movil jeonhwa fax email e_mail \
         mail courriel correo url website homepage address addr adresse adres direccion juso street strasse str \
         rue calle straat hausnummer ipaddress ip_address",
    ),
    (
        Number,
        "ssn social_security sozialversicherung svnr nir securite_sociale nss dni nie curp bsn jumin rrn passport pass_nr \
         reisepass passeport pasaporte paspoort yeogwon driver drivers license licence fuhrerschein fuehrerschein permis \
         rijbewijs insurance_number versichertennummer versichertennr kvnr nhs_number medicare_number account konto iban \
         plate kennzeichen vin serial device_id",
    ),
    (
        FreeText,
        "note notes notiz comment comments kommentar commentaire comentario remark remarks bemerkung anmerkung opmerking \
         observaciones freitext freetext narrative anamnese arztbrief memo",
    ),
    (
        Staff,
        "physician physn doctor arzt aerztin medecin medico huisarts nurse surgeon chirurg npi provider prvdr uisa \
         clinician operateur therapist",
    ),
    (BirthPlace, "birthplace place_of_birth geburtsort lieu_de_naissance lugar_de_nacimiento geboorteplaats"),
    (Birth, "birth dob geburt gebdat geb naissance nacimiento geboorte saengnyeon saengil yob"),
    (Death, "death dod deceased sterbe todes tod verstorben deces mort fallecimiento muerte overlijden samang"),
    (Age, "age alter edad leeftijd nai yeonlyeong yeollyeong lebensalter"),
    (Sex, "sex gender geschlecht sexe genre sexo geslacht seongbyeol"),
    (Postal, "zip zipcode postal postcode postleitzahl plz code_postal codigo_postal cp postnr upyeon upyeonbeonho"),
    (
        Demographic,
        "race rasse raza ethnic ethnie etnia herkunft religion konfession geloof marital familienstand zivilstand \
         etat_civil estado_civil burgerlijke gyeolhon nationality nationalitat nationalitaet staatsang nationalite \
         nacionalidad nationaliteit gukjeok citizen language sprache langue idioma taal eoneo education schulab bildung \
         educacion opleiding hangnyeok occupation beruf job profession metier ocupacion beroep jigeop jikeop workclass \
         employ insurance versicherung payer payor kostentrager kostentraeger assurance seguro boheom veteran household",
    ),
    (
        Measure,
        "los length_of_stay care_days days_in verweildauer liegetage liegedauer duree_de_sejour duree estancia opnameduur \
         ligduur in_hospital jaewon weight gewicht poids peso chejung height grosse groesse taille talla lengte sinjang \
         bmi income salary einkommen revenu ingreso inkomen cost costs charge charges kosten cout",
    ),
    (
        Procedure,
        "procedure proc prcdr pc px ops operation surgery eingriff procedimiento intervention ingreep susul cpt hcpcs cci \
         treatment behandlung traitement tratamiento behandeling chiryo therapy therapie medication medikament medicament \
         medicatie drug drugs arznei atc prescription yakmul drg cmg",
    ),
    (
        Diagnosis,
        "diagnosis diagnoses diagnose diagnostic diagnostico diag dx dgns icd jindan condition disease krankheit maladie \
         enfermedad ziekte disorder comorbid hauptdiagnose nebendiagnose",
    ),
    (
        Lab,
        "lab labs labor laborwert laboratory glucose glukose hba1c a1c hemoglobin hamoglobin cholesterol creatinine \
         kreatinin sodium potassium serum blood blut systolic diastolic blutdruck pulse puls heart_rate temperature \
         biomarker genotype",
    ),
    (
        Outcome,
        "outcome result ergebnis resultat resultado uitkomst gyeolgwa disposition dc_status discharge_status readmit \
         readmission mortality survival entlassart entlassungsart entlassungsgrund",
    ),
    (
        Place,
        "city town village stadt ort wohnort ville ciudad stad plaats woonplaats gemeinde kommune county kreis landkreis \
         district state bundesland departement provinz province provincia region kanton canton country land pays pais \
         jiyeok dosi residence neighborhood neighbourhood",
    ),
    (
        Facility,
        "hospital krankenhaus hopital ziekenhuis byeongwon clinic klinik facility ward station abteilung fachabteilung \
         department dept departamento afdeling servicio specialty speciality byeongdong site center centre einrichtung",
    ),
    (
        PersonName,
        "name names vorname nachname familienname geburtsname surname lastname firstname forename givenname fullname \
         maiden nom prenom nombre apellido naam voornaam achternaam ireum seongmyeong initials initialen ^first ^last \
         ^middle ^prefix ^suffix ^title ^anrede",
    ),
    (
        Encounter,
        "encounter claim clm visit hadm episode stay_id fallnummer fallnr fall_id fall caseid case aufnahmenummer sejour \
         episodio opname accession order_id specimen",
    ),
    (
        Patient,
        "patient pat pid mrn subject subj person member memberid bene beneficiary insured versicherten client klient \
         participant proband teilnehmer hwanja sujet paciente sujeto patientid enrollee",
    ),
    (Id, "id uid uuid guid key identifier ident schluessel recordid record_number rowid pseudonym kennung"),
    (Code, "id code cd type typ kind art category kategorie categorie categoria class klasse classe flag ind"),
];

/// What a name may be about, the likeliest first.
pub(super) fn topics(name: &str) -> Vec<Topic> {
    let name = spell(name);
    let says = |word: &&str| {
        let word = word.replace('_', " ");
        match word.strip_prefix('^') {
            Some(word) => name.trim() == word,
            None if word.len() >= 5 => name.contains(&format!(" {word}")),
            None => name.contains(&format!(" {word} ")),
        }
    };
    WORDS
        .iter()
        .filter(|(_, words)| words.split_whitespace().any(|word| says(&word)))
        .map(|(topic, _)| *topic)
        .collect()
}

/// The words of a name in small letters, without accents and numbers at their end, each between spaces:
/// `dateOfBirth` is ` date of birth `, `dx01` is ` dx `.
fn spell(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase() {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            c.to_lowercase().for_each(|c| words.push_str(&without_accent(c)));
        }
        before = c;
    }
    let words = words.split_whitespace().map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    words.filter(|word| !word.is_empty()).fold(String::from(" "), |all, word| all + word + " ")
}

fn without_accent(c: char) -> String {
    match c {
        'ä' | 'á' | 'à' | 'â' | 'ã' | 'å' => "a".into(),
        'é' | 'è' | 'ê' | 'ë' => "e".into(),
        'í' | 'ì' | 'î' | 'ï' => "i".into(),
        'ö' | 'ó' | 'ò' | 'ô' | 'õ' => "o".into(),
        'ü' | 'ú' | 'ù' | 'û' => "u".into(),
        'ç' => "c".into(),
        'ñ' => "n".into(),
        'ß' => "ss".into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, topic: Topic) {
        for name in names.split(';') {
            assert_eq!(topics(name).first(), Some(&topic), "{name}");
        }
    }

    #[test]
    fn names_are_understood_in_several_languages() {
        check("birth_date;DOB;dateOfBirth;Geburtsdatum;date de naissance;BENE_BIRTH_DT;geboortedatum", Birth);
        check("age;Alter;edad;leeftijd;AGE_AT_ADMISSION;nai;patient_age", Age);
        check("sex;Geschlecht;sexe;GENDER;geslacht;seongbyeol;BENE_SEX_IDENT_CD", Sex);
        check("zip;PLZ;code postal;postcode;zipCode;Código Postal", Postal);
        check("phone;Telefonnummer;E-Mail;Straße;adresse;HOME_ADDRESS;juso", Contact);
        check("dx01;diag_1;ICD9_DGNS_CD_1;Hauptdiagnose;diagnostico;dx_adm", Diagnosis);
        check("Name;Nachname;last_name;FIRST;prénom;apellidos;achternaam;patient name;ireum", PersonName);
        check("patient_id;patient_nbr;MRN;hwanja_beonho;subjectId;PATIENT", Patient);
        check("id;ID;DESYNPUF_ID;record-id", Id);
        check("encounter_id;CLM_ID;Fallnummer;caseid", Encounter);
        check("los_days;time_in_hospital;care_days;Gewicht;Verweildauer;salary-class", Measure);
        check("hospital_name;ward;Station;medical_specialty", Facility);
        check("race;marital-status;Beruf;native-language;payer_code;ETHNICITY;Familienstand", Demographic);
        check("outcome;readmitted;discharge_disposition_id;dc_status", Outcome);
        check("DRIVERS;SSN;passport no", Number);
        check("pc01;ICD9_PRCDR_CD_1;DRG;medication", Procedure);
        check("CODE;admission_type", Code);
    }

    #[test]
    fn a_word_inside_another_says_nothing() {
        for name in ["number_outpatient", "average", "essex", "pavilion", "x1", "message", "Größenordnung9"] {
            let found = topics(name);
            assert!(!found.iter().any(|t| matches!(t, Patient | Age | Sex)), "{name}: {found:?}");
        }
    }
}
