import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './theme/studio.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { shareWithPages } from './api/page-session.ts'
import { shareSession } from './api/session-tabs.ts'
import { App } from './app.tsx'
import { nonce } from './theme/nonce.ts'

// The package that makes style tags when a dialog locks the page's scrolling looks here for what the policy asks of them.
Object.assign(globalThis, { __webpack_nonce__: nonce() })

const root = document.getElementById('studio')
if (root === null) throw new Error('index.html has no #studio')
// Behind the answer of another tab, or 150 ms: without it a signed-in user would see the sign-in screen flash.
await shareSession().ready
void shareWithPages(false)
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
