//! Dissolve: a small class is given up, and each of its members goes where it costs least.

use super::Repair;
use crate::local::classes::Class;

impl Repair<'_> {
    /// Gives up a class of fewer than twice k people if the total falls.
    pub(super) fn dissolve(&mut self, number: u32) -> i64 {
        let class = &self.classes[number as usize];
        if !class.is_coarsened() || class.people >= 2 * self.requirement.k {
            return 0;
        }
        let (members, saved) = (class.members.clone(), class.cost());
        let mut candidates = Vec::new();
        let mut spent = 0;
        let mark = self.mark();
        for member in members {
            let home = self.cheapest_home(member, number, &mut candidates);
            let removal = self.removal(member.rows);
            let cost = match (home, removal) {
                (Some((growth, to)), removal) if removal.is_none_or(|removal| growth <= removal) => {
                    if spent + growth < saved {
                        self.put(to, member);
                    }
                    growth
                }
                (_, Some(removal)) => {
                    self.remove(member);
                    removal
                }
                (_, None) => saved,
            };
            spent += cost;
            if spent >= saved {
                self.undo(mark);
                return 0;
            }
        }
        self.set(number, Class::default());
        self.keep(mark);
        spent - saved
    }
}
