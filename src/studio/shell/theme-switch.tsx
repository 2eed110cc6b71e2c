import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { Icon } from '../controls/icon.tsx'
import { shellTexts } from '../texts/shell.ts'

/** Dark or light. Until it is used, whatever the machine is set to. */
export function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  const label = isDark ? shellTexts.lightColours : shellTexts.darkColours
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        <Icon name={isDark ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tooltip>
  )
}
