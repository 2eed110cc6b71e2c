import { Alert, Badge, Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { listRuns } from '../../api/runs.ts'
import { findDocuments, storageNamesQuery } from '../../api/storages.ts'
import { JsonField } from '../../controls/json/json-field.tsx'
import { jsonMistake } from '../../controls/json/json-mistake.ts'
import { JsonView } from '../../controls/json/json-view.tsx'
import { ErrorNotice, Message } from '../../controls/states.tsx'
import { tryTexts } from '../../texts/bar.ts'
import { inPinOf } from '../model/flow.ts'
import { firstInput, type HandTrigger } from '../model/runs/hand-triggers.ts'
import { outcomeOf } from '../model/runs/run-labels.ts'
import { runsKey } from '../runs/run-queries.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import { scrollToResult } from './reply-view.tsx'
import { useHandRun, useTried } from './use-hand-run.ts'

const SHOWN = 20

/** One of the newest documents of a storage. Nothing where the user may not see them. */
function DocumentChoice({
  storage,
  onChoose,
}: {
  readonly storage: string
  readonly onChoose: (document: JsonObject) => void
}) {
  const names = useQuery(storageNamesQuery)
  const guid = names.data?.find(({ name }) => name === storage)?.guid ?? ''
  const { data } = useQuery({
    queryKey: ['documents', guid, 'newest'],
    queryFn: ({ signal }) => findDocuments(guid, { limit: SHOWN, sort: [{ '_meta.cms': 'desc' }] }, signal),
    enabled: guid !== '',
  })
  if (!data || data.records.length === 0) return null
  return (
    <Select
      size="xs"
      label={tryTexts.documentOf(storage)}
      placeholder={tryTexts.documentOfExample}
      searchable
      data={data.records.map((document) => ({ value: document._meta.guid, label: labelOf(document) }))}
      onChange={(chosen) => {
        const found = data.records.find(({ _meta }) => _meta.guid === chosen)
        if (found) onChoose(JSON.parse(JSON.stringify(found)))
      }}
    />
  )
}

/** Its first short values; documents have no name. */
function labelOf({ _meta, ...fields }: { readonly _meta: { readonly guid: string } }): string {
  const values = Object.values(fields).filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
  return `${values.slice(0, 2).join(', ').slice(0, 60)} …${_meta.guid.slice(-6)}`.trim()
}

const inputLabels = {
  page: tryTexts.parametersAndQuery,
  function: tryTexts.parameters,
  storage: tryTexts.eventAndDocument,
  schedule: tryTexts.plannedTime,
  failure: tryTexts.failure,
} as const

type Effects = 'discard' | 'real'

/** Runs a function, a schedule, an event or a page: without effects as it is drawn, or for real as it is deployed. */
export function HandForm({ trigger }: { readonly trigger: HandTrigger }) {
  const { block, on, content } = trigger
  const [first] = useState(() => pretty(firstInput(trigger, Date.now())))
  const [{ body: input = first, run: from = null }, type] = useTried(block)
  const [effects, setEffects] = useState<Effects>('discard')
  const version = useEditorState(({ blueprint }) => (blueprint?.active ? blueprint.version : undefined))
  const running = useHandRun()
  const storage = inPinOf(content, 'storage')?.value
  const mistake = from === null && jsonMistake(input) !== ''
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const inputs = from === null ? { input: objectOf(input) } : { from_run: from }
        if (!mistake) running.mutate({ trigger: block, effects, ...inputs })
      }}
    >
      <Stack gap="sm">
        <RecordedChoice trigger={block} value={from} onChange={(run) => type({ run })} />
        {from === null ? (
          <>
            {on === 'storage' && typeof storage === 'string' ? (
              <DocumentChoice
                storage={storage}
                onChoose={(document) => type({ body: pretty(firstInput(trigger, Date.now(), document)) })}
              />
            ) : null}
            <JsonField
              label={inputLabels[on]}
              value={input}
              onChange={(text) => type({ body: text })}
              minRows={3}
            />
          </>
        ) : null}
        {on === 'page' ? null : (
          <EffectsChoice isDeployed={version !== undefined} value={effects} onChange={setEffects} />
        )}
        <Text size="xs" c="dimmed">
          {effects === 'real' ? tryTexts.runForRealHelp(version) : tryTexts.tryHelp}
        </Text>
        <Group justify="flex-end">
          <Button
            type="submit"
            size="xs"
            color={effects === 'real' ? 'red' : 'petrol'}
            aria-busy={running.isPending}
          >
            {running.isPending ? tryTexts.running : effects === 'real' ? tryTexts.runForReal : tryTexts.try}
          </Button>
        </Group>
        <ErrorNotice error={running.error} title={tryTexts.couldNotRunIt} />
        {running.data ? <HandRunView key={running.submittedAt} run={running.data} /> : null}
      </Stack>
    </form>
  )
}

