import { expect, test } from 'vitest';
import { TEST_EVENT } from '../../src/shared/rules/events.ts';
import { ALL_EVENTS } from '../support/events.ts';

const [page = ''] = Object.values(
  import.meta.glob<string>('../../docs/webhooks.md', { query: '?raw', import: 'default', eager: true }),
);

test('docs/webhooks.md explains every event, once', () => {
  const [, table = ''] = /^## Events\n(.*?)^## /ms.exec(page) ?? [];
  const cells = table.split('\n').map((line) => /^\| (`[^|]*) \|/.exec(line)?.[1] ?? '');
  const names = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  expect(names.toSorted()).toEqual([...ALL_EVENTS, TEST_EVENT].toSorted());
});
