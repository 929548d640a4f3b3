// The script of the guides, which also work without it: the search, the theme, buttons that copy, and the reader's own values.
import './guides.css';
import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';
import { startTheme } from './theme.ts';
import { fillInValues } from './values.ts';

startTheme();
startSearch();
addCopyButtons();
await fillInValues();
