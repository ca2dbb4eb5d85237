//! Runs the controller against the cluster of the current kubeconfig.

use std::sync::Arc;

use futures_util::StreamExt;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::runtime::{Controller, watcher};
use plumb_example_controller::{Context, failed, reconcile, resource};
use plumb_host::engine::Policy;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = Client::try_default().await?;
    let context = Arc::new(Context { client: client.clone(), policy: Policy::embedded()? });
    let sites: Api<DynamicObject> = Api::all_with(client, &resource());
    Controller::new_with(sites, watcher::Config::default(), resource())
        .shutdown_on_signal()
        .run(reconcile, failed, context)
        .for_each(|pass| async move {
            if let Err(error) = pass {
                eprintln!("{error}");
            }
        })
        .await;
    Ok(())
}
