//! The folder of a run: nothing of others is lost, and files of two runs never pass for one.

use std::process::{Child, Stdio};

use crate::common::{FIT, Folder, stderr};

/// A folder with the table and a run on it.
fn with_run() -> Folder {
    let folder = Folder::people();
    folder.prints(&format!("{FIT} --out run --quiet"));
    folder
}

#[test]
fn a_folder_of_others_needs_force() {
    let folder = with_run();
    let notes = ["a.txt", "b.txt", "c.txt", "d.txt"];
    for name in notes {
        folder.file(&format!("notes/{name}"), "mine\n");
    }
    folder.file("model/model.json", "{\"weights\": []}");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let said = folder.refused(&format!("{FIT} --out notes"));
    let expected = "--out: notes is no run of gdro, it holds a.txt, b.txt, c.txt and 1 more: give a \
                    new folder, or --force to write into this one";
    assert_eq!(said, expected);
    // Before a table is read, and whoever else writes a model.json.
    assert!(folder.refused("fit none.csv --target y --out notes").starts_with("--out: notes is"));
    assert!(folder.refused(&format!("{FIT} --out model")).contains("it holds model.json:"));
    assert!(folder.refused("select t.csv --target y --out notes").contains("is no run of gdro"));
    folder.file("job.toml", "tables = ['t.csv']\ntarget = 'y'\nout = 'notes'\n");
    assert!(folder.refused("fit job.toml").starts_with("job.toml:3: out: notes is no run"));
    for out in ["new", "empty", "run", "run", "notes --force", "notes"] {
        folder.prints(&format!("{FIT} --quiet --out {out}"));
        assert!(folder.list().iter().all(|name| !name.contains(".gdro")), "{:?}", folder.list());
    }
    assert!(notes.iter().all(|name| folder.read(&format!("notes/{name}")) == "mine\n"));
    let said = folder.refused(&format!("{FIT} --force"));
    assert!(said.starts_with("--force: nothing is written into a folder"), "{said}");
}

/// Runs of earlier versions have no list of their files.
#[test]
fn earlier_runs_are_read_and_replaced() {
    let folder = with_run();
    std::fs::remove_file(folder.path().join("run/manifest.json")).unwrap();
    folder.prints("show run");
    folder.file("run/schema.json", "{}");
    folder.prints(&format!("{FIT} --out run --quiet --seed 2"));
    let expected = ["manifest.json", "model.json", "summary.json", "trace.jsonl"];
    let list = || -> Vec<_> {
        folder
            .list()
            .into_iter()
            .filter_map(|f| f.strip_prefix("run/").map(str::to_owned))
            .collect()
    };
    assert_eq!(list(), expected);
    // What another kind of run leaves goes with it; a trade-off is not of the model.
    let table = "t.csv --target y --groups g --quiet --out run";
    folder.prints(&format!("fit {table} --stream --buffer 16"));
    assert!(list().contains(&"schema.json".into()));
    folder.prints(&format!("select {table} --path=2"));
    folder.prints(&format!("{FIT} --out run --quiet"));
    assert_eq!(list(), ["manifest.json", "model.json", "path.json", "summary.json", "trace.jsonl"]);
    let listed = folder.json("run/manifest.json");
    let names: Vec<_> = listed["files"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["model.json", "path.json", "summary.json", "trace.jsonl"]);
    folder.prints("show run");
}

#[test]
fn files_of_two_runs_are_found_out() {
    let folder = with_run();
    folder.prints(&format!("{FIT} --out other --quiet --seed 9"));
    folder.prints("fit t.csv --target y --groups g --stream --buffer 16 -q --out stream");
    let commands =
        ["show run", "predict run t.csv", "evaluate run/model.json t.csv", "certify run t.csv"];
    for name in ["model.json", "summary.json", "trace.jsonl", "manifest.json"] {
        let (own, other) = (format!("run/{name}"), folder.read(&format!("other/{name}")));
        let good = folder.read(&own);
        folder.file(&own, other);
        for command in commands {
            let said = folder.refused(command);
            assert!(said.contains("files of several runs are mixed, or one was changed"), "{said}");
            assert!(name == "manifest.json" || said.starts_with(&own), "{said}");
        }
        folder.file(&own, good);
    }
    // A file that is gone is none of another run; a model in a folder of its own is what it is.
    folder.file("copy/model.json", folder.read("run/model.json").replace("0.", "0.0"));
    folder.prints("show copy");
    std::fs::remove_file(folder.path().join("run/trace.jsonl")).unwrap();
    for command in commands {
        folder.prints(command);
    }
    // A schema is a file of its run, too.
    folder.file("stream/schema.json", folder.read("stream/schema.json") + " ");
    let stream = "fit t.csv --target y --groups g --stream --buffer 16 --schema stream/schema.json";
    assert!(folder.refused(stream).starts_with("stream/schema.json: not the schema.json that"));
    for (content, expected) in [
        ("{\"gdro\": ", "run/manifest.json: not the list of the files of a run of gdro"),
        ("{\"gdro\": 1}", "run/manifest.json: not the list"),
        (&folder.read("run/manifest.json").replace("\"format\": 1", "\"format\": 7"), "version 7"),
        (&folder.read("run/manifest.json").replace("trace", "../trace"), "../trace.jsonl is not"),
    ] {
        folder.file("run/manifest.json", content);
        let said = folder.refused("show run");
        assert!(said.contains(expected), "{content}: {said}");
    }
    // Other programs have files of this name.
    folder.file("run/manifest.json", "{\"short_name\": \"an app\"}");
    folder.prints("show run");
}

