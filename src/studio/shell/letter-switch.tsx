import { Switch } from '@mantine/core'
import { useStore } from 'zustand'
import { shellTexts } from '../texts/shell.ts'
import { letterShortcuts, switchLetterShortcuts } from './shortcuts.ts'

/** On until a user switches it off. */
export function LetterSwitch() {
  const { on } = useStore(letterShortcuts)
  return (
    <Switch
      label={shellTexts.letterKeys}
      description={shellTexts.letterKeysHelp}
      checked={on}
      onChange={(event) => switchLetterShortcuts(event.currentTarget.checked)}
    />
  )
}
