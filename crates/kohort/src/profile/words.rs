//! Meanings of column names: a list of words in English, German, French, Spanish, Portuguese, Italian, Dutch
//! and romanized Korean, and the most frequent ones in Polish, Czech, Swedish, Danish, Norwegian, Finnish, Turkish,
//! Russian, Japanese, Chinese and Korean. Values decide where they disagree with it.

/// The topic of a column, according to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// States where to reach a person: telephone, e-mail, street.
    Contact,
    /// A number a state or an insurer gave: social security, passport, licence.
    Number,
    /// Notes and reports.
    FreeText,
    /// Names who treated or interviewed the person.
    Staff,
    /// The weight of a person in a survey.
    SamplingWeight,
    /// The people who live together.
    Household,
    BirthPlace,
    Birth,
    Death,
    Age,
    Sex,
    Postal,
    /// Race, marital status, occupation: known to people who know the person.
    Demographic,
    /// Height, weight, body mass index: visible.
    Body,
    /// States how long a stay was.
    Stay,
    /// Amounts of money.
    Cost,
    Procedure,
    Diagnosis,
    Lab,
    /// Symptoms, habits, scores: what a study asks or observes.
    Clinical,
    Outcome,
    /// Town, district, country.
    Place,
    /// Hospital, ward, specialty.
    Facility,
    PersonName,
    /// A stay, a claim, a visit.
    Encounter,
    Patient,
    /// The mother of a child.
    Parent,
    /// A year, a month, a day of something.
    Calendar,
    /// The answer to a question of a series.
    Answer,
    /// An id of something.
    Id,
    /// Numbers that count nothing.
    Code,
}

use Topic::*;

