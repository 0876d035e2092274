//! Which settings no other beats, and at which of them less risk begins to cost much more.

use super::MeasuredSetting;

/// Marks them. What is never released is compared with, and neither beats nor is beaten.
pub(super) fn mark(tried: &mut [MeasuredSetting]) {
    let points: Vec<Option<(f64, f64)>> =
        tried.iter().map(|t| t.risk().zip(t.loss()).filter(|_| !t.is_baseline())).collect();
    let beaten = |own: (f64, f64)| {
        points.iter().flatten().any(|&(risk, loss)| risk <= own.0 && loss <= own.1 && (risk, loss) != own)
    };
    let mut frontier: Vec<(f64, f64, usize)> = Vec::new();
    for (i, point) in points.iter().enumerate() {
        if let Some((risk, loss)) = point.filter(|p| !beaten(*p)) {
            tried[i].on_frontier = true;
            frontier.push((risk, loss, i));
        }
    }
    frontier.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    if let Some(knee) = knee(&frontier) {
        tried[knee].is_knee = true;
    }
}

/// The point of a frontier (ascending by risk) that lies farthest below the line from its first to its last.
fn knee(frontier: &[(f64, f64, usize)]) -> Option<usize> {
    let (&(risk0, loss0, _), &(risk1, loss1, _)) = (frontier.first()?, frontier.last()?);
    let (width, height) = (risk1 - risk0, loss0 - loss1);
    if frontier.len() < 3 || width <= 0.0 || height <= 0.0 {
        return None;
    }
    // Both axes from 0 to 1; below the line from (0, 1) to (1, 0) their sum is below 1.
    let below = |(risk, loss, _): &&(f64, f64, usize)| 1.0 - (risk - risk0) / width - (loss - loss1) / height;
    let best = frontier.iter().max_by(|a, b| below(a).total_cmp(&below(b)))?;
    (below(&best) > 0.0).then_some(best.2)
}

#[cfg(test)]
mod tests {
    use super::knee;

    #[test]
    fn the_knee_is_where_the_curve_bends() {
        let bend = [(0.05, 0.9, 0), (0.1, 0.3, 1), (0.2, 0.2, 2), (0.5, 0.1, 3)];
        assert_eq!(knee(&bend), Some(1));
        assert_eq!(knee(&bend[..2]), None);
        assert_eq!(knee(&[(0.1, 0.3, 0), (0.2, 0.2, 1), (0.3, 0.1, 2)].map(|(a, b, c)| (a, b * 2.0, c))), None);
    }
}
