import { render } from 'preact';
import { App } from './app.tsx';
import { openFromAddress } from './state/address.ts';
import './styles/base.css';
import './styles/layout.css';
import './styles/editor.css';
import './styles/result.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
void openFromAddress();
