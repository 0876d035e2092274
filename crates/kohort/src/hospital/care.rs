//! The care of a hospital: kinds of care, their wards and procedures.

/// The kind of care a diagnosis calls for. It decides on ward and procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Care {
    Infection,
    Tumor,
    Chemotherapy,
    Blood,
    Metabolism,
    Foot,
    Thyroid,
    Mind,
    Addiction,
    Nerves,
    Stroke,
    Eye,
    Tonsils,
    Ear,
    Coronary,
    Heart,
    Vessels,
    Lung,
    Gut,
    Appendix,
    Gallbladder,
    Hernia,
    Bowel,
    Wound,
    Skin,
    Knee,
    Hip,
    Joint,
    Spine,
    Kidney,
    Dialysis,
    Stones,
    Urinary,
    Women,
    Pregnancy,
    Birth,
    Cesarean,
    Newborn,
    HipFracture,
    Fracture,
    Injury,
    Poisoning,
    Observation,
}

impl Care {
    /// A woman does not give birth twice within the weeks between two stays.
    pub fn is_delivery(self) -> bool {
        matches!(self, Care::Birth | Care::Cesarean)
    }
}

/// Describes how one kind of care is given.
pub(super) struct Service {
    care: Care,
    pub ward: &'static str,
    /// Patients in 1000 who are transferred to another hospital.
    pub transferred: u32,
    /// Procedures with their weights; `""` is none.
    pub procedures: &'static [(&'static str, u32)],
}

pub(super) const PEDIATRICS: &str = "pediatrics";
pub(super) const INTENSIVE: &str = "intensive care";

/// One service for each kind of care, in the order of [`Care`].
#[rustfmt::skip]
pub(super) static SERVICES: [Service; Care::Observation as usize + 1] = [
    service(Care::Infection, "internal medicine", 60, &[
        ("", 65), ("central line", 12), ("chest x-ray", 15), ("debridement", 4),
    ]),
    service(Care::Tumor, "oncology", 50, &[
        ("", 25), ("chemotherapy", 30), ("radiotherapy", 12), ("tumor resection", 20), ("biopsy", 15),
    ]),
    service(Care::Chemotherapy, "oncology", 5, &[("chemotherapy", 1)]),
    service(Care::Blood, "internal medicine", 20, &[("", 40), ("transfusion", 45), ("biopsy", 8), ("endoscopy", 5)]),
    service(Care::Metabolism, "internal medicine", 30, &[("", 90), ("central line", 4)]),
    service(Care::Foot, "surgery", 60, &[("", 30), ("debridement", 40), ("angioplasty", 12), ("amputation", 18)]),
    service(Care::Thyroid, "surgery", 5, &[("", 30), ("thyroidectomy", 50), ("biopsy", 8)]),
    service(Care::Mind, "psychiatry", 70, &[("", 75), ("psychotherapy", 25)]),
    service(Care::Addiction, "psychiatry", 60, &[("", 45), ("detoxification", 45), ("psychotherapy", 8)]),
    service(Care::Nerves, "neurology", 70, &[("", 50), ("head CT", 25), ("EEG", 20), ("head MRI", 15)]),
    service(Care::Stroke, "neurology", 320, &[("", 15), ("head CT", 40), ("thrombolysis", 12), ("head MRI", 20)]),
    service(Care::Eye, "ophthalmology", 4, &[("", 15), ("eye surgery", 75)]),
    service(Care::Tonsils, "ear nose throat", 4, &[("", 15), ("tonsillectomy", 75)]),
    service(Care::Ear, "ear nose throat", 4, &[("", 70), ("ear surgery", 20)]),
    service(Care::Coronary, "cardiology", 110, &[
        ("", 15), ("coronary angiography", 35), ("coronary stent", 38), ("bypass surgery", 7),
    ]),
    service(Care::Heart, "cardiology", 70, &[
        ("", 50), ("echocardiography", 30), ("pacemaker", 9), ("cardioversion", 9),
    ]),
    service(Care::Vessels, "surgery", 50, &[("", 45), ("angioplasty", 25), ("vein surgery", 9)]),
    service(Care::Lung, "pulmonology", 60, &[("", 50), ("chest x-ray", 30), ("bronchoscopy", 10), ("ventilation", 9)]),
    service(Care::Gut, "internal medicine", 30, &[
        ("", 35), ("endoscopy", 32), ("colonoscopy", 22), ("transfusion", 6),
    ]),
    service(Care::Appendix, "surgery", 5, &[("", 8), ("appendectomy", 92)]),
    service(Care::Gallbladder, "surgery", 10, &[("", 25), ("cholecystectomy", 75)]),
    service(Care::Hernia, "surgery", 3, &[("", 5), ("hernia repair", 95)]),
    service(Care::Bowel, "surgery", 50, &[("", 55), ("bowel resection", 25), ("colonoscopy", 15)]),
    service(Care::Wound, "surgery", 40, &[("", 50), ("debridement", 40)]),
    service(Care::Skin, "dermatology", 25, &[("", 75), ("debridement", 12), ("biopsy", 6)]),
    service(Care::Knee, "orthopedics", 140, &[("", 10), ("knee replacement", 90)]),
    service(Care::Hip, "orthopedics", 160, &[("", 10), ("hip replacement", 90)]),
    service(Care::Joint, "orthopedics", 50, &[("", 45), ("arthroscopy", 55)]),
    service(Care::Spine, "orthopedics", 70, &[("", 55), ("spinal fusion", 22), ("discectomy", 25)]),
    service(Care::Kidney, "internal medicine", 60, &[("", 60), ("dialysis", 25), ("central line", 8)]),
    service(Care::Dialysis, "internal medicine", 20, &[("dialysis", 1)]),
    service(Care::Stones, "urology", 10, &[("", 45), ("ureteroscopy", 45)]),
    service(Care::Urinary, "urology", 20, &[("", 35), ("urologic surgery", 60)]),
    service(Care::Women, "gynecology", 6, &[("", 30), ("hysterectomy", 45), ("laparoscopy", 25)]),
    service(Care::Pregnancy, "obstetrics", 15, &[("", 60), ("ultrasound", 40)]),
    service(Care::Birth, "obstetrics", 3, &[("vaginal delivery", 1)]),
    service(Care::Cesarean, "obstetrics", 4, &[("cesarean section", 1)]),
    service(Care::Newborn, "neonatology", 25, &[("", 70), ("hearing screening", 25), ("phototherapy", 8)]),
    service(Care::HipFracture, "orthopedics", 280, &[("", 8), ("internal fixation", 55), ("hip replacement", 37)]),
    service(Care::Fracture, "orthopedics", 60, &[("", 15), ("internal fixation", 50), ("cast", 35)]),
    service(Care::Injury, "surgery", 70, &[("", 50), ("head CT", 30), ("wound suture", 20)]),
    service(Care::Poisoning, "internal medicine", 90, &[("", 85), ("ventilation", 7)]),
    service(Care::Observation, "internal medicine", 20, &[
        ("", 70), ("echocardiography", 8), ("head CT", 8), ("chest x-ray", 12),
    ]),
];

const _: () = {
    let mut position = 0;
    while position < SERVICES.len() {
        assert!(SERVICES[position].care as usize == position, "services are in the order of care");
        position += 1;
    }
};

const fn service(
    care: Care,
    ward: &'static str,
    transferred: u32,
    procedures: &'static [(&'static str, u32)],
) -> Service {
    Service { care, ward, transferred, procedures }
}
