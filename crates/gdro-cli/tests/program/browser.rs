//! Headless Chromium, driven over its DevTools protocol: JSON with zero bytes between, over pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Where a skipped test is a failure.
const REQUIRED: &str = "GDRO_REQUIRE_CHROMIUM";

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A page in a browser. What it says on the console and asks of the network is kept.
pub struct Browser {
    child: Child,
    /// Its settings and caches, which go with it.
    _profile: tempfile::TempDir,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// Messages on the console and exceptions.
    pub complaints: Vec<String>,
    /// Addresses that were asked for.
    pub requests: Vec<String>,
    /// Whether the page that was opened last has been loaded.
    loaded: bool,
}

/// The program, by one of its names.
fn program() -> Option<&'static str> {
    let runs = |name: &&str| {
        let quiet = || Stdio::null();
        let asked = Command::new(name).arg("--version").stdout(quiet()).stderr(quiet()).status();
        asked.is_ok_and(|s| s.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

impl Browser {
    /// Starts the browser; `None`, with a message, where there is none.
    pub fn start() -> Option<Self> {
        let Some(program) = program() else {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "no chromium was found, and {REQUIRED} is set"
            );
            eprintln!("skipped: no chromium was found; install the package chromium");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // The protocol speaks over descriptors 3 and 4, which a shell puts in place.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 2>/dev/null", program])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"])
            .args(["--remote-debugging-pipe", "--force-device-scale-factor=1", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            let mut text = Vec::new();
            while out.read_until(0, &mut text).is_ok_and(|n| n > 0) {
                text.pop();
                let Ok(message) = serde_json::from_slice(&text) else { break };
                if sender.send(message).is_err() {
                    break;
                }
                text.clear();
            }
        });
        let mut browser = Browser {
            child,
            _profile: profile,
            to,
            from,
            next: 0,
            session: None,
            complaints: Vec::new(),
            requests: Vec::new(),
            loaded: false,
        };
        let page = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = page["targetId"].clone();
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method and gives its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.to.flush().unwrap();
        loop {
            let message = self.receive();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// The next message; what it tells about the page is noted.
    fn receive(&mut self) -> Value {
        let message = self.from.recv_timeout(PATIENCE).expect("chromium does not answer");
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.loaded = true,
            Some("Network.requestWillBeSent") => {
                self.requests.push(params["request"]["url"].as_str().unwrap().to_owned());
            }
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.complaints.push(params.to_string());
            }
            _ => {}
        }
        message
    }

    /// Opens a file in a window of this size, in light or dark colours.
    pub fn open(&mut self, file: &Path, (width, height): (u32, u32), dark: bool) {
        self.colours(dark);
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        self.complaints.clear();
        self.requests.clear();
        self.loaded = false;
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        while !self.loaded {
            self.receive();
        }
    }

    /// Light or dark colours.
    pub fn colours(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("the code of {other}"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code }),
            );
        }
    }

    /// Moves the mouse over the middle of an element, which is scrolled into view.
    pub fn hover(&mut self, selector: &str) {
        let place = self.value(&format!(
            "(() => {{ const node = document.querySelector({0});
               node.scrollIntoView({{ block: 'center', behavior: 'instant' }});
               const box = node.getBoundingClientRect();
               return [box.left + box.width / 2, box.top + box.height / 2]; }})()",
            json!(selector)
        ));
        self.call(
            "Input.dispatchMouseEvent",
            json!({ "type": "mouseMoved", "x": place[0], "y": place[1] }),
        );
    }

    /// A picture of the whole page as a PNG.
    pub fn picture(&mut self) -> Vec<u8> {
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let clip =
            json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let result = self.call("Page.captureScreenshot", params);
        decoded(result["data"].as_str().unwrap())
    }
}

/// The bytes of a text in base 64.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|c| DIGITS.iter().position(|d| *d == c));
    let (mut out, mut bits, mut held) = (Vec::new(), 0usize, 0);
    for digit in digits {
        (bits, held) = (bits << 6 | digit, held + 6);
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
