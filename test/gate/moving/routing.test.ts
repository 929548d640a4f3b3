import { expect, test } from 'vitest';
import { openRouting } from '../../../src/gate/moving/routing.ts';

test('while calls are paused, new ones wait, and then go where the account is', async () => {
  let there: object | null = null;
  const routing = openRouting(() => there);
  const { promise, resolve } = Promise.withResolvers<string>();
  const before = routing.route('verify', [], () => promise);

  const resume = routing.pause();
  const waiting = routing.route('verify', ['a key'], () => 'here');
  await expect(routing.idle(5)).rejects.toThrow('No answer within 5 ms.');
  const idle = routing.idle(5_000);
  resolve('by the call before');
  await idle;
  expect(await before).toBe('by the call before');

  there = { verify: (key: string) => `there with ${key}` };
  resume();
  expect(await waiting).toBe('there with a key');
});

test('calls that waited for a move that failed are answered here', async () => {
  const routing = openRouting(() => null);
  const resume = routing.pause();
  const waiting = routing.route('verify', [], () => 'here');
  await routing.idle(5);
  resume();
  expect(await waiting).toBe('here');
});

test('what another object has answered is passed on without what the runtime adds to end that call', async () => {
  const there = { statistics: () => ({ calls: 3, [Symbol.dispose]: () => {} }) };
  const answer = await openRouting(() => there).route('statistics', [], () => null);
  expect(answer).toEqual({ calls: 3 });
  expect(Object.getOwnPropertySymbols(answer)).toEqual([]);
});
