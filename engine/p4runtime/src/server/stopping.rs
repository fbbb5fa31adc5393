//! The end of a server, as its requests see it: who waits for a lock or for work leaves at once, and what
//! holds a device gives up at its next look.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tonic::Code;

use crate::errors::Failure;

/// Whether a server is to end; clones share it.
#[derive(Clone, Debug)]
pub struct Stopping(
    /// It never has a permit, so that it is waited for until it is closed.
    Arc<Semaphore>,
);

impl Default for Stopping {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Stopping {
    /// The server is to end; there is no way back.
    pub fn stop(&self) {
        self.0.close();
    }

    /// # Errors
    /// The server is to end.
    pub fn check(&self) -> Result<(), Failure> {
        if self.0.is_closed() { Err(failure()) } else { Ok(()) }
    }

    /// Waits for something, unless the server is to end.
    ///
    /// # Errors
    /// The server is to end.
    pub async fn unless<T>(&self, wait: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            _ = self.0.acquire() => Err(failure()),
            done = wait => Ok(done),
        }
    }
}

fn failure() -> Failure {
    Failure::new(Code::Unavailable, "the switch stops")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_leaves_and_nobody_waits_any_more() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let stopping = Stopping::default();
        runtime.block_on(async {
            assert_eq!(stopping.unless(std::future::ready(7)).await, Ok(7));
            assert_eq!(stopping.check(), Ok(()));
            let other = stopping.clone();
            let waits = tokio::task::LocalSet::new();
            let (waiter, ()) = waits
                .run_until(async {
                    let waiter =
                        tokio::task::spawn_local(
                            async move { other.unless(std::future::pending::<()>()).await },
                        );
                    tokio::task::yield_now().await;
                    stopping.stop();
                    (waiter.await, ())
                })
                .await;
            assert_eq!(waiter.unwrap().unwrap_err().code, Code::Unavailable);
            assert_eq!(stopping.unless(std::future::ready(7)).await.unwrap_err().code, Code::Unavailable);
            assert_eq!(stopping.check().unwrap_err().code, Code::Unavailable);
        });
    }
}