interface EffectsChoiceProps {
  readonly isDeployed: boolean
  readonly value: Effects
  readonly onChange: (effects: Effects) => void
}

function EffectsChoice({ isDeployed, value, onChange }: EffectsChoiceProps) {
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label={tryTexts.effects}
      data={[
        { value: 'discard', label: tryTexts.tryWithoutEffects },
        { value: 'real', label: tryTexts.runForReal, disabled: !isDeployed },
      ]}
      value={value}
      onChange={(to) => onChange(to === 'real' ? 'real' : 'discard')}
    />
  )
}

interface RecordedChoiceProps {
  readonly trigger: string
  readonly value: string | null
  readonly onChange: (run: string | null) => void
}

/** Runs of this trigger whose input can be given again. */
function RecordedChoice({ trigger, value, onChange }: RecordedChoiceProps) {
  const blueprint = useEditorState((state) => state.guid)
  const { data } = useQuery({
    queryKey: [...runsKey(blueprint), 'of', trigger],
    queryFn: ({ signal }) => listRuns(blueprint, { failed: false, trigger, limit: 20 }, signal),
  })
  if (!data || data.records.length === 0) return null
  return (
    <Select
      size="xs"
      label={tryTexts.recordedInput}
      placeholder={tryTexts.recordedInputExample}
      clearable
      data={data.records.map(({ guid, started, status }) => ({
        value: guid,
        label: `${new Date(started).toLocaleTimeString()}, ${status}`,
      }))}
      value={value}
      onChange={onChange}
    />
  )
}

function pretty(value: JsonObject): string {
  return JSON.stringify(value, undefined, 2)
}

function objectOf(text: string): JsonObject {
  const value: unknown = text.trim() === '' ? {} : JSON.parse(text)
  return isJsonObject(value) ? value : {}
}

/** How a run by hand ended: its values are on the drawing. */
export function HandRunView({ run }: { readonly run: Run }) {
  const editor = useEditor()
  const { word, color } = outcomeOf(run)
  const shown = run.reply ? run.reply.body : run.result
  return (
    <Stack gap="xs" aria-live="polite" ref={scrollToResult}>
      <Group gap={8}>
        <Badge color={color} variant="filled">
          {word}
        </Badge>
        <Text size="xs" c="dimmed" className="numbers">
          {tryTexts.ranIn(
            run.recorded_as === 'by_hand' ? tryTexts.ranForReal : tryTexts.triedWithoutEffects,
            (run.us / 1_000).toFixed(1),
          )}
        </Text>
      </Group>
      {run.error ? (
        <Alert color="red" variant="light" p="xs">
          <Text size="xs">
            <Message text={run.error.message} />
          </Text>
        </Alert>
      ) : null}
      <Group gap={8}>
        <Text size="xs" c="dimmed">
          {tryTexts.runShown}
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            showRun(editor, run.guid)
            editor.set({ panel: 'runs' })
          }}
        >
          {tryTexts.stepByStep}
        </Button>
      </Group>
      {shown === null ? null : (
        <JsonView value={shown} label={run.reply ? tryTexts.bodyOfTheReply : tryTexts.result} />
      )}
    </Stack>
  )
}
