//! A handler that panics is an answer that says so, and never one that allows.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Runs a future to its end; `None` if it panicked.
pub(super) async fn guarded<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_no_answer() {
        assert_eq!(guarded(async { 1 }).await, Some(1));
        let failing = async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "the fault under test");
        };
        assert_eq!(guarded(failing).await, None);
    }
}
