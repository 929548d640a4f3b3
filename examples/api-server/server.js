// An API whose customers authenticate with their license key: `Authorization: Bearer LICENSE_KEY`.
import { createServer } from 'node:http';
import { createVerifier } from './verifier.js';

const {
  LATCHKEY_URL = 'http://localhost:8787',
  LATCHKEY_API_KEY = '',
  LATCHKEY_TIMEOUT_MS = '3000',
  PORT = '8080',
} = process.env;

const verify = createVerifier({
  baseUrl: LATCHKEY_URL,
  apiKey: LATCHKEY_API_KEY,
  product: 'planets-api',
  timeoutMs: Number(LATCHKEY_TIMEOUT_MS),
});

const refuse = (status, error, headers = {}) => ({ status, body: { error }, headers });

/** Returns the status, the body, and the headers of the response. */
const answer = async (authorization, address) => {
  const [, licenseKey] = /^Bearer ([\w.-]{8,128})$/i.exec(authorization ?? '') ?? [];
  if (!licenseKey) return refuse(401, 'Send your license key as a bearer token.');
  const verdict = await verify(licenseKey, address);
  if (!verdict)
    return refuse(503, 'Licenses can’t be checked right now. Try again in a minute.', {
      'retry-after': '60',
    });
  if (verdict.code === 'too_many_unknown_keys')
    return refuse(429, 'Too many unknown license keys. Try again in a minute.', { 'retry-after': '60' });
  if (!verdict.valid) return refuse(403, `Your license is not valid (${verdict.code}).`);
  return { status: 200, body: { planets: ['Mercury', 'Venus', 'Earth', 'Mars'] } };
};

const handle = async (request, response) => {
  // Behind a proxy of your own, take the address from the header that the proxy sets.
  const { status, body, headers } = await answer(
    request.headers.authorization,
    request.socket.remoteAddress ?? '',
  );
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

const server = createServer((request, response) => void handle(request, response));
server.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`Listening on http://localhost:${port}`);
});