/// The words of each topic; earlier topics go first. A word of five letters or more may also begin or end a longer
/// one, a shorter one must be a word of its own; `^` says that the name is this word and nothing else, `=` that the word
/// is a word of its own although it is long: a quantidade is no idade.
const WORDS: [(Topic, &str); 31] = [
    (
        Contact,
        "ulica ulice puhelin epost adress 電話 住所 メール 电话 手机 地址 邮箱 전화 주소 телефон адрес улица phone telephone telefon telefono telefone telefoon telephon tel mobile handy handynummer movil celular cellulare \
         jeonhwa fax email e_mail mail courriel correo url website homepage address addr adresse adres direccion \
         indirizzo endereco juso street strasse str rue calle rua straat hausnummer hausnr huisnummer huisnr house_number \
         house_no numero_civico ipaddress ip_address",
    ),
    (
        Number,
        "pesel rodne_cislo personnummer henkilotunnus fodselsnummer 保険証 被保険者 身份证 주민등록 주민번호 снилс паспорт полис ssn social_security sozialversicherung svnr nir securite_sociale nss dni nie curp cpf bsn jumin rrn \
         codice_fiscale codicefiscale tessera_sanitaria cartao_sus passport pass_nr \
         reisepass passeport pasaporte passaporto paspoort yeogwon driver drivers license licence fuhrerschein \
         fuehrerschein permis rijbewijs insurance_number versichertennummer versichertennr kvnr nhs_number \
         medicare_number account konto iban plate kennzeichen vin serial device_id",
    ),
    (
        FreeText,
        "uwagi poznamka poznamky anteckning anteckningar aciklama 備考 所見 コメント 备注 비고 примечание комментарий note notes notiz comment comments kommentar commentaire comentario commento remark remarks bemerkung anmerkung \
         opmerking observaciones observacoes osservazioni freitext freetext narrative anamnese anamnesi arztbrief memo \
         compte_rendu referto verslag",
    ),
    (
        Staff,
        "lekarz lekar lakare hekim doktor 医師 担当医 主治医 医生 의사 врач physician physn doctor arzt aerztin medecin medico huisarts nurse surgeon chirurg npi provider prvdr uisa \
         clinician operateur therapist user username operator sachbearbeiter interviewer enquirer enumerator prescriber attending referring consultant zuweiser \
         einsender behandler prescripteur seen_by given_by performed_by entered_by ordered_by reported_by validated_by \
         collected_by",
    ),
    (
        SamplingWeight,
        "perweight sample_weight sampling survey_weight statwt weegfactor hochrechnung gewichtung gewichtungsfaktor \
         ponderation ponderacion peso_campionario peso_amostral expansion_factor factor_expansion wtint wtmec pweight \
         fweight finalwt fnlwgt wgt",
    ),
    (
        Household,
        "gospodarstwo hushall husstand 世帯 家庭 가구 household hhid hh haushalt menage foyer hogar famiglia familia familie huishouden domicilio family famsize fam \
         famille",
    ),
    (
        Age,
        "wiek vek ika yas 年齢 年龄 나이 연령 возраст age ages aged alter altersgruppe edad =idade eta faixa_etaria fascia_eta grupo_edad tranche_age leeftijd nai \
         yeonlyeong yeollyeong lebensalter agegroup agegrp agegr ageyr agey agedays agemonths agemos ageweeks momage dage \
         alder",
    ),
    (
        BirthPlace,
        "miejsce_urodzenia 出生地 birthplace place_of_birth geburtsort lieu_de_naissance lugar_de_nacimiento luogo_di_nascita local_nascimento \
         geboorteplaats",
    ),
    (
        Birth,
        "urodzenia urodzenie narozeni fodelse fodelsear fodsel syntyma dogum 生年月日 誕生日 出生日期 생년월일 рождения birth dob geburt gebdat geb naissance naiss nasc nacimiento nascita nascimento geboorte saengnyeon saengil yob brthdtc \
         birthdt",
    ),
    (
        Death,
        "zgon zgonu umrti 死亡 사망 смерти смерть death dod deceased dead died sterbe todes tod verstorben deces mort decesso morte obito fallecimiento muerte \
         overlijden overleden samang dthdtc yrdth modth dadth dthfl",
    ),
    (
        Sex,
        "plec pohlavi kon kjonn sukupuoli cinsiyet 性別 性别 성별 =пол sex gender geschlecht geschl sexe genre sexo genero sesso geslacht gesl seongbyeol male female fml fem homme femme \
         hombre mujer",
    ),
    (
        Postal,
        "kod_pocztowy psc postnummer postinumero posta_kodu 郵便番号 邮编 邮政编码 우편번호 индекс zip zipcode postal postcode postleitzahl plz code_postal codigo_postal codice_postale cap cep cp postnr upyeon \
         upyeonbeonho",
    ),
    (
        Demographic,
        "hisp hispan ethn etnic stan_cywilny rodinny_stav civilstand medeni narodowosc obywatelstwo wyksztalcenie vzdelani utbildning egitim zawod povolani yrke meslek 職業 婚姻 国籍 学歴 职业 民族 직업 국적 학력 профессия образование национальность race drace racegrp rasse raza raca razza ethnic ethnie etnia herkunft hispanic nwhite religion konfession religione \
         religiao geloof marital marriage married martl familienstand zivilstand etat_civil estado_civil stato_civile \
         burgerlijke gyeolhon nationality nationalitat nationalitaet staatsang nationalite nacionalidad nacionalidade \
         nazionalita nationaliteit gukjeok citizen immigrant immigr language sprache langue idioma lingua taal eoneo \
         education educ ed ded yedu school schulab bildung titolo_studio istruzione etudes diplome educacion escolaridade \
         estudios opleiding hangnyeok qualification occupation beruf job profession professione profissao metier \
         ocupacion ocupacao beroep jigeop jikeop workclass employ empl selfemp insurance versicherung payer payor \
         kostentrager kostentraeger assurance assicurazione seguro verzekering boheom veteran kids children kinder hijos \
         filhos figli siblings relation urban rural homeless income inc einkommen revenu ingreso ingresos renda reddito \
         inkomen salary plurality plural",
    ),
    (
        Body,
        "wzrost waga vyska vikt pituus paino 身長 体重 身高 체중 =рост =вес =имт weight gewicht poids peso chejung height grosse groesse taille talla statura altezza altura lengte sinjang bmi imc \
         ht wt dht dwt stature birthweight",
    ),
    (
        Stay,
        "在院日数 住院天数 재원일수 los length_of_stay care_days days_in verweildauer liegetage liegedauer duree_de_sejour duree_sejour duree \
         estancia dias_estancia dias_permanencia permanencia degenza giorni_degenza opnameduur ligduur verblijfsduur \
         in_hospital jaewon",
    ),
    (
        Cost,
        "cost costs coste custo costo ^charge ^charges total_charges tot_chrg kosten cout montant amount amt betrag importo importe valor_total \
         payment pmt price preis prezzo preco deductible ddctbl expenditure reimbursement bedrag expense tax",
    ),
    (
        Procedure,
        "leczenie lecba behandling tedavi 手術 処置 薬剤 手术 药物 수술 операция лечение препарат procedure proc prcdr pc px ops operation surgery surg eingriff procedimiento procedimento procedura intervention \
         intervento cirurgia ingreep susul cpt hcpcs cci treatment treat behandlung traitement tratamiento tratamento \
         trattamento behandeling chiryo therapy therapie chemo hormon medication medikament medicament medicatie \
         medicamento farmaco drug drugs arznei atc prescription presc recept yakmul drg cmg rx arm armcd actarm trt \
         dose vaccine",
    ),
    (
        Diagnosis,
        "rozpoznanie diagnoza tani hastalik choroba nemoc sjukdom 病名 診断 诊断 疾病 진단 диагноз болезнь diagnosis diagnoses diagnose diagnostic diagnostico diagnosi diag diags dx dgns icd icpc jindan condition disease \
         krankheit maladie enfermedad doenca malattia ziekte disorder comorbid hauptdiagnose nebendiagnose underlying_cause \
         cause_of_death cause causa aeterm aedecod aebodsys meddra histolog stadium stage tumor cancer",
    ),
    (
        Lab,
        "検査 检验 검사 анализ lab labs labor laborwert laboratory glucose glukose glicemia glycemie hba1c a1c hemoglobin hamoglobin hb \
         cholesterol chol creatinine creatinina kreatinin creat crea sodium potassium serum blood blut systolic diastolic sbp \
         dbp blutdruck pressione tension pulse puls heart_rate temperature biomarker genotype psa tsh t3 t4 fti ldl hdl \
         ldlc hdlc triglycerid tg tc alb alt ast bil ggt prot platelet leuko ef pgr er reading measured titer result_value \
         ct_result albumin bilirubin",
    ),
    (
        Outcome,
        "utfall sonuc 転帰 结局 исход outcome result ergebnis resultat resultado risultato esito uitkomst gyeolgwa disposition dc_status discharge_status \
         readmit readmission mortality survival futime censor followup follow_up entlassart entlassungsart \
         entlassungsgrund aeout expire manner autopsy alive vital",
    ),
    (
        Clinical,
        "palenie alkohol_spozycie 喫煙 飲酒 吸烟 흡연 курение symptom sintoma sintomo asthma bronch bronchitis tb hf hbp ulcer colitis hepatitis cough hayfever diabetes diabet \
         dm polio nervous alcohol alkohol alcool pica headache pain schmerz heart allerg nerves bowel infection exercise \
         active birthcontrol pregn pregnant schwanger enceinte embarazo gravid cholest smok smoke smoker smoking rauch \
         fumeur fuma fumador tabac tabaco tabacco rook drink drinks drinks cigarette score scale sapsii apache \
         triage severity aesev severe apgar gestation gest weeks gained premie parity nodes grade goitre lithium \
         hypothyroid hyperthyroid hypertension obesity shock ill illness injury sick health hlth limit disability phase \
         cesd mcs pcs sf36 risk gleason recurrence recur relapse adjuvant psych complaint illdays actdays meno =virus \
         test covid vaccin =status etype offense conviction custody",
    ),
    (
        Place,
        "miasto wojewodztwo powiat gmina mesto kraj lan kommun fylke maakunta kunta kaupunki sehir ilce 都道府県 市区町村 城市 省份 地区 시도 지역 город область район регион city town village stadt ort wohnort ville ciudad cidade citta stad plaats woonplaats municipio municipality comune \
         commune gemeinde kommune county kreis landkreis district distrito distretto state uf bundesland departement \
         provinz province provincia provincie region regione regiao kanton canton country land pays pais paese jiyeok \
         dosi area zone zona sector quartier barrio bairro wijk residence residencia neighborhood neighbourhood location latitude longitude lat lon lng tract block",
    ),
    (
        Facility,
        "oddzial szpital oddeleni nemocnice sjukhus avdelning sairaala hastane 病院 診療科 病棟 科室 医院 병원 진료과 больница отделение hospital krankenhaus hopital ospedale ziekenhuis byeongwon clinic klinik facility ward station abteilung \
         fachabteilung department dept departamento reparto afdeling servicio servico specialty speciality byeongdong site \
         siteid center centre einrichtung care_site careunit unit place_of lieu_deces",
    ),
    (
        PersonName,
        "nazwisko imie jmeno prijmeni namn fornamn efternamn fornavn etternavn efternavn sukunimi etunimi isim soyad soyadi 氏名 名前 姓名 患者名 이름 성명 фио фамилия =имя отчество name names vorname nachname familienname geburtsname surname lastname firstname forename givenname fullname \
         maiden nom prenom nombre apellido nome cognome sobrenome naam voornaam achternaam voorletters voorl ireum \
         seongmyeong initial initialen iniciais iniciales iniziali ^family ^given ^first ^last ^middle ^prefix ^suffix ^title ^anrede",
    ),
    (
        Encounter,
        "wizyta hospitalizacja 入院番号 encounter claim clm visit hadm icustay episode stay_id stayid fallnummer fallnr fall_id fall caseid case aufnahmenummer \
         abrechnungsnr iep sejour episodio ricovero internacao aih opname contactnr accession order_id specimen sample \
         test_id event_id certificate",
    ),
    (
        Patient,
        "pacjent pacjenta pacient potilas lopnr 患者番号 患者 환자 пациент пациента patient pat patnr pid ipp mrn subject subj usubjid subjid person member memberid bene beneficiary insured \
         versicherten client klient participant proband teilnehmer hwanja sujet paciente paziente prontuario \
         numero_historia historia_clinica sujeto patientid enrollee enterprise_id respondent partic mpi empi mpid proefpersoon \
         employee worker mitarbeiter personalnummer personalnr werknemer empleado dipendente salarie trabajador trabalhador",
    ),
    (Parent, "mother maternal mutter mere madre mae moeder matka maman"),
    (
        Calendar,
        "mo mon mth mnth wk week woche semaine semana settimana rok miesiac vuosi 入院日 退院日 日付 日期 날짜 дата месяц year yr jahr annee ano anno jaar month monat mois mes mese maand weekday quarter quartal trimestre date datum \
         fecha data day pan_day",
    ),
    (
        Answer,
        "^q ^qu ^quest ^question ^item ^frage ^preg ^pregunta ^perg ^pergunta ^dom ^domanda ^vraag ^reponse ^answer",
    ),
    (
        Id,
        "id uid uuid guid key identifier ident schluessel recordid record_number rowid row_id seqn rownames pseudonym kennung idnr idno ref \
         number nummer numero nr no lfd",
    ),
    (Code, "id code cd type typ kind art category kategorie categorie categoria class klasse classe flag ind"),
];

