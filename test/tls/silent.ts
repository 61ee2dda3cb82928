import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** A TCP port that takes connections and says nothing: a canary, or a peer that hangs in the TLS handshake. */
export interface SilentPort {
  readonly port: number;
  /** Connections taken so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Opens a silent port on 127.0.0.1 and a free port unless told otherwise. */
export async function startSilentPort(host = "127.0.0.1", free = 0): Promise<SilentPort> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  const port = await listen(server, host, free);
  return {
    port,
    get connections() {
      return connections;
    },
    close: () => shut(server, sockets),
  };
}

/** Listens and says on which port. */
export function listen(server: Server, host: string, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Closes the port and every connection. */
export function shut(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}
