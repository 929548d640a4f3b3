// Reads the imports of src/, for check-layers.ts. Paths are relative to src/.
import { posix } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

export interface Import {
  file: string;
  /** A file, or the name of a package. */
  target: string;
  isPackage: boolean;
  isType: boolean;
}

const packageOf = (specifier: string): string =>
  /^(?:node:|cloudflare:|@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[0] ?? specifier;

/** Returns the imports of a file: static, dynamic, re-exports, and those of types. */
export const importsOf = (file: string, text: string): Import[] => {
  const imports: Import[] = [];
  const add = (source: { type: string; value?: unknown } | null, isType: boolean) => {
    if (!source) return;
    const specifier = typeof source.value === 'string' ? source.value : 'a computed path';
    const isPackage = !specifier.startsWith('.');
    const target = isPackage ? packageOf(specifier) : posix.join(posix.dirname(file), specifier);
    // Styles and JSON import nothing.
    if (!/\.(?:css|json)$/.test(specifier)) imports.push({ file, target, isPackage, isType });
  };
  new Visitor({
    ImportDeclaration: ({ source, importKind }) => add(source, importKind === 'type'),
    ExportNamedDeclaration: ({ source, exportKind }) => add(source, exportKind === 'type'),
    ExportAllDeclaration: ({ source, exportKind }) => add(source, exportKind === 'type'),
    ImportExpression: ({ source }) => add(source, false),
    TSImportType: ({ source }) => add(source, true),
  }).visit(parseSync(file, text).program);
  return imports;
};

type Arrow = [from: string, to: string];

/** Returns the names along a circle of arrows, the first of them again at its end, or null if there is none. */
const circleAlong = (arrows: Arrow[]): string[] | null => {
  const next = Map.groupBy(arrows, ([from]) => from);
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (name: string): string[] | null => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return null;
    path.push(name);
    for (const [, to] of next.get(name) ?? []) {
      const circle = visit(to);
      if (circle) return circle;
    }
    path.pop();
    done.add(name);
    return null;
  };
  for (const name of next.keys()) {
    const circle = visit(name);
    if (circle) return circle;
  }
  return null;
};

/** Returns the arrows between the files and folders that are side by side in a folder. */
const arrowsIn = (folder: string, arrows: Arrow[]): Arrow[] => {
  const entryOf = (file: string) => `${folder}/${file.slice(folder.length + 1).split('/', 1)[0]}`;
  return arrows
    .filter((arrow) => arrow.every((file) => file.startsWith(`${folder}/`)))
    .map(([from, to]): Arrow => [entryOf(from), entryOf(to)])
    .filter(([from, to]) => from !== to);
};

const parentsOf = (file: string): string[] => {
  const folder = posix.dirname(file);
  return folder === '.' ? [] : [folder, ...parentsOf(folder)];
};

/**
 * Returns a circle of files, or of the files and folders that are side by side in a folder, or null. The folders directly
 * in src/ have routes, which import what is above them, so their order is that of the layers.
 */
export const findCircle = (imports: Import[]): string[] | null => {
  const arrows = imports
    .filter(({ isPackage }) => !isPackage)
    .map(({ file, target }): Arrow => [file, target]);
  const folders = new Set(imports.flatMap(({ file }) => parentsOf(file)));
  return (
    [arrows, ...[...folders].map((folder) => arrowsIn(folder, arrows))]
      .map(circleAlong)
      .find((circle) => circle !== null) ?? null
  );
};
