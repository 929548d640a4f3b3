// Stands in for Electron: serves the window as a local page and carries its calls to the main process. Electron has
// ipcMain.handle, webContents.send, and a preload script instead.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const PAGE = new URL('window.html', import.meta.url);
const SCRIPT = new URL('window.js', import.meta.url);

const send = (response, type, body) => response.writeHead(200, { 'content-type': type }).end(body);

/** Opens the window. Its calls get what the handler of the same name returns. */
export const openWindow = async (handlers) => {
  // Other pages and users of the machine can reach the port, but don't know the path.
  const root = `/${randomBytes(16).toString('hex')}/`;
  const listeners = new Set();

  const respond = async (request, response) => {
    const path = request.url?.startsWith(root) ? request.url.slice(root.length) : null;
    if (path === 'events') {
      listeners.add(response);
      response.on('close', () => listeners.delete(response));
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    }
    if (path === '') return send(response, 'text/html', readFileSync(PAGE));
    if (path === 'window.js') return send(response, 'text/javascript', readFileSync(SCRIPT));
    const channel = path?.startsWith('invoke/') ? path.slice('invoke/'.length) : '';
    if (!Object.hasOwn(handlers, channel)) return response.writeHead(404).end();
    const value = await handlers[channel](...JSON.parse(await text(request)));
    return send(response, 'application/json', JSON.stringify(value));
  };

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.writeHead(500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}${root}`,
    send: (channel, value) => {
      for (const listener of listeners)
        listener.write(`event: ${channel}\ndata: ${JSON.stringify(value)}\n\n`);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
