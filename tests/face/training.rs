//! The examples that train networks, for a few steps: the loss falls.

#[path = "../../crates/tracewell/examples/cnn.rs"]
#[allow(dead_code, reason = "its `main` takes more steps, and prints")]
mod cnn;
#[path = "../../crates/tracewell/examples/mlp.rs"]
#[allow(dead_code, reason = "its `main` takes more steps, and prints")]
mod mlp;

#[test]
fn training_lowers_the_loss() {
    let (mut losses, mut accuracy) = (Vec::new(), 0.0);
    mlp::train(40, 16, 80, 40, |now| {
        losses.push(now.loss);
        accuracy = now.accuracy;
    });
    assert!(losses.len() == 2 && losses[1] < 0.75 * losses[0], "{losses:?}");
    assert!(accuracy > 0.75, "{accuracy}");
}

#[test]
fn training_a_convolutional_network_lowers_the_loss() {
    let mut losses = Vec::new();
    cnn::train(32, 60, 30, |now| losses.push((now.loss, now.accuracy)));
    assert!(losses.len() == 2 && losses[1].0 < 0.9 * losses[0].0, "{losses:?}");
    assert!(losses[1].1 > 0.4, "{losses:?}");
}
