//! Settings that do not go together.

use super::Objective;
use crate::algorithm::{Algorithm, AlgorithmSpec, Draws, Form, Gains};
use crate::error::Conflict;

/// What to use for objectives that every plain player minimises.
const PLAIN: &str = "use smd-m, smd-1 or online-1";

/// Names of algorithms for which a fact holds: `a, b or c`.
fn either(holds: impl Fn(&AlgorithmSpec) -> bool) -> String {
    let names = Algorithm::named(holds);
    match names.rsplit_once(", ") {
        Some((most, last)) => format!("{most} or {last}"),
        None => names,
    }
}

impl Objective {
    /// Whether an algorithm minimises this objective.
    ///
    /// # Errors
    /// Why it does not, and which ones do.
    pub fn check_solver(self, solver: Algorithm) -> Result<(), String> {
        let spec = solver.spec();
        match self {
            Objective::TopK(_) if !spec.top_k => {
                let names = either(|f| f.top_k);
                Err(format!("{solver} does not minimise {self}: use {names}"))
            }
            Objective::TopK(k) if spec.draws == Draws::EachOfK && k.fract() != 0.0 => {
                let names = either(|f| f.top_k && f.draws != Draws::EachOfK);
                Err(format!("{solver} draws k groups and needs a whole k, found {k}: use {names}"))
            }
            Objective::TopK(_) => Ok(()),
            Objective::Tilted(_) => Err(format!(
                "{solver} does not minimise {self}: use exact, or top-k:K with {}",
                either(|f| f.top_k)
            )),
            _ if spec.top_k => Err(format!("{solver} minimises top-k:K, not {self}: {PLAIN}")),
            _ if spec.only_regret && self != Objective::Regret => {
                Err(format!("{solver} minimises regret, not {self}: {PLAIN}"))
            }
            _ if spec.budgets.is_some() && self != Objective::Max => {
                Err(format!("{solver} plays a weighted form of max, not {self}: {PLAIN}"))
            }
            _ if self.fixes_weights() && !spec.trains => {
                let names = either(|f| f.trains);
                Err(format!("{solver} plays against groups, which {self} does not: use {names}"))
            }
            _ => Ok(()),
        }
    }