#[test]
fn no_output_takes_the_place_of_a_file_of_a_run_or_of_what_it_was_made_of() {
    let folder = with_run();
    folder.file("later.csv", crate::common::people(30));
    folder.file("numbers.csv", "group,offset\na,0.1\nb,0\n");
    folder.prints("fit t.csv --target y --groups g --offsets numbers.csv -q --out offsets");
    let files: Vec<_> = folder.list().into_iter().filter(|name| name.contains('.')).collect();
    let contents = || files.iter().map(|name| folder.read(name)).collect::<Vec<_>>();
    let kept = contents();
    for (command, expected) in [
        ("predict run later.csv --out t.csv", "is an input"),
        ("predict run later.csv --out offsets/summary.json", "belongs to a run of gdro"),
        ("predict run later.csv --out run/trace.jsonl", "belongs to a run of gdro"),
        ("predict run later.csv --out run/manifest.json", "belongs to a run of gdro"),
        ("predict offsets later.csv --out numbers.csv", "is an input"),
        ("export run --out t.csv", "is an input"),
        ("export run --out offsets/model.json", "belongs to a run of gdro"),
    ] {
        let said = folder.refused(command);
        assert!(said.contains(expected), "{command}: {said}");
    }
    assert_eq!(contents(), kept);
    let stdin = std::fs::File::open(folder.path().join("later.csv")).unwrap();
    let output = folder.command("predict run - --out later.csv").stdin(stdin).output().unwrap();
    assert!(stderr(&output).contains("is an input"), "{}", stderr(&output));
    assert_eq!(contents(), kept);
    // A table that has the name of a file of the run.
    folder.file("other/model.json", folder.read("t.csv"));
    let said = folder.refused(
        "fit other/model.json --format csv --target y --groups g --out other --force --solver exact",
    );
    assert!(said.starts_with("--out: other/model.json is an input"), "{said}");
}

#[test]
fn what_a_killed_run_leaves_is_in_nobodys_way() {
    let folder = Folder::people();
    std::fs::create_dir(folder.path().join("run")).unwrap();
    for name in [".gdro.lock", ".model.json.AbC123.tmp", ".tmpAbC123"] {
        folder.file(&format!("run/{name}"), "");
    }
    folder.prints(&format!("{FIT} --out run --quiet"));
    let left: Vec<String> =
        folder.list().into_iter().filter(|name| name.starts_with("run/.")).collect();
    assert_eq!(left, ["run/.tmpAbC123"]);
}

/// A run in its folder, at work until it is stopped.
fn endless(folder: &Folder) -> Child {
    let mut command = folder.command(
        "fit t.csv --target y --groups g --solver smd-m --rounds 1e12 --step-w 1 --step-q 1 --out run",
    );
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock = folder.path().join("run/.gdro.lock");
    for _ in 0..200 {
        if std::fs::read_to_string(&lock).is_ok_and(|text| text == child.id().to_string()) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let folder = with_run();
    let mut first = endless(&folder);
    let output = folder.run(&format!("{FIT} --out run"));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let expected = format!(
        "error: --out: another run of gdro (process {}) is writing to run: wait for it, or give \
         another folder",
        first.id()
    );
    assert_eq!(said.trim_end(), expected);
    // Readers are not held up.
    folder.prints("show run");
    first.kill().unwrap();
    first.wait().unwrap();
    folder.prints(&format!("{FIT} --out run --quiet"));
}

/// Runs that begin at the same moment: the files in the folder are always those of one of them.
#[test]
fn sets_are_never_mixed() {
    let folder = Folder::people();
    for _ in 0..15 {
        let start = |seed: usize| {
            let fit = FIT.replace("300", "30");
            let mut command = folder.command(&format!("{fit} --quiet --out run --seed {seed}"));
            command.stderr(Stdio::null()).spawn().unwrap()
        };
        let codes: Vec<_> = [1, 2, 3].map(start).map(|mut c| c.wait().unwrap().code()).into();
        assert!(codes.contains(&Some(0)), "{codes:?}");
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 2))), "{codes:?}");
        folder.prints("show run");
        let manifest = folder.json("run/manifest.json");
        let files = manifest["files"].as_object().unwrap();
        assert_eq!(files.len(), 3);
        for (name, entry) in files {
            let content = folder.read(&format!("run/{name}"));
            let mut crc = flate2::Crc::new();
            crc.update(content.as_bytes());
            assert_eq!(entry["crc32"], format!("{:08x}", crc.sum()), "{name}");
            assert_eq!(entry["bytes"], content.len(), "{name}");
        }
    }
}

/// No room for the files: nothing is half-written, and the run that is there stays as it was.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full_leaves_what_was_there() {
    let folder = with_run();
    let before = folder.list();
    let kept: Vec<_> = ["model.json", "summary.json", "manifest.json"]
        .map(|name| folder.read(&format!("run/{name}")))
        .into();
    // Files of more than a kilobyte cannot be written.
    for (command, file) in [
        (format!("{FIT} --seed 5 --quiet --out run"), "run/"),
        (format!("{FIT} --quiet --out new"), "new/"),
        ("predict run t.csv --out p.csv".into(), "p.csv"),
        (format!("{FIT} --quiet --report page.html"), "page.html"),
    ] {
        let program = env!("CARGO_BIN_EXE_gdro");
        let script = format!("trap '' XFSZ; ulimit -f 1; exec '{program}' {command}");
        let mut shell = std::process::Command::new("bash");
        let Ok(output) = shell.args(["-c", &script]).current_dir(folder.path()).output() else {
            return;
        };
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert!(said.starts_with(&format!("error: cannot write {file}")), "{command}: {said}");
        assert_eq!(folder.list(), before, "{command}");
    }
    let now: Vec<_> = ["model.json", "summary.json", "manifest.json"]
        .map(|name| folder.read(&format!("run/{name}")))
        .into();
    assert_eq!(now, kept);
    folder.prints("show run");
}
