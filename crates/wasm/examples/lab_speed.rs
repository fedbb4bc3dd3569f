//! tmp
use serde_json::json;
use std::time::Instant;
use tailback_wasm::lab::Lab;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let toml = std::fs::read_to_string(&args[1]).unwrap();
    let until: f64 = args[2].parse().unwrap();
    let slices: u64 = args[3].parse().unwrap();
    let mut lab = Lab::default();
    let mut ask = |v: serde_json::Value| lab.answer(v.to_string().as_bytes()).map_err(|_| "fault").unwrap();
    ask(json!({"ask":"open","name":"A","scenario":{"toml":toml,"seed":1},"close":false}));
    let start = Instant::now();
    let (mut now, mut n, mut bytes) = (0.0, 0u64, 0usize);
    while now < until {
        let a = ask(json!({"ask":"advance","name":"A","until_s":until,"events":20000,"breaks":{}}));
        now = a["now_s"].as_f64().unwrap();
        n += 1;
        if n % slices == 0 {
            let r = ask(json!({"ask":"read","name":"A","packets":3000}));
            bytes += r.to_string().len();
        }
    }
    let r = ask(json!({"ask":"read","name":"A","packets":3000}));
    let departed = r["ports"][0]["departed"].as_f64().unwrap();
    let s = start.elapsed().as_secs_f64();
    println!("{departed} packets, {n} slices, {bytes} bytes, {s:.3} s, {:.2} M/s", departed / s / 1e6);
}
