import { Switch } from '@mantine/core'
import { useStore } from 'zustand'
import { letterShortcuts, switchLetterShortcuts } from './letter-shortcuts.ts'

/** On until a user switches it off. */
export function LetterSwitch() {
  const { on } = useStore(letterShortcuts)
  return (
    <Switch
      label="Shortcuts of one character"
      description="Keys such as A, ? or G B without Ctrl. Off: only those with Ctrl or Cmd, and keys such as Del, work."
      checked={on}
      onChange={(event) => switchLetterShortcuts(event.currentTarget.checked)}
    />
  )
}
