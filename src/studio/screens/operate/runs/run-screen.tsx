import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { ApiError } from '../../../api/api-error.ts'
import { findSystemLogs } from '../../../api/operations.ts'
import { newestFailedRun, readRun } from '../../../api/runs.ts'
import { notifyAbout } from '../../../controls/notify.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../../controls/states.tsx'
import { operateTexts } from '../../../texts/operate.ts'
import type { ScreenProps } from '../../screen-props.ts'
import { useRetention } from '../retention-labels.ts'

/**
 * Goes on to the canvas: to a run by its guid, as log records and jobs have it, or under `failed` to the newest run that failed,
 * of `?blueprint=` and `?trigger=` or of all.
 */
export function RunScreen({ params: { run = '' } }: ScreenProps) {
  const [words] = useSearchParams()
  const [, navigate] = useLocation()
  const blueprint = words.get('blueprint') ?? ''
  const trigger = words.get('trigger') ?? ''
  const isNewest = run === 'failed'
  const { data, error, refetch } = useQuery({
    queryKey: ['run-place', run, blueprint, trigger],
    queryFn: async ({ signal }) =>
      (isNewest ? await placeOfNewestFailure(blueprint, trigger, signal) : await placeOfRun(run, signal)) ??
      null,
    gcTime: 0,
    retry: false,
  })
  const recordedRuns = useRetention('QUOIN_KEEP_RUNS')
  const recordedLogs = useRetention('QUOIN_KEEP_LOGS')
  useEffect(() => {
    if (!data) return
    if (!data.isRecorded) notifyAbout(operateTexts.valuesNotRecorded, operateTexts.valuesNotRecordedText)
    navigate(data.address, { replace: true })
  }, [data, navigate])
  if (error) return <ErrorNotice error={error} title={operateTexts.couldNotFindRun} onRetry={refetch} />
  if (data !== null) return <LoadingScreen />
  return (
    <>
      <ScreenHead title={operateTexts.run} about={operateTexts.runAbout(recordedRuns)} />
      <EmptyState
        icon="operate"
        title={isNewest ? operateTexts.noFailedRunRecorded : operateTexts.runNotRecorded}
      >
        <Text size="sm">{operateTexts.runNotRecordedText(recordedLogs)}</Text>
        <Anchor
          component={Link}
          size="sm"
          href={`/operate/system-log?level=error${blueprint === '' ? '' : `&blueprint=${blueprint}`}`}
        >
          {operateTexts.errorsSystemLog}
        </Anchor>
      </EmptyState>
    </>
  )
}

// Where a run is shown: its blueprint, with the block that failed, and the step that says why.

interface RunPlace {
  /** Below `/studio`. */
  readonly address: string
  /** Its values can be shown. */
  readonly isRecorded: boolean
}

/** More entries of one run say nothing else about its place. */
const MOST_ENTRIES = 20

/** Undefined when neither the run nor what it logged is kept any more. */
async function placeOfRun(guid: string, signal: AbortSignal): Promise<RunPlace | undefined> {
  try {
    const { blueprint, error, steps } = await readRun(guid, signal)
    const block = error?.block ?? ''
    const failed = steps.findLastIndex((step) => step.error !== null && step.block === block)
    // The address counts steps from 1.
    const step = failed < 0 ? '' : String(failed + 1)
    return { address: addressOf(blueprint, { run: guid, block, step }), isRecorded: true }
  } catch (error) {
    // 403: the user may not see values, but perhaps the log.
    if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 403)) throw error
  }
  const { records } = await findSystemLogs({ filters: { run: guid }, limit: MOST_ENTRIES }, signal)
  const entry = records.find(({ level, block }) => level === 'error' && block) ?? records[0]
  if (entry?.blueprint === undefined) return undefined
  return { address: addressOf(entry.blueprint, { block: entry.block ?? '' }), isRecorded: false }
}

/** The newest run that failed: of a trigger of a blueprint, or of any where both are ''. */
async function placeOfNewestFailure(
  blueprint: string,
  trigger: string,
  signal: AbortSignal,
): Promise<RunPlace | undefined> {
  const run = await newestFailedRun(blueprint, trigger, signal)
  return run && placeOfRun(run.guid, signal)
}

function addressOf(blueprint: string, words: Readonly<Record<string, string>>): string {
  const input = Object.entries(words).filter(([, value]) => value !== '')
  const search = new URLSearchParams(input).toString()
  return `/blueprints/${blueprint}${search === '' ? '' : `?${search}`}`
}
