import { Group, ScrollArea, Select, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setTracing } from '../../api/operate.ts'
import { confirm } from '../../controls/confirm.ts'
import { PanelHead } from '../../controls/screen-head.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { RunDetails } from './run-details.tsx'
import { RunList } from './run-list.tsx'
import { tracingQuery, useTracing } from './run-queries.ts'

const spans = [
  { value: '5', label: runsTexts.minutes5 },
  { value: '15', label: runsTexts.minutes15 },
  { value: '60', label: runsTexts.hour1 },
  { value: '480', label: runsTexts.hours8 },
  { value: '1440', label: runsTexts.hours24 },
]

/** Keeps every run of the blueprint, for a time: it costs a little, so it ends by itself. */
function TracingSwitch() {
  const blueprint = useEditorState((state) => state.guid)
  const client = useQueryClient()
  const { queryKey } = tracingQuery(blueprint)
  const { data, error, refetch } = useTracing()
  const [minutes, setMinutes] = useState('15')
  const switching = useMutation({
    mutationFn: ({ on, span }: { readonly on: boolean; readonly span: string }) =>
      setTracing(blueprint, { on, minutes: Number(span), keep_last: data?.keep_last ?? 50 }),
    onSuccess: (now) => client.setQueryData(queryKey, now),
  })
  const isOn = data?.on ?? false
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Switch
          label={runsTexts.traceEveryRun}
          size="sm"
          styles={{ label: { whiteSpace: 'nowrap' } }}
          checked={switching.isPending ? switching.variables.on : isOn}
          disabled={data === undefined}
          onChange={(event) => switching.mutate({ on: event.currentTarget.checked, span: minutes })}
        />
        <Select
          size="xs"
          w={94}
          mt={-4}
          aria-label={runsTexts.duration}
          data={spans}
          value={minutes}
          allowDeselect={false}
          onChange={(next) => {
            setMinutes(next ?? '15')
            if (isOn) switching.mutate({ on: true, span: next ?? '15' })
          }}
        />
      </Group>
      <Text size="xs" c="dimmed" mt={4} aria-live="polite">
        {isOn && data?.until ? runsTexts.tracingOn(clock(data.until), data.keep_last) : runsTexts.tracingOff}
        {isOn || (data?.breakpoints.length ?? 0) === 0
          ? ''
          : runsTexts.waitForIt(data?.breakpoints.length ?? 0)}
      </Text>
      <ErrorNotice error={error} title={runsTexts.tracingNotLoaded} onRetry={refetch} />
      <ErrorNotice error={switching.error} title={runsTexts.tracingNotChanged} />
    </div>
  )
}

const shares = [0, 1_000, 100, 10, 1]

/** Requests that are stored to be repeated on a draft, also while nothing is traced. */
function Recording() {
  const blueprint = useEditorState((state) => state.guid)
  const client = useQueryClient()
  const { queryKey } = tracingQuery(blueprint)
  const { data } = useTracing()
  const changing = useMutation({
    mutationFn: async (oneIn: number) => {
      // What is traced goes on until it would have ended.
      const now = await client.fetchQuery({ ...tracingQuery(blueprint), staleTime: 0 })
      const left = now.until === null ? 0 : Math.ceil((Date.parse(now.until) - Date.now()) / 60_000)
      const { on, keep_last } = now
      return setTracing(blueprint, {
        on,
        keep_last,
        record_one_in: oneIn,
        ...(left > 0 && { minutes: left }),
      })
    },
    onSuccess: (now) => client.setQueryData(queryKey, now),
  })
  if (data === undefined) return null
  const oneIn = data.record_one_in
  const choose = (next: number) =>
    next > 0
      ? changing.mutate(next)
      : confirm({
          title: runsTexts.stopRecording,
          text: runsTexts.stopRecordingText,
          action: runsTexts.stopAndDelete,
          run: () => changing.mutateAsync(0),
        })
  return (
    <div>
      <Select
        size="xs"
        label={runsTexts.recordRequests}
        data={[...new Set([...shares, oneIn])].map((one) => ({
          value: String(one),
          label: runsTexts.recordedShare(one),
        }))}
        value={String(changing.isPending ? changing.variables : oneIn)}
        allowDeselect={false}
        disabled={changing.isPending}
        onChange={(next) => next !== null && Number(next) !== oneIn && choose(Number(next))}
      />
      <Text size="xs" c="dimmed" mt={4} aria-live="polite">
        {oneIn > 0 ? runsTexts.recording(oneIn) : runsTexts.notRecording}
      </Text>
      <ErrorNotice error={changing.error} title={runsTexts.recordingNotChanged} />
    </div>
  )
}

function clock(iso: string): string {
  return new Date(iso).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
}

/** Runs of the blueprint that were traced; or, when one is shown on the drawing, everything about that one. */
export function RunsPanel() {
  const editor = useEditor()
  const shown = useEditorState((state) => state.shownRun)
  return (
    <ScrollArea h="100%" type="auto" scrollbarSize={8}>
      <Stack gap="md" p={14} pb={40}>
        <PanelHead
          title={runsTexts.runs}
          close={runsTexts.closeRuns}
          onClose={() => editor.set({ panel: 'properties' })}
        />
        {shown ? (
          <RunDetails key={shown.guid} />
        ) : (
          <>
            <TracingSwitch />
            <Recording />
            <RunList />
          </>
        )}
      </Stack>
    </ScrollArea>
  )
}
