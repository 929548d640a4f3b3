// An API whose customers authenticate with their license key: `Authorization: Bearer LICENSE_KEY`.
import { createServer } from 'node:http';
import { createVerifier } from './verifier.js';

const { LATCHKEY_URL = 'http://localhost:8787', LATCHKEY_API_KEY = '', PORT = '8080' } = process.env;

const verify = createVerifier({ baseUrl: LATCHKEY_URL, apiKey: LATCHKEY_API_KEY });

/** Returns the status and the body of the response. */
const answer = async (authorization) => {
  const [, licenseKey] = /^Bearer (\S{1,128})$/.exec(authorization ?? '') ?? [];
  if (!licenseKey) return { status: 401, body: { error: 'Send your license key as a bearer token.' } };
  const verdict = await verify(licenseKey);
  if (!verdict)
    return { status: 503, body: { error: 'Licenses can’t be checked right now. Try again in a minute.' } };
  if (!verdict.valid)
    return { status: 403, body: { error: `Your license is ${verdict.status.replace('_', ' ')}.` } };
  return { status: 200, body: { planets: ['Mercury', 'Venus', 'Earth', 'Mars'] } };
};

const handle = async (request, response) => {
  const { status, body } = await answer(request.headers.authorization);
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 503 && { 'retry-after': '60' }),
  });
  response.end(JSON.stringify(body));
};

const server = createServer((request, response) => void handle(request, response));
server.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`Listening on http://localhost:${port}`);
});
