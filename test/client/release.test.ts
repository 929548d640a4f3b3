import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nextVersion, withVersion } from '../../scripts/changelog.ts';

const ROOT = join(import.meta.dirname, '../..');

test.for<[current: string, asked: string, expected: string | null]>([
  ['1.2.3', 'patch', '1.2.4'],
  ['1.2.3', 'minor', '1.3.0'],
  ['1.2.3', 'major', '2.0.0'],
  ['1.2.3', '1.2.3', '1.2.3'],
  ['1.2.3', '', null],
  ['1.2.3', 'v2', null],
])('after %s, %s is %s', ([current, asked, expected]) => {
  expect(nextVersion(current, asked)).toBe(expected);
});

test('a version is added above the others, and one that is described already stays as it is', () => {
  const changelog = '# Changelog\n\nText.\n\n## 1.0.0 (2026-11-26)\n\nBy hand.\n';
  const added = withVersion(changelog, '1.1.0', '2027-01-02', ['Add a', 'Add b']);
  expect(added).toBe(
    '# Changelog\n\nText.\n\n## 1.1.0 (2027-01-02)\n\n- Add a\n- Add b\n\n## 1.0.0 (2026-11-26)\n\nBy hand.\n',
  );
  expect(withVersion(added, '1.0.0', '2027-01-02', ['Add c'])).toBe(added);
  expect(withVersion(changelog, '1.0', '2027-01-02', [])).not.toBe(changelog);
});

/** A repository with what a release reads. A stub packs and checks. */
const newRepository = () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (file: string, text: string) => {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  const commit = (subject: string) => {
    git('add', '--all');
    git('commit', '--quiet', '--message', subject);
  };
  const manifest = (name: string, scripts: object = {}) =>
    `${JSON.stringify({ name, version: '1.0.0', private: true, scripts }, null, 2)}\n`;
  write('.gitignore', 'dist/\n');
  write('CHANGELOG.md', '# Changelog\n\n## 1.0.0\n\nBy hand.\n');
  write('README.md', 'Install latchkey-client-1.0.0.tgz.\n');
  write('package.json', manifest('latchkey', { 'check:client': 'node check.mjs' }));
  write('src/client/package.json', manifest('@latchkey/client'));
  write(
    'check.mjs',
    `import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
     if (existsSync('src/broken')) process.exit(1);
     const { version } = JSON.parse(readFileSync('src/client/package.json', 'utf8'));
     mkdirSync('dist/client', { recursive: true });
     writeFileSync('dist/client/latchkey-client-' + version + '.tgz', version);`,
  );
  for (const file of ['release.ts', 'changelog.ts'])
    cpSync(join(ROOT, 'scripts', file), join(folder, 'scripts', file));
  git('init', '--quiet');
  git('config', 'user.name', 'A');
  git('config', 'user.email', 'a@example.com');
  commit('Begin');
  const release = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.ts', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, text: stdout + stderr };
  };
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return { folder, write, git, commit, release, read };
};

describe('npm run release', () => {
  test('shows what it would write, and writes it only when it is told to', () => {
    const { folder, write, git, commit, release, read } = newRepository();
    expect(release('1.0.0', '--write')).toMatchObject({ status: 0 });
    expect(git('tag')).toBe('v1.0.0');
    expect(read('CHANGELOG.md')).toBe('# Changelog\n\n## 1.0.0\n\nBy hand.\n');
    expect(read('releases/latchkey-client-1.0.0.tgz')).toBe('1.0.0');

    write('src/app.ts', 'export {};\n');
    commit('Add the application');
    write('test/app.test.ts', 'export {};\n');
    commit('Test the application');
    const tried = release('minor');
    expect(tried).toMatchObject({ status: 0 });
    expect(tried.text).toMatch(/1\.0\.0 → 1\.1\.0, since v1\.0\.0[^]*- Add the application/);
    expect(tried.text).not.toContain('Test the application');
    expect([git('status', '--porcelain'), git('tag')]).toEqual(['', 'v1.0.0']);

    expect(release('minor', '--write')).toMatchObject({ status: 0 });
    expect([git('status', '--porcelain'), git('tag')]).toEqual(['', 'v1.0.0\nv1.1.0']);
    expect(git('log', '-1', '--format=%s')).toBe('Release 1.1.0');
    expect(read('CHANGELOG.md')).toMatch(
      /^# Changelog\n\n## 1\.1\.0 \(.*\)\n\n- Add the application\n\n## 1\.0\.0\n/,
    );
    for (const file of ['package.json', 'src/client/package.json'])
      expect(JSON.parse(read(file))).toMatchObject({ version: '1.1.0' });
    expect(read('README.md')).toBe('Install latchkey-client-1.1.0.tgz.\n');
    // The file of an earlier version stays as it was.
    expect(read('releases/latchkey-client-1.0.0.tgz')).toBe('1.0.0');
    expect(existsSync(join(folder, 'releases/latchkey-client-1.1.0.tgz'))).toBe(true);
  });

  test('refuses a working tree with changes, an unknown version, one that is released, and a package that fails', () => {
    const { write, git, commit, release, read } = newRepository();
    expect(release()).toMatchObject({ status: 1, text: expect.stringContaining('Say which version') });
    write('src/new.ts', 'export {};\n');
    expect(release('patch', '--write')).toMatchObject({
      status: 1,
      text: expect.stringContaining('The working tree has changes'),
    });
    commit('Add a file');
    git('tag', 'v1.0.1');
    expect(release('patch')).toMatchObject({ status: 1, text: expect.stringContaining('released already') });
    write('src/broken', '');
    commit('Break it');
    expect(release('minor', '--write')).toMatchObject({
      status: 1,
      text: expect.stringContaining('Nothing was released'),
    });
    expect([git('status', '--porcelain'), git('tag')]).toEqual(['', 'v1.0.1']);
    expect(JSON.parse(read('package.json'))).toMatchObject({ version: '1.0.0' });
  });
});
