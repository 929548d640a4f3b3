import { expect, test } from 'vitest';
import { createLru } from '../../src/shared/memory/lru.ts';

test('createLru keeps recently used entries and a bounded number of entries', () => {
  const lru = createLru<number>(10);
  lru.set('always used', 1);
  for (let i = 0; i < 1_000; i++) {
    lru.set(`once ${i}`, i);
    expect(lru.get('always used')).toBe(1);
    for (let back = 0; back < 9 && back <= i; back++) expect(lru.get(`once ${i - back}`)).toBe(i - back);
  }
  const kept = Array.from({ length: 1_000 }, (_, i) => lru.get(`once ${i}`)).filter((n) => n !== undefined);
  expect(kept.length).toBeLessThanOrEqual(20);
});

test('createLru returns no deleted entry, recent or old', () => {
  const lru = createLru<string>(2);
  for (const name of ['old', 'b', 'young']) lru.set(name, name);
  for (const name of ['old', 'young']) {
    lru.delete(name);
    expect(lru.get(name)).toBeUndefined();
  }
  expect(lru.get('b')).toBe('b');
});
