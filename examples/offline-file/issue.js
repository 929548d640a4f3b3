// The seller's side: prints the license file for a request. Takes a seat until the file expires.
// Usage: LATCHKEY_API_KEY=… node issue.js LICENSE_ID DAYS < request.json > license.txt
import { text } from 'node:stream/consumers';
import { createClient } from '@latchkey/client/api';

const { LATCHKEY_URL = 'http://localhost:8787', LATCHKEY_API_KEY = '' } = process.env;
const [licenseId = '', days = '365'] = process.argv.slice(2);
const { fingerprint } = JSON.parse(await text(process.stdin));

const api = createClient({ baseUrl: LATCHKEY_URL, apiKey: LATCHKEY_API_KEY });
const { data, error } = await api.POST('/api/v1/licenses/{id}/token', {
  params: { path: { id: licenseId } },
  body: { fingerprint, days: Number(days) },
});
if (data) {
  console.log(data.token);
} else {
  console.error(error.error.message);
  process.exitCode = 1;
}
