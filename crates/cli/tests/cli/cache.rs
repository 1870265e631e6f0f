//! Corpora and the cache.

use crate::common::{folder, run, shaders};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of shaders, one that is damaged, and a file that is none.
fn corpus(dir: &Path) -> String {
    let corpus = dir.join("corpus");
    fs::create_dir_all(corpus.join("more")).unwrap();
    for name in ["basic.v.pica", "textured.v.pica", "lit.v.pica"] {
        fs::copy(shaders().join(name), corpus.join(name)).unwrap();
        fs::copy(shaders().join(name), corpus.join("more").join(format!("copy-{name}"))).unwrap();
    }
    fs::write(corpus.join("wrong.pica"), ".proc main\n frobnicate o0, v0\n end\n.end\n").unwrap();
    fs::write(corpus.join("notes.txt"), "nothing of interest").unwrap();
    corpus.display().to_string()
}

fn files_below(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut folders, mut files) = (vec![root.to_path_buf()], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(root).unwrap().to_path_buf(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn json(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn code(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files_below(folder).into_iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "spv")).collect()
}

#[test]
fn a_batch_has_a_row_for_each_program_and_goes_on_where_it_ended() {
    let dir = folder("batch");
    let (corpus, out) = (corpus(&dir), dir.join("out"));
    let out_text = out.display().to_string();
    let args = ["batch", &corpus, "--to", "spirv", "-o", &out_text, "--json"];
    let summary = json(&run(&args, 1));
    assert_eq!(
        (&summary["programs"], &summary["ok"], &summary["resumed"]),
        (&7.into(), &6.into(), &0.into())
    );
    let cause = summary["failures"][0][0].as_str().unwrap();
    assert!(cause.contains("frobnicate"), "{cause}");
    let modules = code(&out);
    assert_eq!(modules.len(), 6);
    let table = fs::read_to_string(out.join("table.jsonl")).unwrap();
    let rows: Vec<Value> = table.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 7);
    for row in rows.iter().filter(|row| row["outcome"] == "ok") {
        let module = &modules[Path::new(row["file"].as_str().unwrap())];
        assert_eq!(row["words"].as_u64().unwrap(), module.len() as u64 / 4);
        assert_eq!((&row["guest"], &row["stage"]), (&"pica".into(), &"vertex".into()));
    }
    // Interrupted in the middle of a line, and a result is gone.
    let cut = table.lines().take(4).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(out.join("table.jsonl"), format!("{cut}{{\"input\":")).unwrap();
    fs::remove_file(out.join(modules.keys().next().unwrap())).unwrap();
    let again = json(&run(&args, 1));
    let resumed = again["resumed"].as_u64().unwrap();
    assert!((2..=3).contains(&resumed), "{resumed}");
    assert_eq!((&again["programs"], &again["ok"]), (&7.into(), &6.into()));
    assert_eq!(code(&out), modules);
}

#[test]
fn archives_are_as_their_folder() {
    let dir = folder("batch-archives");
    let corpus = corpus(&dir);
    let mut tarred = tar::Builder::new(Vec::new());
    tarred.append_dir_all(".", &corpus).unwrap();
    let tarred = tarred.into_inner().unwrap();
    fs::write(dir.join("corpus.tar"), &tarred).unwrap();
    let mut zipped = zip::ZipWriter::new(fs::File::create(dir.join("corpus.zip")).unwrap());
    for (path, bytes) in files_below(Path::new(&corpus)) {
        zipped.start_file(path.display().to_string(), zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zipped, &bytes).unwrap();
    }
    zipped.finish().unwrap();
    let translated = |input: &str, name: &str| {
        let out = dir.join(name);
        run(&["batch", input, "--to", "spirv", "-o", &out.display().to_string()], 1);
        code(&out)
    };
    let plain = translated(&corpus, "plain");
    assert_eq!(plain.len(), 6);
    assert!(translated(&dir.join("corpus.tar").display().to_string(), "tar") == plain);
    assert!(translated(&dir.join("corpus.zip").display().to_string(), "zip") == plain);
    run(
        &[
            "batch",
            &format!("{corpus}/notes.txt"),
            "--to",
            "spirv",
            "-o",
            &dir.join("x").display().to_string(),
        ],
        1,
    );
}

