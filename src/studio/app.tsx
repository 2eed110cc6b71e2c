import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './theme/studio.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import type { User } from '../shared/api/people/users.ts'
import { meQuery } from './api/account.ts'
import { ApiError } from './api/api-error.ts'
import { queryClient } from './api/query-client.ts'
import { call } from './api/request.ts'
import { session, signedOut } from './api/session.ts'
import { Screens } from './screens/screens.tsx'
import { Shell } from './shell/shell.tsx'
import { nonce } from './theme/nonce.ts'
import { cssVariables, theme } from './theme/theme.ts'

// The package that makes style tags when a dialog locks the page's scrolling looks here for what the policy asks of them.
Object.assign(globalThis, { __webpack_nonce__: nonce() })

/** Whose studio is open; empty while that is not known. */
export function openedUser(): string {
  return queryClient.getQueryData(meQuery.queryKey)?.username ?? ''
}

/** Milliseconds until the server is asked again who has signed in. */
const RETRY = { first: 500, most: 5_000 } as const

/**
 * Whether the user who has signed in again is the one whose studio is open. What it shows is read again then. It asks until the
 * server says who it is, since what was typed is lost for another user; undefined where that session ended first.
 */
export async function isSameUser(failed: (error: unknown) => void): Promise<boolean | undefined> {
  const { token } = session.getState()
  const before = queryClient.getQueryData(meQuery.queryKey)
  for (let pause: number = RETRY.first; ; pause = Math.min(RETRY.most, pause * 2)) {
    try {
      const now = await call<User>('GET', '/users/me', { atOnce: true })
      if (session.getState().token !== token) return undefined
      const isSame = before !== undefined && now._meta.guid === before._meta.guid
      if (isSame) void queryClient.invalidateQueries()
      return isSame
    } catch (error) {
      if (session.getState().token !== token) return undefined
      if (error instanceof ApiError && error.code === 'INVALID_ACCESS_TOKEN') {
        signedOut(true)
        return undefined
      }
      failed(error)
    }
    await new Promise((done) => setTimeout(done, pause))
    if (session.getState().token !== token) return undefined
  }
}

/** Opens the studio of who is signed in, in `root`, and gives what closes it. */
export function openStudio(root: HTMLElement): () => void {
  // Data that another user saw in this tab must not be shown.
  queryClient.clear()
  const opened = createRoot(root)
  opened.render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        getStyleNonce={nonce}
      >
        <Notifications position="bottom-left" limit={4} />
        <QueryClientProvider client={queryClient}>
          <Router base="/studio">
            <Shell>
              <Screens />
            </Shell>
          </Router>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
  return () => opened.unmount()
}
