// The seller's color, on buttons and the line at the top. Text on it is black or white, whichever is easier to read.

const channel = (value: number) => {
  const share = value / 255;
  return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

/** The relative luminance of WCAG, of a color such as #2563eb. */
const luminanceOf = (color: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    channel(Number.parseInt(color.slice(at, at + 2), 16)),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** At this luminance, black and white have the same contrast. */
const MIDDLE = 0.179;

/** Without a color, buttons have that of text. */
export const showAccent = (color: string | null): void => {
  if (color === null) return;
  const { style } = document.documentElement;
  style.setProperty('--accent', color);
  style.setProperty('--on-accent', luminanceOf(color) > MIDDLE ? '#000' : '#fff');
};
