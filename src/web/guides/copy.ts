const SHOWN_MS = 2_000;

/** Gives each block of code a button that copies it. */
export const addCopyButtons = () => {
  for (const block of document.querySelectorAll('article pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    const copy = async () => {
      await navigator.clipboard.writeText(block.textContent.trimEnd());
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, SHOWN_MS);
    };
    button.addEventListener('click', () => void copy());
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    frame.append(block, button);
  }
};
