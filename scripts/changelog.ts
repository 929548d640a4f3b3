// What `npm run release` writes into CHANGELOG.md, and which version follows. Pure, so that tests need no repository.

export const LEVELS = ['major', 'minor', 'patch'] as const;

/** The version that was asked for: a level above the current one, or the version itself. Null if it is neither. */
export const nextVersion = (current: string, asked: string): string | null => {
  if (/^\d+\.\d+\.\d+$/.test(asked)) return asked;
  const level = LEVELS.findIndex((name) => name === asked);
  if (level === -1) return null;
  const parts = current.split('.').map(Number);
  return parts.map((part, index) => (index < level ? part : index === level ? part + 1 : 0)).join('.');
};

const sectionOf = (version: string, date: string, subjects: string[]) =>
  [`## ${version} (${date})`, '', ...subjects.map((subject) => `- ${subject}`), ''].join('\n');

const HEADING = /^## /m;

/**
 * Adds the version above the others. A section that somebody has written by hand stays as it is: it is better than the
 * subjects of commits.
 */
export const withVersion = (changelog: string, version: string, date: string, subjects: string[]): string => {
  if (new RegExp(`^## ${version.replaceAll('.', String.raw`\.`)}(?: |$)`, 'm').test(changelog))
    return changelog;
  const first = changelog.search(HEADING);
  const at = first === -1 ? changelog.length : first;
  return `${changelog.slice(0, at)}${sectionOf(version, date, subjects)}\n${changelog.slice(at)}`;
};
