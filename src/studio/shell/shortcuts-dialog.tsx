import { Group, Kbd, Modal, SimpleGrid, Stack, Switch, Text, Title } from '@mantine/core'
import { Fragment } from 'react'
import { useStore } from 'zustand'
import { shellTexts } from '../texts/shell.ts'
import { isOfCharacters, keyCaps, letterShortcuts, shortcuts, switchLetterShortcuts } from './shortcuts.ts'

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)

/** All keys that do something where one is now. */
export function ShortcutsDialog({
  opened,
  onClose,
}: {
  readonly opened: boolean
  readonly onClose: () => void
}) {
  const active = useStore(shortcuts, (state) => state.active)
  const { on } = useStore(letterShortcuts)
  const working = active.filter(({ keys }) => on || !isOfCharacters(keys))
  const groups = Map.groupBy(working, ({ group }) => group)
  return (
    <Modal opened={opened} onClose={onClose} title={shellTexts.keyboardShortcuts} size="lg">
      <Stack gap="lg">
        <LetterSwitch />
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
          {[...groups].map(([group, list]) => (
            <Stack key={group} gap={6}>
              <Title order={3} size="sm">
                {group}
              </Title>
              {list.map(({ keys, label }) => (
                <Group key={keys} justify="space-between" wrap="nowrap" gap="xs">
                  <Text size="sm">{label}</Text>
                  <Keys keys={keys} />
                </Group>
              ))}
            </Stack>
          ))}
        </SimpleGrid>
      </Stack>
    </Modal>
  )
}

function Keys({ keys }: { readonly keys: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      {keyCaps(keys, isMac).map((step, i) => (
        <Fragment key={step.join('+')}>
          {i > 0 ? (
            <Text size="xs" c="dimmed">
              {shellTexts.andThen}
            </Text>
          ) : null}
          {step.map((cap) => (
            <Kbd key={cap} size="xs">
              {cap}
            </Kbd>
          ))}
        </Fragment>
      ))}
    </Group>
  )
}

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
