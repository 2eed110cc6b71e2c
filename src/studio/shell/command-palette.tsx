import {
  Combobox,
  Modal,
  ScrollArea,
  Text,
  TextInput,
  useCombobox,
  useMantineColorScheme,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useStore } from 'zustand'
import type { Blueprint } from '../../shared/api/blueprints/blueprints.ts'
import type { StorageRecord } from '../../shared/api/data/storages.ts'
import { endpointsQuery, functionsQuery, pagesQuery } from '../api/blueprints.ts'
import { infoQuery } from '../api/operate.ts'
import { search } from '../api/request.ts'
import { Icon } from '../controls/icon.tsx'
import { screens } from '../screens/screen-registry.ts'
import { starters } from '../starters/starters.ts'
import { shellTexts } from '../texts/shell.ts'
import { type Command, commands } from './commands.ts'
import { findCommands } from './find-commands.ts'
import { isOffered } from './sections.ts'
import { signOut } from './sign-out.ts'

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
      // Without a frame in which there is no field yet: what is typed then would be lost.
      transitionProps={{ duration: 0 }}
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
  const { found, isSearching } = useFound(typed)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever was found last, its first is chosen
  useEffect(() => {
    combobox.selectFirstOption()
  }, [found])
  const groups = Map.groupBy(found, ({ group }) => group)
  const run = (id: string) => {
    onClose()
    found.find((command) => command.id === id)?.run()
  }
  const onKeyDown = useEarlyEnter(found, typed, run)
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
          onKeyDown={onKeyDown}
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
            <Text size="sm">{isSearching ? shellTexts.searching : shellTexts.noMatch}</Text>
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

/** Enter that is pressed before anything is found runs what is found first, unless more is typed. */
function useEarlyEnter(found: readonly Command[], typed: string, run: (id: string) => void) {
  const entered = useRef<string>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: something is found
  useEffect(() => {
    const [first] = found
    if (first && entered.current === typed) run(first.id)
  }, [found])
  return ({ key }: { readonly key: string }) => {
    if (key === 'Enter' && found.length === 0) entered.current = typed
  }
}

/** A screen offers its own form of a command: of two with the same id the first counts. */
function withoutTwins(all: readonly Command[]): readonly Command[] {
  return [...new Map(all.toReversed().map((one) => [one.id, one])).values()].toReversed()
}

/** What fits the words, of all kinds. */
function useFound(typed: string) {
  const standing = useStandingCommands()
  const offered = useStore(commands, (state) => state.offered)
  const { records, isSearching } = useFoundRecords(typed)
  const flows = useFoundFlows(typed)
  const found = useMemo(
    () =>
      [
        ...findCommands(withoutTwins([...offered.flat(), ...standing]), typed),
        ...records,
        ...(typed.trim() === '' ? [] : findCommands(flows, typed)),
      ].slice(0, MOST),
    [offered, standing, records, flows, typed],
  )
  return { found, isSearching }
}

/** The endpoints, pages and functions of all blueprints, once something is typed. Who may not see blueprints finds none. */
function useFoundFlows(typed: string): readonly Command[] {
  const [, go] = useLocation()
  const options = { enabled: typed.trim().length > 1, retry: false }
  const { data: endpoints } = useQuery({ ...endpointsQuery, ...options })
  const { data: pages } = useQuery({ ...pagesQuery, ...options })
  const { data: functions } = useQuery({ ...functionsQuery, ...options })
  return useMemo(() => {
    const command = (group: string, label: string, place: Place): Command => ({
      id: place.block,
      label,
      group,
      run: () => go(`/blueprints/${place.blueprint}?block=${place.block}`),
    })
    return [
      ...all(endpoints).map((one) => command(shellTexts.endpoints, `${one.method} /${one.uri}`, one)),
      ...all(pages).flatMap((one) =>
        one.path === undefined ? [] : command(shellTexts.pages, one.path, one),
      ),
      ...(functions ?? []).map((one) => command(shellTexts.functions, one.name, one)),
    ]
  }, [endpoints, pages, functions, go])
}

interface Place {
  readonly blueprint: string
  readonly block: string
}

function all<One extends Place>(found: ReadonlyMap<string, readonly One[]> | undefined): readonly One[] {
  return [...(found?.values() ?? [])].flat()
}

/** Blueprints and storages whose names begin with what is typed. Who may not see them finds none. */
function useFoundRecords(typed: string) {
  const [, go] = useLocation()
  const [words] = useDebouncedValue(typed.trim(), 150)
  const body = { query: `${words.replace(/["()|*~+-]/g, ' ').trim()}*`, limit: 8 }
  const enabled = words.length > 1
  const blueprints = useQuery({
    queryKey: ['palette', 'blueprints', words],
    queryFn: ({ signal }) => search<Blueprint>('/blueprints/search', body, signal),
    enabled,
    retry: false,
  })
  const storages = useQuery({
    queryKey: ['palette', 'storages', words],
    queryFn: ({ signal }) => search<StorageRecord>('/_system/storages/search', body, signal),
    enabled,
    retry: false,
  })
  const records = useMemo(
    (): readonly Command[] => [
      ...(blueprints.data?.records ?? []).map((record) => ({
        id: record._meta.guid,
        label: record.name,
        group: shellTexts.blueprints,
        run: () => go(`/blueprints/${record._meta.guid}`),
      })),
      ...(storages.data?.records ?? []).map((record) => ({
        id: record._meta.guid,
        label: record.name,
        group: shellTexts.storages,
        run: () => go(`/data/storages/${record._meta.guid}`),
      })),
    ],
    [blueprints.data, storages.data, go],
  )
  return { records, isSearching: words !== typed.trim() || blueprints.isFetching || storages.isFetching }
}

/** What can be done wherever one is: go to any screen, change the colours, sign out. */
function useStandingCommands(): readonly Command[] {
  const [, go] = useLocation()
  const { setColorScheme } = useMantineColorScheme()
  const { data: info } = useQuery(infoQuery)
  return useMemo(
    () => [
      ...screens.flatMap(({ path, title, words }) =>
        words === undefined || !isOffered(path, info)
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
    [go, setColorScheme, info],
  )
}
