//! `gdro export`. What runs in a runtime is tested in `python/tests/test_model.py`.

use crate::common::{Folder, people};

/// A folder with a trained model in `run/`.
fn trained(arguments: &str) -> Folder {
    let folder = Folder::with(people(300));
    folder.prints(&format!("fit t.csv --target y --groups g --out run --quiet {arguments}"));
    folder
}

/// The file holds the columns and outputs by name, and is the same whenever it is written.
#[test]
fn a_model_is_written_whole() {
    let folder = trained("--solver exact --group-features keep");
    folder.prints("export run --out model.onnx");
    folder.prints("export run/model.json --out deep/er.onnx");
    let bytes = std::fs::read(folder.path().join("model.onnx")).unwrap();
    assert_eq!(bytes, std::fs::read(folder.path().join("deep/er.onnx")).unwrap());
    let has = |text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    for name in ["x", "z", "g", "label", "probabilities", "LabelEncoder", "OneHotEncoder"] {
        assert!(has(name), "{name}");
    }
    let refused = folder.refused("export run --out deep");
    assert!(refused.contains("expected the name of a file"), "{refused}");
    let model = folder.json("run/model.json");
    for weight in model["weights"].as_array().unwrap() {
        let raw = weight.as_f64().unwrap().to_le_bytes();
        assert!(bytes.windows(8).any(|w| w == raw), "{weight}");
    }
}

/// Features by index are one input; beside columns by name they are refused.
#[test]
fn features_by_index_are_one_input() {
    let lines: String = (0..40)
        .map(|i| format!("{} 1:{} 3:{} 4:{}\n", 2 * (i % 2) - 1, i % 7, i % 3, i % 5))
        .collect();
    let folder = Folder::with("");
    std::fs::write(folder.path().join("t.svm"), lines).unwrap();
    folder.prints("fit t.svm --holdout 0 --quiet --out run");
    folder.prints("export run --out x.onnx");
    let bytes = std::fs::read(folder.path().join("x.onnx")).unwrap();
    let has = |text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    assert!(has("probabilities") && !has("gdro.features"));
    folder.prints("fit t.svm --groups 3 --group-features keep --holdout 0 --quiet --out mixed");
    let refused = folder.refused("export mixed --out y.onnx");
    assert!(refused.contains("features by index beside columns by name"), "{refused}");
}

/// What ONNX has no operator for is refused, and nothing is written.
#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::with("label,q,g,y\n1,a,u,no\n2,b,v,yes\n3,a,u,yes\n4,b,v,no\n");
    let fit = "fit t.csv --target y --groups g --holdout 0 --quiet --out";
    folder.prints(&format!("{fit} hashed --hash q=4 --ignore label"));
    folder.prints(&format!("{fit} named"));
    let before = folder.list();
    let refused = folder.refused("export hashed --out x.onnx");
    assert!(refused.contains("the hash of the texts of column `q`"), "{refused}");
    let refused = folder.refused("export named --out x.onnx");
    assert!(refused.contains("a column of the name `label`"), "{refused}");
    assert_eq!(folder.list(), before);
}
