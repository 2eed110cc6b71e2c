import { useMantineColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { screens } from '../screens/screen-registry.ts'
import { starters } from '../starters/starters.ts'
import { shellTexts } from '../texts/shell.ts'
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
          : [{ id: `go ${path}`, label: title, group: shellTexts.goTo, words, run: () => go(path) }],
      ),
      ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
        id: `colours ${scheme}`,
        label: scheme === 'auto' ? shellTexts.systemColours : shellTexts.coloursOf(scheme),
        group: shellTexts.do,
        words: shellTexts.coloursWords,
        run: () => setColorScheme(scheme),
      })),
      ...(['blueprint', 'storage'] as const).map((what) => ({
        id: `new ${what}`,
        label: what === 'blueprint' ? shellTexts.newBlueprint : shellTexts.newStorage,
        group: shellTexts.create,
        words: shellTexts.createWords,
        run: () => go(what === 'blueprint' ? '/blueprints?new' : '/data?new'),
      })),
      ...starters.map((starter) => ({
        id: `starter ${starter.id}`,
        label: shellTexts.newFromTemplate(starter.title),
        group: shellTexts.create,
        words: `${shellTexts.createWords} ${starter.summary}`,
        run: async () => {
          const { startFrom } = await import('../starters/start-from.ts')
          const guid = await startFrom(starter)
          if (guid !== undefined) go(`/blueprints/${guid}`)
        },
      })),
      {
        id: 'sign out',
        label: shellTexts.signOut,
        group: shellTexts.do,
        words: shellTexts.signOutWords,
        run: signOut,
      },
    ],
    [go, setColorScheme],
  )
}