/// Returns what a name may be about, the likeliest first: what a whole word says before what a part of one says.
pub(crate) fn topics(name: &str) -> Vec<Topic> {
    let stem = stem(name);
    let name = spell(name);
    let whole = |_: Topic, word: &str| match word.strip_prefix('^') {
        None if word.starts_with('=') => name.contains(&format!(" {} ", &word[1..])),
        Some(word) => name.trim() == word || stem.as_deref() == Some(word),
        None => name.contains(&format!(" {word} ")),
    };
    // Long words begin or end compounds; but an outpatient visit is not a patient.
    let part = |topic: Topic, word: &str| {
        let ends = topic != Patient && name.contains(&format!("{word} "));
        word.len() >= 5 && (ends || name.contains(&format!(" {word}")))
    };
    let about = |says: &dyn Fn(Topic, &str) -> bool| -> Vec<Topic> {
        let holds = |(topic, words): &&(Topic, &str)| {
            words.split_whitespace().any(|word| says(*topic, &word.replace('_', " ")))
        };
        WORDS.iter().filter(holds).map(|(topic, _)| *topic).collect()
    };
    let mut topics = about(&whole);
    for topic in about(&part) {
        if !topics.contains(&topic) {
            topics.push(topic);
        }
    }
    topics
}

/// Words that say that something was asked, tested or coded, and not what.
const VAGUE: &str = "test tests status result results outcome code codes type q qu quest question item answer level value \
    lab labor labs index flag category group ergebnis resultat resultado resultats risultato uitkomst esito prueba prova \
    esame frage pregunta pergunta preg perg dom domanda vraag reponse response var variable field feld reading measured";

