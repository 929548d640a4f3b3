// A flood of requests must not become a flood of lines: whoever sends forged keys would fill the log, and a line for
// each good verify would double what a verify costs on the platform.

const LINES_A_SECOND = 10;

interface Kind {
  second: number;
  lines: number;
  unsaid: number;
}

/** Thins out the lines of each kind. There have to be few kinds. */
export const openThinning = () => {
  const kinds = new Map<string, Kind>();

  /** How many requests a line speaks for, this one included; 0 where it is to have no line. */
  return (name: string, nowMs: number): number => {
    const second = Math.floor(nowMs / 1_000);
    const kind = kinds.get(name) ?? { second, lines: 0, unsaid: 0 };
    kinds.set(name, kind);
    if (kind.second !== second) Object.assign(kind, { second, lines: 0 });
    if (kind.lines >= LINES_A_SECOND) {
      kind.unsaid++;
      return 0;
    }
    const times = kind.unsaid + 1;
    kind.lines++;
    kind.unsaid = 0;
    return times;
  };
};
