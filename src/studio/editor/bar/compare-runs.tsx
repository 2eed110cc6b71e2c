import { Badge, Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ComparedRuns } from '../../../shared/api/blueprints/runs.ts'
import { duration } from '../../controls/amounts.ts'
import { type Difference, diffValues } from '../../controls/json/diff-values.ts'
import { DifferenceTable } from '../../controls/json/difference-table.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { barTexts } from '../../texts/bar.ts'
import { compareRecorded } from '../api/editor-api.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './flow-diff-view.module.css'

type RunDifference = ComparedRuns['differences'][number]

/** The rest is by the API: a person reads no more here. */
const SHOWN = 20

/** Repeats recorded requests on the canvas and on the live version before a deploy, and lists replies that differ. */
export function CompareRuns({ guid, isReady }: { readonly guid: string; readonly isReady: boolean }) {
  const editor = useEditor()
  const comparing = useMutation({
    mutationFn: async (accepted: readonly string[]) => {
      await editor.sync.settled()
      return compareRecorded(guid, accepted)
    },
  })
  return (
    <Stack gap={8}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {barTexts.recordedRequests}
        </Text>
        <Button
          size="xs"
          variant="default"
          loading={comparing.isPending}
          disabled={!isReady}
          onClick={() => comparing.mutate([])}
        >
          {barTexts.compareRecorded}
        </Button>
      </Group>
      <ErrorNotice error={comparing.error} title={barTexts.couldNotCompare} />
      <div role="status">
        {comparing.data ? (
          <Result
            key={comparing.submittedAt}
            found={comparing.data}
            onAccept={(keys) => comparing.mutate(keys)}
          />
        ) : (
          <Text size="xs" c="dimmed">
            {barTexts.compareRecordedText}
          </Text>
        )}
      </div>
    </Stack>
  )
}

interface ResultProps {
  readonly found: ComparedRuns
  readonly onAccept: (keys: readonly string[]) => void
}

function Result({ found, onAccept }: ResultProps) {
  const [chosen, setChosen] = useState<readonly string[]>([])
  const { compared, same, differences, skipped, left, slower, remembered } = found
  const open = differences.filter(({ accepted }) => !accepted)
  const meant = remembered + differences.length - open.length
  if (compared + skipped.length + left === 0) return <Text size="sm">{barTexts.noRecordedRequests}</Text>
  const different = compared - same
  return (
    <Stack gap={8}>
      <Group gap={6}>
        <Badge color={same > 0 ? 'petrol' : 'gray'}>{barTexts.sameReplies(same)}</Badge>
        <Badge color={different > 0 ? 'sand' : 'gray'}>{barTexts.differentReplies(different)}</Badge>
        <Badge color="gray">{barTexts.notComparable(skipped.length)}</Badge>
        {meant === 0 ? null : <Badge color="gray">{barTexts.acceptedCount(meant)}</Badge>}
        {left === 0 ? null : <Badge color="gray">{barTexts.noTimeFor(left)}</Badge>}
      </Group>
      <div className={classes.diff}>
        {open.slice(0, SHOWN).map((one) => (
          <Group key={one.key} gap={8} wrap="nowrap" align="flex-start">
            <Checkbox
              size="xs"
              mt={3}
              aria-label={barTexts.acceptDifference(one.label, barTexts.differenceKinds[one.kind])}
              checked={chosen.includes(one.key)}
              onChange={({ currentTarget: { checked } }) =>
                setChosen(checked ? [...chosen, one.key] : chosen.filter((key) => key !== one.key))
              }
            />
            <OneDifference difference={one} />
          </Group>
        ))}
        {open.length <= SHOWN ? null : <Text size="xs">{barTexts.moreDifferences(open.length - SHOWN)}</Text>}
        {open.length === 0 ? null : (
          <Group gap={8}>
            <Button
              size="compact-xs"
              variant="default"
              disabled={chosen.length === 0}
              onClick={() => onAccept(chosen)}
            >
              {barTexts.acceptDifferences(chosen.length)}
            </Button>
            <Text size="xs" c="dimmed">
              {barTexts.acceptedText}
            </Text>
          </Group>
        )}
        <NotComparable skipped={skipped} />
        <SlowerBlocks slower={slower} />
      </div>
    </Stack>
  )
}

function OneDifference({ difference }: { readonly difference: RunDifference }) {
  const { label, kind, paths } = difference
  return (
    <details className={classes.drawn}>
      <summary>
        <b>{label}</b> {barTexts.differenceKinds[kind]}
        {paths.length === 0 ? null : `: ${paths.join(', ')}`}
      </summary>
      <div className={classes.block}>
        <DifferenceTable differences={differencesIn(difference)} />
      </div>
    </details>
  )
}

/** Of the reply as a whole: its status and its headers that matter too. */
function differencesIn({ deployed, candidate }: RunDifference): readonly Difference[] {
  return diffValues(replyOf(deployed), replyOf(candidate))
}

function replyOf({ status, headers, body, error }: RunDifference['deployed']) {
  return {
    [barTexts.replyStatus]: status,
    [barTexts.replyError]: error,
    [barTexts.replyHeaders]: headers,
    [barTexts.replyBody]: body,
  }
}

function NotComparable({ skipped }: { readonly skipped: ComparedRuns['skipped'] }) {
  if (skipped.length === 0) return null
  return (
    <details className={classes.drawn}>
      <summary>{barTexts.whyNotComparable}</summary>
      <ul className={classes.block}>
        {skipped.slice(0, SHOWN).map(({ run, label, reason }) => (
          <li key={run}>
            <b>{label}</b> {reason}
          </li>
        ))}
      </ul>
    </details>
  )
}

function SlowerBlocks({ slower }: { readonly slower: ComparedRuns['slower'] }) {
  const { flow } = useEditorState((state) => state.drawing)
  const catalogue = useEditorState((state) => state.catalogue)
  return slower.map(({ block, deployed_us: before, candidate_us: now }) => (
    <Text key={block} size="sm">
      {barTexts.slowerBlock(
        wordsOf(flow, catalogue, block).title,
        duration(before / 1000),
        duration(now / 1000),
      )}
    </Text>
  ))
}
