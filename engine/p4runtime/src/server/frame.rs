//! What gRPC servers share: a listener, threads, TLS, and the bounds of connections.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use tokio::runtime::Runtime;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::server::NamedService;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

use super::connections;
use super::requests::Counted;

/// Requests of one connection that wait or run at once; further ones wait in the connection.
const MAX_REQUESTS_IN_FLIGHT: usize = 64;
/// Open calls of one connection.
const MAX_CALLS: u32 = 256;
/// Silent connections are probed after this time, so that a client that is gone is noticed.
const KEEPALIVE: Duration = Duration::from_secs(20);
/// Requests are applied one at a time; a second thread keeps streams alive meanwhile.
const THREADS: usize = 2;
/// How long stopping waits for a request that is being applied until its next look; what compiles is left
/// to itself.
const STOP_TIMEOUT: Duration = Duration::from_millis(300);

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {cause}; choose another address, or port 0 for any free port")]
    Listen {
        /// Address asked for.
        addr: SocketAddr,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Keys or certificates.
    #[error("TLS: {0}; give PEM files of a certificate and its key")]
    Tls(String),
    /// No threads.
    #[error("cannot start the server's threads: {0}")]
    Threads(std::io::Error),
}

impl StartError {
    /// With what lies behind: the library's own words name only where it happened.
    fn tls(error: tonic::transport::Error) -> Self {
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        Self::Tls(causes.map(ToString::to_string).collect::<Vec<_>>().join(": "))
    }
}

/// PEM texts for serving over TLS.
#[derive(Clone)]
pub struct Tls {
    /// The server's certificate, with those that lead to its authority.
    pub certificate: String,
    /// The certificate's private key.
    pub key: String,
    /// The authority that clients' certificates must come from, if they may have any.
    pub client_authority: Option<String>,
    /// Whether clients without a certificate are refused.
    pub client_certificate_required: bool,
}

impl Tls {
    fn config(self) -> ServerTlsConfig {
        let config = ServerTlsConfig::new().identity(Identity::from_pem(self.certificate, self.key));
        match self.client_authority {
            Some(authority) => config
                .client_ca_root(Certificate::from_pem(authority))
                .client_auth_optional(!self.client_certificate_required),
            None => config,
        }
    }
}

/// The listener and threads of a service; both end when dropped.
pub struct Frame {
    local_addr: SocketAddr,
    runtime: Option<Runtime>,
}

impl Frame {
    /// Serves on an address; port 0 takes any free port.
    ///
    /// # Errors
    /// The address is taken or not of this machine, a key or certificate cannot be used, or no thread can be
    /// started.
    pub fn start<S>(addr: SocketAddr, tls: Option<Tls>, service: S) -> Result<Self, StartError>
    where
        S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>
            + NamedService
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        let listen = |cause| StartError::Listen { addr, cause };
        let listener = TcpListener::bind(addr).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let local_addr = listener.local_addr().map_err(listen)?;
        let mut builder = tonic::transport::Server::builder();
        if let Some(tls) = tls {
            builder = builder.tls_config(tls.config()).map_err(StartError::tls)?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("grpc")
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        let incoming = {
            let _in_runtime = runtime.enter();
            connections::incoming(listener).map_err(listen)?
        };
        let serve = builder
            .concurrency_limit_per_connection(MAX_REQUESTS_IN_FLIGHT)
            .max_concurrent_streams(MAX_CALLS)
            .http2_keepalive_interval(Some(KEEPALIVE))
            .add_service(Counted::new(service))
            .serve_with_incoming(incoming);
        runtime.spawn(serve);
        Ok(Self { local_addr, runtime: Some(runtime) })
    }

    /// Runs something beside the service until it ends.
    pub fn spawn(&self, beside: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(beside);
        }
    }

    /// The address it listens on, the port resolved.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(STOP_TIMEOUT);
        }
    }
}