/// Returns whether a name does not say what its column is about: every word of it that has a topic is vague.
pub(crate) fn is_vague(name: &str) -> bool {
    let vague = |word: &str| VAGUE.split_whitespace().any(|own| own == word);
    let spelled = spell(name);
    spelled.split_whitespace().all(|word| vague(word) || topics(word).is_empty())
}

/// Names of people in words that mean nothing else, unlike `name`, which a ward has, too.
const OF_PEOPLE: &str = "nazwisko prijmeni fornamn efternamn fornavn etternavn efternavn sukunimi etunimi soyad soyadi \
    vorname nachname familienname geburtsname surname lastname firstname forename givenname maiden prenom apellido \
    apellidos cognome sobrenome voornaam achternaam";

/// Returns whether a name says that its column holds names of people.
pub(crate) fn names_people(name: &str) -> bool {
    let spelled = spell(name).replace(" last name", " lastname").replace(" first name", " firstname");
    spelled.split_whitespace().any(|word| OF_PEOPLE.split_whitespace().any(|own| own == word))
}

/// Returns the topic of the last word of a name that has one: what the column holds, where the words before it say
/// whose.
pub(crate) fn heading(name: &str) -> Option<Topic> {
    let name = spell(name);
    let about = |word: &str| topics(word).into_iter().find(|topic| !matches!(topic, Id | Code | Parent));
    name.split_whitespace().rev().find_map(about)
}

