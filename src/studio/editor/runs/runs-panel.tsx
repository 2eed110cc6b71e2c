import { CloseButton, Group, ScrollArea, Select, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setTracing } from '../../api/operate.ts'
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
        <Group justify="space-between" wrap="nowrap">
          <Text fw={650}>{runsTexts.runs}</Text>
          <CloseButton
            size="sm"
            aria-label={runsTexts.closeRuns}
            onClick={() => editor.set({ panel: 'properties' })}
          />
        </Group>
        {shown ? (
          <RunDetails key={shown.guid} />
        ) : (
          <>
            <TracingSwitch />
            <RunList />
          </>
        )}
      </Stack>
    </ScrollArea>
  )
}
