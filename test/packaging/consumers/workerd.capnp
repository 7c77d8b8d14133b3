using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    ( name = "worker", worker = .worker ),
    ( name = "internet", network = ( allow = ["public", "private"] ) ),
  ],
  sockets = [ ( name = "http", address = "127.0.0.1:0", http = (), service = "worker" ) ],
);

const worker :Workerd.Worker = (
  modules = [ ( name = "worker", esModule = embed "alone/worker.mjs" ) ],
  compatibilityDate = "2025-09-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [
    ( name = "FXRATES_BASE_URL", fromEnvironment = "FXRATES_BASE_URL" ),
    ( name = "FXRATES_API_KEY", fromEnvironment = "FXRATES_API_KEY" ),
  ],
);
