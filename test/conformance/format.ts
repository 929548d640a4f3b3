const WIDTH = 110;

/** JSON whose small objects and arrays take one line each, so that a change of a case is a change of its lines. */
export const formatJson = (value: unknown, indent = ''): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const partsIn = (inner: string) =>
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([name, part]) => (isList ? '' : `${JSON.stringify(name)}: `) + formatJson(part, inner));
  const inline = partsIn('').join(', ');
  if (inline.length + indent.length < WIDTH && !inline.includes('\n')) return open + inline + close;
  const inner = `${indent}  `;
  return `${open}\n${partsIn(inner).map((part) => inner + part).join(',\n')}\n${indent}${close}`;
};
