//! Growth of a cost with a size: the exponent of a power law, by least squares over logarithms.

/// Sizes and their costs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Growth {
    logarithms: Vec<(f64, f64)>,
    /// A size with cost 0: the others are also noise.
    is_noise: bool,
}

impl Growth {
    /// Adds a size and its cost.
    pub(crate) fn add(&mut self, size: f64, cost: f64) {
        if size > 0.0 && cost > 0.0 {
            self.logarithms.push((size.ln(), cost.ln()));
        } else {
            self.is_noise = true;
        }
    }

    /// Returns the exponent, and R² of the line through the logarithms; `None` for fewer than three
    /// sizes, or if one of them cost nothing.
    pub(crate) fn power(&self) -> Option<(f64, f64)> {
        let count = self.logarithms.len() as f64;
        if count < 3.0 || self.is_noise {
            return None;
        }
        let mean = |of: fn(&(f64, f64)) -> f64| self.logarithms.iter().map(of).sum::<f64>() / count;
        let x = mean(|point| point.0);
        let y = mean(|point| point.1);
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            self.logarithms
                .iter()
                .map(|point| of(point.0 - x, point.1 - y))
                .sum::<f64>()
        };
        let xx = sum(&|x, _| x * x);
        let yy = sum(&|_, y| y * y);
        let xy = sum(&|x, y| x * y);
        // The same size three times has no slope, and the same cost three times is a perfect line.
        (xx > 0.0).then(|| (xy / xx, if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(points: &[(f64, f64)]) -> Option<(f64, f64)> {
        let mut growth = Growth::default();
        points.iter().for_each(|point| growth.add(point.0, point.1));
        growth.power()
    }

    #[test]
    fn a_quadratic_cost_has_the_power_of_two() {
        let (exponent, fit) =
            growth(&[(1.0, 3.0), (2.0, 12.0), (4.0, 48.0), (8.0, 192.0)]).unwrap();
        assert!(
            (exponent - 2.0).abs() < 1e-9 && (fit - 1.0).abs() < 1e-9,
            "{exponent} {fit}"
        );
        // By hand: logarithms to the base of 2 are (0, 0), (1, 1), (2, 1); slope 1/2, R² = 1²/(2 ·
        // 2/3).
        let (exponent, fit) = growth(&[(1.0, 1.0), (2.0, 2.0), (4.0, 2.0)]).unwrap();
        assert!(
            (exponent - 0.5).abs() < 1e-9 && (fit - 0.75).abs() < 1e-9,
            "{exponent} {fit}"
        );
        assert_eq!(
            growth(&[(1.0, 1.0), (2.0, 2.0), (4.0, -0.1), (8.0, 2.0), (16.0, 4.0)]),
            None
        );
        assert_eq!(growth(&[(2.0, 1.0), (2.0, 2.0), (2.0, 3.0)]), None);
    }
}
