//! Cholesky's factorisation of a dense symmetric matrix.

/// The lower triangular factor, by rows.
pub(crate) struct Factor {
    values: Vec<f64>,
    size: usize,
}

/// A pivot below this fraction of its diagonal element is rounding error: its variable depends on the earlier ones, and remains 0.
const SINGULAR: f64 = 1e-14;

impl Factor {
    /// `matrix` by rows; only its lower triangle is read.
    pub fn new(mut matrix: Vec<f64>, size: usize) -> Factor {
        for row in 0..size {
            let (above, rest) = matrix.split_at_mut(row * size);
            let own = &mut rest[..=row];
            for column in 0..row {
                let other = &above[column * size..=column * size + column];
                own[column] = (own[column] - dot(&own[..column], &other[..column])) / other[column];
            }
            let pivot = own[row] - dot(&own[..row], &own[..row]);
            // Dividing by infinity removes the variable.
            own[row] = if pivot > SINGULAR * own[row] { pivot.sqrt() } else { f64::INFINITY };
        }
        Factor { values: matrix, size }
    }

    /// The solution of the system with this right-hand side.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution = right.to_vec();
        for row in 0..self.size {
            let own = &self.values[row * self.size..=row * self.size + row];
            solution[row] = (solution[row] - dot(&own[..row], &solution[..row])) / own[row];
        }
        for row in (0..self.size).rev() {
            let own = &self.values[row * self.size..=row * self.size + row];
            solution[row] /= own[row];
            let value = solution[row];
            solution[..row].iter_mut().zip(own).for_each(|(solution, factor)| *solution -= value * factor);
        }
        solution
    }
}

/// In eight sums, which processors compute at once.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f64 = ones.remainder().iter().zip(others.remainder()).map(|(one, other)| one * other).sum();
    let mut sums = [0.0; 8];
    for (one, other) in ones.zip(others) {
        for lane in 0..8 {
            sums[lane] += one[lane] * other[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        // [4 2; 2 5] x = [8, 8] has the solution 1.5, 1.
        let found = Factor::new(vec![4.0, 0.0, 2.0, 5.0], 2).solve(&[8.0, 8.0]);
        assert_eq!(found, [1.5, 1.0]);
    }

    #[test]
    fn a_dependent_variable_remains_0() {
        assert_eq!(Factor::new(vec![1.0, 0.0, 1.0, 1.0], 2).solve(&[3.0, 3.0]), [3.0, 0.0]);
    }

    #[test]
    fn long_products_are_those_of_their_terms() {
        let values: Vec<f64> = (0..21).map(f64::from).collect();
        // The sum of squares up to 20.
        assert_eq!(dot(&values, &values), 2870.0);
    }
}
