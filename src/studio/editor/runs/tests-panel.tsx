import {
  ActionIcon,
  Badge,
  Button,
  FileButton,
  Group,
  ScrollArea,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { TestedBlueprint, TracedRun } from '../../../shared/api/blueprints/applications.ts'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import { Icon } from '../../controls/icon.tsx'
import { PanelHead } from '../../controls/screen-head.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { runsTexts } from '../../texts/runs.ts'
import { listTests, runTests } from '../api/editor-api.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { addTest } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './runs-panel.module.css'

/** Of a file: the server takes no more of all together. */
const MOST_OF_FILE = 1024 * 1024
/** A person reads no more here; the canvas shows all. */
const MOST_MISSING = 50

/** The tests of the blueprint, run on the canvas as it is; what they took is drawn there while this panel is open. */
export function TestsPanel() {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.guid)
  const tested = useEditorState((state) => state.tested)
  const { data, error, refetch } = useQuery({
    queryKey: ['blueprint-tests', blueprint],
    queryFn: ({ signal }) => listTests(blueprint, signal),
    staleTime: 0,
    // A builder may lack the scopes.
    retry: false,
  })
  const own = useEditorState((state) => state.ownTests)
  const tests = [
    ...(data?.tests ?? []).filter(({ file }) => !own.has(file)),
    ...[...own].map(([file, test]) => ({ file, name: String(test.name), steps: listOf(test.steps).length })),
  ]
  return (
    <ScrollArea h="100%" type="auto" scrollbarSize={8}>
      <Stack gap="md" p={14} pb={40}>
        <PanelHead
          title={runsTexts.tests}
          close={runsTexts.closeTests}
          onClose={() => editor.set({ panel: 'properties' })}
        />
        <Text size="xs" c="dimmed">
          {runsTexts.testsText(data?.application ?? '')}
        </Text>
        <ErrorNotice error={error} title={runsTexts.testsNotLoaded} onRetry={refetch} />
        <Actions count={data || own.size > 0 ? tests.length : undefined} tested={tested} />
        <ul className={classes.list} aria-label={runsTexts.tests}>
          {tests.map((one) => (
            <OneTest key={one.file} test={one} tested={tested} isOwn={own.has(one.file)} />
          ))}
        </ul>
        {tested ? <Covered coverage={tested.coverage} /> : null}
      </Stack>
    </ScrollArea>
  )
}

interface ActionsProps {
  /** Of the tests; undefined while they are not known. */
  readonly count: number | undefined
  readonly tested: TestedBlueprint | undefined
}

function Actions({ count, tested }: ActionsProps) {
  const editor = useEditor()
  const running = useRunning()
  const opening = useMutation({
    mutationFn: async (file: File) => {
      const test = file.size > MOST_OF_FILE ? undefined : testIn(await file.text())
      if (test === undefined) throw new Error(runsTexts.noTestFile)
      addTest(editor, file.name.replace(/(\.test)?\.json$/, ''), test)
    },
  })
  return (
    <>
      <Group gap={8}>
        <Button size="xs" loading={running.isPending} disabled={!count} onClick={() => running.mutate()}>
          {runsTexts.runTests}
        </Button>
        <FileButton accept=".json,application/json" onChange={(file) => file && opening.mutate(file)}>
          {(props) => (
            <Button {...props} size="xs" variant="default">
              {runsTexts.openTest}
            </Button>
          )}
        </FileButton>
      </Group>
      <ErrorNotice error={opening.error} title={runsTexts.couldNotOpenTest} />
      <ErrorNotice error={running.error} title={runsTexts.couldNotTest} />
      <div role="status">
        {running.isPending ? (
          <Text size="xs" c="dimmed">
            {runsTexts.testsRunning}
          </Text>
        ) : tested ? (
          <Text size="sm" fw={600}>
            {runsTexts.testsPassed(passedOf(tested), tested.results.length)}
          </Text>
        ) : count === 0 ? (
          <Text size="sm">{runsTexts.noTests}</Text>
        ) : null}
      </div>
    </>
  )
}

/** Ends with the panel, also on the server. */
function useRunning() {
  const editor = useEditor()
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const left = new AbortController()
    leaving.current = left
    return () => left.abort()
  }, [])
  return useMutation({
    mutationFn: async () => {
      const { signal } = leaving.current
      await editor.sync.settled()
      const { guid, ownTests } = editor.store.getState()
      const tested = await runTests(guid, Object.fromEntries(ownTests), signal)
      // The canvas shows a run, or what the tests ran.
      editor.set({ tested, shownRun: undefined })
    },
  })
}

