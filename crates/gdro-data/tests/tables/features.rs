//! Missing cells, rare texts and hashes, against features that scikit-learn made.

use crate::common::{Folder, message, options, prepared, table};
use gdro::Matrix;
use gdro_data::{Encoding, FeatureColumn, Prepared, WhenMissing, read_for};
use serde_json::Value;

fn oracle() -> Value {
    serde_json::from_str(include_str!("../oracles/features.json")).unwrap()
}

/// Compares rows `found[order[i]]` with the rows of the oracle, a constant 1 aside.
fn assert_same(found: &Matrix, expected: &Value, order: &[u32], what: &Value) {
    let expected = expected.as_array().unwrap();
    assert_eq!(found.rows(), expected.len(), "{what}");
    for (at, row) in order.iter().enumerate() {
        let wanted = expected[*row as usize].as_array().unwrap();
        let mut features = vec![0.0; found.cols()];
        found.row(at).for_each(|j, v| features[j] = v);
        assert_eq!(features.pop(), Some(1.0));
        assert_eq!(features.len(), wanted.len(), "{what}");
        for (j, (v, w)) in features.iter().zip(wanted).enumerate() {
            let error = (v - w.as_f64().unwrap()).abs();
            assert!(error < 1e-12, "{what}: row {row}, feature {j}: {v}, expected {w}");
        }
    }
}

fn has(prepared: &Prepared, note: &str) -> bool {
    prepared.notes.iter().any(|n| n.contains(note))
}

#[test]
fn features_are_those_of_scikit_learn() {
    let oracle = oracle();
    let [train, later] = ["train", "later"].map(|name| oracle[name].as_str().unwrap());
    for case in oracle["cases"].as_array().unwrap() {
        let mut wanted = case["options"].clone();
        wanted["target"] = "y".into();
        let wanted = options(&wanted.to_string());
        let found = prepared(train, &wanted, None).unwrap();
        let what = &case["options"];
        assert_same(found.train.matrix(), &case["features"][0], &found.train_rows, what);
        // The encoding goes with the model, and needs nothing else.
        let json = serde_json::to_string(&found.encoding).unwrap();
        let encoding: Encoding = serde_json::from_str(&json).unwrap();
        assert_eq!(encoding, found.encoding);
        let folder = Folder::new();
        let later = read_for(&[folder.file("t.csv", later)], &wanted, &encoding).unwrap();
        let rows = encoding.complete_rows(&later).unwrap();
        assert_eq!(rows.len(), later.rows(), "{what}");
        let encoded = encoding.encode(&later, &rows).unwrap();
        assert_same(&encoded.matrix, &case["features"][1], &rows, what);
        assert_eq!(encoding.dimension(), encoding.feature_names().len());
        // A text of training is known though it is rare; one that training never saw is not.
        let unseen = usize::from(wanted.hash.is_empty());
        assert_eq!(encoded.unseen.get("t").copied().unwrap_or(0), unseen, "{what}");
    }
}

