import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { shellTexts } from '../texts/shell.ts'
import { sections } from './sections.ts'
import { shortcuts } from './shortcuts.ts'

/** `g` and a letter go to a section. */
export function useGoShortcuts(): void {
  const [, go] = useLocation()
  useEffect(() => {
    const entries = sections.map((section) => ({
      keys: shellTexts.g(section.letter),
      label: shellTexts.goToSection(section.label),
      group: shellTexts.navigation,
      run: () => go(section.path),
    }))
    shortcuts.setState(({ active }) => ({ active: [...active, ...entries] }))
    return () =>
      shortcuts.setState(({ active }) => ({
        active: active.filter((one) => !entries.some((e) => e === one)),
      }))
  }, [go])
}
