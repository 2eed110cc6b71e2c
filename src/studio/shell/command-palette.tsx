import { Combobox, Modal, ScrollArea, Text, TextInput, useCombobox } from '@mantine/core'
import { useEffect, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { Icon } from '../controls/icon.tsx'
import { shellTexts } from '../texts/shell.ts'
import { type Command, commands } from './commands.ts'
import { findCommands } from './find-commands.ts'
import { useFoundFlows } from './use-found-flows.ts'
import { useFoundRecords } from './use-found-records.ts'
import { useStandingCommands } from './use-standing-commands.ts'

interface PaletteProps {
  readonly opened: boolean
  readonly onClose: () => void
}

export function CommandPalette({ opened, onClose }: PaletteProps) {
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      yOffset="12vh"
      padding={0}
      size="lg"
      centered={false}
      transitionProps={{ duration: 80 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={shellTexts.search}>
        <Modal.Body>
          <Palette onClose={onClose} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

const MOST = 40

function Palette({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState('')
  // Its options are always shown: closed, it would not take Enter.
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose })
  const found = useFound(typed)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever was found last, its first is chosen
  useEffect(() => {
    combobox.selectFirstOption()
  }, [found])
  const groups = Map.groupBy(found, ({ group }) => group)
  const run = (id: string) => {
    onClose()
    found.find((command) => command.id === id)?.run()
  }
  return (
    <Combobox store={combobox} onOptionSubmit={run}>
      <Combobox.EventsTarget>
        <TextInput
          data-autofocus
          size="lg"
          variant="unstyled"
          px="md"
          placeholder={shellTexts.searchExample}
          aria-label={shellTexts.search}
          leftSection={<Icon name="search" />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Combobox.EventsTarget>
      <ScrollArea.Autosize
        mah={420}
        style={{ borderTop: '1px solid var(--studio-line)' }}
        // With keys alone it can be scrolled too, without choosing.
        viewportProps={{ tabIndex: 0 }}
      >
        {found.length === 0 ? (
          <Combobox.Empty m={6}>
            <Text size="sm">{shellTexts.noMatch}</Text>
          </Combobox.Empty>
        ) : null}
        {/* A list without options is none for a screen reader. */}
        <Combobox.Options p={6} aria-label={shellTexts.results} hidden={found.length === 0}>
          {[...groups].map(([group, list]) => (
            <Combobox.Group key={group} label={group}>
              {list.map((command) => (
                <Combobox.Option key={command.id} value={command.id}>
                  {command.label}
                </Combobox.Option>
              ))}
            </Combobox.Group>
          ))}
        </Combobox.Options>
      </ScrollArea.Autosize>
    </Combobox>
  )
}

/** A screen offers its own form of a command: of two with the same id the first counts. */
function withoutTwins(all: readonly Command[]): readonly Command[] {
  return [...new Map(all.toReversed().map((one) => [one.id, one])).values()].toReversed()
}

/** What fits the words, of all kinds. */
function useFound(typed: string) {
  const standing = useStandingCommands()
  const offered = useStore(commands, (state) => state.offered)
  const records = useFoundRecords(typed)
  const flows = useFoundFlows(typed)
  return useMemo(
    () =>
      [
        ...findCommands(withoutTwins([...offered.flat(), ...standing]), typed),
        ...records,
        ...(typed.trim() === '' ? [] : findCommands(flows, typed)),
      ].slice(0, MOST),
    [offered, standing, records, flows, typed],
  )
}
