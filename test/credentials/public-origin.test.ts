import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfiguration, settingsOf } from '../../src/shared/config/settings.ts';
import { call, signUp } from '../support/client.ts';
import { lastMailTo } from '../support/mails.ts';

test('the links of emails lead to PUBLIC_ORIGIN, whatever host the request was sent to', async () => {
  const ada = await signUp();
  const setting = vi.spyOn(settingsOf(env), 'publicOrigin', 'get');
  onTestFinished(() => setting.mockRestore());
  setting.mockReturnValue('https://licenses.example.com');
  await call('POST', '/api/forgot-password', { body: { email: ada.email } });
  const { text } = await lastMailTo(ada.email);
  expect(text).toContain('https://licenses.example.com/reset-password#token=');
  expect(text).not.toContain('latchkey.test');
});

test.for([
  ['https://licenses.example.com', 'https://licenses.example.com'],
  ['http://localhost:8787/', 'http://localhost:8787'],
  ['https://example.com/licenses', null],
  ['licenses.example.com', null],
  ['ftp://example.com', null],
] as const)('PUBLIC_ORIGIN %s is read as %s', ([text, origin]) => {
  const { settings, problems } = readConfiguration({ PUBLIC_ORIGIN: text });
  expect(settings.publicOrigin).toBe(origin);
  expect(problems.some((problem) => problem.startsWith('PUBLIC_ORIGIN must be'))).toBe(origin === null);
});
