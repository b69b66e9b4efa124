//! The norm of a vector of which single coordinates change.

/// ‖v‖₂², kept up to date by adding differences, and computed anew after 16 changes per coordinate,
/// and when it has fallen so far that the differences have cancelled.
#[derive(Clone, Debug)]
pub(super) struct Norm {
    square: f64,
    /// The largest square since it was computed.
    peak: f64,
    /// Changes since then.
    changes: usize,
    /// How many there may be.
    most: usize,
}

impl Norm {
    /// That of so many numbers, of which this is the sum of squares.
    pub fn new(len: usize, square: f64) -> Self {
        Norm { square, peak: square, changes: 0, most: 16 * len }
    }

    /// ‖v‖₂.
    pub fn get(&self) -> f64 {
        self.square.max(0.0).sqrt()
    }

    /// ‖v‖₂², up to rounding, which may make it negative.
    #[inline]
    pub fn square(&self) -> f64 {
        self.square
    }

    /// Adds Σ (new² − old²) of so many coordinates.
    #[inline]
    pub fn add(&mut self, growth: f64, changes: usize) {
        self.square += growth;
        self.peak = if self.square > self.peak { self.square } else { self.peak };
        self.changes += changes;
    }

    /// Whether it has to be computed anew.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.changes > self.most || self.square < 1e-3 * self.peak
    }

    /// The numbers that it consists of.
    pub fn save(&self) -> [f64; 3] {
        [self.square, self.peak, self.changes as f64]
    }

    /// Takes them over.
    pub fn restore(&mut self, &[square, peak, changes]: &[f64; 3]) {
        (self.square, self.peak, self.changes) = (square, peak, changes as usize);
    }
}
