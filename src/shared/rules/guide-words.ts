// The words by which the guides are searched: the build collects those of each section, and the page those of a question.

/** What the search knows of a section. Names are short, because there are some hundreds of sections. */
export interface GuideEntry {
  /** Its address. */
  a: string;
  /** The page's title, and the section's. */
  p: string;
  t: string;
  /** Its words, each once. */
  w: string;
}

/** Lower case, without accents. */
export const guideWords = (text: string): string[] => [
  ...new Set(
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? [],
  ),
];
