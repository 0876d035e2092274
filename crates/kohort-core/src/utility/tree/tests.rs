//! Trees whose splits can be computed by hand.

use super::{DecisionTree, Feature, LearningSample, SplitKind, grow};

/// Quinlan's weather: outlook, temperature, humidity, windy → play.
const WEATHER: [[&str; 5]; 14] = [
    ["sunny", "hot", "high", "false", "no"],
    ["sunny", "hot", "high", "true", "no"],
    ["overcast", "hot", "high", "false", "yes"],
    ["rain", "mild", "high", "false", "yes"],
    ["rain", "cool", "normal", "false", "yes"],
    ["rain", "cool", "normal", "true", "no"],
    ["overcast", "cool", "normal", "true", "yes"],
    ["sunny", "mild", "high", "false", "no"],
    ["sunny", "cool", "normal", "false", "yes"],
    ["rain", "mild", "normal", "false", "yes"],
    ["sunny", "mild", "normal", "true", "yes"],
    ["overcast", "mild", "high", "true", "yes"],
    ["overcast", "hot", "normal", "false", "yes"],
    ["rain", "mild", "high", "true", "no"],
];

fn codes(column: usize) -> (Vec<u32>, usize) {
    let mut words: Vec<&str> = WEATHER.iter().map(|r| r[column]).collect();
    words.sort_unstable();
    words.dedup();
    let code = |r: &[&str; 5]| words.iter().position(|w| *w == r[column]).unwrap() as u32;
    (WEATHER.iter().map(code).collect(), words.len())
}

fn weather() -> (Vec<Feature>, Vec<u32>) {
    let features = (0..4).map(codes).map(|(of, len)| Feature::Categories { of, len });
    (features.collect(), codes(4).0)
}

fn sample<'a>(features: &'a [Feature], class: &'a [u32], weight: &'a [u32]) -> LearningSample<'a> {
    LearningSample { features, class, classes: class.iter().max().map_or(0, |&c| c as usize + 1), weight }
}

/// Gains 0.247, 0.029, 0.152, 0.048, average 0.119: outlook (ratio 0.156) before humidity (0.152).
/// Then sunny by humidity, rain by wind, overcast is pure; nothing is pruned.
#[test]
fn the_weather_is_predicted_by_the_known_tree() {
    let (features, class) = weather();
    let weight = [1; 14];
    let tree = DecisionTree::learn(&sample(&features, &class, &weight)).unwrap();
    let root = tree.nodes[0].split.as_ref().unwrap();
    assert_eq!((root.feature, root.branches()), (0, 3));
    let by: Vec<Option<usize>> = (0..3).map(|b| tree.nodes[root.first + b].split.as_ref().map(|s| s.feature)).collect();
    // overcast, rain, sunny
    assert_eq!(by, [None, Some(3), Some(2)]);
    assert_eq!(tree.leaves(), 5);
    assert!((0..14).all(|r| tree.class(&features, r) == class[r]));
}

#[test]
fn weights_count_as_so_many_records() {
    let (features, class) = weather();
    let weight: Vec<u32> = (0..14).map(|r| r % 4).collect();
    let twice = |of: &[u32]| -> Vec<u32> { (0..14).flat_map(|r| vec![of[r]; weight[r] as usize]).collect() };
    let copied: Vec<Feature> = features
        .iter()
        .map(|f| match f {
            Feature::Categories { of, len } => Feature::Categories { of: twice(of), len: *len },
            Feature::Numbers { of } => Feature::Numbers { of: twice(of) },
        })
        .collect();
    let copied_class = twice(&class);
    let ones = vec![1; copied_class.len()];
    assert_eq!(
        DecisionTree::learn(&sample(&features, &class, &weight)),
        DecisionTree::learn(&sample(&copied, &copied_class, &ones))
    );
}

/// Below 5 all are 0, above all are 1, and the missing ones are 0: a threshold with a branch for them.
#[test]
fn numbers_are_split_at_a_threshold_and_missing_ones_go_their_own_way() {
    let of: Vec<u32> = (0..40).map(|r| if r % 8 == 7 { 0 } else { 1 + r % 10 }).collect();
    let class: Vec<u32> = of.iter().map(|&v| u32::from(v > 5)).collect();
    let features = [Feature::Numbers { of: of.clone() }];
    let tree = DecisionTree::learn(&sample(&features, &class, &[1; 40])).unwrap();
    let split = tree.nodes[0].split.as_ref().unwrap();
    assert_eq!(split.kind, SplitKind::Threshold(5));
    assert!((0..40).all(|r| tree.class(&features, r) == class[r]));
    assert_eq!(tree.leaves(), 3);
}

/// A column that says nothing makes no branch after pruning, and a value that was never seen still gets a prediction.
#[test]
fn noise_is_pruned_and_the_unseen_gets_the_most_frequent_class() {
    let class: Vec<u32> = (0..60).map(|r| u32::from(r % 3 == 0)).collect();
    let noise: Vec<u32> = (0..60).map(|r| r * 7 % 11).collect();
    let features = [Feature::Categories { of: noise, len: 12 }];
    let weight = [1; 60];
    let own = sample(&features, &class, &weight);
    assert!(grow(&own).unwrap().leaves() > 1);
    let tree = DecisionTree::learn(&own).unwrap();
    assert_eq!((tree.leaves(), tree.most_frequent()), (1, 0));
    let (features, class) = weather();
    let tree = DecisionTree::learn(&sample(&features, &class, &[1; 14])).unwrap();
    let other: Vec<Feature> = (0..4).map(|_| Feature::Categories { of: vec![9], len: 10 }).collect();
    assert_eq!(tree.class(&other, 0), 1);
    assert!(DecisionTree::learn(&sample(&features, &class, &[0; 14])).is_none());
}
