import { useMantineColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { screens } from '../screens/screen-registry.ts'
import type { Command } from './commands.ts'
import { signOut } from './sign-out.ts'

/** What can be done wherever one is: go to any screen, change the colours, sign out. */
export function useStandingCommands(): readonly Command[] {
  const [, go] = useLocation()
  const { setColorScheme } = useMantineColorScheme()
  return useMemo(
    () => [
      ...screens.flatMap(({ path, title, words }) =>
        words === undefined
          ? []
          : [{ id: `go ${path}`, label: title, group: 'Go to', words, run: () => go(path) }],
      ),
      ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
        id: `colours ${scheme}`,
        label: scheme === 'auto' ? 'System colours' : `Colours: ${scheme}`,
        group: 'Do',
        words: 'theme mode scheme',
        run: () => setColorScheme(scheme),
      })),
      { id: 'sign out', label: 'Sign out', group: 'Do', words: 'log out leave', run: signOut },
    ],
    [go, setColorScheme],
  )
}
