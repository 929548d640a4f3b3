// `wrangler d1 migrations apply --remote` has D1 split a file into statements. It has failed on triggers, and on quotes in
// comments, that SQLite itself accepts (cloudflare/workers-sdk#4713), so both keep to a form that is known to work.

const NOT_CODE = /--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|`[^`]*`|"[^"]*"/gs;
const QUOTE_IN_COMMENT = /^(?:--|\/\*).*['"]/s;
const TRIGGER = /\bCREATE\s+(?:TEMP(?:ORARY)?\s+)?TRIGGER\b/i;

/** Returns what is wrong with the triggers or the comments of a migration, or null. */
export const migrationProblem = (sql: string): string | null => {
  if (sql.match(NOT_CODE)?.some((part) => QUOTE_IN_COMMENT.test(part))) {
    return 'has an apostrophe or a quotation mark in a comment. Write the comment without it.';
  }
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
