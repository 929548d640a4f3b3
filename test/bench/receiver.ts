// Webhook receivers.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

const openReceiver = async (listener: RequestListener) => {
  const server = createServer(listener);
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

/**
 * Never responds. Events are written and forwarded to the outbox, but only the few requests that are waiting here are
 * sent, so deliveries take no CPU time from the measurement.
 */
export const openSilentReceiver = () => openReceiver((request) => request.resume());

/** Responds at once. */
export const openPromptReceiver = () =>
  openReceiver((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
