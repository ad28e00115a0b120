//! The examples that train, for a few steps: the loss falls.

#[path = "../../crates/tracewell/examples/attention.rs"]
#[allow(dead_code, reason = "its `main` takes more steps, and prints")]
mod attention;
#[path = "../../crates/tracewell/examples/cnn.rs"]
#[allow(dead_code, reason = "its `main` takes more steps, and prints")]
mod cnn;
#[path = "../../crates/tracewell/examples/gp.rs"]
#[allow(dead_code, reason = "its `main` takes more steps, and prints")]
mod gp;
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
    let mut seen = Vec::new();
    cnn::train(32, 200, 10, |now| seen.push((now.loss, now.accuracy)));
    let (first, last) = (seen[0], seen[seen.len() - 1]);
    assert!(last.0 < 0.75 * first.0 && last.1 > 0.5, "{seen:?}");
}

#[test]
fn training_attention_lowers_the_loss() {
    let mut losses = Vec::new();
    attention::train(32, 60, 20, |now| losses.push(now.loss));
    assert!(losses.len() == 3 && losses[2] < losses[0], "{losses:?}");
}

#[test]
fn tuning_a_gaussian_process_raises_the_likelihood() {
    let mut seen = Vec::new();
    gp::tune(30, 60, 20, |now| seen.push(now.log_likelihood));
    assert!(seen.len() == 4 && seen.windows(2).all(|pair| pair[1] > pair[0]), "{seen:?}");
}
