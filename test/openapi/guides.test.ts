import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';

// The commands of the guides, which somebody copies as they stand.

const pages = import.meta.glob<string>(
  ['../../docs/**/*.md', '../../README.md', '../../examples/**/*.md', '../../src/client/README.md'],
  { query: '?raw', import: 'default', eager: true },
);

interface Command {
  page: string;
  text: string;
}

const commands = Object.entries(pages).flatMap(([page, text]): Command[] =>
  [...text.replaceAll('\\\n', ' ').matchAll(/^\s*(?:\S+=.*)?curl .*$/gm)].map(([command]) => ({
    page,
    text: command,
  })),
);

test('each command of a guide sends an API key as the service takes it', () => {
  const keyed = commands.filter(({ text }) => /lk_live|\$(?:LATCHKEY_)?API_KEY/.test(text));
  expect(keyed.length).toBeGreaterThan(15);
  expect(keyed.filter(({ text }) => !/-H ['"]x-api-key: /i.test(text))).toEqual([]);
});

test('each command of a guide calls a path that there is, by its method', () => {
  const called = commands.flatMap(({ page, text }) => {
    const [, path] =
      /(?:latchkey\.example\.com|localhost:8787|\$LATCHKEY(?:_URL)?)(\/[^\s"'?]*)/.exec(text) ?? [];
    // The runtime's own, and a path that a function of the shell is given.
    if (path === undefined || /^\/cdn-cgi|\$1/.test(path)) return [];
    const method = / -G /.test(text)
      ? 'GET'
      : (/-X (\w+)/.exec(text)?.[1] ?? (/ -d |--data/.test(text) ? 'POST' : 'GET'));
    return [{ page, method, path }];
  });
  expect(called.length).toBeGreaterThan(15);
  const isMounted = ({ method, path }: { method: string; path: string }) =>
    app.routes.some(
      (route) =>
        route.method === method && new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path),
    );
  expect(called.filter((one) => !isMounted(one))).toEqual([]);
});
