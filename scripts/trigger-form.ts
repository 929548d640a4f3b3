// `wrangler d1 migrations apply --remote` has D1 split a file into statements. It has failed with "incomplete input" on
// triggers that SQLite itself accepts, so triggers keep to a form that is known to work.

const NOT_CODE = /--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|`[^`]*`|"[^"]*"/gs;
const TRIGGER = /\bCREATE\s+(?:TEMP(?:ORARY)?\s+)?TRIGGER\b/i;

/** Returns what is wrong with the triggers of a migration, or null. */
export const triggerProblem = (sql: string): string | null => {
  const [before = '', ...triggers] = sql.replace(NOT_CODE, ' ').split(TRIGGER);
  if (triggers.length === 0) return null;
  if (before.includes('\r') || triggers.some((code) => code.includes('\r'))) {
    return 'has a trigger and CRLF line endings. Use LF.';
  }
  for (const code of triggers) {
    if (!/\bBEGIN\b/.test(code)) return 'has a trigger without BEGIN in upper case.';
    if (!/\bEND\b/.test(code)) return 'has a trigger without END in upper case.';
    if (/(?<!\(\s*)\bCASE\b/i.test(code)) {
      return 'has a trigger with a bare CASE. Put CASE … END in parentheses, or use iif().';
    }
  }
  return null;
};