interface OneTestProps {
  readonly test: { readonly file: string; readonly name: string; readonly steps: number }
  readonly tested: TestedBlueprint | undefined
  /** It is not among the files of the application. */
  readonly isOwn: boolean
}

function OneTest({ test: { file, name, steps }, tested, isOwn }: OneTestProps) {
  const editor = useEditor()
  const result = tested?.results.find((one) => one.file === `tests/${file}.test.json`)
  const remove = () => {
    const { ownTests } = editor.store.getState()
    editor.set({ ownTests: new Map([...ownTests].filter(([one]) => one !== file)) })
  }
  return (
    <li className={classes.test}>
      <Group gap={6} wrap="nowrap" align="flex-start">
        <Text size="sm" flex={1} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        {result ? (
          <Badge size="sm" color={result.failures.length === 0 ? 'petrol' : 'red'} style={{ flexShrink: 0 }}>
            {result.failures.length === 0 ? runsTexts.passed : runsTexts.failed}
          </Badge>
        ) : null}
        {isOwn ? (
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            aria-label={runsTexts.removeTest(name)}
            onClick={remove}
          >
            <Icon name="close" size={14} />
          </ActionIcon>
        ) : null}
      </Group>
      <Text size="xs" c="dimmed">
        {isOwn ? runsTexts.ownTest(steps) : runsTexts.testFile(file, steps)}
      </Text>
      {result?.failures.map((failure) => (
        <Text key={failure} size="xs" className={classes.failure} style={{ overflowWrap: 'anywhere' }}>
          {failure}
        </Text>
      ))}
      {result?.trace ? <WhatRan test={name} trace={result.trace} /> : null}
    </li>
  )
}

/** Of a test that failed: the last blocks, with what each got and gave, as the server masks and shortens it. */
function WhatRan({ test, trace }: { readonly test: string; readonly trace: readonly TracedRun[] }) {
  return (
    <details>
      <summary className={classes.missing}>{runsTexts.whatRan}</summary>
      <ul className={classes.list} aria-label={runsTexts.whatRanIn(test)}>
        {trace.flatMap(({ blueprint, label, steps }, run) =>
          steps.map(({ block, in: got, out: gave, error }, step) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: it never changes
            <li key={`${run} ${step}`} className={classes.ranBlock} title={`${blueprint}: ${label}`}>
              <b>{textOf(block)}</b> {runsTexts.got} <code>{textOf(got)}</code>{' '}
              {error === undefined ? (
                <>
                  {runsTexts.gave} <code>{textOf(gave)}</code>
                </>
              ) : (
                <span className={classes.failure}>
                  {runsTexts.failed}: {textOf(error)}
                </span>
              )}
            </li>
          )),
        )}
      </ul>
    </details>
  )
}

const textOf = (value: JsonValue | undefined) =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)

/** Blocks and ways that no test has taken, for those who do not see the canvas. */
function Covered({ coverage: { ways, taken, blocks } }: Pick<TestedBlueprint, 'coverage'>) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const missing = useMemo(
    () =>
      blocks
        .filter(({ block }) => flow.has(block))
        .flatMap(({ block, ways: own }) =>
          own.filter((way) => !way.taken).map(({ pin }) => ({ block, pin, key: `${block} ${pin}` })),
        ),
    [blocks, flow],
  )
  const show = (block: string) => {
    const { focus } = editor.store.getState()
    editor.set({ selection: new Set([block]), focus: { pin: '', count: focus.count + 1 } })
  }
  return (
    <section aria-label={runsTexts.coverage}>
      <Text size="sm" fw={600}>
        {runsTexts.coverageOf(taken, ways)}
      </Text>
      <Text size="xs" c="dimmed" mb={4}>
        {runsTexts.coverageText}
      </Text>
      <ul className={classes.list} aria-label={runsTexts.notTaken}>
        {missing.slice(0, MOST_MISSING).map(({ block, pin, key }) => (
          <li key={key}>
            <UnstyledButton className={classes.missing} onClick={() => show(block)}>
              {wordsOf(flow, catalogue, block).title}
              {pin === '' ? null : <b> {pin}</b>}
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {missing.length <= MOST_MISSING ? null : (
        <Text size="xs">{runsTexts.undoMore(missing.length - MOST_MISSING)}</Text>
      )}
    </section>
  )
}

function passedOf({ results }: TestedBlueprint): number {
  return results.filter(({ failures }) => failures.length === 0).length
}

function testIn(text: string) {
  try {
    const read: JsonValue = JSON.parse(text)
    return isJsonObject(read) && typeof read.name === 'string' ? read : undefined
  } catch {
    return undefined
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
