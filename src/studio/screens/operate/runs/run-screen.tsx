import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { placeOfNewestFailure, placeOfRun } from '../../../api/run-place.ts'
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
