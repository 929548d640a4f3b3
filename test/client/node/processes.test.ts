import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createService, pinnedKeys } from '../support/fake-service.ts';
import { createTime } from '../support/fake-time.ts';
import type { Order, Report } from '../support/one-of-many.ts';

/** `CLIENT_ROUNDS=200` runs as many. */
const ROUNDS = Number(process.env['CLIENT_ROUNDS'] ?? 12);
const TIMEOUT_MS = 600_000 + ROUNDS * 2_000;

/** The service, with a clock that is a second later at each answer, so that no two tokens are equally new. */
const serve = async () => {
  const service = createService(createTime(Date.now()));
  const server = createServer((request, response) => {
    void (async () => {
      const input = JSON.parse((await text(request)) || '{}') as Record<string, string>;
      service.aheadMs += 1_000;
      const path = (request.url ?? '').replace(/^\/api\/v1\/(licenses\/)?/, '');
      const answer = await service.answer({ path, input });
      response.setHeader('content-type', 'application/json').end(await answer.text());
    })();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const startProcess = () => {
  const child = fork(join(import.meta.dirname, '../support/one-of-many.ts'));
  onTestFinished(() => void child.kill());
  return async (order: Order): Promise<Report> => {
    const answered = once(child, 'message');
    child.send(order);
    const [report] = (await answered) as [Report];
    return report;
  };
};

const storedIn = (dir: string) =>
  JSON.parse(readFileSync(join(dir, 'license.json'), 'utf8')) as { licenseKey: string; answeredAt: number };

test(
  'three processes on one directory lose neither a typed key nor the newest token',
  { timeout: TIMEOUT_MS },
  async () => {
    const baseUrl = await serve();
    const keys = await pinnedKeys();
    const [first, second, third] = [startProcess(), startProcess(), startProcess()];
    for (let round = 0; round < ROUNDS; round += 1) {
      const dir = mkdtempSync(join(tmpdir(), 'latchkey-processes-'));
      const at = { dir, baseUrl, keys };
      const activated = await Promise.all([
        first({ ...at, activate: `FIRST-KEY-${round}` }),
        second({ ...at, starts: 8 }),
        third({ ...at, starts: 8 }),
      ]);
      expect(activated[0].code).toBe('valid');
      expect(storedIn(dir).licenseKey).toBe(`FIRST-KEY-${round}`);

      const refreshed = await Promise.all([first, second, third].map((run) => run({ ...at, refresh: true })));
      expect(refreshed.map(({ code }) => code)).toEqual(['valid', 'valid', 'valid']);
      const newest = Math.max(...refreshed.map(({ checkedAt }) => checkedAt));
      expect(storedIn(dir).answeredAt).toBe(newest / 1_000);

      await Promise.all([
        first({ ...at, refresh: true }),
        second({ ...at, activate: `OTHER-KEY-${round}` }),
        third({ ...at, starts: 8, refresh: true }),
      ]);
      expect(storedIn(dir).licenseKey).toBe(`OTHER-KEY-${round}`);
      expect(readdirSync(dir)).toEqual(['license.json']);
    }
  },
);