#[test]
fn means_and_deviations_leave_missing_cells_out() {
    let oracle = oracle();
    for (json, name) in [
        (r#"{"target":"y","missing":"mean","ignore":["w"]}"#, "mean"),
        (r#"{"target":"y","missing":"mean","weight":"w"}"#, "weighted-mean"),
    ] {
        let found = prepared(oracle["train"].as_str().unwrap(), &options(json), None).unwrap();
        let FeatureColumn::Number { mean, deviation, missing, .. } = &found.encoding.columns()[0]
        else {
            panic!("n is a number");
        };
        let expected = oracle[name].as_array().unwrap();
        assert!((mean - expected[0].as_f64().unwrap()).abs() < 1e-13);
        assert!((deviation - expected[1].as_f64().unwrap()).abs() < 1e-13);
        assert_eq!(*missing, WhenMissing::Zero);
    }
}

#[test]
fn names_and_notes() {
    let oracle = oracle();
    let train = oracle["train"].as_str().unwrap();
    let with = |json: &str| prepared(train, &options(json), None).unwrap();
    let found = with(r#"{"target":"y","ignore":["w"],"missing":"own-category","min-count":3}"#);
    assert_eq!(
        found.encoding.feature_names(),
        ["n", "n=(missing)", "t=(missing)", "t=(rare)", "t=a", "t=b", "(constant)"]
    );
    assert!(has(&found, "are the mean of the training rows, with an indicator: `n` in 2"));
    assert!(has(&found, "missing cells are a level of their own: `t` in 2"));
    assert!(has(&found, "column `t`: 3 texts of fewer than 3 training rows became `(rare)`"));
    let found = with(r#"{"target":"y","ignore":["w"],"missing":"mean"}"#);
    assert!(has(&found, "missing cells are the mean of the training rows: `n` in 2"));
    assert!(has(&found, "texts have no mean, whatever `missing` says: `t` have `(missing)`"));
    let found = with(
        r#"{"target":"y","ignore":["w","t"],"missing":{"n":"drop"},"hash":{},"columns":null}"#,
    );
    assert_eq!(found.train.rows(), 10);
    let found = with(r#"{"target":"y","ignore":["w"],"missing":"drop","hash":{"t":2}}"#);
    assert_eq!(found.encoding.feature_names()[1..3], ["t=(hash 0)", "t=(hash 1)"]);
    let found = with(r#"{"target":"y","ignore":["w"],"missing":"mean","min-count":2}"#);
    let rare = "column `t`: 3 texts of fewer than 2 training rows became `(rare)`";
    assert!(has(&found, rare));
}

#[test]
fn cells_that_training_never_missed() {
    let kept = options(r#"{"target":"y","missing":"own-category"}"#);
    let found = prepared("x,t,y\n1,a,0\n3,b,1\n", &kept, None).unwrap();
    assert_eq!(found.encoding.feature_names(), ["x", "t=a", "t=b", "(constant)"]);
    let later = table("x,t\n,\n3,\n", &options("{}"));
    // A column that is all missing is text to a reader that knows nothing.
    let folder = Folder::new();
    let path = folder.file("t.csv", "x,t\n,\n3,\n");
    assert!(later.is_ok());
    let later = read_for(&[path], &kept, &found.encoding).unwrap();
    let encoded = found.encoding.encode(&later, &[0, 1]).unwrap();
    assert_eq!(encoded.unseen, [("t".to_owned(), 2)].into());
    let mut rows = vec![vec![0.0; 4]; 2];
    (0..2).for_each(|i| encoded.matrix.row(i).for_each(|j, v| rows[i][j] = v));
    assert_eq!(rows, [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]]);
}

#[test]
fn a_constant_number_with_missing_cells_keeps_its_indicator() {
    let kept = options(r#"{"target":"y","missing":"own-category"}"#);
    let found = prepared("x,z,y\n5,1,0\n,2,1\n5,3,1\n", &kept, None).unwrap();
    assert_eq!(found.encoding.feature_names(), ["x", "x=(missing)", "z", "(constant)"]);
    let ones: Vec<usize> = (0..3)
        .filter(|i| {
            let mut v = 0.0;
            found.train.sample(*i).x.for_each(|j, x| v += if j == 1 { x } else { 0.0 });
            v == 1.0
        })
        .collect();
    assert_eq!(ones, [1]);
}

#[test]
fn targets_and_weights_are_never_made_up() {
    let rows = "x,w,y\n1,1,0\n,1,1\n3,1,\n4,,1\n5,1,1\n";
    let with = |missing: &str| {
        let json = format!(r#"{{"target":"y","weight":"w","missing":{missing}}}"#);
        prepared(rows, &options(&json), None)
    };
    let found = message(with(r#""mean""#));
    let advice = "fill it, or leave such rows out with `missing=y=drop`";
    assert_eq!(found, format!("t.csv:4: column `y`: the cell is missing: {advice}"));
    let found = message(with(r#"{"default":"own-category","y":"drop"}"#));
    assert!(found.starts_with("t.csv:5: column `w`: the cell is missing"), "{found}");
    let found = with(r#"{"default":"own-category","y":"drop","w":"drop"}"#).unwrap();
    assert_eq!(found.train_rows, [0, 1, 4]);
    for column in ["y", "w"] {
        let found = message(with(&format!(r#"{{"{column}":"mean"}}"#)));
        let start = format!("missing: `{column}=mean`: expected error or drop");
        assert!(found.starts_with(&start), "{found}");
    }
}

#[test]
fn group_labels_follow_their_own_policy() {
    let rows = "x,g,k,y\n1,a,1,0\n2,,2,1\n3,b,,0\n4,a,1,1\n5,b,2,1\n";
    let with = |json: &str| prepared(rows, &options(json), None);
    let found = message(with(r#"{"target":"y","groups":["g"],"missing":"mean"}"#));
    assert!(found.starts_with("t.csv:3: column `g`: the group label is missing"), "{found}");
    // A numeric group column that is a feature, too: its missing number is the mean.
    let own = with(r#"{"target":"y","groups":["k"],"missing-group":"own","missing":"mean"}"#);
    let own = own.unwrap();
    assert_eq!(own.groups.iter().filter(|g| g.name == "(missing)").count(), 1);
    assert_eq!(own.train.rows(), 5);
    for json in [
        r#"{"target":"y","groups":["g"],"missing":{"g":"mean"}}"#,
        r#"{"target":"y","groups":["g"],"missing-group":"drop","missing":{"g":"drop"}}"#,
        r#"{"target":"y","groups":["g"],"missing-group":"own","missing":{"g":"error"}}"#,
    ] {
        assert!(message(with(json)).contains("agrees with missing-group"), "{json}");
    }
    let dropped = r#"{"target":"y","groups":["g"],"group-features":"drop","missing":{"g":"drop"}}"#;
    assert!(message(with(dropped)).contains("a column that is a feature, the target or"));
}

#[test]
fn what_cannot_be_done_is_refused() {
    let rows = "x,t,w,y\n1,a,1,0\n2,b,2,1\n3,a,3,1\n";
    let with = |json: &str| message(prepared(rows, &options(json), None));
    for (json, start) in [
        (r#"{"target":"y","missing":{"t":"mean"}}"#, "missing: `t=mean`: expected own-category"),
        (r#"{"target":"y","missing":{"q":"mean"}}"#, "missing: no column `q`"),
        (r#"{"target":"y","ignore":["x"],"missing":{"x":"mean"}}"#, "missing: `x=mean`: expected"),
        (r#"{"target":"y","hash":{"q":7}}"#, "hash: no column `q`"),
        (r#"{"target":"y","hash":{"y":7}}"#, "hash: `y`: expected a column that is a feature"),
        (r#"{"target":"y","weight":"w","hash":{"w":7}}"#, "hash: `w`: expected a column"),
        (r#"{"target":"y","hash":{"t":1}}"#, "hash: 1 buckets for `t`: expected 2 to 16777216"),
        (r#"{"target":"y","hash":{"t":7},"text":["t"]}"#, "text: `t`: expected a column in one of"),
        (r#"{"target":"y","min-count":1}"#, "min-count: 1: expected a number of rows of at least"),
        (r#"{"target":"y","min-count":2,"ignore":["t"]}"#, "min-count: no feature is text"),
        (r#"{"target":"y","min-count":2,"hash":{"t":7}}"#, "min-count: no feature is text"),
    ] {
        assert!(with(json).starts_with(start), "{json}: {}", with(json));
    }
}

#[test]
fn many_texts_are_refused_folded_or_hashed() {
    let mut rows = "id,x,y\n".to_owned();
    // 1,500 texts of one row each and 5 of 100.
    (0..2000).for_each(|i| {
        let id = if i < 1500 { i } else { 5000 + i % 5 };
        rows += &format!("{id}a,{},{}\n", i % 7, i % 2);
    });
    let found = message(prepared(&rows, &options(r#"{"target":"y"}"#), None));
    assert_eq!(
        found,
        "column `id`: 1,505 different texts in 2,000 rows, expected at most 1000: leave it out with \
         `ignore=id`, hash it with `hash=id`, or fold rare texts with `min-count=10`"
    );
    let folded = prepared(&rows, &options(r#"{"target":"y","min-count":10}"#), None).unwrap();
    assert_eq!(folded.encoding.dimension(), 6 + 1 + 1);
    let hashed = prepared(&rows, &options(r#"{"target":"y","hash":{"id":64}}"#), None).unwrap();
    assert_eq!(hashed.encoding.dimension(), 64 + 1 + 1);
    // Numbers can be hashed too: they are texts then.
    let hashed =
        prepared(&rows, &options(r#"{"target":"y","ignore":["id"],"hash":{"x":4}}"#), None);
    assert_eq!(hashed.unwrap().encoding.dimension(), 4 + 1);
}
