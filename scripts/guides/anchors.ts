// The anchors of headings, as GitHub makes them.

/** The anchor of a heading in Markdown or plain text. */
const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

/** Returns the anchors of a page's headings, one by one. One that repeats gets a number: `usage`, `usage-1`, `usage-2`. */
export const createAnchors = () => {
  const counts = new Map<string, number>();
  return (heading: string): string => {
    const slug = slugOf(heading);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
};