#[test]
fn a_cache_is_warmed_verified_packed_and_emptied() {
    let dir = folder("cache");
    let corpus = corpus(&dir);
    let of = |name: &str| dir.join(name).display().to_string();
    let cache = |name: &str, args: &[&str], code: i32| {
        let folder = of(name);
        json(&run(&[&["cache"], args, &["--cache-folder", &folder, "--json"]].concat(), code))
    };
    // Of three files and their copies, each is translated once.
    let warm = cache("a", &["warm", &corpus, "--title", "game"], 0);
    assert_eq!((&warm["files"], &warm["new"], &warm["known"]), (&7.into(), &4.into(), &3.into()));
    let again = cache("a", &["warm", &corpus], 0);
    assert_eq!((&again["new"], &again["known"]), (&0.into(), &7.into()));
    // What it knows, without the corpus.
    assert_eq!(cache("a", &["warm"], 0)["known"], 4);
    assert_eq!(cache("a", &["warm", "--host", "gl-4.5"], 0)["new"], 4);

    let stats = cache("a", &["verify"], 0);
    // Three shaders and the damaged one, each for two hosts.
    assert_eq!((&stats[0]["kinds"][0][1], &stats[0]["kinds"][1][1]), (&6.into(), &2.into()), "{stats}");
    let pack = of("pack");
    let count = cache("a", &["export", &pack], 0)["entries"].as_u64().unwrap();
    let imported = cache("b", &["import", &pack], 0);
    assert_eq!((imported["added"].as_u64(), &imported["damaged"]), (Some(count), &0.into()));
    assert_eq!(cache("b", &["import", &pack], 0)["known"].as_u64(), Some(count));
    assert_eq!(cache("b", &["warm", &corpus], 0)["new"], 0);

    // Of two hosts, one takes SPIR-V.
    let foz = of("shaders.foz");
    assert_eq!(cache("a", &["export", "--foz", &foz], 0)["modules"], 3);
    assert!(fs::read(&foz).unwrap().starts_with(b"\x81FOSSILIZEDB\0\0\0\x06"));

    let mut damaged = fs::read(&pack).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&pack, damaged).unwrap();
    let imported = cache("c", &["import", &pack], 1);
    assert_eq!((imported["added"].as_u64(), &imported["damaged"]), (Some(count - 1), &1.into()));

    run(&["cache", "gc", "--all", "--cache-folder", &of("a")], 2);
    assert!(cache("a", &["gc", "--all", "--title", "game"], 0)["removed"].as_u64().unwrap() > 4);
    assert_eq!(cache("a", &["gc", "--to", "0"], 0)["removed"].as_u64().map(|n| n > 0), Some(true));
    assert_eq!(cache("a", &["stats"], 0)[0]["kinds"], Value::Array(Vec::new()));
}

#[test]
fn a_batch_is_the_same_with_a_cache_and_without() {
    let dir = folder("batch-cache");
    let (corpus, cache) = (corpus(&dir), dir.join("cache").display().to_string());
    let translated = |name: &str, more: &[&str]| {
        let out = dir.join(name).display().to_string();
        run(&[&["batch", &corpus, "--host", "gl-4.5", "-o", &out], more].concat(), 1);
        let files = files_below(Path::new(&out)).into_iter();
        files.filter(|(path, _)| path.extension().is_some_and(|e| e == "vert")).collect::<BTreeMap<_, _>>()
    };
    let plain = translated("plain", &[]);
    assert_eq!(plain.len(), 6);
    assert!(translated("cold", &["--cache-folder", &cache]) == plain);
    assert!(translated("warm", &["--cache-folder", &cache]) == plain);
}

/// A launch's shared memory is told for all kernels of a corpus, and changes nothing of other programs in it.
#[test]
fn a_batch_takes_options_of_kernels() {
    let dir = folder("batch-kernels");
    let corpus = dir.join("corpus");
    fs::create_dir_all(&corpus).unwrap();
    fs::copy(shaders().join("basic.v.pica"), corpus.join("basic.v.pica")).unwrap();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/maxwell-2/compute/public.tar.xz");
    let vectors = xenoglot_conformance::maxwell::format::Corpus::read(&vectors).unwrap();
    for name in ["dyn_two_arrays.o3.cubin", "dyn_two_arrays.o0.cubin"] {
        fs::write(corpus.join(name), &vectors.cubins[name]).unwrap();
    }
    let (corpus, cache) = (corpus.display().to_string(), dir.join("cache").display().to_string());
    let batch = |name: &str, more: &[&str], code: i32| {
        let out = dir.join(name).display().to_string();
        let args = ["batch", &corpus, "--to", "spirv", "--cache-folder", &cache, "-o", &out, "--json"];
        json(&run(&[&args[..], more].concat(), code))
    };
    let without = batch("out", &[], 1);
    assert_eq!((&without["programs"], &without["ok"]), (&3.into(), &1.into()), "{without}");
    // Causes that differ in addresses and operands are one.
    let causes = without["failures"].as_array().unwrap();
    assert_eq!((causes.len(), &causes[0][1]), (1, &2.into()), "{without}");
    let cause = causes[0][0].as_str().unwrap();
    assert!(cause.contains("`STS`: the kernel has no shared memory of its own"), "{cause}");
    // In the same folder, whose table is of other options.
    let with = batch("out", &["--shared-bytes", "256"], 0);
    assert_eq!((&with["ok"], &with["resumed"]), (&3.into(), &0.into()), "{with}");
    assert_eq!(batch("again", &[], 1)["failures"], without["failures"]);
}