/// The part of a name before its number, where it has one: `q` for `q17` and `q17b`. Columns that share it are a
/// series.
pub(crate) fn stem(name: &str) -> Option<String> {
    let end = name.find(|c: char| c.is_ascii_digit())?;
    let rest = name[end..].trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.chars().count() <= 3).then(|| spell(&name[..end]).trim().to_string())
}

/// The words of a name in small letters, without accents and numbers at their end, each between spaces:
/// `dateOfBirth` is ` date of birth `, `dx01` is ` dx `.
fn spell(name: &str) -> String {
    // The letters of D.O.B. are one word.
    let runs = || name.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    if runs().count() > 1 && runs().all(|run| run.chars().count() == 1) {
        return format!(" {} ", runs().collect::<String>().to_lowercase());
    }
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
        'ç' | 'ć' | 'č' => "c".into(),
        'ñ' | 'ń' | 'ň' => "n".into(),
        'ą' => "a".into(),
        'ę' | 'ě' => "e".into(),
        'ı' => "i".into(),
        'ł' => "l".into(),
        'ø' | 'ő' => "o".into(),
        'ř' => "r".into(),
        'ś' | 'š' | 'ş' => "s".into(),
        'ů' | 'ű' => "u".into(),
        'ý' => "y".into(),
        'ź' | 'ż' | 'ž' => "z".into(),
        'ğ' => "g".into(),
        'æ' => "ae".into(),
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
        check("birth_date;DOB;D.O.B.;dateOfBirth;Geburtsdatum;date de naissance;BENE_BIRTH_DT;geboortedatum", Birth);
        check("age;Alter;edad;idade;eta;faixa_etaria;leeftijd;AGE_AT_ADMISSION;nai;patient_age", Age);
        check("sex;Geschlecht;sexe;sesso;genero;GENDER;geslacht;seongbyeol;BENE_SEX_IDENT_CD", Sex);
        check("zip;PLZ;code postal;postcode;zipCode;Código Postal", Postal);
        check("phone;Telefonnummer;E-Mail;Straße;adresse;HOME_ADDRESS;juso", Contact);
        check("dx01;diag_1;ICD9_DGNS_CD_1;Hauptdiagnose;diagnostico;dx_adm", Diagnosis);
        check("Name;Nachname;last_name;FIRST;prénom;apellidos;achternaam;patient name;ireum", PersonName);
        check("patient_id;patient_nbr;MRN;hwanja_beonho;subjectId;PATIENT;patientnummer;IPP", Patient);
        check("płeć;pohlaví;kön;cinsiyet;性別;성별;пол", Sex);
        check("wiek;věk;年齢;возраст", Age);
        check("nazwisko;příjmení;氏名;ФИО;efternamn", PersonName);
        check("患者番号;Pacjent", Patient);
        check("mo_of_death", Death);
        check("diag_mo", Diagnosis);
        check("mo;wk", Calendar);
        check("q01;Q7b;item_3;vraag2", Answer);
        check("id;ID;DESYNPUF_ID;record-id", Id);
        check("encounter_id;CLM_ID;Fallnummer;caseid", Encounter);
        check("los_days;time_in_hospital;care_days;Verweildauer;dias_permanencia;duree_sejour", Stay);
        check("Gewicht;HEIGHT;peso;altezza;IMC", Body);
        check("hospital_name;ward;Station;medical_specialty", Facility);
        check(
            "race;marital-status;Beruf;native-language;payer_code;ETHNICITY;Familienstand;salary-class;stato_civile",
            Demographic,
        );
        assert_eq!(heading("Patient.address[0].city"), Some(Place));
        assert_eq!(heading("address_postal_code"), Some(Postal));
        assert_eq!(heading("residence_address"), Some(Contact));
        check("outcome;readmitted;discharge_disposition_id;dc_status", Outcome);
        check("DRIVERS;SSN;passport no", Number);
        check("pc01;ICD9_PRCDR_CD_1;DRG;medication", Procedure);
        check("CODE;admission_type", Code);
    }

    #[test]
    fn a_word_inside_another_says_nothing() {
        for name in [
            "quantidade",
            "unidade",
            "number_outpatient",
            "average",
            "essex",
            "pavilion",
            "x1",
            "message",
            "Größenordnung9",
        ] {
            let found = topics(name);
            assert!(!found.iter().any(|t| matches!(t, Patient | Age | Sex)), "{name}: {found:?}");
        }
    }
}
