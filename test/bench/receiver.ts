// A webhook receiver that never responds. Events are written and forwarded to the outbox, but only the few requests
// that are waiting here are sent, so deliveries take no CPU time from the measurement.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const openSilentReceiver = async () => {
  const server = createServer((request) => {
    request.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
