import '../styles.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { reloadForLinks } from '../lib/loading.ts';
import { Portal } from './portal.tsx';

// The page for a seller's customers. It is an entry of its own, so that it loads nothing of the dashboard but React.

reloadForLinks();

const root = document.querySelector('#root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Portal />
    </StrictMode>,
  );
