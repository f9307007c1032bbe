//! A kube-rs watcher of Pods, as controllers use it: it fills a store from the server until the
//! restart counts of all Pods sum up to `--until-restarts`, and prints what the store then holds as
//! canonical lines. The events that it saw are counted on standard error.
//!
//!     kube-watcher list|pages|stream --until-restarts N     (KUBECONFIG names the server)

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::watcher::{Config, Event};
use kube::runtime::{reflector, watcher};
use kube::{Api, Client};
use serde::Serialize;
use std::time::Duration;

type Failure = Box<dyn std::error::Error>;

/// The canonical line of an object: these keys, in this order.
#[derive(Serialize)]
struct Line {
    namespace: String,
    name: String,
    phase: String,
    ready: String,
    restarts: i32,
    node: String,
}

impl Line {
    fn of(pod: &Pod) -> Self {
        let status = pod.status.clone().unwrap_or_default();
        let containers = status.container_statuses.unwrap_or_default();
        let ready = containers.iter().filter(|container| container.ready).count();
        Self {
            namespace: pod.metadata.namespace.clone().unwrap_or_default(),
            name: pod.metadata.name.clone().unwrap_or_default(),
            phase: status.phase.unwrap_or_default(),
            ready: format!("{ready}/{}", containers.len()),
            restarts: containers.iter().map(|container| container.restart_count).sum(),
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default(),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (config, until) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list", "--until-restarts", until] => (Config { page_size: None, ..Config::default() }, until.parse()?),
        ["pages", "--until-restarts", until] => (Config::default().page_size(300), until.parse()?),
        ["stream", "--until-restarts", until] => (Config::default().streaming_lists(), until.parse()?),
        _ => return Err("usage: kube-watcher list|pages|stream --until-restarts N".into()),
    };
    let lines = tokio::time::timeout(Duration::from_secs(60), held(config, until)).await??;
    for line in lines {
        println!("{}", serde_json::to_string(&line)?);
    }
    Ok(())
}

/// What the store holds once its restart counts sum up, sorted by namespace and name.
async fn held(config: Config, until: i64) -> Result<Vec<Line>, Failure> {
    let pods: Api<Pod> = Api::all(Client::try_default().await?);
    let (store, writer) = reflector::store();
    let mut events = std::pin::pin!(reflector(writer, watcher(pods, config)));
    let (mut restarted, mut initial, mut applied, mut synced) = (0, 0, 0, false);
    while let Some(event) = events.next().await {
        match event? {
            Event::Init => (restarted, initial) = (restarted + 1, 0),
            Event::InitApply(_) => initial += 1,
            Event::InitDone => synced = true,
            Event::Apply(_) => applied += 1,
            Event::Delete(_) => {}
        }
        if !synced {
            continue;
        }
        let mut lines: Vec<Line> = store.state().iter().map(|pod| Line::of(pod)).collect();
        if lines.iter().map(|line| i64::from(line.restarts)).sum::<i64>() == until {
            eprintln!("inits={restarted} initial={initial} applied={applied}");
            lines.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
            return Ok(lines);
        }
    }
    Err("the watcher ended".into())
}
