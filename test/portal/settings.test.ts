import { expect, test } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { type Json, outcomeOf, signUp } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { openPortal, visit } from '../support/portal.ts';

const DEFAULTS = { release_seat: true, offline_file: true, rotate_key: false, change_email: true };

test('a portal is off until its seller switches it on', async () => {
  const ada = await signUp();
  expect((await ada.asSession('GET', '/api/portal')).body).toEqual({
    enabled: false,
    slug: null,
    url: null,
    name: null,
    accent_color: null,
    support_url: null,
    allow: DEFAULTS,
    products: {},
    updated_at: null,
  });
  expect(outcomeOf(await ada.asSession('PUT', '/api/portal', { enabled: true }))).toBe('400 invalid_request');
  const slug = await openPortal(ada, { accent_color: '#2563EB', support_url: 'mailto:help@example.com' });
  const page = await visit(slug, 'GET', '');
  expect(page.body).toEqual({
    slug,
    name: 'Orrery',
    accent_color: '#2563eb',
    support_url: 'mailto:help@example.com',
    allow: DEFAULTS,
  });
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect((await ada.asKey('GET', '/api/portal')).body).toMatchObject({
    url: `https://latchkey.test/portal/${slug}`,
    accent_color: '#2563eb',
  });
  await ada.asSession('PUT', '/api/portal', { enabled: false });
  expect(outcomeOf(await visit(slug, 'GET', ''))).toBe('403 portal_disabled');
  expect(outcomeOf(await visit(slug, 'GET', '/licenses'))).toBe('403 portal_disabled');
  expect(outcomeOf(await visit('nobody-has-this', 'GET', '/licenses'))).toBe('404 not_found');
});

test('a PUT replaces the settings, but for the slug and the name', async () => {
  const ada = await signUp();
  const slug = await openPortal(ada, {
    allow: { rotate_key: true },
    products: { pro: { rotate_key: false } },
  });
  const { body } = await ada.asSession('PUT', '/api/portal', { enabled: true });
  expect(body).toMatchObject({ slug, name: 'Orrery', allow: DEFAULTS, products: {} });
});

test.for([
  { slug: 'ab' },
  { slug: 'a'.repeat(41) },
  { slug: '-orrery' },
  { slug: 'or--rery' },
  { slug: 'or/rery' },
  { slug: 'latchkey' },
  { accent_color: 'red' },
  { support_url: 'javascript:alert(1)' },
  { allow: { everything: true } },
  { products: { 'a b': { rotate_key: true } } },
])('%o is refused', async (settings) => {
  const ada = await signUp();
  expect(outcomeOf(await ada.asSession('PUT', '/api/portal', settings))).toBe('400 invalid_request');
});

test('two sellers can’t have the same slug, also not at once, nor one that the other gave up a moment ago', async () => {
  const [ada, eve] = [await signUp(), await signUp()];
  const slug = `same-${crypto.randomUUID().slice(0, 8)}`;
  const put = (who: typeof ada, wanted: string) => who.asSession('PUT', '/api/portal', { slug: wanted });
  const outcomes = (await Promise.all([put(ada, slug), put(eve, slug)])).map(outcomeOf).toSorted();
  expect(outcomes).toEqual(['200 ok', '409 slug_taken']);
  const owner = (await ada.asSession('GET', '/api/portal')).body.slug === slug ? ada : eve;
  const other = owner === ada ? eve : ada;
  expect(outcomeOf(await put(owner, `${slug}-2`))).toBe('200 ok');
  expect(outcomeOf(await put(other, slug))).toBe('409 slug_taken');
  expect(outcomeOf(await visit(slug, 'GET', ''))).toBe('404 not_found');
  expect(outcomeOf(await put(owner, slug))).toBe('200 ok');
  await put(owner, `${slug}-2`);
  await firstD1.prepare('UPDATE portals SET former_until = 1 WHERE former_slug = ?').bind(slug).run();
  expect(outcomeOf(await put(other, slug))).toBe('200 ok');
});

test('a slug that customers have links to is kept, however often its portal is renamed', async () => {
  const [ada, eve] = [await signUp(), await signUp()];
  const slug = `kept-${crypto.randomUUID().slice(0, 8)}`;
  const put = async (who: typeof ada, name: string | null) => {
    const answer = await who.asSession('PUT', '/api/portal', {
      slug: name === null ? null : `${slug}-${name}`,
    });
    return outcomeOf(answer);
  };
  const former = () =>
    firstD1
      .prepare('SELECT former_slug FROM portals WHERE account_id = ?')
      .bind(ada.accountId)
      .first('former_slug');
  const letHoursPass = (hours: number) =>
    firstD1
      .prepare('UPDATE portals SET former_until = former_until - ? WHERE account_id = ?')
      .bind(hours * HOUR_MS, ada.accountId)
      .run();
  for (const name of ['a', 'b', 'c']) expect(await put(ada, name)).toBe('200 ok');
  expect(await put(eve, 'a')).toBe('409 slug_taken');
  // Nobody has had the time to note the one between.
  expect(await put(eve, 'b')).toBe('200 ok');
  await letHoursPass(2);
  const answer = await ada.asSession('PUT', '/api/portal', { slug: `${slug}-d` });
  expect(answer).toMatchObject({ status: 409, body: { error: { code: 'invalid_transition' } } });
  expect(answer.body.error.message).toContain(`“${slug}-a”`);
  expect((await ada.asSession('GET', '/api/portal')).body.slug).toBe(`${slug}-c`);
  expect(await put(ada, null)).toBe('409 invalid_transition');
  expect(await put(ada, 'c')).toBe('200 ok');
  expect(await put(eve, 'a')).toBe('409 slug_taken');
  // It may go back. Then the other one is kept.
  expect(await put(ada, 'a')).toBe('200 ok');
  expect(await former()).toBe(`${slug}-c`);
  expect(await put(ada, 'd')).toBe('409 invalid_transition');
  await letHoursPass(30 * 24 + 1);
  expect(await put(ada, 'd')).toBe('200 ok');
  expect(await former()).toBe(`${slug}-a`);
  // What is taken back at once leaves no trace.
  expect(await put(ada, 'a')).toBe('200 ok');
  expect(await former()).toBeNull();
  // One that was cleared and taken again is in nobody's way.
  for (const name of [null, 'a']) expect(await put(ada, name)).toBe('200 ok');
  await letHoursPass(2);
  expect(await put(ada, 'e')).toBe('200 ok');
  expect(await former()).toBe(`${slug}-a`);
});

test('a color may have three digits, and an export has the settings', async () => {
  const ada = await signUp();
  const slug = await openPortal(ada, { accent_color: '#0A7' });
  expect((await visit(slug, 'GET', '')).body.accent_color).toBe('#00aa77');
  const { body } = await ada.asSession('GET', '/api/export');
  expect(body.filter(({ type }: Json) => type === 'portal')).toEqual([
    {
      type: 'portal',
      enabled: true,
      slug,
      name: 'Orrery',
      accent_color: '#00aa77',
      support_url: null,
      allow: DEFAULTS,
      products: {},
      updated_at: expect.stringContaining('T'),
    },
  ]);
});
