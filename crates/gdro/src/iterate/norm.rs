//! The norm of a vector of which single coordinates change.

/// The part of its largest value to which a square may fall before it is computed anew.
const LEAST: f64 = 1e-3;

/// ‖v‖₂², kept up to date by adding differences, and computed anew after 16 changes per coordinate,
/// and when it has fallen so far that the differences have cancelled.
#[derive(Clone, Debug)]
pub(super) struct Norm {
    square: f64,
    /// The largest square since it was computed, and so small a part of it that the differences
    /// have cancelled.
    peak: f64,
    least: f64,
    /// Changes since then.
    changes: usize,
    /// How many there may be.
    most: usize,
}

impl Norm {
    /// That of so many numbers, of which this is the sum of squares.
    pub fn new(len: usize, square: f64) -> Self {
        Norm { square, peak: square, least: LEAST * square, changes: 0, most: 16 * len }
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
        if self.square > self.peak {
            (self.peak, self.least) = (self.square, LEAST * self.square);
        }
        self.changes += changes;
    }

    /// Whether it has to be computed anew.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.changes > self.most || self.square < self.least
    }

    /// The numbers that it consists of.
    pub fn save(&self) -> [f64; 3] {
        [self.square, self.peak, self.changes as f64]
    }

    /// Takes them over.
    pub fn restore(&mut self, &[square, peak, changes]: &[f64; 3]) {
        (self.square, self.peak, self.changes) = (square, peak, changes as usize);
        self.least = LEAST * peak;
    }
}
