/** Patterns in order: browsers name those that they imitate. */
const BROWSERS: [pattern: RegExp, name: string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:(?:Headless)?Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^node\b/, 'Node.js'],
  [/^python-/i, 'Python'],
];

const SYSTEMS: [pattern: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const findName = (patterns: [RegExp, string][], userAgent: string) =>
  patterns.find(([pattern]) => pattern.test(userAgent))?.[1];

/** Describes a User-Agent header, for example as "Firefox on Windows". The header's own text is never shown. */
export const describeUserAgent = (userAgent: string | null): string => {
  const browser = findName(BROWSERS, userAgent ?? '') ?? 'Unknown browser';
  const system = findName(SYSTEMS, userAgent ?? '');
  return system ? `${browser} on ${system}` : browser;
};
