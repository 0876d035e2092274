//! A browser of few lines: it keeps a cookie, follows redirects and fills in forms.

use kohort_studio::{Addresses, Server};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A page as it was received.
pub struct Got {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Got {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A studio at work in a folder, and whoever uses it.
pub struct Browser {
    pub port: u16,
    pub cookie: String,
    pub addresses: Addresses,
}

/// Starts a studio and opens it.
pub fn studio(folder: &Path) -> Browser {
    let mut browser = closed(folder);
    let address = browser.addresses.new_address().unwrap();
    let got = browser.get(address.split_once(&browser.port.to_string()).unwrap().1);
    assert_eq!(got.status, 200);
    browser.cookie = got.header("set-cookie").unwrap().split(';').next().unwrap().to_string();
    browser
}

/// Starts a studio that nobody opened yet.
pub fn closed(folder: &Path) -> Browser {
    let server = Server::bind(folder, None, 2).unwrap();
    let addresses = server.addresses();
    let address = addresses.new_address().unwrap();
    let port = address.split(':').nth(2).unwrap().split('/').next().unwrap().parse().unwrap();
    std::thread::spawn(move || server.serve());
    Browser { port, cookie: String::new(), addresses }
}

impl Browser {
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a request as it is.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| request += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{request}\r\n").as_bytes()).unwrap();
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Got { status, head: head.to_string(), body: body.to_string() }
    }

    pub fn get(&self, path: &str) -> Got {
        self.send("GET", path, &[("Host", &self.host()), ("Cookie", &self.cookie)], b"")
    }

    /// Sends a form.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Got {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        let (host, origin) = (self.host(), format!("http://{}", self.host()));
        let kind = "application/x-www-form-urlencoded";
        let headers = [("Host", &host[..]), ("Cookie", &self.cookie), ("Origin", &origin), ("Content-Type", kind)];
        self.send("POST", path, &headers, pairs.join("&").as_bytes())
    }

    /// Drops a file on the page.
    pub fn drop_file(&self, name: &str, bytes: &[u8]) -> Got {
        self.drop_part("", name, bytes)
    }

    /// Drops a file of a folder on the page; all files of one drop have its number.
    pub fn drop_part(&self, drop: &str, name: &str, bytes: &[u8]) -> Got {
        let (host, origin) = (self.host(), format!("http://{}", self.host()));
        let headers = [
            ("Host", &host[..]),
            ("Cookie", &self.cookie),
            ("Origin", &origin),
            ("kohort-name", name),
            ("kohort-drop", drop),
        ];
        self.send("PUT", "/upload", &headers, bytes)
    }

    /// Sends a form that starts work, waits for its end, and returns the page it leads to.
    pub fn work(&self, path: &str, fields: &[(&str, &str)]) -> Got {
        let got = self.post(path, fields);
        assert_eq!((got.status, got.header("location")), (303, Some("/job")), "{path}: {}", got.body);
        self.finished(path)
    }

    /// Waits for the end of the work that was started, and returns the page it leads to.
    pub fn finished(&self, path: &str) -> Got {
        let start = Instant::now();
        loop {
            let part = self.get("/job/part");
            if let Some(next) = part.header("kohort-next") {
                return self.get(next);
            }
            if !part.body.contains("<progress") {
                return part;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{path}: {}", part.body);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The value of the hidden field `revision` on a page.
    pub fn revision(&self, path: &str) -> String {
        let body = self.get(path).body;
        let start = body.split("name=\"revision\" value=\"").nth(1).unwrap();
        start.split('"').next().unwrap().to_string()
    }

    /// The number of a column on the columns page.
    pub fn column(&self, name: &str) -> String {
        let body = self.get("/columns").body;
        let before = body.split(&format!("<code>{name}</code></h3></div>")).next().unwrap();
        let number = before.rsplit("id=\"column-").next().unwrap();
        number.split('"').next().unwrap().to_string()
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}
