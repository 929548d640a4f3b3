import { expect, test } from 'vitest';
import { migrationProblem } from '../../scripts/trigger-form.ts';

const GOOD = `CREATE TABLE t (a integer);
--> statement-breakpoint
-- In the case of an insert, begin with the count.
CREATE TRIGGER \`t_case\` AFTER INSERT ON \`t\` WHEN new.a IS NOT 'begin case'
BEGIN
  UPDATE t SET a = (CASE WHEN new.a > 1 THEN 1 ELSE 0 END);
END;
`;

test('accepts a trigger in the form that D1 applies', () => {
  expect(migrationProblem(GOOD)).toBeNull();
});

test.for([
  ['CRLF line endings', GOOD.replaceAll('\n', '\r\n')],
  ['BEGIN', GOOD.replace('BEGIN', 'begin')],
  ['END', GOOD.replace('END;\n', 'end;\n').replace('END)', ')')],
  ['a bare CASE', GOOD.replace('(CASE', 'CASE').replace('END)', 'END')],
  ['a bare CASE', GOOD + GOOD.replace('(CASE', 'case').replace('END)', 'end')],
] as const)('rejects a trigger for its form: %s', ([problem, sql]) => {
  expect(migrationProblem(sql)).toContain(problem);
});

test('accepts a migration without triggers in any form', () => {
  expect(migrationProblem("SELECT case when 1 then 'begin' end;\r\n")).toBeNull();
});

test.for(["-- It doesn't end.", '-- The column "a".', "/* The first\n row's. */"])(
  'rejects a quote in a comment: %s',
  (comment) => {
    expect(migrationProblem(`SELECT 1; ${comment}\nSELECT 2;`)).toContain('in a comment');
  },
);

test('accepts quotes outside of comments, and `backticks` inside', () => {
  const sql = `SELECT '--"it''s"', "a -- b" FROM \`t\`; -- The table \`t\`.\nSELECT 'x'; /* The end. */`;
  expect(migrationProblem(sql)).toBeNull();
});
