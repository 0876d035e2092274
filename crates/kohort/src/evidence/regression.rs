//! Linear and logistic models by their normal equations: small, plain, and for reports only.

/// More terms than this are not fitted.
pub(super) const MOST_TERMS: usize = 60;
/// Steps of a logistic model.
const MOST_STEPS: usize = 50;

/// A fitted model: for each term its coefficient and standard error.
pub(super) struct Fit {
    pub(super) coefficients: Vec<f64>,
    pub(super) errors: Vec<f64>,
}

/// Fits by least squares. Each row of `terms` begins with 1, for the constant. `None` if the terms depend on one
/// another, or if there are too few rows.
pub(super) fn linear(terms: &[Vec<f64>], outcome: &[f64]) -> Option<Fit> {
    let (products, sums) = normal_equations(terms, outcome, |_| 1.0)?;
    let inverse = invert(products)?;
    let coefficients = times(&inverse, &sums);
    let free = terms.len().checked_sub(coefficients.len()).filter(|&free| free > 0)?;
    let squares: f64 = terms.iter().zip(outcome).map(|(row, y)| (y - dot(row, &coefficients)).powi(2)).sum();
    let variance = squares / free as f64;
    let errors = (0..coefficients.len()).map(|i| (variance * inverse[i][i]).max(0.0).sqrt()).collect();
    Some(Fit { coefficients, errors })
}

/// Fits the log odds of an outcome that is 0 or 1, by Newton's steps. `None` if they do not settle: then the terms
/// separate the two values, or depend on one another.
pub(super) fn logistic(terms: &[Vec<f64>], outcome: &[f64]) -> Option<Fit> {
    let width = terms.first()?.len();
    let mut coefficients = vec![0.0; width];
    for _ in 0..MOST_STEPS {
        let chance = |row: &[f64]| 1.0 / (1.0 + (-dot(row, &coefficients)).exp());
        let chances: Vec<f64> = terms.iter().map(|row| chance(row)).collect();
        let rest: Vec<f64> = outcome.iter().zip(&chances).map(|(y, p)| y - p).collect();
        let (products, _) = normal_equations(terms, outcome, |i| chances[i] * (1.0 - chances[i]))?;
        let inverse = invert(products)?;
        let mut sums = vec![0.0; width];
        for (row, rest) in terms.iter().zip(&rest) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * rest);
        }
        let step = times(&inverse, &sums);
        coefficients.iter_mut().zip(&step).for_each(|(coefficient, step)| *coefficient += step);
        if step.iter().any(|step| !step.is_finite()) || coefficients.iter().any(|own| own.abs() > 1e3) {
            return None;
        }
        if step.iter().all(|step| step.abs() < 1e-9) {
            let errors = (0..width).map(|i| inverse[i][i].max(0.0).sqrt()).collect();
            return Some(Fit { coefficients, errors });
        }
    }
    None
}

type Matrix = Vec<Vec<f64>>;

/// The weighted products of the terms with one another and with the outcome.
fn normal_equations(terms: &[Vec<f64>], outcome: &[f64], weight: impl Fn(usize) -> f64) -> Option<(Matrix, Vec<f64>)> {
    let width = terms.first()?.len();
    if width > MOST_TERMS {
        return None;
    }
    let (mut products, mut sums) = (vec![vec![0.0; width]; width], vec![0.0; width]);
    for (i, (row, y)) in terms.iter().zip(outcome).enumerate() {
        let weight = weight(i);
        for (a, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            sums[a] += weight * x * y;
            products[a].iter_mut().zip(row).for_each(|(product, other)| *product += weight * x * other);
        }
    }
    Some((products, sums))
}

/// The inverse of a matrix by Gauss and Jordan, with the largest pivot of each column. `None` if it has none.
fn invert(mut matrix: Matrix) -> Option<Matrix> {
    let width = matrix.len();
    let largest = matrix.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
    let mut inverse: Matrix = (0..width).map(|i| (0..width).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for column in 0..width {
        let pivot = (column..width).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if !matrix[pivot][column].is_finite() || matrix[pivot][column].abs() <= largest * 1e-12 {
            return None;
        }
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let scale = matrix[column][column];
        matrix[column].iter_mut().chain(&mut inverse[column]).for_each(|x| *x /= scale);
        let (own, own_inverse) = (matrix[column].clone(), inverse[column].clone());
        for row in (0..width).filter(|&row| row != column) {
            let factor = matrix[row][column];
            matrix[row].iter_mut().zip(&own).for_each(|(x, own)| *x -= factor * own);
            inverse[row].iter_mut().zip(&own_inverse).for_each(|(x, own)| *x -= factor * own);
        }
    }
    Some(inverse)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn times(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: &[f64], expected: &[f64]) {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
    }

    #[test]
    fn a_line_through_points_is_found() {
        let terms: Vec<Vec<f64>> = (0..10).map(|x| vec![1.0, f64::from(x)]).collect();
        let outcome: Vec<f64> = (0..10).map(|x| 3.0 + 2.0 * f64::from(x)).collect();
        near(&linear(&terms, &outcome).expect("a fit").coefficients, &[3.0, 2.0]);
        // R: summary(lm(c(1, 2, 2, 4) ~ c(1, 2, 3, 4))) gives 0 and 0.9 with 0.7246 and 0.2646.
        let terms: Vec<Vec<f64>> = (1..5).map(|x| vec![1.0, f64::from(x)]).collect();
        let fit = linear(&terms, &[1.0, 2.0, 2.0, 4.0]).expect("a fit");
        near(&fit.coefficients, &[0.0, 0.9]);
        near(&fit.errors, &[0.724_568_837, 0.264_575_131]);
    }

    #[test]
    fn log_odds_are_found() {
        // Of 10 without the property 2 have the outcome, of 10 with it 6: log(2/8), and log(6/4) - log(2/8).
        let rows = (0..20).map(|i| (f64::from(i / 10), f64::from(u8::from(if i < 10 { i < 2 } else { i < 16 }))));
        let (terms, outcome): (Vec<Vec<f64>>, Vec<f64>) = rows.map(|(x, y)| (vec![1.0, x], y)).unzip();
        let fit = logistic(&terms, &outcome).expect("a fit");
        near(&fit.coefficients, &[(0.25f64).ln(), (1.5f64).ln() - (0.25f64).ln()]);
        near(&fit.errors[..1], &[(1.0f64 / 2.0 + 1.0 / 8.0).sqrt()]);
    }

    #[test]
    fn terms_that_cannot_be_told_apart_have_no_fit() {
        let twice: Vec<Vec<f64>> = (0..5).map(|x| vec![1.0, f64::from(x), f64::from(x)]).collect();
        assert!(linear(&twice, &[1.0, 2.0, 3.0, 4.0, 5.0]).is_none());
        let separated: Vec<Vec<f64>> = (0..6).map(|x| vec![1.0, f64::from(x)]).collect();
        assert!(logistic(&separated, &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]).is_none());
        assert!(linear(&[], &[]).is_none());
    }
}
