//! The norm of a vector of which single coordinates change.

/// ‖v‖₂², kept up to date by adding differences, with compensation, and computed anew after 16
/// changes per coordinate, and when it has fallen so far that the differences have cancelled.
#[derive(Clone, Debug, Default)]
pub(super) struct Norm {
    square: f64,
    /// What that number cannot hold.
    rest: f64,
    /// The largest square since it was computed.
    peak: f64,
    /// Changes since then.
    changes: f64,
}

impl Norm {
    /// That of these numbers.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let square = values.map(|v| v * v).sum();
        Norm { square, rest: 0.0, peak: square, changes: 0.0 }
    }

    /// ‖v‖₂.
    #[inline]
    pub fn get(&self) -> f64 {
        (self.square + self.rest).max(0.0).sqrt()
    }

    /// Counts changed coordinates.
    #[inline]
    pub fn count(&mut self, changes: usize) {
        self.changes += changes as f64;
    }

    /// Adds Σ (new² − old²).
    #[inline]
    pub fn add(&mut self, growth: f64) {
        let square = self.square + growth;
        let other = square - self.square;
        self.rest += (self.square - (square - other)) + (growth - other);
        self.square = square;
        self.peak = self.peak.max(square);
    }

    /// Whether it has to be computed anew from so many coordinates.
    #[inline]
    pub fn is_due(&self, coordinates: usize) -> bool {
        self.changes > 16.0 * coordinates as f64 || self.square < 1e-3 * self.peak
    }

    /// The four numbers.
    pub fn save(&self) -> [f64; 4] {
        [self.square, self.rest, self.peak, self.changes]
    }

    /// The same from four numbers.
    pub fn restored(&[square, rest, peak, changes]: &[f64; 4]) -> Self {
        Norm { square, rest, peak, changes }
    }
}
