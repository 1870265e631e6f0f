//! What the cache gives is what a translation makes: for the corpora of all guests, on one thread and on eight.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use xenoglot::{Host, Options as CodeOptions, dxil, maxwell, pica};
use xenoglot_cache::translate::{dxil as dxil_cache, maxwell as maxwell_cache, pica as pica_cache, present};
use xenoglot_cache::{Cache, Found, Options};
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_testgen::property::budget;

/// A file of a guest.
enum File {
    Pica(Vec<u8>),
    Maxwell(Vec<u8>),
    Dxil(Vec<u8>),
}

fn archive(path: &str, out: &mut Vec<File>) {
    let file = std::fs::File::open(vectors(path)).unwrap();
    let mut archive = tar::Archive::new(lzma_rust2::XzReader::new(std::io::BufReader::new(file), true));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let ending = entry.path().unwrap().extension().map(|e| e.to_owned());
        if ending.is_some_and(|e| e == "dksh" || e == "cubin") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            out.push(File::Maxwell(bytes));
        }
    }
}

fn vectors(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(path)
}

fn dxil_below(folder: &Path, out: &mut Vec<File>) {
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            dxil_below(&path, out);
        } else if path.extension().is_some_and(|e| e == "dxil") {
            out.push(File::Dxil(std::fs::read(path).unwrap()));
        }
    }
}

fn corpus() -> Vec<File> {
    let mut files: Vec<File> =
        SHADERS.iter().map(|shader| File::Pica(shader.source.as_bytes().to_vec())).collect();
    archive("maxwell/graphics/public.tar.xz", &mut files);
    archive("maxwell/compute/public.tar.xz", &mut files);
    dxil_below(&vectors("dxil"), &mut files);
    let step = budget(3, 1);
    files.into_iter().step_by(step).collect()
}

/// Translates all programs of a file.
fn translate(cache: &Cache, file: &File, host: &Host) -> Vec<Found> {
    let code = CodeOptions::default();
    match file {
        File::Pica(bytes) => {
            let Ok(loaded) = pica::load(bytes) else { return Vec::new() };
            let options = pica::Options::default();
            let each = |shbin: &pica::Loaded| {
                let all = 0..shbin.shbin.executables.len();
                all.map(|n| pica_cache::translate(cache, &shbin.shbin, n, &options, host, &code))
                    .collect::<Vec<_>>()
            };
            loaded.iter().flat_map(each).collect()
        }
        File::Maxwell(bytes) => {
            let Ok(programs) = maxwell::load(bytes) else { return Vec::new() };
            let options = maxwell::Options::default();
            let each = |p| maxwell_cache::translate(cache, p, &options, &p.gpu, host, &code);
            programs.iter().map(each).collect()
        }
        File::Dxil(bytes) => {
            let options = dxil::LiftOptions::default();
            let remapper =
                dxil::load(bytes).and_then(|m| dxil::BindingModel::default().remapper(bytes, &m, 0));
            let Ok(remapper) = remapper else { return Vec::new() };
            vec![dxil_cache::translate(cache, bytes, &options, &*remapper, host, &code)]
        }
    }
}

/// Translates everything on several threads. Gives what came of each program.
fn all(cache: &Cache, files: &[File], host: &Host, workers: usize) -> Vec<Vec<Result<Vec<u8>, String>>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((n, file)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            files.get(n).map(|file| (n, file))
        } {
            let found = translate(cache, file, host).into_iter();
            done.push((n, found.map(|f| f.map(|e| e.payload.to_vec()).map_err(|e| e.to_string())).collect()));
        }
        done
    };
    let done = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<BTreeMap<_, _>>()
    });
    done.into_values().collect()
}

#[test]
fn cold_and_warm_output_are_the_same_and_so_are_stores() {
    let files = corpus();
    for host in ["vulkan", "gl-4.5"] {
        let host: Host = host.parse().unwrap();
        let mut stores = Vec::new();
        let mut cold = None;
        for workers in [1, 8] {
            let folder = tempfile::tempdir().unwrap();
            let open = || Cache::open(folder.path(), present(), &Options::default()).unwrap();
            let cache = open();
            let made = all(&cache, &files, &host, workers);
            drop(cache);
            let cache = open();
            let found = all(&cache, &files, &host, workers);
            assert!(made == found, "warm output differs from cold output");
            assert_eq!(cache.counts().misses, 0);
            assert!(*cold.get_or_insert_with(|| made.clone()) == made, "{workers} threads make other code");
            stores.push(cache.hosts().unwrap().contents().unwrap());
        }
        let programs = cold.iter().flatten().map(Vec::len).sum::<usize>();
        let failed = cold.iter().flatten().flatten().filter(|found| found.is_err()).count();
        let stored = stores.first().map_or(0, BTreeMap::len);
        eprintln!("{host:?}: {programs} programs, {failed} refused, {stored} entries");
        assert!(programs > 80 && failed * 4 < programs, "{failed} of {programs} programs are refused");
        assert!(stores.windows(2).all(|pair| pair[0] == pair[1]), "one thread and eight make other stores");
    }
}