    /// The first conflict among the settings that `given` says were given, by their names in job
    /// files: `offsets`, `adjustment` and `scales`, which change nothing under some objectives.
    /// `solver` is the algorithm, if one plays rounds.
    pub fn unused(
        self,
        solver: Option<Algorithm>,
        given: impl Fn(&'static str) -> bool,
    ) -> Option<Conflict> {
        let conflict = |setting, why| Some(Conflict { setting, why });
        if given("scales") {
            if self.fixes_weights() {
                let why = format!("scales change nothing under the objective {self}");
                return conflict("scales", why);
            }
            if let Some(solver) = solver.filter(|a| a.spec().budgets.is_some()) {
                let why = format!("{solver} takes its scale factors from the budgets");
                return conflict("scales", why);
            }
        }
        let setting = match (given("offsets"), given("adjustment")) {
            (false, false) => return None,
            (true, true) => {
                let why = "offsets come from one place: leave one of the two out";
                return conflict("adjustment", why.to_owned());
            }
            (true, false) => "offsets",
            (false, true) => "adjustment",
        };
        match self {
            Objective::Max | Objective::TopK(_) | Objective::Tilted(_) => None,
            Objective::Regret => {
                conflict(setting, "the objective regret has offsets of its own".to_owned())
            }
            Objective::Average | Objective::Balanced => {
                conflict(setting, format!("offsets change nothing under the objective {self}"))
            }
        }
    }

    /// The first conflict among the settings of an algorithm that `given` says were given, by
    /// their names in job files: `anytime`, those of one algorithm alone, `step-w`, `step-q` and
    /// `loss-range`.
    pub fn unused_in_rounds(
        self,
        solver: Algorithm,
        given: impl Fn(&'static str) -> bool,
    ) -> Option<Conflict> {
        let conflict = |setting, why| Some(Conflict { setting, why });
        let spec = solver.spec();
        if given("anytime") && spec.form == Form::Fixed {
            let names = Algorithm::named(|f| f.form != Form::Fixed);
            let why = format!("{solver} has no anytime form: these have one: {names}");
            return conflict("anytime", why);
        }
        let others = Algorithm::ALL.into_iter().filter(|other| *other != solver);
        let mut owned = others.flat_map(|o| o.spec().options.iter().map(move |s| (*s, o)));
        if let Some((setting, owner)) = owned.find(|(s, _)| given(s)) {
            return conflict(setting, format!("{solver} does not use it, {owner} does"));
        }
        if spec.adaptive
            && let Some(setting) = ["step-w", "step-q", "loss-range"].into_iter().find(|s| given(s))
        {
            return conflict(setting, format!("{solver} finds its steps by itself"));
        }
        if !self.fixes_weights() {
            return None;
        }
        if given("step-q") {
            let why = format!("the group weights do not move under the objective {self}");
            return conflict("step-q", why);
        }
        if given("loss-range") && spec.gains == Gains::Bandit {
            let why = format!(
                "{solver} uses it for the group weights, which do not move under the objective {self}"
            );
            return conflict("loss-range", why);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_solvers_do_not_minimise_is_said_with_those_that_do() {
        let refused = |objective: &str, solver: Algorithm| {
            objective.parse::<Objective>().unwrap().check_solver(solver).unwrap_err()
        };
        let found = refused("top-k:2", Algorithm::SmdM);
        assert_eq!(found, "smd-m does not minimise top-k:2: use atkro-m, atkro-k or atkro-1");
        assert_eq!(
            refused("tilted:0.1:groups", Algorithm::SmdM),
            "smd-m does not minimise tilted:0.1:groups: use exact, or top-k:K with atkro-m, atkro-k or atkro-1"
        );
        assert!(refused("top-k:1.5", Algorithm::AtkroK).contains("whole k, found 1.5"));
        assert!(refused("max", Algorithm::Atkro1).contains("minimises top-k:K, not max"));
        assert!(refused("max", Algorithm::Mero).contains("minimises regret"));
        assert!(refused("regret", Algorithm::SmdR).contains("a weighted form of max"));
        assert!(refused("average", Algorithm::Tinf).contains("plays against groups"));
        assert_eq!(Objective::Regret.check_solver(Algorithm::Mero), Ok(()));
        assert_eq!(Objective::TopK(1.5).check_solver(Algorithm::AtkroM), Ok(()));
        assert_eq!(Objective::Average.check_solver(Algorithm::SmdM), Ok(()));
    }

    #[test]
    fn settings_that_change_nothing_are_named() {
        use Algorithm::*;
        let unused = |objective: Objective, solver, given: &[&str]| {
            let found = objective.unused(solver, |s| given.contains(&s));
            found.map_or("", |c| c.setting)
        };
        assert_eq!(unused(Objective::Max, None, &["scales", "offsets"]), "");
        assert_eq!(unused(Objective::Max, Some(SmdR), &["scales"]), "scales");
        assert_eq!(unused(Objective::Balanced, None, &["scales"]), "scales");
        assert_eq!(unused(Objective::Max, None, &["offsets", "adjustment"]), "adjustment");
        assert_eq!(unused(Objective::Regret, None, &["adjustment"]), "adjustment");
        assert_eq!(unused(Objective::Average, None, &["offsets"]), "offsets");

        let unused = |objective: Objective, solver, given: &[&str]| {
            let found = objective.unused_in_rounds(solver, |s| given.contains(&s));
            found.map_or("", |c| c.setting)
        };
        assert_eq!(
            unused(Objective::Max, SmdM, &["anytime", "step-w", "step-q", "loss-range"]),
            ""
        );
        assert_eq!(unused(Objective::Max, SmdR, &["anytime"]), "anytime");
        assert_eq!(unused(Objective::Max, SmdM, &["queries"]), "queries");
        assert_eq!(unused(Objective::Max, Flexible, &["queries"]), "");
        assert_eq!(unused(Objective::Max, Adaptive, &["loss-range"]), "loss-range");
        assert_eq!(unused(Objective::Average, SmdM, &["step-q"]), "step-q");
        assert_eq!(unused(Objective::Average, SmdM, &["loss-range"]), "");
        assert_eq!(unused(Objective::Average, Online1, &["loss-range"]), "loss-range");
        assert_eq!(unused(Objective::Max, Online1, &["loss-range"]), "");
    }
}
