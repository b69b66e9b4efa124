//! A set of weights in another unit.

use crate::domain::{Constraints, MirrorMap};

/// The set `by` · W with the distance-generating function by² ν(w/by), which is 1-strongly convex in
/// the norm of ν.
#[derive(Debug)]
pub(crate) struct Scaled<'a, M> {
    pub(super) set: &'a M,
    pub(super) by: f64,
}

impl<M> Clone for Scaled<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Scaled<'_, M> {}

impl<M: MirrorMap> Scaled<'_, M> {
    /// Runs `f` on the weights in the units of W.
    fn within<T>(&self, w: &mut [f64], f: impl FnOnce(&mut [f64]) -> T) -> T {
        w.iter_mut().for_each(|v| *v /= self.by);
        let result = f(w);
        w.iter_mut().for_each(|v| *v *= self.by);
        result
    }
}

impl<M: MirrorMap> MirrorMap for Scaled<'_, M> {
    fn dimension(&self) -> Option<usize> {
        self.set.dimension()
    }

    fn center(&self, w: &mut [f64]) {
        self.set.center(w);
        w.iter_mut().for_each(|v| *v *= self.by);
    }

    fn dual(&self, w: &mut [f64]) {
        self.within(w, |w| self.set.dual(w));
    }

    fn primal(&self, theta: &mut [f64], ridge: f64) {
        self.within(theta, |theta| self.set.primal(theta, ridge));
    }

    fn width(&self, n: usize) -> f64 {
        self.by * self.by * self.set.width(n)
    }

    fn reach(&self, n: usize) -> f64 {
        self.by * self.set.reach(n)
    }

    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        let mut h = h.to_vec();
        h.iter_mut().for_each(|v| *v *= self.by);
        self.set.minimum(&h, self.by * self.by * ridge)
    }

    fn contains(&self, w: &[f64]) -> bool {
        self.within(&mut w.to_vec(), |w| self.set.contains(w))
    }

    fn constraints(&self) -> Constraints {
        let by = self.by;
        match self.set.constraints() {
            Constraints::Ball(radius) => Constraints::Ball(by * radius),
            Constraints::L1(radius) => Constraints::L1(by * radius),
            Constraints::Box(low, high) => Constraints::Box(by * low, by * high),
            Constraints::Bounds(bounds) => {
                Constraints::Bounds(bounds.iter().map(|(l, h)| (by * l, by * h)).collect())
            }
            other @ (Constraints::Free | Constraints::Other) => other,
        }
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        self.set.dual_norm(g)
    }

    fn kappa(&self, n: usize) -> f64 {
        self.set.kappa(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AnyMap, DomainSpec};

    /// Against the same set made in the other unit.
    #[test]
    fn a_scaled_set_is_the_set_of_that_scale() {
        let pairs = [
            ("ball:2", "ball:16"),
            ("l1:0.5", "l1:4"),
            ("box:-1,2", "box:-8,16"),
            ("simplex", "simplex:8"),
            ("p-ball:1.5,2", "p-ball:1.5,16"),
            ("free", "free"),
        ];
        for (one, eight) in pairs {
            let map = |text: &str| text.parse::<DomainSpec>().unwrap().map().unwrap();
            let (set, direct): (AnyMap, AnyMap) = (map(one), map(eight));
            let scaled = Scaled { set: &set, by: 8.0 };
            assert_eq!(scaled.constraints(), direct.constraints(), "{one}");
            let h = [0.3, -2.0, 1.1];
            let same = |a: &[f64], b: &[f64]| {
                let far = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(far < 1e-12, "{one}: {a:?} {b:?}");
            };
            same(&[scaled.minimum(&h, 0.1)], &[direct.minimum(&h, 0.1)]);
            let (mut a, mut b) = (h, h);
            scaled.center(&mut a);
            direct.center(&mut b);
            same(&a, &b);
            assert!(scaled.contains(&a));
            assert_eq!(
                scaled.contains(&[100.0, 90.0, 80.0]),
                direct.contains(&[100.0, 90.0, 80.0])
            );
            let (mut a, mut b) = (h, h);
            scaled.primal(&mut a, 0.2);
            direct.primal(&mut b, 0.2);
            same(&a, &b);
            scaled.dual(&mut a);
            direct.dual(&mut b);
            same(&a, &b);
            assert_eq!((scaled.width(3), scaled.reach(3)), (direct.width(3), direct.reach(3)));
        }
    }
}
