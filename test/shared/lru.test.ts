import { expect, test } from 'vitest';
import { createLru } from '../../src/shared/lru.ts';

test('what was used last is remembered, whatever comes and goes meanwhile, and memory stays bounded', () => {
  const recent = createLru<number>(10);
  recent.set('asked for all the time', 1);
  for (let i = 0; i < 1_000; i++) {
    recent.set(`once ${i}`, i);
    expect(recent.get('asked for all the time')).toBe(1);
    for (let back = 0; back < 9 && back <= i; back++) expect(recent.get(`once ${i - back}`)).toBe(i - back);
  }
  const kept = Array.from({ length: 1_000 }, (_, i) => recent.get(`once ${i}`)).filter(
    (n) => n !== undefined,
  );
  expect(kept.length).toBeLessThanOrEqual(20);
});

test('what is deleted is gone, however long it has been there', () => {
  const recent = createLru<string>(2);
  for (const name of ['old', 'b', 'young']) recent.set(name, name);
  for (const name of ['old', 'young']) {
    recent.delete(name);
    expect(recent.get(name)).toBeUndefined();
  }
  expect(recent.get('b')).toBe('b');
});
