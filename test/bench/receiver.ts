// A webhook receiver that keeps its answers to itself: events are written and handed to the outbox, a few posts wait
// here for their answer, and none of the thousands behind them takes time from what is measured.
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
