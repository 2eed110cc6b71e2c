import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { Router } from 'wouter'
import { useStore } from 'zustand'
import { queryClient } from './api/query-client.ts'
import { session } from './api/session.ts'
import { Screens } from './screens/screens.tsx'
import { SignInScreen } from './screens/start/sign-in-screen.tsx'
import { Shell } from './shell/shell.tsx'
import { nonce } from './theme/nonce.ts'
import { cssVariables, theme } from './theme/theme.ts'

/** Who is not signed in gets the sign-in screen at whatever address was opened, and that address behind it. */
export function App() {
  const isSignedIn = useStore(session, ({ token }) => token !== '')
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={nonce}
    >
      <Notifications position="bottom-left" limit={4} />
      <QueryClientProvider client={queryClient}>
        <Router base="/studio">
          {isSignedIn ? (
            <Shell>
              <Screens />
            </Shell>
          ) : (
            <SignInScreen />
          )}
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  )
}
